package limit

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Why a rule with limits does not write, besides a [PausedError]. All of them pass.
var (
	// ErrBusy says that other writes are under way, which may be the last that it may do.
	ErrBusy = errors.New("it waits for writes under way that may count for its limit")
	// ErrUncounted says that the share which is its limit cannot be told.
	ErrUncounted = errors.New("it waits until all objects are listed that it watches, its limit is a share of them")
	// ErrUnknown says that it is not known whether the rule is paused.
	ErrUnknown = errors.New("it waits until the inventory is read, which says whether the rule is paused")
)

// answer says whether a rule may write for an object, the worst last.
type answer uint8

const (
	granted   answer = iota
	busy             // other writes are under way that may count
	uncounted        // it is not known how many objects there are
	unknown          // it is not known whether the rule is paused
	paused
)

// Host is the engine that a guard works for. Its methods are called by all workers at the same time.
type Host interface {
	Objects
	// Save has what is [Guard.Unsaved] stored soon.
	Save()
	// Paused is told of each rule that pauses, and Resumed of one that does not any more, once nothing says so that is stored.
	Paused(Pause)
	Resumed(plan.Rule)
}

// Objects are those of an engine.
type Objects interface {
	// Count is how many objects there are in a selection, and whether all of them are known; Names lists them. Neither may call
	// the guard.
	Count(plan.Selection) (objects int, all bool)
	Names(plan.Selection) []types.NamespacedName
	// LookAt has objects looked at, in no order; LookAgain has all looked at in selections, and all that is remembered.
	LookAt(keys []guard.Key)
	LookAgain(selections []plan.Selection)
}

// Guard holds the rules of an engine to their limits. It implements [guard.Guard], and holds no more objects than the rules may
// write for.
type Guard struct {
	clock clock.PassiveClock
	host  Host
	log   *slog.Logger

	mu      sync.Mutex
	rules   map[plan.Rule]*state // in effect; guarded by mu
	stores  bool                 // somebody stores pauses and counts; guarded by mu
	asked   sets.Set[plan.Rule]  // to resume, by who runs the engine; guarded by mu
	waiting map[guard.Key]bool   // for room, or for pauses to be known; guarded by mu
	// version is how often something changed that is to be stored, and storing is which one was last given to be stored; guarded by mu.
	version, storing uint64
}

// Rule is a rule with limits.
type Rule struct {
	ID plan.Rule
	// Digest tells it from what it was before and what it is later.
	Digest string
	Limits spec.Limits
	// Asked says that its document asks it to resume.
	Asked bool
	// Watches are the objects of which its limit may be a share.
	Watches []plan.Selection
}

// state is what is known of a rule.
type state struct {
	Rule
	window window
	pause  *v1alpha1.Pause // nil while it is not paused
	// known says that its pauses from before the start are known.
	known bool
	// stored is what is stored of the window, and share for how many more objects it may write, where anything is stored.
	stored []v1alpha1.Count
	share  int
	// unsaved is the version of its last change that is not stored yet, and ended that of the end of a pause which may be
	// stored still, whether the rule has paused again since or not; zero for none.
	unsaved, ended uint64

	counted time.Time // when it was found out how many objects it watches
	all     bool      // they were known
	base    base      // for a share
}

// NewGuard returns a guard that has no rules.
func NewGuard(clock clock.PassiveClock, host Host, log *slog.Logger) *Guard {
	return &Guard{clock: clock, host: host, log: log, rules: map[plan.Rule]*state{}, waiting: map[guard.Key]bool{}}
}

// locked does something with the lock held, and has stored soon what was noted meanwhile.
func (g *Guard) locked(do func()) {
	noted := func() bool {
		g.mu.Lock()
		defer g.mu.Unlock() // The engine contains panics.
		before := g.version
		do()
		return g.version > before
	}()
	if noted {
		g.host.Save()
	}
}

// note says that something is to be stored: the rule has paused, or resumed, or is asked otherwise, or has written for many
// objects. The lock is held, as by all that take a state.
func (g *Guard) note(s *state) {
	g.version++
	s.unsaved = g.version
}

// Follow takes the rules that are in effect now, and whether it is known that no other is paused but those that are. What is
// known of a rule that is the same as before stays. Those resume that have changed, and those that are asked to.
func (g *Guard) Follow(now *guard.Rules, known bool) {
	var all []Rule
	for id, rule := range now.Limited {
		all = append(all, Rule{ID: id, Digest: rule.Digest(), Limits: *rule.Limits(), Asked: rule.AsksToResume(), Watches: rule.Watches()})
	}
	g.follow(all, known)
}

