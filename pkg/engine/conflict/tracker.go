package conflict

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

const (
	// maxRecent bounds the objects that are remembered although nothing is contested.
	maxRecent = 2048
	// maxNamed bounds the objects in which something is.
	maxNamed = 4096
)

// Tracker watches the writes of one engine. It is safe for concurrent use.
type Tracker struct {
	clock clock.PassiveClock
	seed  maphash.Seed

	mu     sync.Mutex
	turn   uint64                  // guarded by mu; counts writes
	recent recent                  // guarded by mu
	named  map[Object]*ledger      // guarded by mu
	news   map[Object][]*contested // by the watched object; guarded by mu
	max    int                     // of named and of news
}

// NewTracker returns one that knows of nothing.
func NewTracker(clock clock.PassiveClock) *Tracker {
	return newTracker(clock, maxRecent, maxNamed)
}

func newTracker(clock clock.PassiveClock, recent, named int) *Tracker {
	return &Tracker{clock: clock, seed: maphash.MakeSeed(), recent: newRecent(recent), named: map[Object]*ledger{}, news: map[Object][]*contested{}, max: named}
}

// Begin notes that a write to an object is under way. [Tracker.Record] or [Tracker.End] has
// to follow.
func (t *Tracker) Begin(target Object) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known(target).pending++
}

// End notes that a write which was under way has changed nothing. It returns the same.
func (t *Tracker) End(target Object) (news []Object) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.known(target)
	l.pending = max(0, l.pending-1)
	return t.judge(l)
}

// Record notes that a write which was under way has changed an object. It returns the
// watched objects for which there is [Tracker.News] now.
func (t *Tracker) Record(w Write) (news []Object) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.known(w.Target)
	l.pending = max(0, l.pending-1)
	l.answered = append(l.answered, w)
	news = t.judge(l)
	// Whatever comes of it, the next write has to wait.
	for _, field := range w.Fields {
		if c := l.contests[field.Rule]; c != nil {
			c.Next, c.held = t.clock.Now().Add(Interval), false
		}
	}
	return news
}

// judge takes the writes to an object in the order in which they were carried out.
func (t *Tracker) judge(l *ledger) (news []Object) {
	for {
		w, found := l.takeNext()
		if !found {
			return news
		}
		for _, c := range t.judgeOne(l, w) {
			t.name(w.Target, l, c)
			news = append(news, c.Watched)
		}
	}
}

// judgeOne returns the contests that a write shows.
func (t *Tracker) judgeOne(l *ledger, w Write) []*contested {
	t.turn++
	now := t.clock.Now()
	t.expire(w.Target, l, now)
	w.Basis = t.closed(w.Basis)
	j := &judging{
		tracker: t, ledger: l, write: w, now: now, turn: t.turn, again: map[plan.Rule]bool{}, untouched: l.follows(w),
	}
	left := state{version: w.Left, foreign: l.last().foreign}
	if !j.untouched {
		left.foreign++
	}
	l.meet(w.UID)
	for _, field := range joined(w.Fields[:min(len(w.Fields), maxFields)]) {
		left.writer = j.field(field)
	}
	l.leave(left)
	return j.named
}

// name makes room for an object in which a contest is named, and notes that for who asks.
func (t *Tracker) name(target Object, l *ledger, c *contested) {
	t.recent.remove(target)
	t.named[target] = l
	if len(t.named) > t.max {
		t.evict(target)
	}
	if len(t.news) >= t.max {
		clear(t.news) // Nobody asks: what they are about is not looked at any more.
	}
	t.news[c.Watched] = append(t.news[c.Watched], c)
}

// peek returns what is remembered of an object, nil for nothing; the lock is held.
func (t *Tracker) peek(target Object) *ledger {
	if l := t.named[target]; l != nil {
		return l
	}
	return t.recent.peek(target)
}

// known does the same for an object that is written to, which is remembered longer for it.
func (t *Tracker) known(target Object) *ledger {
	if l := t.named[target]; l != nil {
		return l
	}
	l := t.recent.get(target)
	if l == nil {
		l = &ledger{}
		t.recent.put(target, l)
	}
	return l
}

