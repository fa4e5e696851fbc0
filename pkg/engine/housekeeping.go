package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/dyncontroller/dyncontroller/pkg/engine/cleanup"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// The delays between attempts to tidy up.
const (
	firstTidy = time.Second
	lastTidy  = 5 * time.Minute
	// unfinishedTidy is how often it is looked whether others have done with what may be taken away.
	unfinishedTidy = 5 * time.Second
	// longestTidy is the delay after which a settling engine tries no more.
	longestTidy = 4 * time.Second
)

var errUnrecorded = errors.New("recording what rules leave")

// housekeeper does the housekeeping of an engine, in one goroutine.
type housekeeper struct {
	*core
	loader   *loader
	searched map[plan.Selection]map[plan.Rule]string // for strays: by the list, for which rules with which selections
	reported string                                  // of sets that are gone
	// marks are the numbers of the queue at which it was first asked whether somebody takes a leftover over.
	marks      map[plan.Leftover]uint64
	generation int    // of the rules, for the marks
	said       string // what went wrong
	// ran are the sets whose rules were in effect. No other process runs them.
	ran map[plan.Rule]bool
	// looked are the leftovers that were last looked for because they cannot be cleaned up, and lookedAt is when.
	looked   string
	lookedAt time.Time
}

// run keeps house until the context is done.
func (h *housekeeper) run(ctx context.Context) {
	delay := firstTidy
	for {
		var retry <-chan time.Time
		now := h.active.Load()
		unclean, err := h.tidy(ctx)
		leavesNothing := len(now.leftovers)+len(now.Limited) == 0
		switch {
		case err == nil:
			delay, h.said = firstTidy, ""
			h.tracker.kept(nil)
		case !unclean && leavesNothing && apierrors.IsForbidden(err):
			// Whoever runs rules that leave nothing, and of which none can be paused, need not have the right to record it.
			h.say(err)
			h.tracker.kept(nil)
		case ctx.Err() == nil:
			delay = h.undone(err, delay)
			retry = h.options.Clock.After(delay)
			delay = min(2*delay, lastTidy)
		}
		select {
		case <-h.tidying.wanted:
			delay = firstTidy
		case <-retry:
		case <-ctx.Done():
			return
		}
	}
}

// undone tells what could not be done, and returns how long to wait before it is tried again.
func (h *housekeeper) undone(err error, delay time.Duration) time.Duration {
	queued, late := errors.Is(err, errQueued), errors.Is(err, errLate)
	unready := queued || late || errors.Is(err, errIncomplete) || errors.Is(err, errUnable) || errors.Is(err, inventory.ErrChanged)
	if !unready || delay > firstTidy && !queued { // Caches take a moment.
		h.say(err)
	}
	if queued || late {
		delay = min(delay, unfinishedTidy)
	}
	if errors.Is(err, errUnrecorded) && isUnanswered(err) {
		delay = min(delay, informer.LongestWait(1)) // Objects wait for it. It is too long for an engine that settles, see longestTidy.
	}
	if unready && h.tracker.busy() {
		delay = firstTidy // A list may take long, and is given up elsewhere.
	}
	more := errors.Is(err, inventory.ErrAsked) && h.guards.limits.Unsaved() // What is left may be stored all the same.
	if delay > longestTidy || write.Classify(err) == write.Terminal && !more {
		h.tracker.kept(err)
	}
	return delay
}

// say logs what goes wrong, once for as long as it is the same.
func (h *housekeeper) say(err error) {
	if text := err.Error(); text != h.said && !errors.Is(err, context.Canceled) {
		h.said = text
		h.options.Log.Warn("housekeeping is not done", "err", err)
	}
}