func (g *Guard) follow(all []Rule, known bool) {
	var resumed []Rule
	g.locked(func() {
		before := g.rules
		g.rules, g.stores = make(map[plan.Rule]*state, len(all)), !known
		for _, rule := range all {
			s := before[rule.ID]
			if s == nil {
				s = &state{known: known, Rule: rule, window: newWindow()}
			}
			g.rules[rule.ID] = s
			if s.Digest != rule.Digest {
				if s.pause != nil {
					resumed = append(resumed, rule)
					g.end(s)
				}
				*s = state{known: s.known, Rule: rule, window: newWindow(), unsaved: s.unsaved, ended: s.ended}
			}
			s.Asked, s.Watches = rule.Asked, rule.Watches // It may be served in another version.
			if g.ask(s) {
				resumed = append(resumed, rule)
			}
		}
	})
	g.resume(resumed, "the rule has changed, or it is asked to")
	g.free()
}

// Ask says which rules somebody asks to resume from now on, besides what their documents say.
func (g *Guard) Ask(asked []plan.Rule) {
	var resumed []Rule
	g.locked(func() {
		g.asked = sets.New(asked...)
		for _, s := range g.rules {
			if g.ask(s) {
				resumed = append(resumed, s.Rule)
			}
		}
	})
	g.resume(resumed, "it is asked to")
}

// isAsked reports whether anybody asks a rule to resume.
func (g *Guard) isAsked(s *state) bool { return s.Asked || g.asked.Has(s.ID) }

// ask ends the pause of a rule that is asked to resume since it paused, and reports whether there was one.
func (g *Guard) ask(s *state) (resumes bool) {
	switch {
	case s.pause == nil || s.pause.Asked == g.isAsked(s):
		return false
	case s.pause.Asked:
		pause := *s.pause
		pause.Asked = false
		s.pause = &pause
		g.note(s)
		return false
	}
	s.pause, s.window = nil, newWindow()
	g.end(s)
	return true
}

// end says that a pause is over.
func (g *Guard) end(s *state) {
	g.note(s)
	s.ended = s.unsaved
}

// resume has all objects looked at again, of which rules were paused.
func (g *Guard) resume(resumed []Rule, because string) {
	if len(resumed) == 0 {
		return
	}
	g.mu.Lock()
	stores := g.stores
	g.mu.Unlock()
	var watched []plan.Selection
	for _, rule := range resumed {
		g.log.Info("rule resumes", "rule", rule.ID.String(), "because", because)
		watched = append(watched, rule.Watches...)
		if !stores { // Otherwise it is told once that is stored.
			g.host.Resumed(rule.ID)
		}
	}
	g.host.LookAgain(watched)
}

// free has what waits looked at.
func (g *Guard) free() {
	g.mu.Lock()
	waiting := slices.Collect(maps.Keys(g.waiting))
	clear(g.waiting)
	g.mu.Unlock()
	g.host.LookAt(waiting)
}

// All lists the rules that are paused, in order.
func (g *Guard) All() []Pause {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []Pause
	for _, s := range g.rules {
		if s.pause != nil {
			out = append(out, Pause{s.ID, *s.pause})
		}
	}
	slices.SortFunc(out, func(a, b Pause) int { return a.Rule.Compare(b.Rule) })
	return out
}

// check is one attempt.
type check struct {
	guard.Pass
	guard   *Guard
	attempt *guard.Attempt
}

// Begin implements [guard.Guard].
func (g *Guard) Begin(a *guard.Attempt) (guard.Check, time.Time) {
	return check{guard: g, attempt: a}, time.Time{}
}

