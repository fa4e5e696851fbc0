package conflict

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// reasonContested is of the Event that tells of a conflict.
const reasonContested = "Contested"

// Live reads from the API server itself.
type Live interface {
	// Get returns nil where there is no such object.
	Get(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string) (map[string]any, error)
}

// Guard keeps rules from writing more than once in a while to an object in which they are undone. It implements
// [guard.Guard].
type Guard struct {
	*Tracker
	live   Live
	lookAt func([]Object)
	log    *slog.Logger
}

// New returns a guard that knows of no conflicts. lookAt has objects looked at of which there is news.
func New(clock clock.PassiveClock, live Live, lookAt func([]Object), log *slog.Logger) *Guard {
	return &Guard{NewTracker(clock), live, lookAt, log}
}

// Follow forgets conflicts of rules that are gone, or have changed.
func (g *Guard) Follow(before, now *rules.Set) {
	was, is := digests(before), digests(now)
	g.Tracker.Forget(func(rule plan.Rule) bool {
		digest, there := is(rule)
		earlier, known := was(rule)
		return !there || !known || digest != earlier
	})
}

// digests tells rules from what they were before; those that nobody asks about cost nothing.
func digests(set *rules.Set) func(plan.Rule) (digest string, there bool) {
	all, known := map[plan.Rule]*rules.Rule{}, map[plan.Rule]string{}
	for _, rule := range set.Rules() {
		all[rule.ID] = rule
	}
	return func(id plan.Rule) (string, bool) {
		rule := all[id]
		if rule == nil {
			return "", false
		}
		if known[id] == "" {
			known[id] = rule.Digest()
		}
		return known[id], true
	}
}

// Forget implements [guard.Forgetter]. The name of what is gone may be that of another object.
func (g *Guard) Forget(key guard.Key) {
	if key.UID == "" {
		g.Gone(key.Object())
	}
}

// Begin implements [guard.Guard].
func (g *Guard) Begin(a *guard.Attempt) (guard.Check, time.Time) {
	return &check{guard: g, attempt: a}, time.Time{}
}

// check is one attempt.
type check struct {
	guard   *Guard
	attempt *guard.Attempt
	basis   *Basis // what the plan was decided by; nil until something is admitted

	mu sync.Mutex
	// sent are the writes of which the tracker is to hear what became of them, and live their targets as they were read just
	// before, nil where they were not; guarded by mu.
	sent map[Object]int
	live map[Object]map[string]any
}

// Admit implements [guard.Check]. While the engine settles, nothing is slowed down: it gives up after so many rounds.
func (c *check) Admit(_ context.Context, o plan.Operation) *guard.Delay {
	var delay *guard.Delay
	for _, rule := range o.Rules {
		if c.attempt.Settling {
			break
		}
		held, is := c.guard.Held(rule, guard.KeyOf(o.Target).Object())
		if is && (delay == nil || held.Next.After(delay.Until)) {
			delay = &guard.Delay{Err: &Error{Conflict: held}, Until: held.Next}
		}
	}
	if delay == nil && c.basis == nil { // Before anything is written.
		basis := c.guard.Basis(c.attempt.Read(), c.attempt.Due, c.attempt.Plan.LookAgainAt)
		c.basis = &basis
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
	g, target := c.guard, guard.KeyOf(o.Target).Object()
	var live map[string]any
	if o.Target.UID != "" && slices.ContainsFunc(o.Rules, func(rule plan.Rule) bool { return g.Suspects(rule, target) }) {
		live, _ = g.live.Get(ctx, o.Target.GVR, o.Target.Namespace, o.Target.Name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sent == nil {
		c.sent, c.live = map[Object]int{}, map[Object]map[string]any{}
	}
	c.sent[target]++
	c.live[target] = live
	g.Tracker.Begin(target)
}

// Observe implements [guard.Check].
func (c *check) Observe(o guard.Operation, answer guard.Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	target, echo := guard.KeyOf(o.Target).Object(), answer.Echo
	if c.sent[target] == 0 {
		return
	}
	c.sent[target]--
	var news []Object
	if answer.Class != write.Written || echo == nil { // Or nobody knows what it left.
		news = c.guard.End(target)
	} else {
		w := Write{
			Watched: c.attempt.Key.Object(), WatchedUID: c.attempt.UID, Target: target, UID: o.Target.UID,
			Found: o.Target.ResourceVersion, Fields: fieldsOf(o, answer.Result), Basis: *c.basis, Live: c.live[target],
		}
		if !echo.Gone {
			w.UID, w.Left = echo.Object.UID, echo.Object.ResourceVersion
		}
		news = c.guard.Record(w)
	}
	own := func(object Object) bool { return object == c.attempt.Key.Object() }
	if news = slices.DeleteFunc(news, own); len(news) > 0 {
		c.guard.lookAt(news) // It is known only now in which order they were written for.
	}
}

// fieldsOf are what was written, with the paths as they may be told.
func fieldsOf(o guard.Operation, result write.Result) []Field {
	whole := Owning
	switch {
	case o.Type == plan.Delete:
		whole = Deleting
	case o.Type == plan.Create, o.Target.UID == "":
		whole = Making
	}
	var out []Field
	if len(o.Changes) == 0 || o.Target.UID == "" {
		for _, rule := range o.Rules {
			out = append(out, whole(rule))
		}
		return out
	}
	// Some subresources answer with an object of another kind.
	readable := result.Object != nil && (o.Subresource == "" || result.Object["kind"] == o.Predicted["kind"])
	for i, change := range o.Changes {
		field := Field{
			Rule: change.Rule, Path: change.Path, Shown: o.Told.Changes[i].Path,
			Before: change.Before, After: change.After, Answered: change.After,
		}
		if readable {
			field.Answered, _ = plan.Lookup(result.Object, change.Path)
		}
		out = append(out, field)
	}
	return out
}

// Finish implements [guard.Check]: people are told of each conflict once, by an attempt that is carried out. Where the
// engine does not come to rest that settles, the error says so.
func (c *check) Finish(out *guard.Outcome) {
	a := c.attempt
	switch {
	case a.Settling:
		c.explain(out)
		return
	case !a.CarriedOut:
		return
	}
	for _, conflict := range c.guard.News(a.Key.Object()) {
		err := a.Mask(&Error{Conflict: conflict})
		a.Key.Log(c.guard.log).Warn("what a rule writes is undone again and again", "rule", conflict.Rule.String(), "err", err)
		a.Warn(conflict.Rule, reasonContested, err.Error())
	}
}

// explain says of what does not settle who undoes whom.
func (c *check) explain(out *guard.Outcome) {
	for i, f := range out.Failures {
		if !errors.Is(f.Err, guard.ErrRestless) {
			continue
		}
		var known []string
		for _, operation := range c.attempt.Plan.Operations {
			for _, rule := range operation.Rules {
				if conflict, is := c.guard.Of(rule, guard.KeyOf(operation.Target).Object()); is {
					known = append(known, conflict.String())
				}
			}
		}
		if len(known) > 0 {
			out.Failures[i].Err = c.attempt.Mask(fmt.Errorf("%w: %s", f.Err, strings.Join(known, "; ")))
		}
	}
}
