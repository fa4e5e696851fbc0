package engine

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/inventory"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// limited holds the rules of an engine to their limits. It is safe for concurrent use.
type limited struct {
	*limit.Limits
	engine *Engine

	mu      sync.Mutex
	waiting map[Key]bool       // for room, or for pauses to be known; guarded by mu
	asked   map[plan.Rule]bool // to resume, by who runs the engine; guarded by mu
}

func newLimited(e *Engine) *limited {
	l := &limited{engine: e, waiting: map[Key]bool{}}
	l.Limits = limit.New(e.options.Clock, l.watched)
	return l
}

// watched counts the objects that a rule watches, in all caches.
func (l *limited) watched(id plan.Rule) (objects int, all bool) {
	now := l.engine.active.Load()
	rule := now.limits[id]
	if rule == nil {
		return 0, false
	}
	watches := rule.Watches()
	all = true
	for _, selection := range watches {
		cache := informer.Key(selection)
		all = all && l.engine.caches.View(cache, "", "").Synced
		objects += l.engine.caches.Count(cache)
	}
	if apart(watches) {
		return objects, all
	}
	return l.distinct(watches), all
}

// apart reports whether no object can be in two of the selections, by where they are alone.
func apart(selections []plan.Selection) bool {
	of, there := map[schema.GroupVersionResource]int{}, map[plan.Selection]bool{}
	for _, selection := range selections {
		place := plan.Selection{GVR: selection.GVR, Namespace: selection.Namespace}
		if there[place] {
			return false
		}
		there[place] = true
		of[place.GVR]++
	}
	for place := range there {
		if place.Namespace == "" && of[place.GVR] > 1 {
			return false
		}
	}
	return true
}

// distinct counts the objects in caches of which several may have the same.
func (l *limited) distinct(selections []plan.Selection) int {
	seen := map[plan.Object]bool{}
	for _, selection := range selections {
		for _, name := range l.engine.caches.Names(informer.Key(selection)) {
			seen[plan.Object{GVR: selection.GVR, Namespace: name.Namespace, Name: name.Name}] = true
		}
	}
	return len(seen)
}

// limitsOf are the rules of a set that have limits, and the sets that there are.
func limitsOf(all *rules.Set) (limits map[plan.Rule]*rules.Rule, sets map[plan.Rule]bool) {
	limits, sets = map[plan.Rule]*rules.Rule{}, map[plan.Rule]bool{}
	for _, rule := range all.Rules() {
		sets[rule.ID.OfSet()] = true
		if rule.Limits() != nil {
			limits[rule.ID] = rule
		}
	}
	return limits, sets
}

// follow takes rules that are in effect now.
func (l *limited) follow(now *active) {
	var all []limit.Rule
	for id, rule := range now.limits {
		all = append(all, limit.Rule{ID: id, Digest: rule.Digest(), Limits: *rule.Limits(), Asked: rule.AsksToResume() || l.asks(id)})
	}
	l.resume(l.Follow(all, l.engine.house == nil), "the rule has changed, or it is asked to")
	l.free()
}

func (l *limited) asks(id plan.Rule) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked[id]
}

// Resume says which rules somebody asks to resume from now on, besides what their
// documents say. One that was asked since before it paused has to be left out once.
func (e *Engine) Resume(asked []plan.Rule) {
	e.swap.Lock()
	defer e.swap.Unlock()
	all := map[plan.Rule]bool{}
	for _, rule := range asked {
		all[rule] = true
	}
	e.limited.mu.Lock()
	e.limited.asked = all
	e.limited.mu.Unlock()
	now := e.active.Load()
	resumed := e.limited.Ask(func(id plan.Rule) bool {
		rule := now.limits[id]
		return all[id] || rule != nil && rule.AsksToResume()
	})
	if e.limited.Unsaved() {
		e.limited.save()
	}
	e.limited.resume(resumed, "it is asked to")
}

// Paused lists the rules that are paused, in order.
func (e *Engine) Paused() []limit.Pause { return e.limited.All() }

// resume has all objects looked at again, of which rules were paused.
func (l *limited) resume(resumed []plan.Rule, because string) {
	if len(resumed) == 0 {
		return
	}
	l.save()
	e := l.engine
	for _, id := range resumed {
		e.options.Log.Info("rule resumes", "rule", id.String(), "because", because)
	}
	if e.house == nil {
		l.over(resumed)
	}
	now := e.active.Load()
	for _, id := range resumed {
		if rule := now.limits[id]; rule != nil {
			for _, selection := range rule.Watches() {
				e.enqueueAll(informer.Key(selection))
			}
		}
	}
	for _, family := range now.families {
		e.enqueueOrphans(family)
	}
	e.enqueueEach(e.memory.keys()) // Among them what is gone.
}

// paused tells of rules that have paused just now.
func (l *limited) paused() {
	for _, pause := range l.Fresh() {
		l.save()
		l.engine.options.Log.Warn("rule is paused", "rule", pause.Rule.String(),
			"objects", pause.Objects, "of", pause.Of, "limit", pause.Limit, "per", pause.Per)
		if l.engine.options.Paused != nil {
			l.engine.options.Paused(pause)
		}
	}
}

// over tells of rules that have resumed, which is stored.
func (l *limited) over(rules []plan.Rule) {
	if l.engine.options.Resumed == nil {
		return
	}
	for _, rule := range rules {
		l.engine.options.Resumed(rule)
	}
}

// save has the pauses stored soon, where that is done.
func (l *limited) save() {
	if l.engine.house != nil {
		l.engine.open.keepHouse()
		l.engine.house.wake()
	}
}

// settled is called when it is known what became of writes that count.
func (l *limited) settled() {
	if l.Unsaved() {
		l.save()
	}
	l.free()
}

// free queues what waits.
func (l *limited) free() {
	l.mu.Lock()
	waiting := slices.Collect(maps.Keys(l.waiting))
	clear(l.waiting)
	l.mu.Unlock()
	l.engine.enqueueEach(waiting)
}

// await notes that an object is to be queued when there is room.
func (l *limited) await(key Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting[key] = true
}

// note is the book with the pauses and counts that are known. Nobody can have paused a rule that is
// gone from a set which is there.
func (l *limited) note(book inventory.Book, now *active, prune func(set plan.Rule) bool) inventory.Book {
	gone := map[plan.Rule]bool{}
	lost := func(rule plan.Rule) {
		set := rule.OfSet()
		gone[rule] = now.sets[set] || prune != nil && prune(set)
	}
	for _, pause := range book.Pauses() {
		lost(pause.Rule)
	}
	for _, count := range book.Counts() {
		lost(count.Rule)
	}
	isGone := func(id plan.Rule) bool { return gone[id] }
	return book.Pausing(l.Store(book.Pauses(), isGone)...).Counting(l.StoreCounts(book.Counts(), isGone)...)
}

// learn takes over what is stored of the sets in effect then, which is at least of a
// version.
func (l *limited) learn(book inventory.Book, now *active, partly error, version uint64) {
	missing, _ := errors.AsType[*inventory.PartialError](partly)
	read := func(set plan.Rule) bool { return now.sets[set] && !missing.Lacks(set) }
	l.Recall(book.Counts(), read)
	over, resumed := l.Learn(book.Pauses(), read, version)
	l.over(over)
	l.resume(resumed, "it is asked to")
	l.free()
	if partly == nil && l.Unsaved() {
		l.save()
	}
}
