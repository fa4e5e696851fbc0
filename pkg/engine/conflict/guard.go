package conflict

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// Live reads from the API server itself.
type Live interface {
	// Get returns nil where there is no such object.
	Get(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string) (map[string]any, error)
}

// Bounds of what is remembered.
const (
	maxHistories = 4096 // the objects that were last written to
	maxConflicts = 8192 // at a time; what is undone besides is not slowed down
	maxStates    = 8    // of one object
	maxEfforts   = 128  // of one object
	maxFields    = 32   // of one write, and of one conflict
)

// Guard keeps rules from writing more than once in a while to an object in which they are undone. It implements
// [guard.Guard], and is safe for concurrent use.
type Guard struct {
	clock clock.PassiveClock
	live  Live
	log   *slog.Logger
	seed  maphash.Seed

	mu        sync.Mutex
	turn      uint64     // counts the writes; guarded by mu, as is all that follows
	histories *lru.Cache // of *history, by the Object
	conflicts map[key]*Conflict
	lineage   lineage
	underWay  map[Object]int // writes without an answer yet
}

// ErrUnderWay is why an object is not written to that another write may just have changed: who has is known with its answer.
var ErrUnderWay = errors.New("it waits for another write to the object that is under way")

// key is that of a conflict: a rule, and the object in which it is undone.
type key struct {
	rule   plan.Rule
	target Object
}

// New returns a guard that knows of no conflicts. Made may be shared with other guards.
func New(clock clock.PassiveClock, live Live, made *Made, log *slog.Logger) *Guard {
	return &Guard{
		clock: clock, live: live, log: log, seed: maphash.MakeSeed(), histories: lru.New(maxHistories),
		conflicts: map[key]*Conflict{}, lineage: lineage{clock, log, made, map[maker]*recursion{}}, underWay: map[Object]int{},
	}
}

// Begin implements [guard.Guard].
func (g *Guard) Begin(a *guard.Attempt) (guard.Check, time.Time) {
	return &check{guard: g, attempt: a, live: map[Object]map[string]any{}}, time.Time{}
}

// Follow ends the conflicts of rules that have changed, or are gone. What all rules have written is forgotten with that: nobody
// is blamed for what a rule wrote that is another one now.
func (g *Guard) Follow(changed []*rules.Rule) {
	if len(changed) == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.end(func(c *Conflict) bool {
		return slices.ContainsFunc(changed, func(rule *rules.Rule) bool { return rule.ID == c.Rule })
	})
	g.lineage.follow(changed)
	g.histories.Clear()
}

// Forget implements [guard.Forgetter]: conflicts in an object that is gone end, and those for it. One about the object as a
// whole goes on: that it goes is what it is about. The name of what is gone may be that of another object.
func (g *Guard) Forget(gone guard.Key) {
	if gone.UID != "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	object := gone.Object()
	g.end(func(c *Conflict) bool {
		return (c.Target == object || c.Watched == object) && !c.names(nil)
	})
}

// Conflicts lists those that are under way, or in which a rule is slowed down yet, by their targets and rules.
func (g *Guard) Conflicts() []Conflict {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.end(g.over)
	var out []Conflict
	for _, c := range g.conflicts {
		out = append(out, *c)
	}
	for _, r := range g.lineage.recursions {
		if r.named && !over(&r.Conflict, g.clock) {
			out = append(out, r.Conflict)
		}
	}
	slices.SortFunc(out, func(a, b Conflict) int {
		return cmp.Or(cmp.Compare(a.Target.String(), b.Target.String()), a.Rule.Compare(b.Rule))
	})
	return out
}

// over reports whether there was no repeat for so long that a conflict has ended; the lock is held, as in all that follow.
func (g *Guard) over(c *Conflict) bool { return over(c, g.clock) }

func over(c *Conflict, clock clock.PassiveClock) bool { return clock.Since(c.last) > Window }

func (g *Guard) end(which func(*Conflict) bool) {
	maps.DeleteFunc(g.conflicts, func(_ key, c *Conflict) bool { return which(c) })
}

// conflict is that of a rule in an object, nil where there is none.
func (g *Guard) conflict(rule plan.Rule, target Object) *Conflict {
	if c := g.conflicts[key{rule, target}]; c != nil && !g.over(c) {
		return c
	}
	return nil
}

