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

// Guard keeps rules from writing more than once in a while to an object in which they are undone. It implements
// [guard.Guard], and is safe for concurrent use.
type Guard struct {
	clock  clock.PassiveClock
	live   Live
	lookAt func([]Object)
	log    *slog.Logger
	seed   maphash.Seed
	// maxHistories bounds the objects that are remembered although nothing is in conflict there. Of conflicts there may be four
	// times as many.
	maxHistories int

	mu        sync.Mutex
	writes    uint64 // that were begun; guarded by mu
	turn      uint64 // counts the writes that were judged; guarded by mu
	histories map[Object]*history
	conflicts map[key]*Conflict
	news      []*Conflict // of which nobody has been told; guarded by mu
}

// key is that of a conflict: a rule, and the object in which it is undone.
type key struct {
	rule   plan.Rule
	target Object
}

// New returns a guard that knows of no conflicts. lookAt has objects looked at of which there is news.
func New(clock clock.PassiveClock, live Live, lookAt func([]Object), log *slog.Logger) *Guard {
	return &Guard{
		clock: clock, live: live, lookAt: lookAt, log: log, seed: maphash.MakeSeed(), maxHistories: 2048,
		histories: map[Object]*history{}, conflicts: map[key]*Conflict{},
	}
}

// Begin implements [guard.Guard].
func (g *Guard) Begin(a *guard.Attempt) (guard.Check, time.Time) {
	return &check{guard: g, attempt: a}, time.Time{}
}

// Follow forgets what is known of rules that have changed, or are gone.
func (g *Guard) Follow(changed []*rules.Rule) {
	g.mu.Lock()
	defer g.mu.Unlock()
	forgotten := map[plan.Rule]bool{}
	for _, rule := range changed {
		forgotten[rule.ID] = true
	}
	g.end(func(c *Conflict) bool { return forgotten[c.Rule] })
	maps.DeleteFunc(g.histories, func(_ Object, h *history) bool {
		for _, e := range h.efforts {
			if forgotten[e.side.rule] {
				e.side = nobody // What they have written is nobody's doing.
			}
		}
		return !slices.ContainsFunc(h.efforts, func(e *effort) bool { return e.side != nobody })
	})
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
	slices.SortFunc(out, func(a, b Conflict) int {
		return cmp.Or(cmp.Compare(a.Target.String(), b.Target.String()), cmp.Compare(a.Rule.String(), b.Rule.String()),
			cmp.Compare(a.Rule.SetName(), b.Rule.SetName()))
	})
	return out
}

// over reports whether there was no repeat for so long that a conflict has ended; the lock is held, as in all that follow.
func (g *Guard) over(c *Conflict) bool { return g.clock.Since(c.last) > Window }

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

// untold returns the conflicts of rules that write for a watched object of which nobody has been told.
func (g *Guard) untold(watched Object) (out []Conflict) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.news = slices.DeleteFunc(g.news, func(c *Conflict) bool {
		current := g.conflict(c.Rule, c.Target) == c
		if current && c.Watched == watched {
			out = append(out, *c)
		}
		return !current || c.Watched == watched
	})
	return out
}

// suspects reports whether the next write of one of the rules to an object may name a conflict, or go on with one: who has
// changed the object is worth to be known then.
func (g *Guard) suspects(all []plan.Rule, target Object) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.histories[target]
	return slices.ContainsFunc(all, func(rule plan.Rule) bool {
		return g.conflict(rule, target) != nil || h != nil && slices.ContainsFunc(h.efforts, func(e *effort) bool {
			return e.side.rule == rule && e.repeats >= Repeats-1
		})
	})
}

// check is one attempt.
type check struct {
	guard   *Guard
	attempt *guard.Attempt

	mu sync.Mutex
	// sent are the targets of writes under way, each as it was read just before, nil where it was not; guarded by mu.
	sent  map[Object][]map[string]any
	basis *basis // what the plan was decided by; nil until something is written
}

