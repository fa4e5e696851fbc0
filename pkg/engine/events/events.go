// Package events records the Events of rules. A rule that keeps wanting the same Event of an object, evaluation after
// evaluation, has it recorded once: that time is an episode.
package events

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"unique"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/mask"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// maxPending bounds the Events of one object that are still to be recorded.
const maxPending = 20

// Recorder records Events. With again, it is known that an earlier episode of the same Event has ended.
type Recorder interface {
	Record(ctx context.Context, event plan.Event, again bool) error
}

// API is how Events reach the API server.
type API struct {
	Recorder Recorder
	Live     interface {
		Get(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string) (map[string]any, error)
	}
	Observer interface {
		Recorded(event plan.Event, err error)
	}
	// Guard may hold Events of rules back, and learns what was recorded.
	Guard interface {
		Admit(event plan.Event) *guard.Delay
		Recorded(event plan.Event)
	}
}

// Episodes are those of one object. They belong to the worker that has the object in hand. The zero value has none.
type Episodes struct {
	current []episode // under way
	// evaluated is the generation of the rules that were evaluated last, and unknown are those of them of which it is not
	// known what they wanted before: no attempt has carried them out to the end.
	evaluated int
	unknown   []plan.Rule
	pending   []pending
	// failure is why Events could not be recorded, as it was logged.
	failure string
}

// episode is one Event of a rule. It is comparable and small: there may be one for each object and rule.
type episode struct {
	rule unique.Handle[plan.Rule]
	text uint64 // a hash of what the Event says
}

var hashOfTexts = maphash.MakeSeed()

func episodeOf(event plan.Event) episode {
	return episode{unique.Make(event.Rule), maphash.Comparable(hashOfTexts, [4]string{event.Type, event.Reason, event.Action, event.Message})}
}

// pending is an Event that is still to be recorded.
type pending struct {
	event plan.Event
	episode
	mask  *mask.Masker // of the evaluation that wanted it
	again bool
	// warning says that no rule asked for it: who may not record it need not.
	warning bool
	// provided are writes that may have been carried out. If they were not, the Event is not recorded.
	provided []plan.Operation
}

// Notify records the Events of an attempt, after those of earlier ones that could not be recorded. An episode ends when its
// rule no longer wants the Event and has carried out all that it wants. The episodes of a rule that has not go on. It tells what could
// not be recorded, and why, in the outcome.
func (e *Episodes) Notify(ctx context.Context, a *guard.Attempt, api API, outcome *guard.Outcome) {
	for _, w := range a.Warnings {
		if a.Key.UID != "" {
			break // There is none of an object that is gone.
		}
		again := e.known(a, w.Rule) // What is told may have come to an end before.
		e.pending = append(e.pending, pending{again: again, warning: true, mask: a.Mask, event: a.Mask.Event(plan.Event{
			Rule: w.Rule, Type: corev1.EventTypeWarning, Reason: w.Reason, Action: w.Reason, Message: w.Message,
			Regarding: plan.Object{
				GVR: a.Key.GVR, Kind: a.Rules.Kinds()[a.Key.GVR].Name, Namespace: a.Key.Namespace, Name: a.Key.Name, UID: a.UID,
			},
		})})
	}
	var unknown []plan.Rule
	rest := a.Plan.Events // In the order of the decisions.
	for _, decision := range a.Plan.Decisions {
		rule, n := decision.Rule, 0
		for n < len(rest) && rest[n].Rule == rule {
			n++
		}
		wanted := rest[:n]
		rest = rest[n:]
		if a.Concluded(decision) {
			e.update(a, rule, wanted)
			continue
		}
		if !e.known(a, rule) {
			unknown = append(unknown, rule)
		}
		if doubtful := doubtful(a, rule); doubtful != nil {
			e.updateIf(a, doubtful, wanted)
		}
	}
	for _, rule := range a.Unasked {
		if !e.known(a, rule) && !slices.ContainsFunc(a.Plan.Decisions, func(d plan.Decision) bool { return d.Rule == rule }) {
			unknown = append(unknown, rule)
		}
	}
	if e.evaluated != a.Generation {
		e.current = slices.DeleteFunc(e.current, func(c episode) bool { return a.Since[c.rule.Value()] == 0 })
	}
	e.evaluated, e.unknown = a.Generation, unknown
	if tooMany := len(e.pending) - maxPending; tooMany > 0 { // The oldest.
		a.Key.Log(a.Log).Warn("events are dropped", "rule", e.pending[tooMany-1].event.Rule.String(), "count", tooMany)
		e.pending = e.pending[tooMany:]
	}
	err := e.record(ctx, api, outcome)
	if err == nil {
		e.failure = ""
		return
	}
	if text := err.Error(); text != e.failure {
		e.failure = text
		a.Key.Log(a.Log).Warn("events were not recorded", "err", err)
	}
	outcome.Fail(guard.Failure{Err: err})
}

// known reports whether it is known which Events a rule wanted before. Before its first evaluation it is not known
// whether an earlier process has recorded what it wants now.
func (e *Episodes) known(a *guard.Attempt, rule plan.Rule) bool {
	return a.Since[rule] <= e.evaluated && !slices.Contains(e.unknown, rule) || slices.ContainsFunc(e.current, func(c episode) bool { return c.rule.Value() == rule })
}