// look returns the conflict that holds the first of the rules which has to wait, nil for none. Suspect reports whether the next write
// of a rule may name a conflict or go on with one, so that it is worth finding out who has changed the object. The lock is held.
func (g *Guard) look(all []plan.Rule, target Object) (held *Conflict, suspect bool) {
	h := g.history(target)
	for _, rule := range all {
		c := g.conflict(rule, target)
		if c != nil && g.clock.Now().Before(c.Next) {
			return c, true
		}
		suspect = suspect || c != nil || h != nil && slices.ContainsFunc(h.efforts, func(e *effort) bool {
			return e.side.rule == rule && e.repeats >= Repeats-1
		})
	}
	return nil, suspect
}

// check is one attempt.
type check struct {
	guard   *Guard
	attempt *guard.Attempt
	live    map[Object]map[string]any // targets, as they were read just before they were written to
	basis   *basis                    // what the plan was decided by; nil until something is written
}

// Admit implements [guard.Check]. While the engine settles, nothing is slowed down: it gives up after so many rounds. Where
// somebody may undo what is written, the target is read live: until it is written to, its managedFields say who has changed it.
// That there is no answer is no reason not to write.
func (c *check) Admit(ctx context.Context, o plan.Operation) (delay *guard.Delay) {
	g, target := c.guard, guard.KeyOf(o.Target).Object()
	g.mu.Lock()
	held, suspect := g.look(o.Rules, target)
	if held != nil && !c.attempt.Settling {
		held.held = true
		delay = &guard.Delay{Err: &Error{Conflict: *held}, Until: held.Next}
	}
	g.mu.Unlock()
	if delay != nil {
		return delay
	}
	if suspect { // The lock is free, and nothing is under way: this may take long, or panic.
		if live, err := g.live.Get(ctx, o.Target.GVR, o.Target.Namespace, o.Target.Name); err == nil {
			c.live[target] = live
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if h := g.history(target); g.underWay[target] > 0 && h != nil && !h.leftAs(o.Target.ResourceVersion) {
		return &guard.Delay{Err: ErrUnderWay, Retry: true}
	}
	if makes(o) {
		if delay = g.lineage.admit(c.attempt, o.Rules); delay != nil {
			return delay
		}
	}
	g.underWay[target]++
	return nil
}

// Observe implements [guard.Check]: people are told of each conflict once. What gets another name each time that it is made is
// another object each time.
func (c *check) Observe(o guard.Operation, answer guard.Answer) {
	g, echo, a, target := c.guard, answer.Echo, c.attempt, guard.KeyOf(o.Admitted.Target).Object()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.underWay[target]--; g.underWay[target] == 0 {
		delete(g.underWay, target)
	}
	if answer.Class != write.Written || echo == nil {
		return // Nothing was changed, or nobody knows what was left.
	}
	if makes(o.Operation) && !echo.Gone {
		g.lineage.note(a, o.Rules, echo.Object.UID)
		g.lineage.count(a, o.Rules, guard.KeyOf(o.Target).Object())
	}
	if target.Name == "" {
		return
	}
	w := &written{
		watched: a.Key.Object(), watchedUID: a.UID, target: target, uid: o.Target.UID, found: o.Target.ResourceVersion,
		fields: fieldsOf(o, answer.Result), live: c.live[target],
	}
	if o.Type == plan.Apply {
		w.own, w.applied = o.Manager, o.Fields()
	}
	if !echo.Gone {
		w.uid, w.left = echo.Object.UID, echo.Object.ResourceVersion
	}
	if c.basis == nil {
		c.basis = g.basisOf(a)
	}
	w.basis = c.basis
	for _, named := range g.record(w) {
		if a.Settling {
			continue
		}
		err := a.Mask.Error(&Error{Conflict: named})
		a.Key.Log(g.log).Warn("what a rule writes is undone again and again", "rule", named.Rule.String(), "err", err)
		a.Warnings = append(a.Warnings, guard.Warning{Rule: named.Rule, Reason: "Contested", Message: err.Error()})
	}
}

// Finish implements [guard.Check]: where an engine that settles does not come to rest, the error says who undoes whom.
func (c *check) Finish(out *guard.Outcome) {
	for i, f := range out.Failures {
		if !errors.Is(f.Err, guard.ErrRestless) {
			continue
		}
		var known []string
		for _, conflict := range c.guard.Conflicts() {
			if slices.ContainsFunc(c.attempt.Plan.Operations, func(o plan.Operation) bool {
				return guard.KeyOf(o.Target).Object() == conflict.Target && slices.Contains(o.Rules, conflict.Rule)
			}) {
				known = append(known, conflict.String())
			}
		}
		if len(known) > 0 {
			out.Failures[i].Err = c.attempt.Mask.Error(fmt.Errorf("%w: %s", f.Err, strings.Join(known, "; ")))
		}
	}
}

// history is what is remembered of the writes to one object.
type history struct {
	// strangers counts how often somebody else has changed the object between our writes.
	strangers uint64
	states    []state   // how our last writes left the object, the last of them at the end
	efforts   []*effort // the last at the end
}

// state is an object as one of our writes left it.
type state struct {
	version   string // empty where it was gone
	by        side
	turn      uint64 // of the write
	strangers uint64 // as of then
}

// side is a rule as it was evaluated for one object. It is comparable.
type side struct {
	rule    plan.Rule
	watched Object
	// uid tells an object from one that had the name before. It is empty where the rule writes to what it watches: then it is
	// another one each time that it comes back.
	uid types.UID
}

// effort is what one side has done to one field.
type effort struct {
	path plan.Path
	side side
	turn uint64 // of the last write, 0 for none
	// sent and stored are digests of the value of the last write, as it was sent and as it came back.
	sent, stored uint64
	uid          types.UID // of the object
	bases        [2]uint64 // of the last write and the one before: what a rule reads of its own may change with what it wrote
	until        time.Time // of the last basis
	repeats      int       // so far
	last         time.Time // of the repeats
}

// basis is what an evaluation read. Two of the same digest read the same, but for what our own writes have changed.
type basis struct {
	due []plan.Rule // as of the attempt
	// until is when time alone changes what the rules want, zero for never.
	until  time.Time
	digest uint64
	ours   []state // what was read, as far as it is as one of our writes left it
}

// history returns that of an object, nil for none.
func (g *Guard) history(object Object) *history {
	found, _ := g.histories.Get(object)
	h, _ := found.(*history)
	return h
}

// leftAs reports whether nobody else has changed an object since we wrote to it, if it has this version.
func (h *history) leftAs(version string) bool {
	return len(h.states) > 0 && h.states[len(h.states)-1].version == version
}

// basisOf finds out what rules were evaluated by, before the first of their writes is recorded.
func (g *Guard) basisOf(a *guard.Attempt) *basis {
	b := &basis{due: a.Due, until: a.Plan.LookAgainAt}
	for _, input := range a.Read() {
		at, h := -1, g.history(input.Object)
		if h != nil && input.Version != "" {
			at = slices.IndexFunc(h.states, func(s state) bool { return s.version == input.Version })
		}
		if at < 0 {
			b.digest += maphash.Comparable(g.seed, input)
			continue
		}
		// That we have changed it is no news, but that others did in between is.
		b.ours = append(b.ours, h.states[at])
		b.digest += maphash.Comparable(g.seed, struct {
			Object
			strangers uint64
		}{input.Object, h.states[at].strangers})
	}
	return b
}

// record notes a write, and returns the conflicts that it names.
func (g *Guard) record(w *written) (news []Conflict) {
	g.turn++
	h := g.history(w.target)
	if h == nil {
		h = &history{}
		g.histories.Add(w.target, h)
	}
	untouched := h.leftAs(w.found)
	if !untouched {
		h.strangers++
	}
	h.efforts = slices.DeleteFunc(h.efforts, func(e *effort) bool { return len(e.path) > 0 && e.uid != w.uid }) // Of one that had the name.
	left := state{version: w.left, turn: g.turn, strangers: h.strangers}
	var named []*Conflict
	for _, f := range w.fields[:min(len(w.fields), maxFields)] {
		left.by = side{rule: f.rule, watched: w.watched, uid: w.watchedUID}
		if w.watched == w.target {
			left.by.uid = ""
		}
		latest, e, c := h.latest(f.path), h.effort(f.path, left.by), g.conflict(f.rule, w.target)
		goesOn := c != nil && c.held && c.names(f.shown) // It has waited for this write.
		// What was known of the field may have made room for others.
		if goesOn && latest == nil && e.turn == 0 {
			c.last = g.clock.Now()
		}
		if rival, is := g.repeat(w, f, e, latest, untouched, goesOn); is {
			if c == nil && e.repeats >= Repeats && g.hasRoom() {
				c = &Conflict{Rule: f.rule, Target: w.target}
				g.conflicts[key{c.Rule, c.Target}] = c
				named = append(named, c)
			}
			if c != nil {
				c.last, c.Rival, c.Watched = e.last, rival, w.watched
				c.add(f.shown)
			}
		}
		e.turn, e.sent, e.stored, e.uid = g.turn, g.digest(f.after), g.digest(f.answered), w.uid
		e.bases, e.until = [2]uint64{w.basis.digest, e.bases[0]}, w.basis.until
	}
	h.states = append(h.states[max(0, len(h.states)-maxStates+1):], left)
	for _, f := range w.fields { // Whatever comes of it, the next write has to wait.
		if c := g.conflict(f.rule, w.target); c != nil {
			c.Next, c.held = g.clock.Now().Add(Interval), false
		}
	}
	for _, c := range named {
		news = append(news, *c)
	}
	return news
}

// latest is what was written last of all that a path leads into or out of, nil for nothing. The object as a whole is apart.
func (h *history) latest(path plan.Path) *effort {
	for _, e := range slices.Backward(h.efforts) {
		n := min(len(e.path), len(path))
		if (len(e.path) == 0) == (len(path) == 0) && slices.Equal(e.path[:n], path[:n]) {
			return e
		}
	}
	return nil
}

// effort returns what a side has done to a field, which is nothing where it is new. It is the last now.
func (h *history) effort(path plan.Path, by side) *effort {
	e := &effort{path: slices.Clone(path), side: by}
	if at := slices.IndexFunc(h.efforts, func(e *effort) bool { return e.side == by && slices.Equal(e.path, path) }); at >= 0 {
		e = h.efforts[at]
		h.efforts = slices.Delete(h.efforts, at, at+1)
	}
	h.efforts = append(h.efforts[max(0, len(h.efforts)-maxEfforts+1):], e)
	return e
}

// repeat finds out whether a write to a field is a repeat, which it is if the conflict goes on, and counts it. Rival is who has
// changed the field.
func (g *Guard) repeat(w *written, f field, e, latest *effort, untouched, goesOn bool) (rival Rival, is bool) {
	if e.turn == 0 {
		return rival, false
	}
	now, returned := g.clock.Now(), e.sent == g.digest(f.after)
	rival = g.rival(w, f, e, latest, returned, untouched)
	own, passed := rival.Kind == Rule || rival.Kind == Itself, !e.until.IsZero() && !now.Before(e.until)
	// A rule that undoes itself may read something else each other time.
	same := e.bases[0] == w.basis.digest || rival.Kind == Itself && e.bases[1] == w.basis.digest
	switch {
	case goesOn:
	case len(f.path) == 0 && f.after == absent && e.uid == w.uid: // It has not come back: it was not gone yet.
		return rival, false
	case !own && !returned: // It wants something else now.
		return rival, false
	case own && (!same || slices.Contains(w.basis.due, f.rule) || passed): // Others, or the clock, have a part in it.
		e.repeats = 0
		return rival, false
	}
	if now.Sub(e.last) > Window {
		e.repeats = 0
	}
	e.repeats++
	e.last = now
	return rival, true
}

// hasRoom reports whether there may be one more conflict.
func (g *Guard) hasRoom() bool {
	if len(g.conflicts) >= maxConflicts {
		g.end(g.over) // Nobody may have asked for them.
	}
	return len(g.conflicts) < maxConflicts
}

// rival is who has changed a field since the rule wrote there. Returned says that the rule writes what it wrote before.
func (g *Guard) rival(w *written, f field, e, latest *effort, returned, untouched bool) Rival {
	last, same := latest.side, slices.Equal(latest.path, f.path)
	switch {
	// Of an object that nobody else has touched, a cache may show less than came back. What comes and goes is known for sure.
	case same && (!untouched || len(f.path) == 0) && g.digest(f.before) != latest.stored:
		rival, c := w.managerOf(f), g.conflict(f.rule, w.target)
		if rival.Kind == Unknown && c != nil && (c.Rival.Kind == Manager || c.Rival.Kind == OtherIdentity) {
			return c.Rival // It had left its name before.
		}
		return rival
	case last.rule != e.side.rule || last.watched != e.side.watched:
		return Rival{Kind: Rule, Rule: last.rule, Watched: last.watched}
	case same && returned && latest.stored != latest.sent:
		return Rival{Kind: Admission}
	}
	for _, other := range w.basis.ours { // What another rule has written may lead to the next write of this one.
		if other.turn > e.turn && (other.by.rule != e.side.rule || other.by.watched != e.side.watched) {
			return Rival{Kind: Rule, Rule: other.by.rule, Watched: other.by.watched}
		}
	}
	return Rival{Kind: Itself}
}

// digest stands for a value of JSON: the same for the same, and but for a chance that need not be reckoned with, for no other.
// It is of no use to who learns of it.
func (g *Guard) digest(value any) uint64 {
	data, _ := json.Marshal(value) // With keys in order.
	return maphash.Bytes(g.seed, data)
}
