package operator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// book is what a tenant may have left: of a set object in its status, of sets in files
// in the ConfigMap of the instance, which all tenants share. It remembers what goes
// wrong, by set, and is safe for concurrent use.
type book struct {
	inventory.Part
	changed func() // what went wrong is something else

	mu      sync.Mutex
	stored  map[source.Key]stored // what the last update of each inventory stored; guarded by mu
	unkept  map[source.Key]error  // why the inventory of a set could not be written; guarded by mu
	unswept map[source.Key]error  // why it could not be cleaned up after; guarded by mu
	kept    map[source.Key]error  // why that is not tried; guarded by mu
}

// stored is what a set object had in its inventory after an update, and how the object looked
// to the watch then.
type stored struct {
	book  inventory.Book
	shown *object
}

// current reports whether the inventory of a set is still that one, as far as the watch shows.
// Nobody else writes to it, but for people. Of one that is being deleted that is not asked.
func (s stored) current(set *object) bool {
	return s.shown != nil && !set.Deleting && s.shown.UID == set.UID && s.shown.Generation == set.Generation && s.shown.Finalizer == set.Finalizer &&
		slices.Equal(s.book.Asked(ruleOf(set.Key)), set.asked()) &&
		reflect.DeepEqual(s.shown.Status.Inventory, set.Status.Inventory) &&
		reflect.DeepEqual(s.shown.Status.Paused, set.Status.Paused) && reflect.DeepEqual(s.shown.Status.Counted, set.Status.Counted) &&
		reflect.DeepEqual(s.shown.Status.Rollouts, set.Status.Rollouts)
}

// asked names the rules that the object of a set was last known to ask to resume.
func (b *book) asked(set source.Key) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stored[set].book.Asked(ruleOf(set))
}

// leftovers is where it is noted what sets may have left.
type leftovers struct {
	*core
	files     inventory.Part                   // of the sets in files, of all tenants
	known     inventory.Part                   // the same, to be read while somebody else leads
	simulated map[source.Key]*inventory.Memory // of set objects, in a dry run; guarded by mu
}

// newLeftovers has a function told what is noted of sets in files.
func newLeftovers(c *core, noted func(context.Context, inventory.Book)) (*leftovers, error) {
	l := &leftovers{core: c, files: &inventory.Memory{}, simulated: map[source.Key]*inventory.Memory{}}
	l.known = l.files
	if c.options.holdsFiles() { // A process without files needs no right to read the ConfigMap.
		reader, err := client.Dynamic(c.options.Cluster.Config)
		if err != nil {
			return nil, fmt.Errorf("making a client: %w", err)
		}
		if l.known, err = NewInventory(reader, c.options.Cluster.Namespace, c.options.Settings.Instance); err != nil {
			return nil, err
		}
		if l.files, err = NewInventory(c.client, c.options.Cluster.Namespace, c.options.Settings.Instance); err != nil {
			return nil, err
		}
		if c.options.dryRun() {
			l.files = inventory.NewDryRun(l.known)
		}
	}
	l.files = watched{l.files, noted}
	return l, nil
}

// parts are the stores in which a tenant has something to look after now.
func (l *leftovers) parts(t *tenant) inventory.Parts {
	l.mu.Lock()
	defer l.mu.Unlock()
	sets := map[plan.Rule]inventory.Part{}
	for key, set := range l.objects {
		if slices.Contains(set.accounts(), t.account) && l.handovers[key] == nil {
			sets[ruleOf(key)] = noting{l.storeOf(set), t.book, set}
		}
	}
	t.book.mu.Lock()
	maps.DeleteFunc(t.book.stored, func(key source.Key, _ stored) bool { return sets[ruleOf(key)] == nil })
	t.book.mu.Unlock()
	return inventory.Parts{Sets: sets, Rest: inventory.Scope(l.files, l.ownership(t.account)), Account: t.account}
}

// watched is the inventory of sets in files. It tells what an update has stored.
type watched struct {
	inventory.Part
	noted func(context.Context, inventory.Book)
}

// Read implements [inventory.Part].
func (w watched) Read(ctx context.Context) (inventory.Book, inventory.Replace, error) {
	before, replace, err := w.Part.Read(ctx)
	return before, func(ctx context.Context, after inventory.Book) (inventory.Book, error) {
		book, err := replace(ctx, after)
		if err == nil {
			w.noted(ctx, book)
		}
		return book, err
	}, err
}

