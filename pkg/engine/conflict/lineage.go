package conflict

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

const (
	// Generations is how often a rule may make an object in one line: because of an object that it has made itself, or that came
	// of one. The next one names the recursion.
	Generations = 10
	// Descendants is how many objects may be made in such lines that came of one object.
	Descendants = 200
	maxMade     = 8192 // the objects that were made last
	maxLine     = 16   // the rules of a line, the last ones: a tenant may have thousands
)

// Made remembers which rules led to the objects that were made last. The engines of a process share it: the rules of one identity may
// answer those of another. It is safe for concurrent use.
type Made struct {
	// origins is of origin, by the Object, which is known before it is made, and by the UID, as owners are known.
	origins *lru.Cache
	mu      sync.Mutex // of changes of an origin that depend on the one before
}

// NewMade returns one that knows of no objects.
func NewMade() *Made { return &Made{origins: lru.New(maxMade)} }

// origin is how an object came to be.
type origin struct {
	at     time.Time
	line   line // immutable
	family *family
}

// family is all that came of one object.
type family struct{ number atomic.Int64 } // of the objects that count

// line has each rule that made the object, or one that it came of, and how often.
type line []generation

type generation struct {
	maker
	times int
}

// maker is a rule as it was evaluated for objects of one resource: one that watches two may make the one of the other. It is
// comparable.
type maker struct {
	rule    plan.Rule
	since   int // as in guard.Attempt: a changed rule is another one
	watched schema.GroupResource
}

func makerOf(a *guard.Attempt, rule plan.Rule) maker {
	return maker{rule: rule, since: a.Since[rule], watched: a.Key.GVR.GroupResource()}
}

// times is how often a rule is in a line.
func (l line) times(m maker) int {
	if at := slices.IndexFunc(l, func(g generation) bool { return g.maker == m }); at >= 0 {
		return l[at].times
	}
	return 0
}

// with is the line of what a rule makes because of an object of this line. The rule is the last of it.
func (l line) with(m maker) line {
	out := slices.DeleteFunc(slices.Clone(l), func(g generation) bool { return g.maker == m })
	return append(out[max(0, len(out)-maxLine+1):], generation{m, l.times(m) + 1})
}

// isEvent reports whether a resource is that of Events, which are read in two groups.
func isEvent(of schema.GroupResource) bool {
	return of.Resource == "events" && (of.Group == corev1.GroupName || of.Group == eventsv1.GroupName)
}

// nameKey is the key of an origin.
func nameKey(o Object) lru.Key {
	if isEvent(o.Resource) {
		o.Resource.Group = corev1.GroupName
	}
	return o
}

// of is the line of the watched object. What somebody else made counts as made with its owner: that may be a Job that a rule made
// because of a Pod. What was made long ago begins a new line.
func (g *lineage) of(a *guard.Attempt) origin {
	keys := []lru.Key{nameKey(a.Key.Object())}
	for _, owner := range plan.OwnerUIDs(a.Watched) {
		keys = append(keys, owner)
	}
	for _, key := range keys {
		found, _ := g.made.origins.Get(key)
		if of, is := found.(origin); is && g.clock.Since(of.at) <= Window {
			return of
		}
	}
	return origin{}
}

// note remembers because of what an object is made. It returns what forgets that again.
func (g *lineage) note(a *guard.Attempt, by []plan.Rule, key lru.Key) (forget func()) {
	of := g.of(a)
	if of.family == nil { // It begins a family, in which are all that come of it.
		of = origin{at: g.clock.Now(), family: &family{}}
		g.made.origins.Add(nameKey(a.Key.Object()), of)
	}
	for _, rule := range by {
		of.line = of.line.with(makerOf(a, rule))
	}
	of.at = g.clock.Now()
	before := g.made.put(key, of)
	return func() { g.made.putBack(key, of, before) }
}

// put replaces an origin, and returns the one before, nil if there is none.
func (m *Made) put(key lru.Key, of origin) (before any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, _ = m.origins.Get(key)
	m.origins.Add(key, of)
	return before
}

// putBack puts the origin before another one back, unless there is a third one by now.
func (m *Made) putBack(key lru.Key, of origin, before any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, _ := m.origins.Get(key)
	if now, is := found.(origin); !is || now.family != of.family || !slices.Equal(now.line, of.line) || !now.at.Equal(of.at) {
		return
	}
	if m.origins.Remove(key); before != nil {
		m.origins.Add(key, before)
	}
}

// Sending is told of each operation before it is sent: what it makes may be seen before there is an answer. It returns what is to be told
// the answer: an object that was not made may be made by a user.
func (g *Guard) Sending(a *guard.Attempt, o plan.Operation) (answered func(write.Class)) {
	if !makes(o) {
		return func(write.Class) {}
	}
	forget := g.lineage.note(a, o.Rules, nameKey(guard.KeyOf(o.Target).Object()))
	return func(class write.Class) {
		if class == write.Simulated || class.Failed() && class != write.Ambiguous {
			forget()
		}
	}
}

// recursion is a rule that makes objects because of objects that it has made.
type recursion struct {
	Conflict // where it is named
	named    bool
}

