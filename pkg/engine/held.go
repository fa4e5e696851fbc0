package engine

import (
	"maps"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// held is since when the `when` of rules holds without a break. The zero value
// knows of none.
type held struct {
	since map[plan.Rule]time.Time
	rules *rules.Set // those that said so; nil where since is empty
}

// under returns what still counts for a set of rules: a rule that matches other
// objects now starts again.
func (h held) under(set *rules.Set) map[plan.Rule]time.Time {
	if h.rules == set || len(h.since) == 0 {
		return h.since
	}
	out := maps.Clone(h.since)
	maps.DeleteFunc(out, func(rule plan.Rule, _ time.Time) bool { return !set.SameCondition(h.rules, rule) })
	return out
}

// after returns what is known after an evaluation. A rule without a decision
// does not select the object any more, unless the cache that would tell is among
// the unsure: a cache that lags behind breaks nothing.
func (h held) after(set *rules.Set, decisions []plan.Decision, unsure []plan.Selection) held {
	since := map[plan.Rule]time.Time{}
	for rule, at := range h.under(set) {
		if set.Watches(rule, unsure) {
			since[rule] = at
		}
	}
	for _, decision := range decisions {
		delete(since, decision.Rule)
		if !decision.HeldSince.IsZero() {
			since[decision.Rule] = decision.HeldSince
		}
	}
	if len(since) == 0 {
		return held{}
	}
	return held{since, set}
}