// tidy records what the rules leave, looks for objects that have left a selection unseen, and cleans up after removed rules,
// of which unclean says that it failed.
func (h *housekeeper) tidy(ctx context.Context) (unclean bool, err error) {
	ctx, stop := h.tidying.begin(ctx)
	defer stop()
	if ctx.Err() != nil { // Who ends an engine that never worked may hold what an inventory needs.
		return false, context.Cause(ctx)
	}
	if h.tidying.anew.Swap(false) {
		h.searched, h.marks = nil, nil
	}
	now := h.active.Load()
	book, partly := h.record(ctx, now)
	if _, rest := errors.AsType[*inventory.PartialError](partly); partly != nil && !rest {
		return false, partly
	}
	if err := h.tracker.wait(ctx, false); err != nil { // Before that it is not known who is a stray.
		return false, errors.Join(partly, err)
	}
	strays := h.enqueueStrays(ctx, now)
	leftovers, ids := now.leftovers, now.IDs()
	next := h.loader.pendingRules()
	if next != nil {
		leftovers, ids = slices.Concat(leftovers, next.leftovers), slices.Concat(ids, next.IDs())
	}
	removed, gone := book.Stale(leftovers, ids)
	pruned := h.pruned(ctx, gone)
	others := slices.DeleteFunc(gone, func(l plan.Leftover) bool { return !h.ran[l.Rule.OfSet()] || slices.Contains(pruned, l) })
	kept, why := keep(h.core, removed, now, next)
	removed = slices.DeleteFunc(removed, func(l plan.Leftover) bool { return slices.Contains(kept, l) })
	err = errors.Join(h.cleanUp(ctx, now, slices.Concat(removed, pruned), slices.Concat(others, kept)), why)
	return err != nil, errors.Join(partly, strays, err)
}

// record writes down what the rules leave, and lets those go on that wait for it. Where
// only a part can be written, the others do not go on, and the error says so.
func (h *housekeeper) record(ctx context.Context, now *active) (inventory.Book, error) {
	started := h.guards.limits.Started() // Before the inventory is read: what an engine has gone on with later may not be in it.
	book, err := inventory.Update(ctx, h.options.Housekeeping.Inventory, func(b inventory.Book) inventory.Book {
		return h.note(b.With(now.leftovers...), now)
	})
	missing, partly := errors.AsType[*inventory.PartialError](err)
	if err != nil {
		err = fmt.Errorf("%w: %w", errUnrecorded, err)
		if !partly {
			return book, err
		}
	}
	sets := now.sets()
	if h.ran == nil {
		h.ran = map[plan.Rule]bool{}
	}
	maps.Copy(h.ran, sets)
	read := func(set plan.Rule) bool { return sets[set] && !missing.Lacks(set) }
	h.guards.limits.Learn(book.Limits(), book.Asks, read, started)
	for _, key := range h.guards.inventory.Recorded(book, now.leftovers) {
		h.enqueue(key)
	}
	return book, err
}

// note is the book with what is known of rules with limits.
func (h *housekeeper) note(book inventory.Book, now *active) inventory.Book {
	stored, gone, sets := book.Limits(), map[plan.Rule]bool{}, now.sets()
	if next := h.loader.pendingRules(); next != nil {
		maps.Copy(sets, next.sets())
	}
	for rule := range stored {
		set, prune := rule.OfSet(), h.options.Housekeeping.Prune
		gone[rule] = !sets[set] && prune != nil && prune(set)
	}
	return book.Limiting(h.guards.limits.Store(stored, book.Asks, func(rule plan.Rule) bool { return gone[rule] }))
}

// pruned is what to clean up of sets that are gone. The log tells once which others have left something, or may have.
func (h *housekeeper) pruned(ctx context.Context, gone []plan.Leftover) []plan.Leftover {
	var out, others []plan.Leftover
	for _, leftover := range gone {
		if prune := h.options.Housekeeping.Prune; prune != nil && prune(leftover.Rule.OfSet()) {
			out = append(out, leftover)
		} else {
			others = append(others, leftover)
		}
	}
	text := fmt.Sprint(others)
	if text == h.reported {
		return out
	}
	if left := h.options.Housekeeping.Left; left != nil && len(others) > 0 {
		if others = left(ctx, others); ctx.Err() != nil {
			return out // It was interrupted, so it is not known what is left.
		}
	}
	h.reported = text
	var sets, what []string
	for _, leftover := range others {
		sets, what = append(sets, leftover.Rule.Set), append(what, string(leftover.Kind))
	}
	if len(sets) > 0 {
		h.options.Log.Warn("sets are gone that may have left something: put their files back, or clean up with dyncontroller cleanup, or with --prune; if they run elsewhere, give this process another --instance",
			"sets", slices.Compact(slices.Sorted(slices.Values(sets))), "what", slices.Compact(slices.Sorted(slices.Values(what))))
	}
	return out
}