// lineage finds recursions. The lock of the guard is held in all methods but note.
type lineage struct {
	clock      clock.PassiveClock
	log        *slog.Logger
	made       *Made
	recursions map[maker]*recursion
}

// admit decides whether rules may make an object for one of a line. A rule that is slowed down makes one in a while, and has
// taken its turn with that. What it makes for others is not concerned.
func (g *lineage) admit(a *guard.Attempt, all []plan.Rule) *guard.Delay {
	l := g.of(a).line
	var slow []*recursion
	for _, rule := range all {
		m := makerOf(a, rule)
		if l.times(m) > Generations { // The object that the rule is named for is seen before there is an answer.
			g.name(a, m, l, a.Key.Object())
		}
		r := g.recursions[m]
		switch {
		case r == nil || !r.named || over(&r.Conflict, g.clock) || l.times(m) == 0:
		case a.Settling:
			return &guard.Delay{Err: fmt.Errorf("%w: %s", guard.ErrRestless, r.Conflict)}
		case g.clock.Now().Before(r.Next):
			return &guard.Delay{Err: &Error{Conflict: r.Conflict}, Until: r.Next}
		default:
			slow = append(slow, r)
		}
	}
	for _, r := range slow {
		r.Next = g.clock.Now().Add(Interval)
	}
	return nil
}

// count counts an object that rules have made for one of a line, and names a recursion.
func (g *lineage) count(a *guard.Attempt, all []plan.Rule, child Object) {
	of := g.of(a)
	for _, rule := range all {
		m := makerOf(a, rule)
		n := of.line.times(m)
		if n == 0 {
			continue
		}
		g.seen(a, m, of.line, child)
		if number := of.family.number.Add(1); n >= Generations || number > Descendants {
			g.name(a, m, of.line, child)
		}
	}
}

// seen is the recursion of a rule, which has made an object for one of a line, or does not stop to.
func (g *lineage) seen(a *guard.Attempt, m maker, l line, child Object) *recursion {
	r := g.recursions[m]
	if r == nil || over(&r.Conflict, g.clock) {
		r = &recursion{}
		g.recursions[m] = r
	}
	r.Rule, r.Watched, r.Target, r.Rival, r.last = m.rule, a.Key.Object(), child, Rival{Kind: Recursion}, g.clock.Now()
	for _, other := range l {
		if _, known := a.Since[other.rule]; known && other.rule != m.rule { // Those of another identity are not named.
			r.Rival.Rule = other.rule
		}
	}
	return r
}

// name slows the recursion of a rule down, and tells people of it once.
func (g *lineage) name(a *guard.Attempt, m maker, l line, child Object) {
	r := g.recursions[m]
	if r == nil || over(&r.Conflict, g.clock) {
		r = g.seen(a, m, l, child)
	}
	if r.named {
		return
	}
	r.named, r.Next = true, g.clock.Now().Add(Interval)
	if a.Settling {
		return
	}
	err := a.Mask.Error(&Error{Conflict: r.Conflict})
	a.Key.Log(g.log).Warn("a rule makes objects because of objects that it has made", "rule", m.rule.String(), "err", err)
	a.Warnings = append(a.Warnings, guard.Warning{Rule: m.rule, Reason: "Contested", Message: err.Error()})
}

// Events is what the guard has to say of the Events of an attempt.
type Events struct {
	guard   *Guard
	attempt *guard.Attempt
}

// Events returns it.
func (g *Guard) Events(a *guard.Attempt) Events { return Events{g, a} }

// Admit decides whether a rule may record an Event now. Only one because of an Event is held back. It is noted where rules read Events.
func (e Events) Admit(event plan.Event) *guard.Delay {
	g, a := e.guard, e.attempt
	g.mu.Lock()
	defer g.mu.Unlock()
	if isEvent(a.Key.GVR.GroupResource()) {
		if delay := g.lineage.admit(a, []plan.Rule{event.Rule}); delay != nil {
			return delay
		}
	}
	for gvr := range a.Rules.Kinds() {
		if isEvent(gvr.GroupResource()) {
			g.lineage.note(a, []plan.Rule{event.Rule}, nameKey(recorded(event)))
			break
		}
	}
	return nil
}

// Recorded counts an Event that was recorded.
func (e Events) Recorded(event plan.Event) {
	if !isEvent(e.attempt.Key.GVR.GroupResource()) {
		return
	}
	e.guard.mu.Lock()
	defer e.guard.mu.Unlock()
	e.guard.lineage.count(e.attempt, []plan.Rule{event.Rule}, recorded(event))
}

// recorded is the Event as an object.
func recorded(event plan.Event) Object {
	name := write.EventName(event)
	return Object{Resource: schema.GroupResource{Resource: "events"}, Namespace: name.Namespace, Name: name.Name}
}

// follow forgets the recursions of rules that have changed, or are gone.
func (g *lineage) follow(changed []*rules.Rule) {
	for m := range g.recursions {
		if slices.ContainsFunc(changed, func(rule *rules.Rule) bool { return rule.ID == m.rule }) {
			delete(g.recursions, m)
		}
	}
}
