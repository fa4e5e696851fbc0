package engine

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/engine/breaker"
	"github.com/dyncontroller/dyncontroller/pkg/engine/history"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// Recorded returns what the rules decide about an object now, in their order, and what is remembered of that. The values
// of Secrets are masked. It is for whoever asks why something was done or not, and has no Records where no rule has looked
// at the object since the start. Where it cannot be looked at, it says why.
func (e *Engine) Recorded(key Key) trace.Memory {
	out := trace.Memory{Object: trace.ObjectOf(plan.Object{GVR: key.GVR, Namespace: key.Namespace, Name: key.Name})}
	if record := e.memory.known(key); record != nil {
		held := record.held.Load()
		decided, partly := e.decidesNow(key, held)
		record.history.Tell(&out, decided, held.known(), partly)
		for i := range out.Records {
			record := &out.Records[i]
			if trouble, fails := e.guards.failing(key, record.Rule); fails {
				if trouble.Failure == record.Reason {
					trouble.Failure = record.Trouble.Failure
				}
				trouble.Paused, trouble.Contest, trouble.Wave = record.Trouble.Paused, record.Trouble.Contest, record.Trouble.Wave
				record.Trouble = trouble
			}
		}
	}
	out.Trouble, _ = e.guards.failing(key, plan.Rule{})
	for _, c := range e.Quarantined() { // The object may be gone.
		if c.Key.UID = ""; out.Trouble == (trace.Trouble{}) && c.Key == key && c.Rule == (plan.Rule{}) {
			out.Trouble = troubleOf(c)
		}
	}
	return out
}

// Troubled returns the objects with which some rules have trouble, in order: these fail or wait, or cannot do what they decided. It
// tells all of the first ones, as [Engine.Recorded] does, and how many there are.
func (e *Engine) Troubled(rules func(plan.Rule) bool, most int) (first []trace.Memory, all int) {
	keys := slices.DeleteFunc(e.memory.keys(), func(key Key) bool {
		record := e.memory.known(key)
		return record == nil || !record.history.Troubled(rules)
	})
	slices.SortFunc(keys, Key.Compare)
	for _, key := range keys[:min(most, len(keys))] {
		first = append(first, e.Recorded(key))
	}
	return first, len(keys)
}

// failing says how often what a rule was tried for has failed, and when the next attempt comes. The zero rule stands for all
// of them: the object could not be looked at.
func (g *guards) failing(key Key, rule plan.Rule) (trouble trace.Trouble, fails bool) {
	for _, rule := range []plan.Rule{rule, {}} {
		if circuit, fails := g.breaker.Of(key, rule); fails {
			return troubleOf(circuit), true
		}
	}
	return trace.Trouble{}, false
}

func troubleOf(c breaker.Circuit) trace.Trouble {
	return trace.Trouble{Failure: history.Brief(c.Err.Error()), Attempts: c.Attempts, Next: c.Next, Quarantined: c.Open}
}

// decidesNow evaluates the rules for somebody who asks. Nothing is remembered of that, and nobody else is told. Where a
// cache is not complete, it is not known what its rules decide.
func (c *core) decidesNow(key Key, held *held) (decided plan.Plan, partly bool) {
	now := c.active.Load()
	seen := c.observe(now, key)
	if seen.found != present {
		return plan.Plan{}, seen.found == unknown
	}
	defer func() {
		if recover() != nil { // The log says so whenever the object is looked at.
			decided, partly = plan.Plan{}, true
		}
	}()
	seen.State = rules.State{HeldSince: held.under(now)}
	aside := &source{engine: c, asker: key, watched: seen.Object, aside: true}
	decided, _ = aside.evaluate(now, &seen)
	return decided, len(seen.unsure) > 0
}
