package limit

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// Why a rule with limits does not write, besides a [PausedError]. All of them pass.
var (
	// ErrBusy says that other writes are under way, which may be the last that it may do.
	ErrBusy = errors.New("it waits for writes under way that may count for its limit")
	// ErrUncounted says that the share which is its limit cannot be told.
	ErrUncounted = errors.New("it waits until all objects are listed that it watches, its limit is a share of them")
)

// unknownError keeps a rule from writing that may be paused. It passes with [guard.ErrUnrecorded].
type unknownError struct{}

// Error implements error.
func (unknownError) Error() string {
	return "it waits until the inventory is read, which says whether the rule is paused"
}

// Is reports that it passes with the same.
func (unknownError) Is(target error) bool { return target == guard.ErrUnrecorded }

// Host is the engine that a guard works for. Its methods are called by all workers at the same time.
type Host interface {
	Objects
	// Save has what is [Limits.Unsaved] stored soon, and reports whether anything is stored.
	Save() bool
	// Paused is told of each rule that pauses, and Resumed of one that does not any more, once nothing says so that is
	// stored.
	Paused(Pause)
	Resumed(plan.Rule)
}

// Objects are those of an engine.
type Objects interface {
	// Count is how many objects there are in a selection, and whether all of them are known; Names lists them.
	Count(plan.Selection) (objects int, all bool)
	Names(plan.Selection) []types.NamespacedName
	// LookAt has objects looked at, in no order; LookAgain has all looked at that rules watch, and all that is remembered.
	LookAt(keys []guard.Key)
	LookAgain(resumed []*rules.Rule)
}

// Guard holds the rules of an engine to their limits. It implements [guard.Guard].
type Guard struct {
	*Limits
	host Host
	log  *slog.Logger

	mu      sync.Mutex
	rules   *guard.Rules       // in effect; guarded by mu
	waiting map[guard.Key]bool // for room, or for pauses to be known; guarded by mu
	asked   map[plan.Rule]bool // to resume, by who runs the engine; guarded by mu
}

// NewGuard returns a guard that has no rules.
func NewGuard(clock clock.PassiveClock, host Host, log *slog.Logger) *Guard {
	g := &Guard{host: host, log: log, rules: &guard.Rules{}, waiting: map[guard.Key]bool{}}
	g.Limits = New(clock, g.count)
	return g
}

// Begin implements [guard.Guard].
func (g *Guard) Begin(a *guard.Attempt) (guard.Check, time.Time) {
	return check{guard: g, attempt: a}, time.Time{}
}

// check is one attempt.
type check struct {
	guard.Pass
	guard   *Guard
	attempt *guard.Attempt
}

// Admit implements [guard.Check]. It is to be asked last, as what it grants counts.
func (c check) Admit(_ context.Context, o plan.Operation) *guard.Delay {
	for _, rule := range o.Rules {
		if c.attempt.Rules.Limited[rule] != nil && concernOf(o, rule) == holds {
			if answer := c.guard.May(rule); answer != Granted {
				return c.delay(rule, answer)
			}
		}
	}
	counted := c.counted(o)
	if len(counted) == 0 {
		return nil
	}
	refused := c.guard.Reserve(counted, c.attempt.UID)
	if slices.Contains(slices.Collect(maps.Values(refused)), Busy) {
		c.guard.await(c.attempt.Key) // Once more, as somebody may have made room before it was known that this waits.
		refused = c.guard.Reserve(counted, c.attempt.UID)
	}
	if refused == nil {
		return nil
	}
	c.guard.tellPaused()
	if c.guard.Unsaved() {
		c.guard.host.Save()
	}
	worst := counted[0]
	for rule, answer := range refused {
		if answer > refused[worst] {
			worst = rule
		}
	}
	return c.delay(worst, refused[worst])
}

// counted are the rules of an operation for whose limits it counts.
func (c check) counted(o plan.Operation) []plan.Rule {
	var out []plan.Rule
	for _, rule := range o.Rules {
		if c.attempt.Rules.Limited[rule] != nil && concernOf(o, rule) == counts {
			out = append(out, rule)
		}
	}
	return out
}

func (c check) delay(rule plan.Rule, answer Answer) *guard.Delay {
	switch answer {
	case Busy:
		return &guard.Delay{Err: ErrBusy}
	case Uncounted:
		return &guard.Delay{Err: ErrUncounted, Retry: true}
	case Unknown:
		c.guard.await(c.attempt.Key)
		return &guard.Delay{Err: unknownError{}, Retry: true}
	default:
		pause, _ := c.guard.Paused(rule)
		return &guard.Delay{Err: &PausedError{Pause: pause}}
	}
}

// Observe implements [guard.Check].
func (c check) Observe(o guard.Operation, answer guard.Answer) {
	counted := c.counted(o.Admitted)
	if len(counted) == 0 {
		return
	}
	c.guard.Settle(counted, c.attempt.UID, answer.Effective)
	if c.guard.Unsaved() {
		c.guard.host.Save()
	}
	c.guard.free()
}