// enqueueStrays looks for objects that have a finalizer of ours, or something to restore, and that no cache has: they left the selection while
// nobody watched. A rule is searched for once with its selections; one that goes and comes back is searched for again.
func (h *housekeeper) enqueueStrays(ctx context.Context, now *active) error {
	searching := map[plan.Selection]map[plan.Rule]string{}
	for _, holder := range now.Holding() {
		for _, everything := range holder.Everything() {
			if slices.Contains(holder.Watches(), everything) {
				continue // A cache has all of them.
			}
			if searching[everything] == nil {
				searching[everything] = map[plan.Rule]string{}
			}
			searching[everything][holder.ID] = fmt.Sprint(holder.Watches())
		}
	}
	var errs []error
	inOrder := func(a, b plan.Selection) int { return cmp.Compare(a.String(), b.String()) }
	for _, everything := range slices.SortedFunc(maps.Keys(searching), inOrder) {
		var err error
		ours := searching[everything]
		incomplete := func(cache informer.Key) bool { return now.watched[cache] && h.incomplete(cache) }
		switch {
		case maps.Equal(h.searched[everything], ours):
			continue
		case slices.ContainsFunc(now.of[everything.GVR], incomplete):
			err = errIncomplete // Nobody would look at what is in such a cache.
		default:
			err = h.options.Live.List(ctx, everything, func(object map[string]any) error {
				if !plan.HasFinalizers(object) && plan.Annotation(object, plan.RestoreAnnotation) == "" {
					return nil
				}
				for rule := range ours {
					if rule.Holds(object) || rule.Restores(object) {
						h.enqueue(named(everything.GVR, object))
						break
					}
				}
				return nil
			})
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("looking for %s that rules hold or have changed for a while, and do not select any more: %w", everything, err))
			delete(searching, everything)
		}
	}
	h.searched = searching
	return errors.Join(errs...)
}

// Why nothing can be taken away yet that another rule may take over.
var (
	errIncomplete = errors.New("a cache of what rules watch is not complete")
	errQueued     = errors.New("objects on which other rules may take over what is left are still to be looked at")
	errLate       = errors.New("rules that may take over what is left have not done with an object")
)

// candidates are the rules that may take over a leftover of a removed rule: those that leave the like on the same resource.
// One of them may be the same rule under another name.
type candidates struct {
	of     plan.Leftover
	rules  []plan.Rule
	caches []informer.Key // of what they watch
	before uint64         // what was queued with a smaller number is waited for
	held   bool           // they may still take it over
	queued bool           // it is held because an object is still to be looked at
	gone   bool           // the whole set is gone, so it is not cleaned up
}

func (a *active) candidates(of plan.Leftover) *candidates {
	out := &candidates{of: of}
	for _, like := range a.leftovers {
		if like.Kind == of.Kind && like.GVR.GroupResource() == of.GVR.GroupResource() && !slices.Contains(out.rules, like.Rule) {
			out.rules = append(out.rules, like.Rule)
		}
	}
	for cache := range a.watched {
		watches := func(rule plan.Rule) bool { return a.Watches(rule, []plan.Selection{cache}) }
		if slices.ContainsFunc(out.rules, watches) {
			out.caches = append(out.caches, cache)
		}
	}
	return out
}

// include reports whether a candidate may still have to do with an object that rules have not done with. A candidate that was refused
// fields may get them only once they are given up, so it is not waited for. Nor is one of another set that fails: a set that is deleted
// would stay for as long as anybody else has trouble.
func (c *candidates) include(key Key, owed guard.Owed) bool {
	if len(owed) == 0 {
		return slices.ContainsFunc(c.caches, func(cache informer.Key) bool { return cache.GVR == key.GVR })
	}
	return slices.ContainsFunc(c.rules, func(rule plan.Rule) bool {
		same := rule.OfSet() == c.of.Rule.OfSet()
		switch cause, owes := owed[rule]; {
		case !owes:
			return false
		case cause == guard.Passing:
			return true
		case cause == guard.Retryable:
			return same
		default:
			return same && c.of.Kind != plan.LeftFields
		}
	})
}

