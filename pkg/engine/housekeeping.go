package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Housekeeping is how rules that are gone are cleaned up after.
type Housekeeping struct {
	// Inventory remembers what rules may have left on objects. A rule writes what has
	// to be cleaned up only once it is recorded there.
	Inventory inventory.Store
	// Sweep cleans up, and returns what is done; see package cleanup.
	Sweep func(ctx context.Context, leftovers []plan.Leftover) (done []plan.Leftover, err error)
	// Prune reports whether to clean up after a whole set that is gone, which otherwise
	// is only reported. It is asked with the set of a rule: the name is empty. A set that
	// somebody else runs must not be among them. Nil is for never.
	Prune func(set plan.Rule) bool
}

// The delays between attempts to tidy up.
const (
	firstTidy = time.Second
	lastTidy  = 5 * time.Minute
	// patience is the delay after which a settling engine tries no more.
	patience = 4 * time.Second
)

// housekeeper does the housekeeping of an engine. It is safe for concurrent use.
type housekeeper struct {
	engine *Engine
	news   chan struct{} // has a value when the rules have changed

	mu     sync.Mutex
	stop   context.CancelFunc // ends what is under way; guarded by mu
	halted bool               // the rules are about to change; guarded by mu
	anew   bool               // strays are to be searched for again; guarded by mu

	searched map[plan.Rule][]plan.Selection // for strays; of the goroutine alone
	told     string                         // of sets that are gone, likewise
	said     string                         // what went wrong, likewise
}

func newHousekeeper(e *Engine) *housekeeper {
	return &housekeeper{engine: e, news: make(chan struct{}, 1)}
}

// halt says that the rules are about to change, or that others wait for their caches. What
// is under way ends, since a rule may have come back.
func (h *housekeeper) halt() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.halted = true
	if h.stop != nil {
		h.stop()
	}
}

// searchAgain has it look again for objects that have left a selection unseen.
func (h *housekeeper) searchAgain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.anew = true
}

// resume lets it begin anew, with the rules that there are now.
func (h *housekeeper) resume() {
	h.mu.Lock()
	h.halted = false
	h.mu.Unlock()
	h.wake()
}

// wake has it look whether it can do more now.
func (h *housekeeper) wake() {
	select {
	case h.news <- struct{}{}:
	default:
	}
}

// run keeps house until the context is done.
func (h *housekeeper) run(ctx context.Context) {
	delay := firstTidy
	for {
		var retry <-chan time.Time
		err := h.tidy(ctx)
		switch {
		case err == nil:
			delay, h.said = firstTidy, ""
			h.engine.open.kept(nil)
		case h.harmless(err):
			h.say(err)
			h.engine.open.kept(nil)
		case ctx.Err() == nil:
			delay = h.undone(err, delay)
			retry = h.engine.options.Clock.After(delay)
			delay = min(2*delay, lastTidy)
		}
		select {
		case <-h.news:
			delay = firstTidy
		case <-retry:
		case <-ctx.Done():
			return
		}
	}
}

// undone tells what could not be done, and returns how long to wait before it is tried
// again.
func (h *housekeeper) undone(err error, delay time.Duration) time.Duration {
	unready := errors.Is(err, errIncomplete) || errors.Is(err, errLate) || errors.Is(err, inventory.ErrChanged)
	if delay > firstTidy || !unready { // Caches take a moment.
		h.say(err)
	}
	if unready && h.engine.open.busy() {
		delay = firstTidy // A list may take long, and is given up elsewhere.
	}
	if delay > patience || write.Classify(err) == write.Terminal {
		h.engine.open.kept(err)
	}
	return delay
}

// harmless reports whether it does not matter that nothing is recorded: the rules
// leave nothing, and none can be paused, so whoever runs them need not have the rights. What is not cleaned up
// does matter.
func (h *housekeeper) harmless(err error) bool {
	_, unclean := errors.AsType[uncleanError](err)
	now := h.engine.active.Load()
	return !unclean && len(now.leftovers)+len(now.rules.Limited) == 0 && apierrors.IsForbidden(err)
}

