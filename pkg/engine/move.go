package engine

import (
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// LeaveLimits is to be called once an engine may not write for a set any more, before it goes over to rules without that set: it keeps what it
// knows of rules with limits or a rollout until [MoveLimits] is called.
func LeaveLimits(set plan.Rule, from *Engine) { limit.Leave(set, from.guards.limits) }

// MoveLimits gives that to the engine that runs the set from now on, before that is given the rules: nil for none, and the same engine where the
// set comes back.
func MoveLimits(set plan.Rule, from, to *Engine) {
	var guard *limit.Guard
	if to != nil {
		guard = to.guards.limits
	}
	limit.Move(set, from.guards.limits, guard)
}
