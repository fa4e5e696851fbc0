package engine

import (
	"context"
	"hash/maphash"
	"slices"
	"unique"

	corev1 "k8s.io/api/core/v1"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// episode is the time during which a rule keeps wanting the same Event of an object. It is comparable, and small: there
// may be one for each object and rule.
type episode struct {
	rule unique.Handle[plan.Rule]
	text uint64 // a hash of what the Event says
}

var hashOfTexts = maphash.MakeSeed()

func episodeOf(event plan.Event) episode {
	return episode{
		unique.Make(event.Rule), maphash.Comparable(hashOfTexts, [4]string{event.Type, event.Reason, event.Action, event.Message}),
	}
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
	events := decided.Events // In the order of the decisions.
	var unknown []plan.Rule
	for _, decision := range decided.Decisions {
		rule, n := decision.Rule, 0
		for n < len(events) && events[n].Rule == rule {
			n++
		}
		if a.concluded(decision) {
			a.begin(rule, events[:n])
		} else {
			if !a.known(rule) {
				unknown = append(unknown, rule)
			}
			if doubtful := a.inDoubt(rule); doubtful != nil {
				a.beginIf(doubtful, events[:n])
			}
		}
		events = events[n:]
	}
	a.evaluated(decided, unknown)
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

// known reports whether it is known which Events a rule wanted before. Before its first evaluation it is not known
// whether an earlier process has recorded what it wants now.
func (a *attempt) known(rule plan.Rule) bool {
	return a.now.since[rule] <= a.record.evaluated && !slices.Contains(a.record.unknown, rule) ||
		slices.ContainsFunc(a.record.episodes, func(e episode) bool { return e.rule.Value() == rule })
}

// evaluated notes which rules have been evaluated, but for those of which that is not known yet, and those that could not
// be asked.
func (a *attempt) evaluated(decided plan.Plan, unknown []plan.Rule) {
	for _, rule := range a.asked.unasked {
		asked := func(d plan.Decision) bool { return d.Rule == rule }
		if !a.known(rule) && !slices.ContainsFunc(decided.Decisions, asked) {
			unknown = append(unknown, rule)
		}
	}
	if a.record.evaluated != a.now.generation {
		gone := func(e episode) bool { return a.now.since[e.rule.Value()] == 0 }
		a.record.episodes = slices.DeleteFunc(a.record.episodes, gone)
	}
	a.record.evaluated, a.record.unknown = a.now.generation, unknown
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
	if len(events)+len(a.record.episodes)+len(a.record.unrecorded) == 0 {
		return
	}
	current := make([]episode, len(events))
	for i, event := range events {
		current[i] = episodeOf(event)
	}
	a.ascertain(rule, current)
	known := a.known(rule)
	for i, event := range events {
		if !slices.Contains(a.record.episodes, current[i]) {
			a.record.unrecorded = append(a.record.unrecorded, pending{event: event, hidden: a.asked.hidden, again: known})
		}
	}
	over := func(e episode) bool { return e.rule.Value() == rule && !slices.Contains(current, e) }
	a.record.episodes = slices.DeleteFunc(a.record.episodes, over)
	for _, e := range current {
		a.record.add(e)
	}
	a.bound(rule)
}

// add notes an episode that is under way.
func (r *record) add(e episode) (isNew bool) {
	if slices.Contains(r.episodes, e) {
		return false
	}
	r.episodes = append(r.episodes, e)
	return true
}

// interject begins the episode of an Event beside those of its rule, which go on, and
// reports whether it is a new one.
func (a *attempt) interject(event plan.Event) bool {
	known := a.known(event.Rule)
	if !a.record.add(episodeOf(event)) {
		return false
	}
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
	again := a.known(rule) // What is told may have come to an end before.
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