// update compares the Events that a rule wants with its episodes. The rule has carried out all that it wants.
func (e *Episodes) update(a *guard.Attempt, rule plan.Rule, events []plan.Event) {
	if len(events)+len(e.current)+len(e.pending) == 0 {
		return
	}
	wanted := make([]episode, len(events))
	for i, event := range events {
		wanted[i] = episodeOf(event)
	}
	// What a rule wanted only if a write was carried out, and wants still, is certain. What else it was, nobody can tell any
	// more once the rule has written again.
	kept := e.pending[:0]
	for _, p := range e.pending {
		if p.provided != nil && p.event.Rule == rule {
			if slices.Contains(wanted, p.episode) {
				p.provided = nil
			} else if a.Wrote[rule] {
				e.retract(p)
				continue
			}
		}
		kept = append(kept, p)
	}
	e.pending = kept
	known := e.known(a, rule)
	e.current = slices.DeleteFunc(e.current, func(c episode) bool { return c.rule.Value() == rule && !slices.Contains(wanted, c) })
	before := slices.Clone(e.current)
	for _, event := range events {
		e.begin(a, event, before, known)
	}
}

// doubtful are the writes of a rule that may have been carried out, where they are all that it has left undone.
func doubtful(a *guard.Attempt, rule plan.Rule) []plan.Operation {
	of := func(operations []plan.Operation) []plan.Operation {
		return slices.DeleteFunc(slices.Clone(operations), func(o plan.Operation) bool { return !slices.Contains(o.Rules, rule) })
	}
	doubtful := of(a.Doubtful)
	if len(doubtful) == 0 || len(doubtful) < len(of(a.Undone)) {
		return nil
	}
	return doubtful
}

// updateIf begins the episodes of a rule provided that writes were carried out. Once they can be read, the rule may want
// nothing more: this is the last time that it tells of them.
func (e *Episodes) updateIf(a *guard.Attempt, doubtful []plan.Operation, events []plan.Event) {
	before := slices.Clone(e.current)
	for _, event := range events {
		at := slices.IndexFunc(e.pending, func(p pending) bool {
			return p.provided != nil && p.episode == episodeOf(event) && p.event.Regarding.UID == event.Regarding.UID
		})
		if at < 0 && e.begin(a, event, before, e.known(a, event.Rule)) {
			at = len(e.pending) - 1
		}
		if at >= 0 {
			e.pending[at].provided = doubtful
		}
	}
}

// retract ends the episode of an Event as if it had never been wanted.
func (e *Episodes) retract(p pending) {
	e.current = slices.DeleteFunc(e.current, func(c episode) bool { return c == p.episode })
	if !p.again && !slices.ContainsFunc(e.current, func(c episode) bool { return c.rule.Value() == p.event.Rule }) {
		e.unknown = append(e.unknown, p.event.Rule)
	}
}

// Begin begins the episode of an Event beside those of its rule, which go on, and reports whether it is a new one.
func (e *Episodes) Begin(a *guard.Attempt, event plan.Event) bool {
	return e.begin(a, event, e.current, e.known(a, event.Rule))
}

// begin does it for one of several Events, which may tell different objects the same. Before are the episodes that were under way
// before the first of them.
func (e *Episodes) begin(a *guard.Attempt, event plan.Event, before []episode, again bool) bool {
	which := episodeOf(event)
	if slices.Contains(before, which) {
		return false
	}
	if !slices.Contains(e.current, which) {
		e.current = append(e.current, which)
	}
	e.pending = append(e.pending, pending{event: event, episode: which, mask: a.Mask, again: again})
	return true
}

// record records what is still to be recorded, up to the first that fails or is held back. Nothing holds a warning back: it may tell of
// just that.
func (e *Episodes) record(ctx context.Context, api API, outcome *guard.Outcome) error {
	for ; len(e.pending) > 0; e.pending = e.pending[1:] {
		next := e.pending[0]
		ctx := next.mask.Context(ctx)
		landed, err := api.landed(ctx, next.provided)
		if err != nil {
			return next.mask.Error(err)
		}
		if !landed {
			e.retract(next)
			continue
		}
		if !next.warning {
			if delay := api.Guard.Admit(next.event); delay != nil {
				delay.Err = next.mask.Error(delay.Err)
				outcome.Delay([]plan.Rule{next.event.Rule}, *delay)
				return nil
			}
		}
		err = next.mask.Error(api.Recorder.Record(ctx, next.event, next.again))
		if err == nil {
			api.Guard.Recorded(next.event)
		}
		told := next.event
		told.Regarding = next.mask.Object(told.Regarding)
		api.Observer.Recorded(told, err)
		if err != nil && (!next.warning || write.Classify(err) != write.Terminal) {
			return err
		}
	}
	e.pending = nil
	return nil
}

// landed finds out by reading whether writes were carried out. Who may not read them is not told.
func (api API) landed(ctx context.Context, operations []plan.Operation) (bool, error) {
	for _, o := range operations {
		live, err := api.Live.Get(ctx, o.Target.GVR, o.Target.Namespace, o.Target.Name)
		switch {
		case err != nil && write.Classify(err) == write.Terminal:
			return false, nil
		case err != nil:
			return false, fmt.Errorf("finding out whether %s of %s was carried out: %w", o.Type, o.Target, err)
		case !o.Landed(live):
			return false, nil
		}
	}
	return true, nil
}