// expire ends contests in which there was no repeat for so long; the lock is held.
func (t *Tracker) expire(target Object, l *ledger, now time.Time) {
	for rule, c := range l.contests {
		if c.over(now) {
			delete(l.contests, rule)
		}
	}
	t.rest(target, l)
}

// rest treats an object without contests as any other.
func (t *Tracker) rest(target Object, l *ledger) {
	if len(l.contests) == 0 && t.named[target] == l {
		delete(t.named, target)
		t.recent.put(target, l)
	}
}

// evict forgets the object but for this one of which the last repeat is longest ago.
func (t *Tracker) evict(but Object) {
	var oldest Object
	var at time.Time
	for target, l := range t.named {
		var last time.Time
		for _, c := range l.contests {
			if c.last.After(last) {
				last = c.last
			}
		}
		if target != but && (at.IsZero() || last.Before(at)) {
			oldest, at = target, last
		}
	}
	delete(t.named, oldest)
}

// Held returns the contest for which a rule has to wait until its Next before it writes to
// an object, and whether there is one.
func (t *Tracker) Held(rule plan.Rule, target Object) (Conflict, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.contest(rule, target)
	if c == nil || !t.clock.Now().Before(c.Next) {
		return Conflict{}, false
	}
	c.held = true
	return c.clone(), true
}

// News returns the contests that were named since the last call, of rules that write for a
// watched object.
func (t *Tracker) News(watched Object) []Conflict {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []Conflict
	for _, c := range t.news[watched] {
		if t.contest(c.Rule, c.Target) == c {
			out = append(out, c.clone())
		}
	}
	delete(t.news, watched)
	return out
}

// Of returns the contest of a rule about an object, whether or not it has to wait, and
// whether there is one.
func (t *Tracker) Of(rule plan.Rule, target Object) (Conflict, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.contest(rule, target)
	if c == nil {
		return Conflict{}, false
	}
	return c.clone(), true
}

func (t *Tracker) contest(rule plan.Rule, target Object) *contested {
	l := t.named[target]
	if l == nil {
		return nil
	}
	t.expire(target, l, t.clock.Now())
	return l.contests[rule]
}

// Suspects reports whether the next write of a rule to an object may name a contest, or
// tell of one: [Write.Live] says then who the rival is.
func (t *Tracker) Suspects(rule plan.Rule, target Object) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.contest(rule, target) != nil {
		return true
	}
	l := t.peek(target)
	return l != nil && l.nearly(rule)
}

// nearly reports whether one more repeat may be enough.
func (l *ledger) nearly(rule plan.Rule) bool {
	for _, f := range l.fields {
		if slices.ContainsFunc(f.efforts, func(e *effort) bool { return e.side.rule == rule && e.repeats >= Repeats-1 }) {
			return true
		}
	}
	return false
}

// Conflicts lists those that are under way, or in which a rule is slowed down yet, by their
// targets and rules.
func (t *Tracker) Conflicts() []Conflict {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock.Now()
	var out []Conflict
	for target, l := range t.named {
		t.expire(target, l, now)
		for _, c := range l.contests {
			out = append(out, c.clone())
		}
	}
	slices.SortFunc(out, func(a, b Conflict) int {
		return cmp.Or(
			strings.Compare(a.Target.String(), b.Target.String()),
			strings.Compare(a.Rule.String(), b.Rule.String()),
			strings.Compare(a.Rule.SetName(), b.Rule.SetName()),
		)
	})
	return out
}

// Forget drops what is known of rules that are gone, or are other ones under the name.
func (t *Tracker) Forget(gone func(plan.Rule) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for target, l := range t.named {
		if l.forget(gone); len(l.contests) == 0 {
			t.rest(target, l)
		}
	}
	t.recent.keep(func(l *ledger) bool { return l.forget(gone) })
}

// Gone drops the contests about an object that is gone, or for it. One about the object
// as a whole goes on: that it goes is what it is about.
func (t *Tracker) Gone(object Object) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.news, object)
	for target, l := range t.named {
		for rule, c := range l.contests {
			whole := slices.ContainsFunc(c.Paths, func(p plan.Path) bool { return len(p) == 0 })
			if !whole && (target == object || c.Watched == object) {
				delete(l.contests, rule)
			}
		}
		t.rest(target, l)
	}
}
