package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/internal/config"
	"github.com/dyncontroller/dyncontroller/internal/election"
	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/dryrun"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// Cluster is the cluster that an operator works in, as the process itself.
type Cluster struct {
	Config    *rest.Config
	Namespace string // of the process
	Discovery discovery.DiscoveryInterface
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
	// Observers are told what all engines do.
	Observers []engine.Observer
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
	options Options
	client  dynamic.Interface // as the process, for set objects
	files   inventory.Part    // of the sets in files, of all tenants
	known   inventory.Part    // the same, to be read while somebody else leads
	dryRun  *dryrun.DryRun    // what would be stored; nil where it is
	caches  *informer.Shared  // of all tenants
	pace    *rate.Limiter     // of the looks at their accounts
	learned learned

	mu        sync.Mutex
	rules     *rules.Set                       // of files; guarded by mu
	objects   map[source.Key]*object           // guarded by mu
	left      map[types.NamespacedName]bool    // accounts of sets in files that may be gone; guarded by mu
	tenants   map[types.NamespacedName]*tenant // guarded by mu
	runs      map[source.Key]*tenant           // who carries out the rules of a set, or did last; guarded by mu
	handovers map[source.Key]*handover         // the sets of which somebody else is yet to do so; guarded by mu
	listed    bool                             // the set objects are known; guarded by mu
	undone    bool                             // not all tenants have what they should; guarded by mu
	news      chan struct{}                    // closed when there are other tenants; guarded by mu
	simulated map[source.Key]inventory.Part    // of set objects, in a dry run; guarded by mu
	consumed  map[plan.Rule]consumed           // the rules that sets still seem to ask to resume; guarded by mu

	revisions atomic.Uint64 // counts what may have another status told
	statuses  *setstatus.Writer
	notices   workqueue.TypedRateLimitingInterface[notice] // about pauses; made by who has engines run
	events    engine.Recorder                              // as the process, of pauses
	deletions chan struct{}                                // has a value when finalizers may have to be removed
}

// New returns an operator without rules.
func New(options Options) (*Operator, error) {
	guarded := options.Fence.Guard(options.Cluster.Config)
	client, err := dynamic.NewForConfig(guarded)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	o := &Operator{
		options: options, client: client, files: &inventory.Memory{}, caches: informer.NewShared(), pace: access.NewPace(),
		rules: &rules.Set{}, objects: map[source.Key]*object{}, left: map[types.NamespacedName]bool{},
		tenants: map[types.NamespacedName]*tenant{}, runs: map[source.Key]*tenant{}, consumed: map[plan.Rule]consumed{}, simulated: map[source.Key]inventory.Part{},
		news: make(chan struct{}), deletions: make(chan struct{}, 1),
	}
	o.known = o.files
	if options.holdsFiles() { // A process without files needs no right to read the ConfigMap.
		reader, err := dynamic.NewForConfig(options.Cluster.Config)
		if err != nil {
			return nil, fmt.Errorf("making a client: %w", err)
		}
		if o.known, err = NewInventory(reader, options.Cluster.Namespace, options.Settings.Instance); err != nil {
			return nil, err
		}
		if o.files, err = NewInventory(client, options.Cluster.Namespace, options.Settings.Instance); err != nil {
			return nil, err
		}
	}
	if options.dryRun() {
		o.dryRun = dryrun.New(options.Clock)
		if options.holdsFiles() {
			o.files = inventory.NewDryRun(o.known)
		}
	} else if o.events, err = write.NewRecorder(guarded, options.Instance, options.Clock); err != nil {
		return nil, fmt.Errorf("preparing to record events: %w", err)
	}
	o.statuses = setstatus.NewWriter(client, o.updates, options.Clock, options.Log)
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
	tenants, _ := o.present()
	for _, t := range tenants {
		t.close()
	}
}

// Lead has the tenants work until the context is done. Writes that are under way are
// finished. It is called once, while Run runs.
func (o *Operator) Lead(ctx context.Context) {
	var others sync.WaitGroup
	o.notices = newNotices(o.options.Clock)
	others.Go(func() { o.findOrphans(ctx) }) // Who led before may have left others.
	if !o.options.dryRun() {
		others.Go(func() { o.statuses.Run(ctx) })
		others.Go(func() { o.removeFinalizers(ctx) })
		others.Go(func() { o.giveNotices(ctx) })
	}
	o.each(ctx, func(ctx context.Context, t *tenant) { t.work(ctx) })
	o.notices.ShutDown()
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

// present lists the tenants in order, with a channel that is closed when there are
// others.
func (o *Operator) present() ([]*tenant, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sorted(), o.news
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
	o.take(all, nil, false) // A file may have the same sets.
	if err := o.regroup(); err != nil {
		o.rules, o.objects = before, objects
		return fmt.Errorf("changing the rules: %w", errors.Join(err, o.regroup()))
	}
	return nil
}

// regroup gives each tenant the rules of its identity. A tenant of which nothing has
// changed is left alone, so that nobody is disturbed by the changes of others, nor by
// what goes wrong with them. Files are in effect as a whole or not at all: where a tenant
// of theirs cannot be had, all stays as it was. The lock is held.
func (o *Operator) regroup() error {
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
	o.ask()
	for _, t := range o.sorted() {
		errs = append(errs, t.take(cmp.Or(now[t.account], &rules.Set{}), fmt.Sprintln(o.listed)+string(concerns[t.account])))
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

// joined are all rules that are to be in effect. The lock is held.
func (o *Operator) joined() *rules.Set {
	sets := []*rules.Set{o.rules}
	for _, object := range o.inOrder() {
		if object.effective() != nil {
			sets = append(sets, object.effective())
		}
	}
	return rules.Join(sets...)
}

// accounts lists the identities that have rules, or something to clean up, in order. The
// process's own is among them: it tells of sets that are gone. The lock is held.
func (o *Operator) accounts(all *rules.Set) []types.NamespacedName {
	out := maps.Clone(o.left)
	out[types.NamespacedName{}] = true
	for _, account := range all.Identities() {
		out[account] = true
	}
	for _, set := range o.objects {
		for _, account := range set.accounts() {
			out[account] = true
		}
	}
	return slices.SortedFunc(maps.Keys(out), byName)
}

// concerns are what tenants have to look after besides their rules: what set objects may have
// left. A set that a file has as well concerns who acts for the file. The lock is held.
func (o *Operator) concerns() map[types.NamespacedName][]byte {
	out, files := map[types.NamespacedName][]byte{}, owners(o.rules)
	for _, set := range o.inOrder() {
		whose := set.accounts()
		if set.taken {
			whose = append(whose, files[set.Key])
		}
		for _, account := range whose {
			out[account] = fmt.Appendln(out[account], set.Key, set.UID, set.Deleting, set.taken)
		}
	}
	return out
}

// sorted lists the tenants in order. The lock is held.
func (o *Operator) sorted() []*tenant {
	return slices.SortedFunc(maps.Values(o.tenants), func(a, b *tenant) int { return byName(a.account, b.account) })
}

func byName(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// revision is that of something that has just changed.
func (o *Operator) revision() uint64 { return o.revisions.Add(1) }

// changed says that the status of set objects may be out of date: those whose revision is
// another one.
func (o *Operator) changed() {
	o.statuses.Nudge()
	signal(o.deletions)
}

// Listed reports whether the set objects that there were at the start are known, and
// have their caches.
func (o *Operator) Listed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.listed
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
