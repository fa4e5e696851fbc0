package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/discovery"
	"github.com/dyncontroller/dyncontroller/internal/election"
	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/dryrun"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// Cluster is the cluster that an operator works in, as the process itself.
type Cluster struct {
	Config    *rest.Config
	Namespace string // of the process
	Discovery *discovery.Client
}

// Options are what an operator works with. Cluster, Log and Clock are required.
type Options struct {
	Cluster  Cluster
	Settings config.Config
	// Fence bounds writes by the lease of the process, nil where it needs none.
	Fence *election.Fence
	// Rules says how set objects are compiled, but for their schemas.
	Rules rules.Options
	// Access says when accounts are looked at; zero for [access.DefaultIntervals]. Only tests set it.
	Access access.Intervals
	// Writer wraps the writers of all identities, each with a reader of the same rights; nil for nothing. In the context of a
	// write, [redact.Hidden] tells what must not be shown of it.
	Writer func(cleanup.Writer, *live.Reader) cleanup.Writer
	// Observers are told what all engines do. With Explain, decisions of rules that did not match have a reason.
	Observers []engine.Observer
	Explain   bool
	// Cleaned is told what is cleaned up after rules that are gone; nil for nobody.
	Cleaned func(cleanup.Report)
	// Changed is told of all rules that are in effect, each time that there may be others;
	// nil for nobody. It must not call the operator.
	Changed func(*rules.Set)
	// Instance names this process in Events.
	Instance string
	Log      *slog.Logger
	Clock    clock.WithTicker
}

// dryRun reports whether nothing is to be stored.
func (o *Options) dryRun() bool { return o.Settings.DryRun != config.DryRunNone }

// holdsFiles reports whether there is an inventory of sets in files.
func (o *Options) holdsFiles() bool { return len(o.Settings.Rules) > 0 }

// Operator runs the rules of a process. It is safe for concurrent use.
type Operator struct {
	core
	leftovers *leftovers
	notifier  *notifier
	dryRun    *dryrun.DryRun   // what would be stored; nil where it is
	caches    *informer.Shared // of all tenants
	pace      *rate.Limiter    // of the looks at their accounts
	learned   learned
	ended     bool // Run has; guarded by mu
}

// core is what all parts of an operator share.
type core struct {
	options Options
	client  dynamic.Interface // as the process, for set objects
	state
	shared    *engine.Shared // by the engines of all tenants
	revisions atomic.Uint64  // counts what may have another status told
	statuses  *setstatus.Writer
	deletions chan struct{} // has a value when finalizers may have to be removed
}

// New returns an operator without rules.
func New(options Options) (*Operator, error) {
	if err := informer.Check(); err != nil {
		return nil, fmt.Errorf("preparing to watch: %w", err)
	}
	guarded := options.Fence.Guard(options.Cluster.Config)
	process, err := client.Dynamic(guarded)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	o := &Operator{
		core:   core{options: options, client: process, state: newState(), shared: engine.NewShared(options.Clock), deletions: make(chan struct{}, 1)},
		caches: informer.NewShared(), pace: access.NewPace(),
	}
	if o.leftovers, err = newLeftovers(&o.core, o.release); err != nil {
		return nil, err
	}
	o.notifier = &notifier{core: &o.core}
	if options.dryRun() {
		o.dryRun = dryrun.New(options.Clock)
	} else if o.notifier.events, err = write.NewRecorder(guarded, options.Instance, options.Clock); err != nil {
		return nil, fmt.Errorf("preparing to record events: %w", err)
	}
	o.statuses = setstatus.NewWriter(process, o.updates, options.Clock, options.Log)
	return o, nil
}

// Run keeps the tenants ready until the context is done: their rights are known, and
// their caches warm. It is called once, besides [Operator.Lead].
func (o *Operator) Run(ctx context.Context) {
	var others sync.WaitGroup
	others.Go(func() { o.findOrphans(ctx) })
	others.Go(func() { o.finishHandovers(ctx) })
	o.each(ctx, func(ctx context.Context, t *tenant) { t.access.Run(ctx) })
	others.Wait()
	o.mu.Lock()
	o.ended = true
	tenants := o.sorted()
	o.mu.Unlock()
	for _, t := range tenants {
		t.close()
	}
}

// Lead has the tenants work until the context is done. Writes that are under way are
// finished. It is called once, while Run runs.
func (o *Operator) Lead(ctx context.Context) {
	var others sync.WaitGroup
	o.notifier.open()
	others.Go(func() { o.findOrphans(ctx) }) // Who led before may have left others.
	if !o.options.dryRun() {
		others.Go(func() { o.statuses.Run(ctx) })
		others.Go(func() { o.leftovers.removeFinalizers(ctx) })
		others.Go(func() { o.notifier.run(ctx) })
	}
	o.each(ctx, func(ctx context.Context, t *tenant) { t.work(ctx) })
	o.notifier.queue.ShutDown()
	others.Wait()
}