// Admit implements [guard.Check]. While the engine settles, nothing is slowed down: it gives up after so many rounds.
func (c *check) Admit(_ context.Context, o plan.Operation) (delay *guard.Delay) {
	g, target := c.guard, guard.KeyOf(o.Target).Object()
	if c.attempt.Settling {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, rule := range o.Rules {
		held := g.conflict(rule, target)
		if held == nil || !g.clock.Now().Before(held.Next) {
			continue
		}
		held.held = true
		if delay == nil || held.Next.After(delay.Until) {
			delay = &guard.Delay{Err: &Error{Conflict: *held}, Until: held.Next}
		}
	}
	return delay
}

// Prepare implements [guard.Check]. What gets another name each time that it is made is another object each time. Where
// somebody may undo what is written, the target is read live: until it is written to, its managedFields say who has changed
// it. That there is no answer is no reason not to write.
func (c *check) Prepare(ctx context.Context, o guard.Operation) {
	if o.Admitted.Target.Name == "" {
		return
	}
	target := guard.KeyOf(o.Target).Object()
	var live map[string]any
	if o.Target.UID != "" && c.guard.suspects(o.Rules, target) {
		live, _ = c.guard.live.Get(ctx, o.Target.GVR, o.Target.Namespace, o.Target.Name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sent == nil {
		c.sent = map[Object][]map[string]any{}
	}
	c.sent[target] = append(c.sent[target], live)
	c.guard.begin(target)
}

// Observe implements [guard.Check].
func (c *check) Observe(o guard.Operation, answer guard.Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	target, watched := guard.KeyOf(o.Target).Object(), c.attempt.Key.Object()
	sent := c.sent[target]
	if len(sent) == 0 {
		return
	}
	c.sent[target] = sent[1:]
	var w *written // nil where nothing was changed, or nobody knows what was left.
	if echo := answer.Echo; answer.Class == write.Written && echo != nil {
		if c.basis == nil {
			c.basis = &basis{read: c.attempt.Read(), due: c.attempt.Due, until: c.attempt.Plan.LookAgainAt}
		}
		w = &written{
			watched: watched, watchedUID: c.attempt.UID, target: target, uid: o.Target.UID,
			found: o.Target.ResourceVersion, fields: fieldsOf(o, answer.Result), basis: c.basis, live: sent[0],
		}
		if !echo.Gone {
			w.uid, w.left = echo.Object.UID, echo.Object.ResourceVersion
		}
	}
	news := slices.DeleteFunc(c.guard.answer(target, w), func(object Object) bool { return object == watched })
	if len(news) > 0 {
		c.guard.lookAt(news) // It is known only now in which order they were written for.
	}
}

// Finish implements [guard.Check]: people are told of each conflict once, by an attempt that is carried out. Where the
// engine does not come to rest that settles, the error says who undoes whom.
func (c *check) Finish(out *guard.Outcome) {
	a := c.attempt
	if a.CarriedOut && !a.Settling {
		for _, conflict := range c.guard.untold(a.Key.Object()) {
			err := a.Mask.Error(&Error{Conflict: conflict})
			a.Key.Log(c.guard.log).Warn("what a rule writes is undone again and again", "rule", conflict.Rule.String(), "err", err)
			a.Warnings = append(a.Warnings, guard.Warning{Rule: conflict.Rule, Reason: "Contested", Message: err.Error()})
		}
	}
	for i, f := range out.Failures {
		if !errors.Is(f.Err, guard.ErrRestless) {
			continue
		}
		var known []string
		for _, conflict := range c.guard.Conflicts() {
			if slices.ContainsFunc(a.Plan.Operations, func(o plan.Operation) bool {
				return guard.KeyOf(o.Target).Object() == conflict.Target && slices.Contains(o.Rules, conflict.Rule)
			}) {
				known = append(known, conflict.String())
			}
		}
		if len(known) > 0 {
			out.Failures[i].Err = a.Mask.Error(fmt.Errorf("%w: %s", f.Err, strings.Join(known, "; ")))
		}
	}
}

// Bounds of what is remembered of one object.
const (
	maxStates   = 8
	maxAnswered = 8 // writes that wait for the answers of others
	maxEfforts  = 128
	maxFields   = 32 // of one write, and of one conflict
	maxWriters  = 8  // of what one evaluation read
)

// history is what is remembered of the writes to one object.
type history struct {
	used uint64 // how many writes there were when the last one to the object was begun
	uid  types.UID
	// strangers counts how often somebody else has changed the object between our writes.
	strangers uint64
	// states are how our last writes left the object, the last of them at the end.
	states  []state
	efforts []*effort
	// pending counts our writes that are under way, and answered are those of which the answer came before that of another
	// one, which they may follow.
	pending  int
	answered []*written
}

// state is an object as one of our writes left it.
type state struct {
	version   string // empty where it was gone
	by        *side
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

// nobody is the side of rules that have changed, or are gone.
var nobody = &side{}

// effort is what one side has done to one field.
type effort struct {
	path plan.Path
	side *side
	turn uint64 // of the last write, 0 for none
	// sent and stored are the value of the last write, as it was sent and as it came back.
	sent, stored uint64
	uid          types.UID // of the object
	basis        uint64
	until        time.Time // of the basis
	repeats      int       // so far
	since, last  time.Time // of the repeats
}

// basis is what an evaluation read. Two of the same digest read the same, but for what our own writes have changed.
type basis struct {
	read []guard.Input // each as often as a rule asked for it; nil once the first write is judged
	// due says that time alone led to it: the rules wanted nothing before a moment came.
	due bool
	// until is when time alone changes what the rules want, zero for never.
	until time.Time

	digest  uint64
	writers []state // the last ones of what was read, as far as they are ours
}

// follows reports whether a write was to the object as we had left it.
func (h *history) follows(w *written) bool {
	return len(h.states) > 0 && h.states[len(h.states)-1].version == w.found
}

// latest is what was written last of all that a path leads into or out of, nil for nothing. The object as a whole is apart.
func (h *history) latest(path plan.Path) *effort {
	var out *effort
	for _, e := range h.efforts {
		n := min(len(e.path), len(path))
		overlap := (len(e.path) == 0) == (len(path) == 0) && slices.Equal(e.path[:n], path[:n])
		if overlap && (out == nil || e.turn >= out.turn) {
			out = e
		}
	}
	return out
}

// effort returns what a side has done to a field, which is nothing where it is new. Where there are too many, the place is
// that of the one that is longest ago.
func (h *history) effort(path plan.Path, by side) *effort {
	for _, e := range h.efforts {
		if *e.side == by && slices.Equal(e.path, path) {
			return e
		}
	}
	out := &effort{}
	if len(h.efforts) < maxEfforts {
		h.efforts = append(h.efforts, out)
	} else {
		out = slices.MinFunc(h.efforts, func(a, b *effort) int { return cmp.Compare(a.turn, b.turn) })
	}
	*out = effort{path: slices.Clone(path), side: &by}
	return out
}

// history returns that of an object that is written to. Where there are too many, those that were not written to lately make
// room, but for those with a conflict.
func (g *Guard) history(target Object) *history {
	h := g.histories[target]
	if h == nil {
		if len(g.histories) >= g.maxHistories+len(g.conflicts) {
			g.end(g.over)
			contested := map[Object]bool{}
			for at := range g.conflicts {
				contested[at.target] = true
			}
			maps.DeleteFunc(g.histories, func(object Object, h *history) bool {
				return g.writes-h.used >= uint64(g.maxHistories/2) && !contested[object]
			})
		}
		h = &history{used: g.writes}
		g.histories[target] = h
	}
	return h
}

// begin notes that a write to an object is under way. Its answer has to follow.
func (g *Guard) begin(target Object) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writes++
	h := g.history(target)
	h.used = g.writes
	h.pending++
}

// answer notes what became of a write that was under way, nil if it has changed nothing. It returns the watched objects for
// which there is news now.
func (g *Guard) answer(target Object, w *written) (news []Object) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.news) >= 4*g.maxHistories {
		g.news = nil // Nobody asks.
	}
	known := len(g.news)
	h := g.history(target)
	h.pending = max(0, h.pending-1)
	if w != nil {
		h.answered = append(h.answered, w)
	}
	for next := h.next(); next >= 0; next = h.next() {
		g.judge(h, h.answered[next])
		h.answered = slices.Delete(h.answered, next, next+1)
	}
	for _, c := range g.news[known:] {
		news = append(news, c.Watched)
	}
	if w != nil { // Whatever comes of it, the next write has to wait.
		for _, f := range w.fields {
			if c := g.conflict(f.rule, target); c != nil {
				c.Next, c.held = g.clock.Now().Add(Interval), false
			}
		}
	}
	return news
}

// next is which answer is judged next, -1 for none: writes are judged in the order in which they were carried out. One that
// does not follow the last may follow one that is under way yet, so it waits.
func (h *history) next() int {
	if next := slices.IndexFunc(h.answered, h.follows); next >= 0 {
		return next
	}
	if len(h.answered) == 0 || h.pending > 0 && len(h.answered) <= maxAnswered {
		return -1
	}
	return max(0, slices.IndexFunc(h.answered, func(w *written) bool { // The first of which no other one comes before it.
		return !slices.ContainsFunc(h.answered, func(other *written) bool { return other.left == w.found && other.left != "" })
	}))
}

// judge finds out which fields of a write are repeats.
func (g *Guard) judge(h *history, w *written) {
	g.turn++
	g.weigh(w.basis)
	untouched := h.follows(w) // Nobody else has changed the object since we wrote to it.
	if !untouched {
		h.strangers++
	}
	left := state{version: w.left, turn: g.turn, strangers: h.strangers}
	if h.uid != w.uid { // It is another object under the name.
		h.uid = w.uid
		h.efforts = slices.DeleteFunc(h.efforts, func(e *effort) bool { return len(e.path) > 0 })
	}
	for _, f := range w.fields[:min(len(w.fields), maxFields)] {
		by := side{rule: f.rule, watched: w.watched, uid: w.watchedUID}
		if w.watched == w.target {
			by.uid = ""
		}
		latest, e := h.latest(f.path), h.effort(f.path, by)
		sent, stored := g.digest(f.after), g.digest(f.answered)
		if e.turn > 0 && latest.side != nobody {
			rival := g.rival(w, f, e, latest, e.sent == sent, untouched)
			if g.repeats(w, f, e, rival, e.sent == sent) {
				g.repeat(w, f, e, rival)
			}
		}
		e.turn, e.sent, e.stored, e.uid, e.basis, e.until = g.turn, sent, stored, w.uid, w.basis.digest, w.basis.until
		left.by = e.side
	}
	h.states = append(h.states[max(0, len(h.states)-maxStates+1):], left)
}

// rival is who has changed a field since the rule wrote there. Returned says that the rule writes what it wrote before.
func (g *Guard) rival(w *written, f field, e, latest *effort, returned, untouched bool) Rival {
	last, same := latest.side, slices.Equal(latest.path, f.path)
	// Of an object that nobody else has touched, a cache may show less than came back. What comes and goes is known for sure.
	if same && (!untouched || len(f.path) == 0) && g.digest(f.before) != latest.stored {
		rival, c := managerOf(w.live, f.path), g.conflict(f.rule, w.target)
		if rival.Kind == Unknown && c != nil && (c.Rival.Kind == Manager || c.Rival.Kind == OtherIdentity) {
			return c.Rival // It had left its name before.
		}
		return rival
	}
	if last.rule != e.side.rule || last.watched != e.side.watched {
		return Rival{Kind: Rule, Rule: last.rule, Watched: last.watched}
	}
	if same && returned && latest.stored != latest.sent {
		return Rival{Kind: Admission}
	}
	for _, other := range w.basis.writers { // Its writes may lead another rule to write what leads to its next one.
		if other.turn > e.turn && (other.by.rule != e.side.rule || other.by.watched != e.side.watched) {
			return Rival{Kind: Rule, Rule: other.by.rule, Watched: other.by.watched}
		}
	}
	return Rival{Kind: Itself}
}

// repeats reports whether a write is a repeat.
func (g *Guard) repeats(w *written, f field, e *effort, rival Rival, returned bool) bool {
	c, passed := g.conflict(f.rule, w.target), !e.until.IsZero() && !g.clock.Now().Before(e.until)
	switch {
	case c != nil && c.held && c.names(f.shown): // It has wanted the next write sooner than it could.
		return true
	case len(f.path) == 0 && f.after == absent && e.uid == w.uid: // It has not come back: it was not gone yet.
		return false
	case rival.Kind != Rule && rival.Kind != Itself:
		return returned
	case e.basis != w.basis.digest || w.basis.due || passed: // Others, or the clock, have a part in it.
		e.repeats = 0
		return false
	}
	return true
}

// repeat counts a repeat, which may name a conflict. Where there are too many, that of another object goes of which the last
// repeat is longest ago.
func (g *Guard) repeat(w *written, f field, e *effort, rival Rival) {
	now, c := g.clock.Now(), g.conflict(f.rule, w.target)
	if e.repeats == 0 || now.Sub(e.last) > Window {
		e.repeats, e.since = 0, now
	}
	e.repeats++
	e.last = now
	if c == nil && e.repeats < Repeats {
		return
	}
	if c == nil {
		if len(g.conflicts) >= 4*g.maxHistories {
			oldest := slices.MinFunc(slices.Collect(maps.Values(g.conflicts)), func(a, b *Conflict) int { return a.last.Compare(b.last) })
			delete(g.conflicts, key{oldest.Rule, oldest.Target})
			delete(g.histories, oldest.Target)
		}
		c = &Conflict{Rule: f.rule, Target: w.target, Since: e.since, Rounds: e.repeats - 1, Next: now.Add(Interval)}
		g.conflicts[key{c.Rule, c.Target}] = c
		g.news = append(g.news, c)
	}
	c.last, c.Rival, c.Watched = now, rival, w.watched
	if !c.names(f.shown) && len(c.Paths) < maxFields {
		c.Paths = append(c.Paths, slices.Clone(f.shown))
	}
	if c.turn != g.turn { // Several fields of one write are one round.
		c.turn = g.turn
		c.Rounds++
	}
}

// weigh finds out what rules were evaluated by, before the first of their writes is judged: by then it is known what those
// have left that were under way.
func (g *Guard) weigh(b *basis) {
	for _, input := range b.read {
		at := -1
		h := g.histories[input.Object]
		if h != nil && input.Version != "" {
			at = slices.IndexFunc(h.states, func(s state) bool { return s.version == input.Version })
		}
		if at < 0 {
			b.digest += maphash.Comparable(g.seed, input)
			continue
		}
		// That we have changed it is no news, but that others did in between is.
		s := h.states[at]
		b.digest += maphash.Comparable(g.seed, struct {
			Object
			strangers uint64
		}{input.Object, s.strangers})
		if known := slices.IndexFunc(b.writers, func(w state) bool { return *w.by == *s.by }); known >= 0 {
			b.writers[known].turn = max(b.writers[known].turn, s.turn)
		} else if len(b.writers) < maxWriters {
			b.writers = append(b.writers, s)
		}
	}
	b.read = nil
}

// digest stands for a value of JSON: the same for the same, and but for a chance that need not be reckoned with, for no other.
// It is of no use to who learns of it.
func (g *Guard) digest(value any) uint64 {
	data, _ := json.Marshal(value) // With keys in order.
	return maphash.Bytes(g.seed, data)
}

// names reports whether a field is among those of the conflict.
func (c *Conflict) names(path plan.Path) bool {
	return slices.ContainsFunc(c.Paths, func(p plan.Path) bool { return slices.Equal(p, path) })
}
