package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/dyncontroller/dyncontroller/internal/election"
	"github.com/dyncontroller/dyncontroller/internal/operator"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/internal/telemetry"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// service is `run` without --once: rules that change, and the servers that tell how
// they are doing.
type service struct {
	*runner
	operator *operator.Operator
	objects  *source.Objects     // nil for none
	election *election.Candidate // nil for none
	metrics  *telemetry.Metrics
	startup  startup
	waiting  waiting

	mu sync.Mutex
	// active are the rules of files in effect, nil before there are any; guarded by mu.
	active *rules.Set
	// trouble is why the rules on disk are not in effect, or if they are unfit, why they
	// do not fit the schemas of the cluster; guarded by mu.
	trouble error
	unfit   bool
}

func newService(r *runner) (*service, error) {
	s := &service{runner: r}
	s.metrics = telemetry.NewMetrics(r.version, func() telemetry.Snapshot { return s.operator.Measure() })
	if r.settings.Listen.Metrics != "" { // What is counted of rules that are gone is dropped when it is asked for.
		r.options.Observers = append(r.options.Observers, s.metrics)
	}
	r.options.Changed = s.waiting.all.Store
	var err error
	if s.operator, err = operator.New(r.options); err != nil {
		return nil, err
	}
	if r.schemas != nil {
		r.schemas.teach(s.operator.Learn)
	}
	if r.settings.FromCluster {
		if s.objects, err = newObjects(r.cluster, r.log); err != nil {
			return nil, err
		}
	}
	if r.settings.Election.Enabled {
		s.election, err = newCandidate(r)
	}
	return s, err
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
	if err := s.work(ctx); err != nil {
		return internal(err)
	}
	s.log.Info("stopped")
	return nil
}

// work keeps the rules up to date, and the cluster as they say.
func (s *service) work(ctx context.Context) error {
	// Rules must not change any more once the engines stop.
	working, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	changing, stop := context.WithCancel(ctx)
	defer stop()
	var sources, caches sync.WaitGroup
	caches.Go(func() { s.operator.Run(working) })
	if s.files != nil {
		sources.Go(func() { s.files.Watch(changing, s.options.Clock, s.log, s.reloaded) })
	}
	if s.objects != nil {
		sources.Go(func() { s.followObjects(changing) })
	}
	leading, leave := context.WithCancel(working)
	caches.Go(func() {
		defer leave()
		<-changing.Done()
		sources.Wait()
		s.log.Info("stopping")
	})
	err := s.election.Run(leading, func(ctx context.Context) error {
		s.operator.Lead(ctx)
		return nil
	})
	stop()
	sources.Wait()
	cancel()
	caches.Wait()
	return err
}

// followObjects keeps the rules of set objects in effect.
func (s *service) followObjects(ctx context.Context) {
	var watching sync.WaitGroup
	watching.Go(func() {
		if err := s.objects.Run(ctx); err != nil {
			s.log.Error("rule sets in the cluster are not followed", "err", err)
		}
	})
	schemas := newClusterSchemas(s.cluster)
	schemas.teach(s.operator.Learn)
	schemas.logTo(s.log)
	s.operator.Follow(ctx, s.objects, schemas)
	watching.Wait()
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
	checks := s.publicChecks
	if telemetry.Loopback(s.settings.Listen.Health) {
		checks = s.checks
	}
	for _, endpoint := range []struct {
		name, flag, address string
		serve               func(ctx context.Context, address string) (*telemetry.Server, error)
	}{
		{"metrics", "--metrics-bind-address", s.settings.Listen.Metrics, s.serveMetrics},
		{"health", "--health-probe-bind-address", s.settings.Listen.Health, func(ctx context.Context, address string) (*telemetry.Server, error) {
			return telemetry.Serve(ctx, address, telemetry.Health(checks))
		}},
	} {
		if endpoint.address == "" {
			continue
		}
		server, err := endpoint.serve(ctx, endpoint.address)
		if _, listening := errors.AsType[*net.OpError](err); listening { // Another address helps no certificate.
			return stop, fmt.Errorf("%w; choose another address with %s, or 0 for none", err, endpoint.flag)
		}
		if err != nil {
			return stop, err
		}
		servers = append(servers, server)
		s.log.Info("serving", "what", endpoint.name, "address", server.Address())
	}
	return stop, nil
}

// activate puts rules of files into effect, and returns how they differ from those
// before.
func (s *service) activate(set *rules.Set) (difference, error) {
	if err := s.operator.SetFiles(set); err != nil {
		return difference{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := compare(s.active, set)
	s.active, s.trouble, s.unfit = set, nil, false
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
