package engine

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// episode is the time during which a rule keeps wanting the same Event of an
// object. It is comparable.
type episode struct {
	rule                          plan.Rule
	kind, reason, action, message string
}

func episodeOf(event plan.Event) episode {
	return episode{event.Rule, event.Type, event.Reason, event.Action, event.Message}
}

// pending is an Event that is still to be recorded.
type pending struct {
	event plan.Event
	// hidden is what must not be told of the evaluation that wants it.
	hidden *masker
	again  bool
	// aside says that no rule asked for it: who may not record it need not.
	aside bool
	// provided are writes that may have been carried out: there is nothing to tell of if they
	// were not.
	provided []plan.Operation
}

// maxPending bounds the Events of one object that are still to be recorded.
const maxPending = 20

// notify records the Events of the rules whose writes have succeeded, once an
// episode. An episode ends when its rule is evaluated and no longer wants the
// Event; those of a paused rule go on as they were, unless it has just written.
func (a *attempt) notify(ctx context.Context, decided plan.Plan) {
	for _, decision := range decided.Decisions {
		if a.concluded(decision) {
			a.begin(decision.Rule, decided.Events)
		} else if doubtful := a.inDoubt(decision.Rule); doubtful != nil {
			a.beginIf(doubtful, decision.Rule, decided.Events)
		}
	}
	if err := a.engine.recordPending(ctx, a.record); err != nil {
		a.outcome.Fail(guard.Failure{Err: err})
		if text := err.Error(); text != a.record.silent {
			a.record.silent = text
			a.engine.log(a.Key).Warn("events were not recorded", "err", err)
		}
		return
	}
	a.record.silent = ""
}

// concluded reports whether this attempt says how a rule's episodes go on. What a
// rule wanted before it was refused stands. One that waits for a cache, as after a
// restart, was not asked.
func (a *attempt) concluded(decision plan.Decision) bool {
	rule := decision.Rule
	decided := !decision.Outcome.Troubled() || decision.Outcome == plan.Refused
	if decision.Outcome == plan.Skipped && !a.asked.whole() {
		decided = false
	}
	return decided && !a.Unfinished[rule] && (!a.stopped || a.Wrote[rule])
}

// begin compares the Events that a rule wants with those of its episodes.
func (a *attempt) begin(rule plan.Rule, events []plan.Event) {
	events = slices.DeleteFunc(slices.Clone(events), func(event plan.Event) bool { return event.Rule != rule })
	current := map[episode]bool{}
	for _, event := range events {
		current[episodeOf(event)] = true
	}
	a.ascertain(rule, current)
	// Before its first evaluation it is not known whether an earlier process
	// recorded this very episode.
	previous, known := a.record.episodes[rule]
	for _, event := range events {
		if !previous[episodeOf(event)] {
			a.record.unrecorded = append(a.record.unrecorded, pending{event: event, hidden: a.asked.hidden, again: known})
		}
	}
	a.record.episodes[rule] = current
	a.bound(rule)
}

// interject begins the episode of an Event beside those of its rule, which go on, and
// reports whether it is a new one.
func (a *attempt) interject(event plan.Event) bool {
	previous, known := a.record.episodes[event.Rule]
	if previous[episodeOf(event)] {
		return false
	}
	current := map[episode]bool{episodeOf(event): true}
	maps.Copy(current, previous)
	a.record.episodes[event.Rule] = current
	a.record.unrecorded = append(a.record.unrecorded, pending{event: event, hidden: a.asked.hidden, again: known})
	a.bound(event.Rule)
	return true
}

// warn has an Event recorded beside those that the rule asks for, which says of the watched
// object how the rule fares. One that is gone has none.
func (a *attempt) warn(rule plan.Rule, reason, message string) {
	if a.Key.UID != "" {
		return
	}
	_, again := a.record.episodes[rule] // What is told may have come to an end before.
	a.record.unrecorded = append(a.record.unrecorded, pending{again: again, aside: true, hidden: a.asked.hidden, event: a.asked.hidden.event(plan.Event{
		Rule: rule, Type: corev1.EventTypeWarning, Reason: reason, Action: reason, Message: message,
		Regarding: plan.Object{
			GVR: a.Key.GVR, Kind: a.now.set.Kinds()[a.Key.GVR].Name,
			Namespace: a.Key.Namespace, Name: a.Key.Name, UID: a.record.uid,
		},
	})})
	a.bound(rule)
}

// bound drops the oldest Events where there are too many.
func (a *attempt) bound(rule plan.Rule) {
	if tooMany := len(a.record.unrecorded) - maxPending; tooMany > 0 {
		a.engine.log(a.Key).Warn("events are dropped", "rule", rule.String(), "count", tooMany)
		a.record.unrecorded = a.record.unrecorded[tooMany:]
	}
}

// recordPending records what is still to be recorded, up to the first failure.
func (e *Engine) recordPending(ctx context.Context, record *record) error {
	for len(record.unrecorded) > 0 {
		next := record.unrecorded[0]
		switch landed, err := e.landed(next.hidden.context(ctx), next.provided); {
		case err != nil:
			return next.hidden.error(err)
		case !landed:
			record.unrecorded = record.unrecorded[1:]
			record.retract(next)
			continue
		}
		err := next.hidden.error(e.options.Recorder.Record(next.hidden.context(ctx), next.event, next.again))
		e.options.Observer.Recorded(next.hidden.recorded(next.event), err)
		if err != nil && (!next.aside || write.Classify(err) != write.Terminal) {
			return err
		}
		record.unrecorded = record.unrecorded[1:]
	}
	record.unrecorded = nil
	return nil
}