// ownership tells which leftovers of sets in files an account looks after: those of its
// sets, whoever left them, and those that it left for sets that are gone. A set of which
// there is an object is not gone, whether that is in effect or being deleted: whoever
// may make and delete objects does not decide about files. Nor is one that is yet to be
// taken over. The lock is held.
func (l *leftovers) ownership(account types.NamespacedName) func(plan.Leftover) bool {
	runs := owners(l.rules)
	resting := map[source.Key]bool{}
	for key, set := range l.objects {
		if set.effective() != nil {
			maps.Copy(runs, owners(set.effective()))
		} else {
			resting[key] = true
		}
	}
	for set := range l.handovers {
		delete(runs, set)
		resting[set] = true
	}
	unknown := l.options.Settings.FromCluster && !l.listed
	return func(l plan.Leftover) bool {
		set := keyOf(l.Rule)
		if owner, known := runs[set]; known {
			return owner == account
		}
		return !unknown && !resting[set] && l.Account == account
	}
}

// of is what a set object may have left, of the version of the object that is
// known here and of no other.
func (l *leftovers) of(set *object) *inventory.Object {
	return inventory.NewObject(l.setClient(set.Key), ruleOf(set.Key), set.UID, set.Generation)
}

// setClient is as the process.
func (c *core) setClient(key source.Key) dynamic.ResourceInterface {
	return c.client.Resource(v1alpha1.ResourceOf(key.Kind)).Namespace(key.Namespace)
}

// confirmedFor is how long a set object that was read live counts as unchanged.
const confirmedFor = time.Second

// confirmer is for one sweep of a tenant. The function that it returns reads a set object
// live, and returns an error unless that is the version that the tenant goes by: a watch
// that trails may not show yet that the set has a rule again, or was made anew. What a set in
// files says is in the files alone.
func (l *leftovers) confirmer(t *tenant) func(context.Context, plan.Rule) error {
	confirmed := map[plan.Rule]time.Time{}
	return func(ctx context.Context, rule plan.Rule) error {
		rule, key, now := rule.OfSet(), keyOf(rule), l.options.Clock.Now()
		if at, known := confirmed[rule]; known && now.Sub(at) < confirmedFor {
			return nil
		}
		l.mu.Lock()
		_, inFiles := owners(l.rules)[key]
		set, current := l.objects[key], t.given != nil
		l.mu.Unlock()
		switch {
		case inFiles || !l.options.Settings.FromCluster:
			return nil
		case set != nil && !set.Deleting && (set.refused() || !current):
			return errRefused
		}
		live, err := l.setClient(key).Get(ctx, key.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) && set == nil:
		case err != nil && !apierrors.IsNotFound(err):
			return fmt.Errorf("reading %s, which is cleaned up after: %w", key, err)
		case err != nil || set == nil || set.UID != live.GetUID() || set.Generation != live.GetGeneration():
			return inventory.ErrChanged
		}
		confirmed[rule] = now
		return nil
	}
}

// errRefused keeps what a set has left while its present version is not in effect.
var errRefused = errors.New("the present version of the set is not in effect, so it is not known what it wants to keep")

// storeOf is where it is noted what a set object may have left. The lock is held.
func (l *leftovers) storeOf(set *object) inventory.Part {
	if !l.options.dryRun() {
		return l.of(set)
	}
	if l.simulated[set.Key] == nil {
		l.simulated[set.Key] = &inventory.Memory{}
	}
	l.simulated[set.Key].Hear(l.of(set))
	return l.simulated[set.Key]
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
	inventory.Part
	book *book
	set  *object
}

// Read implements [inventory.Part]. What is known to be stored is read only if something else is to replace it.
func (n noting) Read(ctx context.Context) (inventory.Book, inventory.Replace, error) {
	n.book.mu.Lock()
	last := n.book.stored[n.set.Key]
	n.book.mu.Unlock()
	if !last.current(n.set) {
		return n.read(ctx)
	}
	return last.book, func(ctx context.Context, after inventory.Book) (inventory.Book, error) {
		if n.keeping(last.book, after).Equal(last.book) {
			return last.book, nil
		}
		now, replace, err := n.read(ctx)
		if err != nil {
			return inventory.Book{}, err
		}
		if !now.Equal(last.book) {
			n.done(inventory.Book{}, inventory.ErrOvertaken)
			return inventory.Book{}, inventory.ErrOvertaken
		}
		return replace(ctx, after)
	}, nil
}