// say logs what goes wrong, once for as long as it is the same.
func (h *housekeeper) say(err error) {
	if text := err.Error(); text != h.said && !errors.Is(err, context.Canceled) {
		h.said = text
		h.engine.options.Log.Warn("housekeeping is not done", "err", err)
	}
}

// tidy records what the rules leave, looks for objects that have left a selection
// unseen, and cleans up after what is gone.
func (h *housekeeper) tidy(ctx context.Context) error {
	ctx, stop := h.interruptible(ctx)
	defer stop()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	now := h.engine.active.Load()
	book, partly := h.record(ctx, now)
	if _, rest := errors.AsType[*inventory.PartialError](partly); partly != nil && !rest {
		return partly
	}
	searched, strays := h.engine.enqueueStrays(ctx, now, h.known())
	h.searched = searched
	removed, gone := h.stale(book, now)
	err := h.cleanUp(ctx, now, slices.Concat(removed.All(), h.pruned(gone)))
	if err != nil {
		err = uncleanError{err}
	}
	return errors.Join(partly, strays, err)
}

// stale is what no rule leaves any more, neither of those in effect nor of those that wait
// for their caches.
func (h *housekeeper) stale(book inventory.Book, now *active) (removed, gone inventory.Book) {
	leftovers, ids := now.leftovers, now.set.IDs()
	if next, _, _ := h.engine.next.due(h.engine.options.Clock.Now()); next != nil {
		leftovers, ids = slices.Concat(leftovers, next.leftovers), slices.Concat(ids, next.set.IDs())
	}
	return book.Stale(leftovers, ids)
}

// uncleanError is why rules that are gone are not cleaned up after.
type uncleanError struct{ error }

// Unwrap gives the cause.
func (e uncleanError) Unwrap() error { return e.error }

// known is what has been searched for strays.
func (h *housekeeper) known() map[plan.Rule][]plan.Selection {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.anew {
		h.anew, h.searched = false, nil
	}
	return h.searched
}

// interruptible is to be called before the rules are looked up, so that none can come
// in between that the work is not interrupted for.
func (h *housekeeper) interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stop = stop
	if h.halted {
		stop()
	}
	return ctx, stop
}

// record writes down what the rules leave, and lets those go on that wait for it. Where
// only a part can be written, the others do not go on, and the error says so.
func (h *housekeeper) record(ctx context.Context, now *active) (inventory.Book, error) {
	limits, house := h.engine.guards.limits, h.engine.options.Housekeeping
	version := limits.Version()
	book, err := house.Inventory.Update(ctx, func(b inventory.Book) inventory.Book {
		return h.note(b.With(now.leftovers...), now)
	})
	if err != nil {
		err = fmt.Errorf("recording what rules leave: %w", err)
		if _, partly := errors.AsType[*inventory.PartialError](err); !partly {
			return book, err
		}
	}
	missing, _ := errors.AsType[*inventory.PartialError](err)
	read := func(set plan.Rule) bool { return now.sets[set] && !missing.Lacks(set) }
	limits.Learned(book.Counts(), book.Pauses(), read, version)
	if err == nil && limits.Unsaved() {
		h.engine.open.keepHouse()
		h.wake()
	}
	for _, key := range h.engine.guards.inventory.Recorded(book.Covered(now.leftovers)) {
		h.engine.enqueue(key)
	}
	return book, err
}

