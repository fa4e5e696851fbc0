package operator

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// book is what a tenant may have left: of a set object in its status, of sets in files
// in the ConfigMap of the instance, which all tenants share. It remembers what goes
// wrong, by set, and is safe for concurrent use.
type book struct {
	inventory.Store

	mu      sync.Mutex
	unkept  map[source.Key]error // why the inventory of a set could not be written; guarded by mu
	unswept map[source.Key]error // why it could not be cleaned up after; guarded by mu
}

// newBook returns the book of a tenant.
func (o *Operator) newBook(t *tenant) *book {
	b := &book{unkept: map[source.Key]error{}, unswept: map[source.Key]error{}}
	b.Store = inventory.Join(func() inventory.Parts { return o.parts(t, b) })
	return b
}

// parts are the stores in which a tenant has something to look after now.
func (o *Operator) parts(t *tenant, b *book) inventory.Parts {
	o.mu.Lock()
	defer o.mu.Unlock()
	sets := map[plan.Rule]inventory.Store{}
	for key, set := range o.objects {
		if slices.Contains(set.accounts(), t.account) {
			sets[ruleOf(key)] = noting{o.inventoryOf(key), b, key}
		}
	}
	mine := o.ownership(t.account)
	return inventory.Parts{Sets: sets, Rest: inventory.Scope(o.files, mine), Account: t.account}
}

// ownership tells which leftovers of sets in files an account looks after: those of its
// sets, whoever left them, and those that it left for sets that are gone. A set of which
// there is an object is not gone, whether that is in effect or being deleted: whoever
// may make and delete objects does not decide about files. The lock is held.
func (o *Operator) ownership(account types.NamespacedName) func(plan.Leftover) bool {
	runs := owners(o.rules)
	resting := map[source.Key]bool{}
	for key, set := range o.objects {
		if set.effective() != nil {
			maps.Copy(runs, owners(set.effective()))
		} else {
			resting[key] = true
		}
	}
	unknown := o.options.Settings.FromCluster && !o.listed
	return func(l plan.Leftover) bool {
		set := keyOf(l.Rule)
		if owner, known := runs[set]; known {
			return owner == account
		}
		return !unknown && !resting[set] && l.Account == account
	}
}

// inventoryOf is what a set object may have left.
func (o *Operator) inventoryOf(key source.Key) *inventory.Object {
	return inventory.NewObject(o.client.Resource(v1alpha1.ResourceOf(key.Kind)).Namespace(key.Namespace), ruleOf(key))
}

// ruleOf stands for a set, as a rule without a name.
func ruleOf(key source.Key) plan.Rule {
	return plan.Rule{Kind: key.Kind, Namespace: key.Namespace, Set: key.Name}
}

func keyOf(rule plan.Rule) source.Key {
	return source.Key{Kind: rule.Kind, Namespace: rule.Namespace, Name: rule.Set}
}

// noting remembers how the last update of the inventory of a set went.
type noting struct {
	inventory.Store
	book *book
	set  source.Key
}

// Update implements [inventory.Store].
func (n noting) Update(ctx context.Context, change func(inventory.Book) inventory.Book) (inventory.Book, error) {
	out, err := n.Store.Update(ctx, change)
	if !errors.Is(err, context.Canceled) {
		n.book.note(n.book.unkept, n.set, err)
	}
	return out, err
}

func (b *book) note(in map[source.Key]error, set source.Key, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if delete(in, set); err != nil {
		in[set] = err
	}
}

// troubles are why a set could not be recorded, and not be cleaned up after.
func (b *book) troubles(set source.Key) (unkept, unswept error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.unkept[set], b.unswept[set]
}

// sweep cleans up set by set, so that it is known which of them it fails for.
func (b *book) sweep(ctx context.Context, options cleanup.Options, leftovers []plan.Leftover) (done []plan.Leftover, err error) {
	for len(leftovers) > 0 {
		set := leftovers[0].Rule.OfSet()
		var of, others []plan.Leftover
		for _, l := range leftovers {
			if l.Rule.OfSet() == set {
				of = append(of, l)
			} else {
				others = append(others, l)
			}
		}
		swept, failed := cleanup.Sweep(ctx, options, of)
		if !errors.Is(failed, context.Canceled) {
			b.note(b.unswept, keyOf(set), failed)
		}
		done, err, leftovers = append(done, swept...), errors.Join(err, failed), others
	}
	return done, err
}

// prunes reports whether to clean up after a set that is gone. A set object is there
// until that is done; of one that is refused nothing is known.
func (o *Operator) prunes(set plan.Rule) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if object := o.objects[keyOf(set)]; object != nil {
		return object.Deleting
	}
	return o.options.Settings.Prune
}