// cleanUp takes away what removed rules have left. Other rules go first, as they may take over what is there. While the
// engine settles, all objects are looked at before: otherwise it would be a matter of luck what is left on an object that
// goes meanwhile. Of sets that are gone it only takes those entries out of the inventory under which nothing is left.
func (h *housekeeper) cleanUp(ctx context.Context, now *active, leftovers, gone []plan.Leftover) error {
	if len(leftovers)+len(gone) > 0 {
		if err := h.tracker.wait(ctx, false); err != nil {
			return err
		}
	}
	ready, others, errHeld := h.withoutCandidates(now, leftovers, gone)
	done := h.nothingLeft(ctx, others)
	if len(done) > 0 { // There is nothing to take over.
		isDone := func(l plan.Leftover) bool { return slices.Contains(done, l) }
		ready, _, errHeld = h.withoutCandidates(now, slices.DeleteFunc(slices.Clone(leftovers), isDone), slices.DeleteFunc(slices.Clone(gone), isDone))
	}
	if errHeld != nil {
		errHeld = fmt.Errorf("cleaning up: %w", errHeld)
	}
	if len(ready)+len(done) == 0 || ctx.Err() != nil {
		return errors.Join(errHeld, context.Cause(ctx))
	}
	err := errHeld
	if len(ready) > 0 {
		noted := &sweepWriter{core: h.core, now: now}
		swept, errSweep := h.options.Housekeeping.Sweep(ctx, ready, noted.over)
		errSweep = errors.Join(errSweep, h.awaitSwept(ctx, now, noted.written))
		h.marks = nil // What comes before the next attempt is waited for again.
		done, err = append(done, swept...), errors.Join(errSweep, errHeld)
	}
	if len(done) == 0 {
		return err
	}
	_, errRecord := inventory.Update(context.WithoutCancel(ctx), h.options.Housekeeping.Inventory, func(b inventory.Book) inventory.Book {
		return b.Without(done...).With(h.active.Load().leftovers...)
	})
	return errors.Join(err, errRecord)
}

// firstPause is how long the housekeeper waits before it looks again whether the caches show what a sweep has written. Each pause is twice as
// long as the one before.
const firstPause = 10 * time.Millisecond

// sweepWriter notes, for an engine that settles, what the caches have to show of a sweep. It is for one goroutine.
type sweepWriter struct {
	cleanup.Writer
	core    *core
	now     *active
	written []expectation
}

// over writes through another writer.
func (w *sweepWriter) over(to cleanup.Writer) cleanup.Writer {
	if w.core.runs() != untilSettled {
		return to
	}
	w.Writer = to
	return w
}

// Write implements [cleanup.Writer].
func (w *sweepWriter) Write(ctx context.Context, o plan.Operation) write.Result {
	before := asCached(w.core, w.now, o.Target)
	result := w.Writer.Write(ctx, o)
	if result.Echo != nil {
		w.written = append(w.written, expectation{Echo: *result.Echo, before: before})
	}
	return result
}