// Finish implements [guard.Check]: Events of a rule that is paused go on as they were, unless it has just written.
func (c check) Finish(*guard.Outcome) {
	if !c.attempt.CarriedOut {
		return
	}
	for _, decision := range c.attempt.Plan.Decisions {
		if _, paused := c.guard.Paused(decision.Rule); paused && !c.attempt.Wrote[decision.Rule] {
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

// concernOf tells them apart. Nothing keeps a rule from cleaning up, and what a paused rule would hold nobody would let go.
func concernOf(o plan.Operation, rule plan.Rule) concern {
	if o.Type != plan.Merge && o.Type != plan.JSON {
		return counts
	}
	out := frees
	for _, change := range o.Changes {
		if change.Rule != rule {
			continue
		}
		switch {
		case slices.Equal(change.Path, plan.Path{"metadata", "annotations", plan.AdoptedAnnotation}) && change.After == nil:
			return frees // The whole of it gives up what was adopted.
		case !slices.Equal(change.Path, plan.Path{"metadata", "finalizers"}):
			out = counts
		default:
			out = max(out, finalizes(change))
		}
	}
	return out
}

// finalizes tells the finalizer of the rule from those of others.
func finalizes(change plan.Change) concern {
	before, _ := change.Before.([]any)
	after, _ := change.After.([]any)
	own := any(change.Rule.Finalizer())
	others := func(list []any) []any {
		return slices.DeleteFunc(slices.Clone(list), func(name any) bool { return name == own })
	}
	switch {
	case !slices.Equal(others(before), others(after)):
		return counts
	case slices.Contains(after, own) && !slices.Contains(before, own):
		return holds
	default:
		return frees
	}
}

// Follow takes rules that are in effect now.
func (g *Guard) Follow(now *guard.Rules, known bool) {
	g.mu.Lock()
	g.rules = now
	asked := g.asked
	g.mu.Unlock()
	var all []Rule
	for id, rule := range now.Limited {
		all = append(all, Rule{ID: id, Digest: rule.Digest(), Limits: *rule.Limits(), Asked: rule.AsksToResume() || asked[id]})
	}
	g.Resume(g.Limits.Follow(all, known), "the rule has changed, or it is asked to")
	g.free()
}

// Ask says which rules somebody asks to resume from now on, besides what their documents say.
func (g *Guard) Ask(asked []plan.Rule) {
	all := map[plan.Rule]bool{}
	for _, rule := range asked {
		all[rule] = true
	}
	g.mu.Lock()
	g.asked = all
	now := g.rules
	g.mu.Unlock()
	resumed := g.Limits.Ask(func(id plan.Rule) bool {
		rule := now.Limited[id]
		return all[id] || rule != nil && rule.AsksToResume()
	})
	if g.Unsaved() {
		g.host.Save()
	}
	g.Resume(resumed, "it is asked to")
}

// Resume has all objects looked at again, of which rules were paused.
func (g *Guard) Resume(resumed []plan.Rule, because string) {
	if len(resumed) == 0 {
		return
	}
	for _, id := range resumed {
		g.log.Info("rule resumes", "rule", id.String(), "because", because)
	}
	if !g.host.Save() {
		g.Over(resumed)
	}
	g.mu.Lock()
	now := g.rules
	g.mu.Unlock()
	var all []*rules.Rule
	for _, id := range resumed {
		if rule := now.Limited[id]; rule != nil {
			all = append(all, rule)
		}
	}
	g.host.LookAgain(all)
}

// Over tells of rules that have resumed, which is stored.
func (g *Guard) Over(rules []plan.Rule) {
	for _, rule := range rules {
		g.host.Resumed(rule)
	}
}

// Learned takes over what is stored; see [Limits.Learn].
func (g *Guard) Learned(counts []Count, pauses []Pause, read func(set plan.Rule) bool, version uint64) {
	g.Recall(counts, read)
	over, resumed := g.Learn(pauses, read, version)
	g.Over(over)
	g.Resume(resumed, "it is asked to")
	g.free()
}

// tellPaused tells of rules that have paused just now.
func (g *Guard) tellPaused() {
	for _, pause := range g.Fresh() {
		g.host.Save()
		g.log.Warn("rule is paused", "rule", pause.Rule.String(), "objects", pause.Objects, "of", pause.Of, "limit", pause.Limit, "per", pause.Per)
		g.host.Paused(pause)
	}
}

// await notes that an object is to be looked at when there is room.
func (g *Guard) await(key guard.Key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting[key] = true
}

// free has what waits looked at.
func (g *Guard) free() {
	g.mu.Lock()
	waiting := slices.Collect(maps.Keys(g.waiting))
	clear(g.waiting)
	g.mu.Unlock()
	g.host.LookAt(waiting)
}

// count is how many objects a rule watches, in all selections.
func (g *Guard) count(id plan.Rule) (objects int, all bool) {
	g.mu.Lock()
	rule := g.rules.Limited[id]
	g.mu.Unlock()
	if rule == nil {
		return 0, false
	}
	watches := rule.Watches()
	all = true
	for _, selection := range watches {
		n, known := g.host.Count(selection)
		objects, all = objects+n, all && known
	}
	if apart(watches) {
		return objects, all
	}
	seen := map[plan.Object]bool{}
	for _, selection := range watches {
		for _, name := range g.host.Names(selection) {
			seen[plan.Object{GVR: selection.GVR, Namespace: name.Namespace, Name: name.Name}] = true
		}
	}
	return len(seen), all
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