// Admit implements [guard.Check]. It is to be asked last, as what it grants counts: of several rules all may write or none. Those
// pause that would pass their limits.
func (c check) Admit(_ context.Context, o plan.Operation) *guard.Delay {
	holding, counting := c.concerned(o, holds), c.concerned(o, counts)
	if len(holding)+len(counting) == 0 {
		return nil
	}
	g := c.guard
	var news []Pause
	var delay *guard.Delay
	g.locked(func() {
		var worst answer
		var why error // It is paused.
		refuse := func(s *state, a answer) {
			if a == paused && worst < paused {
				why = &PausedError{Pause{s.ID, *s.pause}}
			}
			worst = max(worst, a)
		}
		for _, rule := range holding {
			s := g.rules[rule]
			refuse(s, s.may())
		}
		var room []*state
		if worst == granted {
			for _, rule := range counting {
				s := g.rules[rule]
				a := s.may()
				if a == granted && !s.Limits.Everything() {
					room = append(room, s)
					if a = g.reserve(s, c.attempt.UID); a == paused {
						news = append(news, Pause{s.ID, *s.pause})
					}
				}
				refuse(s, a)
			}
		}
		switch worst {
		case granted:
			for _, s := range room {
				s.window.reserve(c.attempt.UID)
			}
		case busy:
			delay, g.waiting[c.attempt.Key] = &guard.Delay{Err: ErrBusy}, true
		case uncounted:
			delay = &guard.Delay{Err: ErrUncounted, Retry: true}
		case unknown:
			delay, g.waiting[c.attempt.Key] = &guard.Delay{Err: ErrUnknown, Retry: true}, true
		case paused:
			delay = &guard.Delay{Err: why}
		}
	})
	for _, pause := range news {
		g.log.Warn("rule is paused",
			"rule", pause.Rule.String(), "objects", pause.Objects, "of", pause.Of, "limit", pause.Limit, "per", pause.Per)
		g.host.Paused(pause)
	}
	return delay
}

// may is the answer where a write does not count.
func (s *state) may() answer {
	switch {
	case s == nil:
		return unknown // It is about to be.
	case s.pause != nil:
		return paused
	case !s.known:
		return unknown
	default:
		return granted
	}
}

// reserve is the answer where it does; the rule pauses where it would pass its limit.
func (g *Guard) reserve(s *state, object types.UID) answer {
	now := g.clock.Now()
	s.window.expire(now, s.Limits.Per)
	if s.window.find(object) != nil {
		return granted
	}
	all, effective := len(s.window.entries), s.window.written.Len()
	if all == 0 {
		s.base = nil // A window begins.
	}
	switch {
	case all < g.most(s, now, countedFor) || all < g.most(s, now, 0):
		if !g.stores {
			return granted
		}
		s.share = max(1, g.most(s, now, countedFor)/unstoredShare)
		if len(s.window.unstored)+all-effective < s.share {
			return granted
		}
		if all == effective {
			g.note(s) // Nothing is under way that would do so, where the limit has shrunk.
		}
		return busy
	case effective < g.most(s, now, countedFor):
		return busy
	case s.Limits.Percent > 0 && !s.all:
		return uncounted
	}
	g.count(s, now, countedFor)
	limit, per := strconv.Itoa(s.Limits.Objects), s.Limits.Per.String()
	if s.Limits.Percent > 0 {
		limit = strconv.FormatFloat(s.Limits.Percent, 'f', -1, 64) + "%"
	}
	if strings.HasSuffix(per, "m0s") { // 10m0s, which a rule has as 10m
		per = strings.TrimSuffix(per, "0s")
	}
	if strings.HasSuffix(per, "h0m") {
		per = strings.TrimSuffix(per, "0m")
	}
	s.pause = &v1alpha1.Pause{
		Rule: s.ID.Name, Digest: s.Digest, Since: metav1.NewTime(now.UTC().Truncate(time.Second)),
		Objects: int64(effective), Of: int64(s.base.most()), Limit: limit, Per: per, Asked: g.isAsked(s),
	}
	g.note(s)
	return paused
}

// Observe implements [guard.Check]. What had no effect makes room for others.
func (c check) Observe(o guard.Operation, answer guard.Answer) {
	counting := c.concerned(o.Admitted, counts)
	if len(counting) == 0 {
		return
	}
	g := c.guard
	g.locked(func() {
		now := g.clock.Now()
		for _, rule := range counting {
			if s := g.rules[rule]; s != nil {
				s.window.settle(c.attempt.UID, answer.Effective, now, s.Limits.Per)
				if g.stores && len(s.window.unstored) >= max(1, s.share) {
					g.note(s)
				}
			}
		}
	})
	g.free()
}

// Finish implements [guard.Check]: Events of a rule that is paused go on as they were, unless it has just written.
func (c check) Finish(*guard.Outcome) {
	if !c.attempt.CarriedOut {
		return
	}
	c.guard.mu.Lock()
	defer c.guard.mu.Unlock()
	for _, decision := range c.attempt.Plan.Decisions {
		if s := c.guard.rules[decision.Rule]; s != nil && s.pause != nil && !c.attempt.Wrote[decision.Rule] {
			c.attempt.Unfinished[decision.Rule] = true
		}
	}
}

