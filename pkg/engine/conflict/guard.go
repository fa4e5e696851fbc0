package conflict

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

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
func (g *Guard) Begin(a *guard.Attempt) (guard.Check, *guard.Delay) {
	return &check{guard: g, attempt: a}, nil
}

// check is one attempt.
type check struct {
	guard   *Guard
	attempt *guard.Attempt
	// basis is what the plan was decided by, and live are targets as they were read live just before they were written to.
	basis *Basis
	live  map[Object]map[string]any
}

// Admit implements [guard.Check]. Where somebody may undo what is written, the target is read live: until it is written to,
// its managedFields say who has changed it. That there is no answer is no reason not to write. While the engine settles,
// nothing is slowed down: it gives up after so many rounds.
func (c *check) Admit(ctx context.Context, o plan.Operation) *guard.Delay {
	g, target := c.guard, guard.KeyOf(o.Target).Object()
	if c.basis == nil { // Before anything is written.
		basis := g.Basis(c.attempt.Read(), c.attempt.Due, c.attempt.Plan.LookAgainAt)
		c.basis = &basis
	}
	var delay *guard.Delay
	suspected := false
	for _, rule := range o.Rules {
		held, is := g.Held(rule, target)
		if is && !c.attempt.Settling && (delay == nil || held.Next.After(delay.Until)) {
			delay = &guard.Delay{Err: &Error{Conflict: held}, Until: held.Next}
		}
		suspected = suspected || g.Suspects(rule, target)
	}
	if delay != nil {
		return delay
	}
	if suspected && o.Target.UID != "" {
		if live, err := g.live.Get(ctx, o.Target.GVR, o.Target.Namespace, o.Target.Name); err == nil {
			if c.live == nil {
				c.live = map[Object]map[string]any{}
			}
			c.live[target] = live
		}
	}
	if isNamed(o) {
		g.Tracker.Begin(target)
	}
	return nil
}

// isNamed tells what has a name from what gets another one each time that it is made.
func isNamed(o plan.Operation) bool { return o.Target.Name != "" }

// Observe implements [guard.Check].
func (c *check) Observe(o guard.Operation, answer guard.Answer) {
	if !isNamed(o.Planned) {
		return
	}
	target, echo := guard.KeyOf(o.Target).Object(), answer.Echo
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
	case !a.CarriedOut():
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
	var known []string
	for _, operation := range c.attempt.Plan.Operations {
		for _, rule := range operation.Rules {
			if conflict, is := c.guard.Of(rule, guard.KeyOf(operation.Target).Object()); is {
				known = append(known, conflict.String())
			}
		}
	}
	for i, f := range out.Failures {
		if len(known) > 0 && errors.Is(f.Err, guard.ErrRestless) {
			out.Failures[i].Err = c.attempt.Mask(fmt.Errorf("%w: %s", f.Err, strings.Join(known, "; ")))
		}
	}
}
