package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// held is since when the `when` of rules holds without a break. The zero value
// knows of none.
type held struct {
	since      map[plan.Rule]time.Time
	generation int // of the rules that said so
}

// under returns what still counts for the rules in effect: a rule that matches other
// objects now starts again.
func (h held) under(now *active) map[plan.Rule]time.Time {
	if h.generation == now.generation || len(h.since) == 0 {
		return h.since
	}
	out := maps.Clone(h.since)
	maps.DeleteFunc(out, func(rule plan.Rule, _ time.Time) bool {
		since := now.conditions[rule]
		return since == 0 || since > h.generation
	})
	return out
}

// after returns what is known after an evaluation. A rule without a decision
// does not select the object any more, unless the cache that would tell is among
// the unsure: a cache that lags behind breaks nothing.
func (h held) after(now *active, decisions []plan.Decision, unsure []plan.Selection) held {
	var since map[plan.Rule]time.Time
	note := func(rule plan.Rule, at time.Time) {
		if since == nil {
			since = map[plan.Rule]time.Time{}
		}
		since[rule] = at
	}
	for rule, at := range h.under(now) {
		if now.set.Watches(rule, unsure) && !slices.ContainsFunc(decisions, func(d plan.Decision) bool { return d.Rule == rule }) {
			note(rule, at)
		}
	}
	for _, decision := range decisions {
		if !decision.HeldSince.IsZero() {
			note(decision.Rule, decision.HeldSince)
		}
	}
	if len(since) == 0 {
		return held{}
	}
	return held{since, now.generation}
}
