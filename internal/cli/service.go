package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/discovery"
	"github.com/dyncontroller/dyncontroller/internal/election"
	"github.com/dyncontroller/dyncontroller/internal/operator"
	"github.com/dyncontroller/dyncontroller/internal/scrapeauth"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/internal/telemetry"
	"github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// service is a run: rules that change, and the servers that tell how they are doing, or with --once neither.
type service struct {
	cluster  *cluster
	settings config.Config
	version  string
	log      *slog.Logger
	files    *source.Files // nil for none
	show     *printer      // nil for nothing
	options  operator.Options
	operator *operator.Operator
	objects  *source.Objects     // nil for none
	schemas  []*clusterSchemas   // that are followed
	election *election.Candidate // nil for none
	metrics  *telemetry.Metrics
	listenOn telemetry.Listen
	startup  startup
	inEffect atomic.Pointer[rules.Set] // rules of all sources

	mu sync.Mutex
	// active are the rules of files in effect, nil before there are any; guarded by mu.
	active *rules.Set
	// trouble is why the rules on disk are not in effect, or if they are unfit, why they
	// do not fit the schemas of the cluster; guarded by mu.
	trouble error
	unfit   bool
}

// newService is given what shows changes, nil for nothing, and how the options of the operator are set besides, nil for not.
func newService(target *cluster, settings config.Config, p Process, log *slog.Logger, show *printer, set func(*operator.Options)) (s *service, err error) {
	s = &service{cluster: target, settings: settings, version: p.version(), log: log, show: show, listenOn: p.Listen}
	if s.listenOn == nil {
		s.listenOn = telemetry.TCP
	}
	s.metrics = telemetry.NewMetrics(s.version, func() telemetry.Snapshot { return s.operator.Measure() })
	options := rules.Options{
		DefaultNamespace: target.namespace, Params: settings.Params, Schemas: offlineSchemas(),
		Sensitive: func(kind string) bool { return slices.Contains(settings.Sensitive, kind) },
	}
	if len(settings.Rules) > 0 {
		if s.files = source.New(settings.Rules, p.Stdin, options); p.Transport != nil {
			s.files.Poll()
		}
	}
	options.Params = nil     // A set object is changed where it is.
	host, _ := os.Hostname() // Empty where it is not known.
	s.options = operator.Options{
		Cluster:  operator.Cluster{Config: target.config, Namespace: target.namespace, Discovery: target.discovery},
		Settings: settings, Rules: options, Cleaned: s.cleaned, Changed: s.inEffect.Store, Access: p.Access,
		Instance: plan.FieldManager + "-" + cmp.Or(host, "unknown"), Log: log, Clock: clock.RealClock{},
	}
	if set != nil {
		set(&s.options)
	}
	if show != nil {
		s.options.Observers = append(s.options.Observers, s.show)
	}
	if settings.Listen.Metrics != "" && !settings.Once { // What is counted of rules that are gone is dropped when it is asked for.
		s.options.Observers = append(s.options.Observers, s.metrics)
	}
	if elected := settings.Election; elected.Enabled {
		s.options.Fence = election.NewFence(elected.Renew)
		s.election, err = election.New(target.config, election.Options{
			Namespace: cmp.Or(elected.Namespace, target.namespace), Name: elected.Name,
			Lease: elected.Lease, Retry: elected.Retry, Fence: s.options.Fence, Metrics: s.metrics, Log: log,
		})
		if err != nil {
			return nil, err
		}
	}
	if settings.FromCluster && !settings.Once {
		process, err := client.Dynamic(client.WithoutRetries(target.config))
		if err != nil {
			return nil, fmt.Errorf("making a client for rule sets: %w", err)
		}
		s.objects = source.NewObjects(process, log)
	}
	s.operator, err = operator.New(s.options)
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
	if err := s.cluster.wait(ctx, s.options.Clock, s.log, func(err error) { s.note(nil, err, false) }); err != nil {
		s.log.Info("stopped before the API server answered")
		return nil // The only error is that we were asked to stop.
	}
	release, err := s.claim(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := s.activate(set); err != nil {
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
		schemas := newClusterSchemas(s.cluster, s.operator.Learn, s.log)
		s.schemas = append(s.schemas, schemas)
		sources.Go(func() { s.followObjects(changing, schemas) })
	}
	sources.Go(func() { s.followDefinitions(changing) })
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

// followDefinitions has the schemas asked as soon as CRDs change.
func (s *service) followDefinitions(ctx context.Context) {
	err := discovery.FollowDefinitions(ctx, s.cluster.config, s.options.Clock, func() {
		for _, schemas := range s.schemas {
			schemas.mayHaveChanged()
		}
	})
	if err != nil {
		s.log.Debug("CRDs are only polled", "err", err)
	}
}

// followObjects keeps the rules of set objects in effect.
func (s *service) followObjects(ctx context.Context, schemas *clusterSchemas) {
	var watching sync.WaitGroup
	watching.Go(func() { s.objects.Run(ctx) })
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
	checks := func() []telemetry.Check { return brief(s.checks()) }
	if telemetry.Loopback(s.settings.Listen.Health) {
		checks = func() []telemetry.Check {
			process, caches := s.checks()
			return append(process, caches...)
		}
	}
	for _, endpoint := range []struct {
		name, flag, address string
		serve               func(ctx context.Context, address string) (*telemetry.Server, error)
	}{
		{"metrics", "--metrics-bind-address", s.settings.Listen.Metrics, s.serveMetrics},
		{"health", "--health-probe-bind-address", s.settings.Listen.Health, func(ctx context.Context, address string) (*telemetry.Server, error) {
			return telemetry.Serve(ctx, s.listenOn, address, telemetry.Health(checks))
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
		if !telemetry.Loopback(endpoint.address) && s.cluster.origin != inPod {
			s.log.Info("everybody on the network can reach it; an address such as 127.0.0.1:8081 keeps it to this host", "what", endpoint.name)
		}
	}
	return stop, nil
}

// activate puts rules of files into effect.
func (s *service) activate(set *rules.Set) error {
	if err := s.operator.SetFiles(set); err != nil {
		return err
	}
	s.note(set, nil, false)
	return nil
}

// note keeps for checks which rules of files are in effect, nil for those from before, and what is wrong.
func (s *service) note(set *rules.Set, trouble error, unfit bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active, s.trouble, s.unfit = cmp.Or(set, s.active), trouble, unfit
}

// reloaded takes what has become of files that changed, or of the schemas of the
// cluster: see [source.Files.Watch].
func (s *service) reloaded(set *rules.Set, wrong error) {
	before := map[plan.Rule]*rules.Rule{}
	s.mu.Lock()
	active := s.active
	for _, rule := range s.active.Rules() {
		before[rule.ID] = rule
	}
	s.mu.Unlock()
	if set != nil {
		if err := s.activate(set); err != nil {
			set, wrong = nil, err
		}
	}
	s.metrics.Reloaded(wrong)
	if wrong == nil {
		logFindings(s.log, set, active)
		changed, kept := 0, 0
		for _, rule := range set.Rules() {
			switch earlier := before[rule.ID]; {
			case earlier == nil:
			case rule.Same(earlier):
				kept++
			default:
				changed++
			}
		}
		s.log.Info("rules changed", "added", len(set.Rules())-changed-kept, "removed", len(before)-changed-kept, "changed", changed, "kept", kept)
		return
	}
	for _, mistake := range mistakes(wrong) {
		s.log.Error("rules are wrong", "err", mistake)
	}
	several, is := errors.AsType[*source.Error](wrong)
	unfit := is && several.Unfit
	s.note(nil, wrong, unfit)
	if unfit {
		s.log.Error("rules do not fit the schemas of the cluster, they stay in effect unchecked")
		return
	}
	s.log.Error("rules did not change, those from before stay in effect")
}

// mistakes takes an error of the source apart.
func mistakes(err error) []error {
	if several, is := errors.AsType[*source.Error](err); is {
		only := source.Error{Unusable: several.Unusable, Mistakes: several.Mistakes.Of(document.Mistake)}
		return only.Unwrap()
	}
	return []error{err}
}

// serveMetrics begins to serve the metrics, what is remembered of objects, and profiles.
func (s *service) serveMetrics(ctx context.Context, address string) (*telemetry.Server, error) {
	listen := s.settings.Listen
	handler := func(protect protection) http.Handler {
		return metricsHandler(protect, s.metrics.Handler(), explainHandler(s.operator), listen.Profiling)
	}
	if !listen.Secure {
		return telemetry.Serve(ctx, s.listenOn, address, handler(byAddress(address)))
	}
	filter, err := scrapeauth.New(s.cluster.config, s.options.Clock, s.log)
	if err != nil {
		return nil, err
	}
	certificates := telemetry.SelfSigned(s.options.Clock)
	if listen.CertDir != "" {
		certificates = telemetry.CertificatesIn(listen.CertDir, s.log)
	}
	return telemetry.ServeTLS(ctx, s.listenOn, address, handler(filter.Protect), certificates, s.log)
}

// checks is what readiness depends on: rules are in effect, and of every cache of the
// start it is known how it is doing. A process that waits for the lease is as ready as one
// that has it.
func (s *service) checks() (process, caches []telemetry.Check) {
	if s.files != nil {
		process = append(process, s.checkRules())
	}
	if s.objects != nil {
		process = append(process, s.checkObjects())
	}
	if s.election != nil {
		process = append(process, s.checkElection())
	}
	// Rules that are in effect have their caches, so they come first.
	all := s.operator.Caches()
	waiting := waitingFor(s.inEffect.Load(), all)
	for _, cache := range all {
		caches = append(caches, checkCache(cache, waiting[cacheOf{cache.Account, cache.Key}]))
	}
	return process, s.startup.settle(s.options.Clock.Now(), process, caches)
}

// startPatience is how long readiness waits for caches once the rules are known. One whose
// first list gets no answer keeps its own rules waiting, and nobody else.
const startPatience = 30 * time.Second

// startup knows for which caches readiness still waits: those that there are when the
// rules are first known. Readiness is about the start. Caches come and go with every set
// that changes, so one that waited for all of them could be kept from being ready by any
// tenant, with all its replicas at once. It is safe for concurrent use; the zero value has
// seen nothing.
type startup struct {
	mu      sync.Mutex
	known   time.Time       // when the rules were known first, zero before
	awaited map[string]bool // by the names of their checks
}

// settle takes the checks of one moment, and returns those of the caches with what is not
// waited for degraded. Once nothing is waited for, this stays so.
func (s *startup) settle(now time.Time, process, caches []telemetry.Check) []telemetry.Check {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.known.IsZero()
	if first {
		if slices.ContainsFunc(process, notReady) {
			return caches
		}
		s.known = now
	}
	late := now.Sub(s.known) >= startPatience
	still := map[string]bool{}
	out := slices.Clone(caches)
	for i, cache := range out {
		switch {
		case !notReady(cache):
		case first || !late && s.awaited[cache.Name]:
			still[cache.Name] = true
		default:
			out[i].State = telemetry.Degraded
		}
	}
	s.awaited = still
	return out
}

func notReady(c telemetry.Check) bool { return c.State == telemetry.NotReady }

// brief names the checks of the process, and counts caches: names of tenants, what they
// select and why something fails are nobody else's business.
func brief(process, caches []telemetry.Check) []telemetry.Check {
	var out []telemetry.Check
	for _, check := range process {
		out = append(out, telemetry.Check{Name: check.Name, State: check.State})
	}
	if len(caches) == 0 {
		return out
	}
	all := telemetry.Check{Name: document.Count(len(caches), "cache")}
	words := map[telemetry.State]string{telemetry.Ready: "synced", telemetry.Degraded: "degraded", telemetry.NotReady: "listing"}
	var parts []string
	for _, state := range []telemetry.State{telemetry.Ready, telemetry.Degraded, telemetry.NotReady} {
		n := len(slices.DeleteFunc(slices.Clone(caches), func(c telemetry.Check) bool { return c.State != state }))
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, words[state]))
			all.State = state // The worst comes last.
		}
	}
	all.Detail = strings.Join(parts, ", ")
	return append(out, all)
}

// checkObjects tells of set objects as a whole: each has a status of its own.
func (s *service) checkObjects() telemetry.Check {
	check := telemetry.Check{Name: "rule sets in the cluster", Detail: "listing"}
	if trouble := s.objects.Trouble(); trouble != nil {
		check.State, check.Detail = telemetry.Degraded, trouble.Error()
	} else if s.operator.Listed() {
		check.State, check.Detail = telemetry.Ready, document.Count(len(s.objects.List()), "set")
	}
	return check
}

func (s *service) checkElection() telemetry.Check {
	check := telemetry.Check{Name: "election", State: telemetry.Ready, Detail: "leading"}
	if !s.election.IsLeader() {
		check.Detail = "waiting for the lease"
		if holder := s.election.Holder(); holder != "" {
			check.Detail += ", which " + holder + " has"
		}
	}
	return check
}

func (s *service) checkRules() telemetry.Check {
	s.mu.Lock()
	defer s.mu.Unlock()
	check := telemetry.Check{Name: "rules"}
	switch {
	case s.active == nil && s.trouble == nil:
		check.Detail = "not in effect yet"
	case s.active == nil:
		check.Detail = s.trouble.Error()
	case s.trouble != nil:
		all := mistakes(s.trouble)
		what := "there are newer ones that are wrong"
		if s.unfit {
			what = "they do not fit the schemas of the cluster"
		}
		check.State = telemetry.Degraded
		check.Detail = fmt.Sprintf("%s in effect, but %s: %v", document.Count(len(s.active.Rules()), "rule"), what, all[0])
		if len(all) > 1 {
			check.Detail += fmt.Sprintf(" (and %d more)", len(all)-1)
		}
	default:
		check.State = telemetry.Ready
		check.Detail = document.Count(len(s.active.Rules()), "rule") + " in effect"
	}
	return check
}

// checkCache counts a failure that is known as ready: it holds back only the rules that
// need the cache, which are named. Whether one that is listing or not reviewed yet holds
// back the process is for [startup] to say.
func checkCache(cache operator.Cache, rules []string) telemetry.Check {
	check := telemetry.Check{Name: "informer " + cache.Key.String()}
	if cache.Account != (types.NamespacedName{}) {
		check.Name += " as " + cache.Account.String()
	}
	switch {
	case cache.Synced && cache.Err == nil:
		check.State, check.Detail = telemetry.Ready, "synced"
		return check
	case cache.Synced:
		check.State, check.Detail = telemetry.Degraded, "synced, and cut off since: "+cache.Err.Error()
		return check
	case cache.Err == operator.ErrUnreviewed: //nolint:errorlint // Wrapped, it has a cause that may last.
		check.Detail = cache.Err.Error()
	case cache.Err != nil:
		check.State, check.Detail = telemetry.Degraded, cache.Err.Error()
	default:
		check.Detail = "listing"
	}
	if len(rules) > 0 {
		check.Detail += "; rules wait for it: " + strings.Join(rules, ", ")
	}
	return check
}

// cacheOf is a cache of an identity.
type cacheOf struct {
	account types.NamespacedName
	key     informer.Key
}

// mostWaiting is how many rules are named that wait for a cache.
const mostWaiting = 5

// waitingFor names the rules that need each cache that is not synced, the first of them where there are many.
func waitingFor(all *rules.Set, caches []operator.Cache) map[cacheOf][]string {
	out := map[cacheOf][]string{}
	if all == nil || !slices.ContainsFunc(caches, func(c operator.Cache) bool { return !c.Synced }) {
		return out
	}
	needed := map[cacheOf][]plan.Rule{}
	for _, rule := range all.Rules() {
		for _, selection := range slices.Concat(rule.Watches(), rule.Related()) {
			at := cacheOf{rule.Identity(), selection}
			if known := needed[at]; len(known) == 0 || known[len(known)-1] != rule.ID {
				needed[at] = append(known, rule.ID)
			}
		}
	}
	for _, cache := range caches {
		at := cacheOf{cache.Account, cache.Key}
		found := needed[at]
		if cache.Synced || len(found) == 0 {
			continue
		}
		out[at] = document.Few(ruleNames(found...), mostWaiting)
	}
	return out
}