// awaitSwept waits, for an engine that settles, until the caches show what a sweep has written, and has whom that concerns looked at: caches
// tell what they show only afterwards, and nothing else may keep the engine from ending in between.
func (h *housekeeper) awaitSwept(ctx context.Context, now *active, written []expectation) error {
	began := h.options.Clock.Now()
	for _, one := range written {
		object, swept := one.Object, &record{}
		key := Key{GVR: object.GVR, Namespace: object.Namespace, Name: object.Name}
		h.expect(now, swept, one, nil)
		swept.since = began
		for pause := firstPause; h.awaiting(ctx, now, key, swept); pause = min(2*pause, recheck) {
			if h.options.Clock.Since(began) >= echoTimeout {
				return errSilent
			}
			select {
			case <-h.options.Clock.After(pause):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if slices.ContainsFunc(now.holding(object), func(cache informer.Key) bool { return now.watched[cache] }) {
			h.enqueue(key)
		}
		if one.Gone && now.Prunes(object.GVR) {
			key.UID = object.UID
			h.enqueue(key)
		}
	}
	return nil
}

// nothingLeft returns those leftovers of which nothing is left. The same ones are looked for again after a while.
func (h *housekeeper) nothingLeft(ctx context.Context, leftovers []plan.Leftover) []plan.Leftover {
	now, text := h.options.Clock.Now(), fmt.Sprint(leftovers)
	if len(leftovers) == 0 || h.options.Housekeeping.Left == nil || text == h.looked && now.Sub(h.lookedAt) < lastTidy {
		return nil
	}
	left := h.options.Housekeeping.Left(ctx, leftovers)
	if ctx.Err() != nil {
		return nil // It was interrupted, so it is not known what is left.
	}
	h.looked, h.lookedAt = text, now
	return slices.DeleteFunc(slices.Clone(leftovers), func(l plan.Leftover) bool { return slices.Contains(left, l) })
}

// withoutCandidates returns which leftovers nobody takes over any more: all candidates have done with all objects that were
// queued, or in the hands of a worker, when that was asked first. What comes later is not waited for: some objects change all
// the time. The error says why other leftovers are not among them. Of the others and of sets that are gone, those are returned
// that no worker leaves any more, though rules may take them over.
func (h *housekeeper) withoutCandidates(now *active, leftovers, gone []plan.Leftover) (ready, others []plan.Leftover, err error) {
	if h.marks == nil || h.generation != now.generation {
		h.marks, h.generation = map[plan.Leftover]uint64{}, now.generation
	}
	var all []*candidates
	for _, leftover := range leftovers {
		c := now.candidates(leftover)
		if slices.ContainsFunc(c.caches, h.incomplete) {
			err = errIncomplete
			delete(h.marks, leftover) // When they are complete, more is queued.
			continue
		}
		if h.marks[leftover] == 0 {
			h.marks[leftover] = h.lanes.Number() + 1
		}
		c.before = h.marks[leftover]
		all = append(all, c)
	}
	for _, leftover := range gone { // Only workers that go by older rules are waited for.
		all = append(all, &candidates{of: leftover, gone: true})
	}
	err = errors.Join(err, h.unfinished.hold(all, now.generation))
	for _, c := range all {
		switch {
		case c.queued:
		case c.held, c.gone:
			others = append(others, c.of)
		default:
			ready = append(ready, c.of)
		}
	}
	return ready, others, err
}

// hold holds those candidates that have not done with an object.
func (u *unfinished) hold(all []*candidates, generation int) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.awaited = map[Key]bool{}
	var queued, late error
	var first Key // of those that are late: it would be another each time otherwise, and logged each time
	known := map[plan.Rule]bool{}
	for _, c := range all {
		for key, owed := range u.owing {
			if !c.include(key, owed) {
				continue
			}
			c.held, u.awaited[key] = true, true
			if late == nil || key.Compare(first) < 0 {
				first, late = key, errLate
			}
		}
		for _, rule := range c.rules {
			known[rule] = known[rule] || c.held
		}
	}
	for h, number := range u.lanes.Unfinished() {
		key := h.Value()
		by, looks := u.looks[key]
		for _, c := range all { // A worker that goes by older rules may still leave what they leave.
			if looks && by < generation || number < c.before && c.include(key, nil) {
				c.held, c.queued, u.awaited[key], queued = true, true, true, errQueued
			}
		}
	}
	if late == nil {
		return queued
	}
	object := plan.Object{GVR: first.GVR, Namespace: first.Namespace, Name: cmp.Or(first.Name, string(first.UID))}.String()
	owed := slices.SortedFunc(maps.Keys(u.owing[first]), plan.Rule.Compare)
	if owed = slices.DeleteFunc(owed, func(r plan.Rule) bool { return !known[r] }); len(owed) > 0 {
		object = fmt.Sprintf("%s (%s)", object, strings.Join(names(owed), ", "))
	}
	return fmt.Errorf("%w: %s", late, object)
}
