package operator

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/internal/source"
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
	known   inventory.Store   // the same, to be read while somebody else leads
	queued  atomic.Int64      // objects that wait for a worker, of all tenants

	mu      sync.Mutex
	rules   *rules.Set                       // of files; guarded by mu
	objects map[source.Key]*object           // guarded by mu
	left    map[types.NamespacedName]bool    // accounts of sets in files that may be gone; guarded by mu
	tenants map[types.NamespacedName]*tenant // guarded by mu
	news    chan struct{}                    // closed when there are other tenants; guarded by mu

	statuses *setstatus.Writer
	leaving  chan struct{} // has a value when sets may have to be let go of
}

// New returns an operator without rules.
func New(options Options) (*Operator, error) {
	client, err := dynamic.NewForConfig(options.Fence.Guard(options.Cluster.Config))
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	files, err := NewInventory(client, options.Cluster.Namespace, options.Settings.Instance)
	if err != nil {
		return nil, err
	}
	reader, err := dynamic.NewForConfig(options.Cluster.Config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	known, err := NewInventory(reader, options.Cluster.Namespace, options.Settings.Instance)
	if err != nil {
		return nil, err
	}
	o := &Operator{
		options: options, client: client, files: files, known: known,
		rules: &rules.Set{}, objects: map[source.Key]*object{}, left: map[types.NamespacedName]bool{},
		tenants: map[types.NamespacedName]*tenant{}, news: make(chan struct{}), leaving: make(chan struct{}, 1),
	}
	o.statuses = setstatus.NewWriter(client, o.updates, options.Clock, options.Log)
	return o, nil
}

// SetFiles replaces the rules that come from files, as a whole. Where that fails, those
// from before stay in effect.
func (o *Operator) SetFiles(set *rules.Set) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.rules
	o.rules = set
	if err := o.regroup(); err != nil {
		o.rules = before
		return fmt.Errorf("changing the rules: %w", err)
	}
	return nil
}

// regroup gives each tenant the rules of its identity. The lock is held.
func (o *Operator) regroup() error {
	all := o.joined()
	wanted := o.accounts(all)
	for _, account := range wanted {
		if o.tenants[account] != nil {
			continue
		}
		t, err := o.newTenant(account)
		if err != nil {
			return err
		}
		o.tenants[account] = t
	}
	var failed error
	for _, t := range o.sorted() {
		set := all.Of(t.account)
		if failed = t.setRules(set); failed != nil {
			break
		}
		if !slices.Contains(wanted, t.account) {
			delete(o.tenants, t.account)
			close(t.gone)
		}
	}
	close(o.news)
	o.news = make(chan struct{})
	o.changed()
	return failed
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

// owners are the identities of the sets in effect, by the set, and nobody for set
// objects that are not. The lock is held.
func (o *Operator) owners() map[plan.Rule]types.NamespacedName {
	out := map[plan.Rule]types.NamespacedName{}
	for _, rule := range o.joined().Rules() {
		out[setOf(rule.ID)] = rule.Identity()
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

// changed says that the status of set objects may be out of date.
func (o *Operator) changed() {
	o.statuses.Nudge()
	select {
	case o.leaving <- struct{}{}:
	default:
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
