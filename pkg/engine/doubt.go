package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// inDoubt returns the writes of a rule that may have been carried out, where they are all
// that it has left undone.
func (a *attempt) inDoubt(rule plan.Rule) []plan.Operation {
	of := func(operations []plan.Operation) []plan.Operation {
		return slices.DeleteFunc(slices.Clone(operations), func(o plan.Operation) bool { return !slices.Contains(o.Rules, rule) })
	}
	doubtful := of(a.doubtful)
	if len(doubtful) == 0 || len(doubtful) < len(of(a.undone)) {
		return nil
	}
	return doubtful
}

// beginIf begins the episodes of a rule provided that writes were carried out. Once they can be
// read, the rule may want nothing more: this is the last time that it tells of them.
func (a *attempt) beginIf(doubtful []plan.Operation, events []plan.Event) {
	for _, event := range events {
		at := slices.IndexFunc(a.record.unrecorded, func(p pending) bool {
			return p.provided != nil && episodeOf(p.event) == episodeOf(event)
		})
		if at >= 0 {
			a.record.unrecorded[at].provided = doubtful
			continue
		}
		if a.interject(event) {
			a.record.unrecorded[len(a.record.unrecorded)-1].provided = doubtful
		}
	}
}

// ascertain judges what was told of a rule in doubt, now that it has done all that it wants.
// What it wants still is certain. Of the rest nobody can tell any more what it was, once the
// rule has written again.
func (a *attempt) ascertain(rule plan.Rule, current []episode) {
	var kept []pending
	for _, p := range a.record.unrecorded {
		switch {
		case p.provided == nil || p.event.Rule != rule:
		case slices.Contains(current, episodeOf(p.event)):
			p.provided = nil
		case a.Wrote[rule]:
			a.record.retract(p)
			continue
		}
		kept = append(kept, p)
	}
	a.record.unrecorded = kept
}

// retract ends the episode of an Event as if it had never been wanted.
func (r *record) retract(p pending) {
	r.episodes = slices.DeleteFunc(r.episodes, func(e episode) bool { return e == episodeOf(p.event) })
	others := func(e episode) bool { return e.rule.Value() == p.event.Rule }
	if !p.again && !slices.ContainsFunc(r.episodes, others) {
		r.unknown = append(r.unknown, p.event.Rule)
	}
}

// landed finds out by reading whether writes were carried out. Who may not read them is not
// told.
func (e *Engine) landed(ctx context.Context, operations []plan.Operation) (bool, error) {
	for _, o := range operations {
		live, err := e.options.Live.Get(ctx, o.Target.GVR, o.Target.Namespace, o.Target.Name)
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
