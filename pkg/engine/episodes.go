package engine

import (
	"context"
	"errors"
	"maps"

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
	again bool
}

// notify records the Events of the rules whose writes have succeeded, once an
// episode. An episode ends when its rule is evaluated and no longer wants the
// Event.
func (a *attempt) notify(ctx context.Context, decided plan.Plan) {
	previous := a.record.episodes
	current := map[episode]bool{}
	for _, event := range decided.Events {
		if a.unfinished[event.Rule] || a.stopped && !a.wrote[event.Rule] {
			continue
		}
		current[episodeOf(event)] = true
		if !previous[episodeOf(event)] {
			// Before the first evaluation it is not known whether an earlier
			// process recorded this very episode.
			a.record.unrecorded = append(a.record.unrecorded, pending{event: event, again: previous != nil})
		}
	}
	a.record.episodes = current
	if a.stopped {
		maps.Copy(current, previous)
	}
	for _, decision := range decided.Decisions {
		if decision.Outcome.Troubled() || a.unfinished[decision.Rule] {
			carryOn(current, previous, decision.Rule)
		}
	}
	if err := a.engine.recordPending(ctx, a.record); err != nil {
		a.outcome = a.outcome.failed(write.Result{Err: err})
	}
}

// carryOn keeps the episodes of a rule about which an evaluation says nothing.
func carryOn(current, previous map[episode]bool, rule plan.Rule) {
	for known := range previous {
		if known.rule == rule {
			current[known] = true
		}
	}
}

// recordPending records what is still to be recorded. What fails stays.
func (e *Engine) recordPending(ctx context.Context, record *record) error {
	var failed []error
	var kept []pending
	for _, p := range record.unrecorded {
		if err := e.options.Recorder.Record(ctx, p.event, p.again); err != nil {
			failed = append(failed, err)
			kept = append(kept, p)
		}
	}
	record.unrecorded = kept
	return errors.Join(failed...)
}