// note is the book with the pauses and counts that are known. Nobody can have paused a rule that is gone from a set which
// is there.
func (h *housekeeper) note(book inventory.Book, now *active) inventory.Book {
	gone := map[plan.Rule]bool{}
	lost := func(rule plan.Rule) {
		set, prune := rule.OfSet(), h.engine.options.Housekeeping.Prune
		gone[rule] = now.sets[set] || prune != nil && prune(set)
	}
	for _, pause := range book.Pauses() {
		lost(pause.Rule)
	}
	for _, count := range book.Counts() {
		lost(count.Rule)
	}
	isGone := func(id plan.Rule) bool { return gone[id] }
	limits := h.engine.guards.limits
	return book.Pausing(limits.Store(book.Pauses(), isGone)...).Counting(limits.StoreCounts(book.Counts(), isGone)...)
}

// pruned is what to clean up of sets that are gone; of the others it tells.
func (h *housekeeper) pruned(gone inventory.Book) []plan.Leftover {
	var out, rest []plan.Leftover
	for _, leftover := range gone.All() {
		if prune := h.engine.options.Housekeeping.Prune; prune != nil && prune(leftover.Rule.OfSet()) {
			out = append(out, leftover)
		} else {
			rest = append(rest, leftover)
		}
	}
	h.tell(rest)
	return out
}

// tell logs which sets are gone that may have left something, once.
func (h *housekeeper) tell(gone []plan.Leftover) {
	var sets []string
	for _, leftover := range gone {
		if name := leftover.Rule.Set; !slices.Contains(sets, name) {
			sets = append(sets, name)
		}
	}
	if told := fmt.Sprint(sets); told != h.told && len(sets) > 0 {
		h.told = told
		h.engine.options.Log.Warn("sets are gone that may have left something: run with --prune, or clean up", "sets", sets)
	}
}

// enqueueStrays looks for objects that have a finalizer of ours and that no cache
// has: they left the selection while nobody watched. Searched are the rules, with their
// selections, of which that is known already; what it returns is known afterwards. A
// rule that goes and comes back is searched for again.
func (e *Engine) enqueueStrays(ctx context.Context, now *active, searched map[plan.Rule][]plan.Selection) (map[plan.Rule][]plan.Selection, error) {
	out := map[plan.Rule][]plan.Selection{}
	holders := map[plan.Selection][]plan.Rule{}
	var lists []plan.Selection // in the order of the rules
	for _, holder := range now.set.Holding() {
		out[holder.Rule] = holder.Selections
		if slices.Equal(searched[holder.Rule], holder.Selections) {
			continue
		}
		for _, everything := range holder.Everything() {
			if holders[everything] == nil {
				lists = append(lists, everything)
			}
			holders[everything] = append(holders[everything], holder.Rule)
		}
	}
	var errs []error
	for _, everything := range lists {
		if err := e.straysOf(ctx, now, everything, holders[everything]); err != nil {
			errs = append(errs, err)
			for _, rule := range holders[everything] {
				delete(out, rule)
			}
		}
	}
	return out, errors.Join(errs...)
}

// straysOf goes through one list for all rules that may hold something in it. It waits
// until all caches that may have such an object are complete: before that nobody would
// look at it.
func (e *Engine) straysOf(ctx context.Context, now *active, everything plan.Selection, holders []plan.Rule) error {
	if slices.ContainsFunc(now.of[everything.GVR], func(cache informer.Key) bool { return now.watched[cache] && e.untold(cache) }) {
		return errIncomplete
	}
	ours := map[string]bool{}
	for _, rule := range holders {
		ours[rule.Finalizer()] = true
	}
	err := e.options.Live.List(ctx, everything, func(object map[string]any) error {
		finalizers := (&unstructured.Unstructured{Object: object}).GetFinalizers()
		if slices.ContainsFunc(finalizers, func(finalizer string) bool { return ours[finalizer] }) {
			e.enqueue(named(everything.GVR, object))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("looking for objects that rule %s holds and does not select any more: %w", holders[0], err)
	}
	return nil
}

// named is the key of an object that was read live.
func named(gvr schema.GroupVersionResource, object map[string]any) Key {
	return Key{GVR: gvr, Namespace: plan.Text(object, "metadata", "namespace"), Name: plan.Text(object, "metadata", "name")}
}
