package operator

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// Operator runs the rules of a process. It is safe for concurrent use.
type Operator struct {
	options Options
	client  dynamic.Interface // as the process, for set objects
	files   inventory.Store   // of the sets in files, of all tenants
	dryRun  *dryRun           // nil where writes are stored
	known   inventory.Store   // the same, to be read while somebody else leads
	learned learned
	peers   *informer.Peers // of all tenants
	pace    access.Pace     // of the looks at their accounts

	mu      sync.Mutex
	rules   *rules.Set             // of files; guarded by mu
	objects map[source.Key]*object // guarded by mu
	// revised has the revision of each set object at which its status last had a reason to be
	// another one that neither the object nor a tenant shows; guarded by mu.
	revised map[source.Key]uint64
	left    map[types.NamespacedName]bool    // accounts of sets in files that may be gone; guarded by mu
	tenants map[types.NamespacedName]*tenant // guarded by mu
	runs    map[source.Key]*tenant           // who carries out the rules of a set, or did last; guarded by mu
	moving  map[source.Key]*succession       // the sets of which somebody else is yet to do so; guarded by mu
	listed  bool                             // the set objects are known; guarded by mu
	undone  bool                             // not all tenants have what they should; guarded by mu
	news    chan struct{}                    // closed when there are other tenants; guarded by mu
	// consumed has the rules that sets still seem to ask to resume; guarded by mu.
	consumed map[plan.Rule]consumed

	// revisions counts what may have another status told.
	revisions atomic.Uint64
	statuses  *setstatus.Writer
	notices   *notices
	events    engine.Recorder // as the process, of pauses
	leaving   chan struct{}   // has a value when sets may have to be let go of
}

// New returns an operator without rules.
func New(options Options) (*Operator, error) {
	client, err := dynamic.NewForConfig(options.Fence.Guard(options.Cluster.Config))
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	files, known, err := inventories(&options, client)
	if err != nil {
		return nil, err
	}
	o := &Operator{
		options: options, client: client, files: files, known: known,
		rules: &rules.Set{}, objects: map[source.Key]*object{}, revised: map[source.Key]uint64{}, left: map[types.NamespacedName]bool{},
		tenants: map[types.NamespacedName]*tenant{}, runs: map[source.Key]*tenant{}, news: make(chan struct{}), leaving: make(chan struct{}, 1),
	}
	if options.dryRun() {
		o.dryRun = newDryRun(options.Clock)
	}
	o.consumed = map[plan.Rule]consumed{}
	o.notices, o.peers = newNotices(), informer.NewPeers()
	if o.events, err = newEvents(&options); err != nil {
		return nil, err
	}
	o.statuses = setstatus.NewWriter(client, o.updates, options.Clock, options.Log)
	return o, nil
}

// inventories are what the sets in files have left, and the same to be read while somebody
// else leads. A process without files needs no right to read the ConfigMap.
func inventories(options *Options, client dynamic.Interface) (files, known inventory.Store, err error) {
	if !options.holdsFiles() {
		none := &inventory.Memory{}
		return none, none, nil
	}
	cluster := options.Cluster
	if files, err = NewInventory(client, cluster.Namespace, options.Settings.Instance); err != nil {
		return nil, nil, err
	}
	reader, err := dynamic.NewForConfig(cluster.Config)
	if err != nil {
		return nil, nil, fmt.Errorf("making a client: %w", err)
	}
	if known, err = NewInventory(reader, cluster.Namespace, options.Settings.Instance); err != nil {
		return nil, nil, err
	}
	if options.dryRun() {
		files = inventory.NewDryRun(known)
	}
	return files, known, nil
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
	o.retake()
	if err := o.regroup(); err != nil {
		o.rules, o.objects = before, objects
		return fmt.Errorf("changing the rules: %w", errors.Join(err, o.regroup()))
	}
	return nil
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

// accounts lists the identities that have rules, or something to clean up. The
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
	select {
	case o.leaving <- struct{}{}:
	default:
	}
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