// concern is what a write of a rule has to do with its limits.
type concern uint8

const (
	frees  concern = iota // takes off what the rule has put on
	holds                 // puts the finalizer of the rule on
	counts                // counts
)

// concerned are the rules with limits that an operation has this to do with.
func (c check) concerned(o plan.Operation, what concern) []plan.Rule {
	var out []plan.Rule
	for _, rule := range o.Rules {
		if c.attempt.Rules.Limited[rule] != nil && concernOf(o, rule) == what {
			out = append(out, rule)
		}
	}
	return out
}

// concernOf tells them apart. Nothing keeps a rule from cleaning up, and what a paused rule would hold nobody would let go.
func concernOf(o plan.Operation, rule plan.Rule) concern {
	if o.Type != plan.Merge && o.Type != plan.JSON {
		return counts
	}
	out := frees
	for _, change := range o.Changes {
		switch {
		case change.Rule != rule:
		case slices.Equal(change.Path, plan.Path{"metadata", "annotations", plan.AdoptedAnnotation}) && change.After == nil:
			return frees // The whole of it gives up what was adopted.
		case !slices.Equal(change.Path, plan.Path{"metadata", "finalizers"}):
			out = counts
		default: // The finalizer of the rule is told from those of others.
			before, _ := change.Before.([]any)
			after, _ := change.After.([]any)
			own := any(rule.Finalizer())
			others := func(list []any) []any {
				return slices.DeleteFunc(slices.Clone(list), func(name any) bool { return name == own })
			}
			if !slices.Equal(others(before), others(after)) {
				out = counts
			} else if slices.Contains(after, own) && !slices.Contains(before, own) {
				out = max(out, holds)
			}
		}
	}
	return out
}

// Unsaved reports whether something has changed that is not stored yet.
func (g *Guard) Unsaved() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.rules {
		if s.unsaved > 0 {
			return true
		}
	}
	return false
}

// Store returns what is to be stored in place of what is: of the rules that are known what is known, and of the others what was
// stored, unless they are gone.
func (g *Guard) Store(stored map[plan.Rule]Stored, gone func(plan.Rule) bool) map[plan.Rule]Stored {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.storing = g.version
	out := map[plan.Rule]Stored{}
	for id, one := range stored {
		if s := g.rules[id]; s != nil && !s.known || s == nil && !gone(id) {
			out[id] = one
		}
	}
	for id, s := range g.rules {
		if s.unsaved > 0 {
			s.stored = s.window.counts(&s.Rule)
		}
		if s.known && (s.pause != nil || len(s.stored) > 0) {
			out[id] = Stored{Pause: s.pause, Counts: s.stored}
		}
	}
	return out
}

// Learn takes what is stored now, of the sets that could be read: what [Guard.Store] has last returned, or more.
func (g *Guard) Learn(stored map[plan.Rule]Stored, read func(set plan.Rule) bool) {
	var over []plan.Rule
	var resumed []Rule
	g.locked(func() {
		for id, s := range g.rules {
			if !read(id.OfSet()) {
				continue
			}
			if s.unsaved > 0 {
				s.window.store()
			}
			if s.unsaved <= g.storing {
				s.unsaved = 0
			}
			if s.ended > 0 && s.ended <= g.storing {
				s.ended = 0
				over = append(over, id)
			}
			if !s.known {
				s.known = true
				if g.adopt(s, stored[id]) {
					resumed = append(resumed, s.Rule)
				}
			}
		}
	})
	for _, id := range over {
		g.host.Resumed(id)
	}
	g.resume(resumed, "it is asked to")
	g.free()
}

// adopt takes over what an earlier process has stored, unless the rule is another one now. It reports whether the rule was
// paused and is asked to resume since. The window is empty.
func (g *Guard) adopt(s *state, stored Stored) (resumes bool) {
	now := g.clock.Now()
	for _, c := range stored.Counts {
		if c.Digest != s.Digest {
			continue
		}
		s.stored = append(s.stored, c)
		at := c.At.Time
		if at.After(now) {
			at = now
		}
		for i := 0; i+markLength <= len(c.Objects); i += markLength {
			s.window.restore(types.UID(c.Objects[i:i+markLength]), at)
		}
	}
	switch {
	case stored.Pause == nil:
		return false
	case stored.Pause.Digest != s.Digest:
		g.note(s) // It is to be stored no longer.
		return false
	}
	s.pause = stored.Pause
	return g.ask(s)
}
