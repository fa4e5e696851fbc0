package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// held is since when the `when` of rules holds without a break; nil where that of none does. It is immutable.
type held struct {
	since      map[plan.Rule]time.Time
	generation int // of the rules that said so
}

// known is what the rules said that were evaluated last.
func (h *held) known() map[plan.Rule]time.Time {
	if h == nil {
		return nil
	}
	return h.since
}

// under returns what still counts for the rules in effect: a rule that matches other
// objects now starts again.
func (h *held) under(now *active) map[plan.Rule]time.Time {
	if h == nil || h.generation == now.generation {
		return h.known()
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
func (h *held) after(now *active, decisions []plan.Decision, unsure []plan.Selection) *held {
	since := maps.Clone(h.under(now))
	maps.DeleteFunc(since, func(rule plan.Rule, _ time.Time) bool {
		return !now.Watches(rule, unsure) || slices.ContainsFunc(decisions, func(d plan.Decision) bool { return d.Rule == rule })
	})
	for _, decision := range decisions {
		if !decision.HeldSince.IsZero() {
			if since == nil {
				since = map[plan.Rule]time.Time{}
			}
			since[decision.Rule] = decision.HeldSince
		}
	}
	if len(since) == 0 {
		return nil
	}
	return &held{since, now.generation}
}
