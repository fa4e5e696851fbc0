package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/internal/telemetry"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// service is `run` without --once: an engine whose rules change, and the
// servers that tell how it is doing.
type service struct {
	*setup
	files   *source.Files
	engine  *engine.Engine
	metrics *telemetry.Metrics
	version string

	mu sync.Mutex
	// active are the rules in effect, nil before there are any; guarded by mu.
	active *rules.Set
	// trouble is why the rules on disk are not in effect, or if they are unfit, why they
	// do not fit the schemas of the cluster; guarded by mu.
	trouble error
	unfit   bool
}

func newService(setup *setup, files *source.Files, version string) *service {
	s := &service{setup: setup, files: files, version: version}
	s.metrics = telemetry.NewMetrics(version, func() []informer.Status { return s.informers.Status() })
	all := observers{s.metrics}
	if s.options.Observer != nil {
		all = append(all, s.options.Observer)
	}
	s.options.Observer = all
	s.engine = engine.New(s.options)
	return s
}

// run works until the context is done.
func (s *service) run(ctx context.Context, set *rules.Set) error {
	stop, err := s.listen(ctx)
	defer stop()
	if err != nil {
		return internal(err)
	}
	s.log.Info("starting", "version", s.version, "server", s.cluster.String(),
		"rules", len(set.Rules()), "dry_run", string(s.settings.DryRun))
	if err := s.cluster.wait(ctx, s.options.Clock, s.log, s.setTrouble); err != nil {
		s.log.Info("stopped before the API server answered")
		return nil // The only error is that we were asked to stop.
	}
	if _, err := s.activate(set); err != nil {
		return internal(err)
	}
	// Rules must not change any more once the engine stops.
	working, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var watch sync.WaitGroup
	watch.Go(func() {
		defer cancel()
		s.files.Watch(ctx, s.options.Clock, s.log, s.reloaded)
		s.log.Info("stopping")
	})
	s.engine.Run(working)
	watch.Wait()
	s.log.Info("stopped")
	return nil
}

// listen starts the servers; stop is never nil.
func (s *service) listen(ctx context.Context) (stop func(), err error) {
	var servers []*telemetry.Server
	stop = func() {
		for _, server := range servers {
			if err := server.Stop(ctx); err != nil {
				s.log.Warn("a server did not stop in time", "err", err)
			}
		}
	}
	metrics := http.NewServeMux()
	metrics.Handle("GET /metrics", s.metrics.Handler())
	for _, endpoint := range []struct {
		name, flag, address string
		handler             http.Handler
	}{
		{"metrics", "--metrics-bind-address", s.settings.Listen.Metrics, metrics},
		{"health", "--health-probe-bind-address", s.settings.Listen.Health, telemetry.Health(s.checks)},
	} {
		if endpoint.address == "" {
			continue
		}
		server, err := telemetry.Serve(ctx, endpoint.address, endpoint.handler)
		if err != nil {
			return stop, fmt.Errorf("%w; choose another address with %s, or 0 for none", err, endpoint.flag)
		}
		servers = append(servers, server)
		s.log.Info("serving", "what", endpoint.name, "address", server.Address())
	}
	return stop, nil
}

// activate puts rules into effect, and returns how they differ from those
// before.
func (s *service) activate(set *rules.Set) (difference, error) {
	if err := s.engine.SetRules(set); err != nil {
		return difference{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := compare(s.active, set)
	s.active, s.trouble, s.unfit = set, nil, false
	s.metrics.RulesChanged(len(set.Rules()), changed.removed)
	return changed, nil
}

// reloaded takes what has become of files that changed, or of the schemas of the
// cluster: see [source.Files.Watch].
func (s *service) reloaded(set *rules.Set, wrong error) {
	var changed difference
	if set != nil {
		var err error
		if changed, err = s.activate(set); err != nil {
			set, wrong = nil, err
		}
	}
	s.metrics.Reloaded(wrong)
	if wrong == nil {
		logFindings(s.log, set)
		s.log.Info("rules changed", "added", len(changed.added), "removed", len(changed.removed), "kept", changed.kept)
		return
	}
	for _, mistake := range mistakes(wrong) {
		s.log.Error("rules are wrong", "err", mistake)
	}
	if set == nil {
		s.setTrouble(wrong)
		s.log.Error("rules did not change, those from before stay in effect")
		return
	}
	s.setUnfit(wrong)
	s.log.Error("rules do not fit the schemas of the cluster, they stay in effect unchecked")
}

func (s *service) setTrouble(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble, s.unfit = err, false
}

func (s *service) setUnfit(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble, s.unfit = err, true
}

// mistakes takes an error of the source apart.
func mistakes(err error) []error {
	var several *source.Error
	if errors.As(err, &several) {
		only := source.Error{Unusable: several.Unusable, Mistakes: several.Mistakes.Of(document.Mistake)}
		return only.Unwrap()
	}
	return []error{err}
}

// difference is how two sets of rules differ, by the names of the rules.
type difference struct {
	added, removed []plan.Rule
	kept           int
}

// compare takes nil for no rules.
func compare(before, after *rules.Set) difference {
	old, now := before.IDs(), after.IDs()
	var out difference
	for _, rule := range now {
		if slices.Contains(old, rule) {
			out.kept++
			continue
		}
		out.added = append(out.added, rule)
	}
	for _, rule := range old {
		if !slices.Contains(now, rule) {
			out.removed = append(out.removed, rule)
		}
	}
	return out
}