// read reads what is stored.
func (n noting) read(ctx context.Context) (inventory.Book, inventory.Replace, error) {
	before, replace, err := n.Part.Read(ctx)
	if err != nil {
		n.done(inventory.Book{}, err)
		return inventory.Book{}, nil, err
	}
	return before, func(ctx context.Context, after inventory.Book) (inventory.Book, error) {
		book, err := replace(ctx, n.keeping(before, after))
		n.done(book, err)
		return book, err
	}, nil
}

// done notes what is stored, or why it is not known.
func (n noting) done(book inventory.Book, err error) {
	n.book.mu.Lock()
	switch delete(n.book.stored, n.set.Key); {
	case err == nil:
		n.book.stored[n.set.Key] = stored{book, n.set}
	case errors.Is(err, inventory.ErrAsked): // It is stored, and to be read again.
		n.book.stored[n.set.Key] = stored{book, nil}
		err = nil
	}
	n.book.mu.Unlock()
	if !passing(err) {
		n.book.note(n.book.unkept, n.set.Key, err)
	}
}

// keeping is a book to be stored. Where the present version of the set is refused, rules that only it has stay paused.
func (n noting) keeping(before, after inventory.Book) inventory.Book {
	good := n.set.effective()
	if good == nil || !n.set.refused() {
		return after
	}
	limits := after.Limits()
	for rule, stored := range before.Limits() {
		if limits[rule].Pause == nil && !slices.Contains(good.IDs(), rule) {
			limits[rule] = limit.Stored{Pause: stored.Pause, Counts: limits[rule].Counts, Rollout: limits[rule].Rollout}
		}
	}
	return after.Limiting(limits)
}

// passing reports whether an error is over by itself, and says nothing about the set.
func passing(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, inventory.ErrChanged) || errors.Is(err, inventory.ErrOvertaken)
}

func (b *book) note(in map[source.Key]error, set source.Key, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if text(in[set]) == text(err) {
		return
	}
	if delete(in, set); err != nil {
		in[set] = err
	}
	b.changed()
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
		if !passing(failed) {
			b.note(b.unswept, keyOf(set), failed)
		}
		done, err, leftovers = append(done, swept...), errors.Join(err, failed), others
	}
	return done, err
}

// prunes reports whether to clean up after a set that is gone. A set object is there
// until that is done; of one that is refused nothing is known.
func (l *leftovers) prunes(set plan.Rule) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if object := l.objects[keyOf(set)]; object != nil {
		return object.Deleting
	}
	return l.options.Settings.Prune
}

// orphansAgain is how long after an error the inventory is read again.
const orphansAgain = 15 * time.Second

// findOrphans looks for what sets in files have left as identities that no set has any
// more, so that there is somebody to clean up, or to tell of it. It tries until it
// knows, or the context is done. While somebody else leads there may come others.
func (o *Operator) findOrphans(ctx context.Context) {
	for o.options.holdsFiles() {
		if o.leftovers.adopt(ctx) == nil {
			o.mu.Lock()
			o.regroupNow()
			o.mu.Unlock()
			return
		}
		select { // The housekeeping of the tenants says what is wrong.
		case <-o.options.Clock.After(orphansAgain):
		case <-ctx.Done():
			return
		}
	}
}

// adopt has the accounts among those of the operator that have left something for sets in files.
func (l *leftovers) adopt(ctx context.Context) error {
	book, err := inventory.Load(ctx, l.known)
	if err != nil {
		return fmt.Errorf("looking who has left something: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, left := range book.All() {
		l.left[left.Account] = true
	}
	return nil
}

// release ends the tenants of accounts that have no rules any more, and have left nothing by
// the book. What is known of an account may be newer than that, so the book is read again.
func (o *Operator) release(ctx context.Context, book inventory.Book) {
	o.mu.Lock()
	idle := o.idle(book)
	o.mu.Unlock()
	if len(idle) == 0 {
		return
	}
	book, err := inventory.Load(ctx, o.leftovers.known)
	if err != nil {
		return // The next update looks again.
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	released := false
	for _, account := range o.idle(book) {
		if slices.Contains(idle, account) {
			delete(o.left, account)
			released = true
		}
	}
	if released {
		o.regroupNow()
	}
}