// each does something for every tenant that is there or comes, each in a goroutine of
// its own, whose context ends when the tenant goes. It returns when the context is done
// and all of them have.
func (o *Operator) each(ctx context.Context, do func(context.Context, *tenant)) {
	var all sync.WaitGroup
	defer all.Wait()
	begun := map[*tenant]bool{}
	for {
		tenants, news := o.present()
		still := map[*tenant]bool{}
		for _, t := range tenants {
			still[t] = true
			if begun[t] {
				continue
			}
			all.Go(func() {
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				all.Go(func() {
					select {
					case <-t.gone:
						cancel()
					case <-ctx.Done():
					}
				})
				do(ctx, t)
			})
		}
		begun = still
		select {
		case <-news:
		case <-ctx.Done():
			return
		}
	}
}

// SetFiles replaces the rules that come from files, as a whole. Where that fails, those
// from before stay in effect.
func (o *Operator) SetFiles(set *rules.Set) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	before, objects := o.rules, o.objects
	if o.options.holdsFiles() { // They may have left something as who they were.
		for _, account := range before.Identities() {
			if t := o.tenants[account]; t != nil && t.worked.Load() { // Who begins to lead looks for others.
				o.left[account] = true
			}
		}
	}
	o.rules = set
	all := make([]source.Object, 0, len(objects))
	for _, object := range objects {
		all = append(all, object.Object)
	}
	o.take(all, nil, false, &turn{}) // A file may have the same sets.
	if err := o.regroup(); err != nil {
		o.rules, o.objects = before, objects
		return fmt.Errorf("changing the rules: %w", errors.Join(err, o.regroup()))
	}
	return nil
}

// regroup gives each tenant the rules of its identity. A tenant of which nothing has
// changed is left alone, so that nobody is disturbed by the changes of others, nor by
// what goes wrong with them. Files are in effect as a whole or not at all: where a tenant
// of theirs cannot be had, all stays as it was. After Run has ended it does nothing: nobody would close another
// tenant. The lock is held.
func (o *Operator) regroup() error {
	if o.ended {
		return nil
	}
	all := o.joined()
	wanted := o.accounts(all)
	defer func() {
		close(o.news)
		o.news = make(chan struct{})
		o.changed()
	}()
	var errs []error
	for _, account := range wanted {
		if o.tenants[account] != nil {
			continue
		}
		t, err := o.newTenant(account)
		if err != nil {
			errs = append(errs, fmt.Errorf("running rules as %s: %w", accountName(account), err))
			continue
		}
		o.tenants[account] = t
	}
	for _, account := range o.rules.Identities() {
		if o.tenants[account] == nil {
			return errors.Join(errs...)
		}
	}
	concerns, now := o.concerns(), o.handedOver(all).ByIdentity()
	for _, t := range o.sorted() {
		t.take(cmp.Or(now[t.account], &rules.Set{}), fmt.Sprintln(o.listed)+string(concerns[t.account]))
	}
	for _, t := range o.sorted() { // Those that nobody needs any more have no rules by now.
		if _, found := slices.BinarySearchFunc(wanted, t.account, byName); !found {
			delete(o.tenants, t.account)
			close(t.gone)
			t.close()
		}
	}
	if o.options.Changed != nil {
		o.options.Changed(all)
	}
	return errors.Join(errs...)
}

// regroupNow does it for somebody who cannot be told of an error. The lock is held.
func (o *Operator) regroupNow() {
	if err := o.regroup(); err != nil {
		o.undone = true
		o.options.Log.Error("the rules could not be put into effect", "err", err)
	}
}

// revision is that of something that has just changed.
func (c *core) revision() uint64 { return c.revisions.Add(1) }

// changed says that the status of set objects may be out of date: those whose revision is
// another one.
func (c *core) changed() {
	c.statuses.Nudge()
	select {
	case c.deletions <- struct{}{}:
	default: // They are to be seen to already.
	}
}

// Cache is the state of one cache, and whose it is.
type Cache struct {
	Account types.NamespacedName // empty for the process's own
	informer.Status
}

// Caches lists the caches of all tenants in order.
func (o *Operator) Caches() []Cache {
	tenants, _ := o.present()
	var out []Cache
	for _, t := range tenants {
		for _, status := range t.informers.Status() {
			out = append(out, Cache{t.account, status})
		}
	}
	return out
}
