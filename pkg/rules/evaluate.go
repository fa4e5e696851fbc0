package rules

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
)

// Evaluate asks every rule that watches the object what it wants, and joins
// the wishes into one plan. It is pure: the same snapshot gives the same plan.
func (s *Set) Evaluate(snapshot Snapshot) plan.Plan {
	var wishes []plan.Wish
	var events []plan.Event
	var decisions []plan.Decision
	identity := snapshot.Identity()
	for _, rule := range s.byGVR[snapshot.GVR] {
		if !rule.watches(snapshot.SelectedBy) {
			continue
		}
		e := &action.Evaluation{Rule: rule.ID, Object: identity, Current: snapshot.Object}
		decisions = append(decisions, rule.evaluate(e, snapshot.Explain))
		wishes = append(wishes, e.Wishes...)
		events = append(events, e.Events...)
	}
	out := plan.Build(wishes, plan.Options{Separate: snapshot.Separate, Ineffective: snapshot.Ineffective})
	refused := out.Decisions
	out.Events, out.Decisions = events, decisions
	refuse(&out, refused)
	if identity.IsSecret() {
		hideValues(out.Decisions)
	}
	return out
}

// refuse replaces the decisions of the rules that were left out of the plan,
// and drops their Events.
func refuse(out *plan.Plan, refused []plan.Decision) {
	for _, decision := range refused {
		for i := range out.Decisions {
			if out.Decisions[i].Rule == decision.Rule {
				out.Decisions[i] = decision
			}
		}
		out.Events = slices.DeleteFunc(out.Events, func(event plan.Event) bool { return event.Rule == decision.Rule })
	}
}

func (r *Rule) watches(selectedBy []plan.Selection) bool {
	return slices.ContainsFunc(r.selections, func(selection plan.Selection) bool { return slices.Contains(selectedBy, selection) })
}

// evaluate fills e with what the rule wants. A rule that fails wants nothing.
func (r *Rule) evaluate(e *action.Evaluation, explain bool) plan.Decision {
	decision := plan.Decision{Rule: r.ID, Outcome: plan.Matched}
	if deleting(e.Current) {
		decision.Outcome, decision.Reason = plan.Skipped, "the object is being deleted"
		return decision
	}
	known := &names{rule: r, object: e.Current}
	known.expressions = &expression.Evaluation{Names: known, Budget: expression.NewLazyBudget(func() int { return expression.Size(e.Current) })}
	e.Expressions = known.expressions
	matched, err := r.matches(e.Expressions)
	if err == nil && matched {
		err = r.act(e)
	}
	switch {
	case err != nil:
		e.Wishes, e.Events = nil, nil
		decision.Outcome, decision.Reason, decision.Err = plan.Failed, err.Error(), err
	case !matched:
		decision.Outcome = plan.Unmatched
		if explain {
			decision.Reason = r.whyNot(e.Expressions, e.Object.IsSecret())
		}
	}
	return decision
}

func (r *Rule) matches(e *expression.Evaluation) (bool, error) {
	if r.when == nil {
		return true, nil
	}
	matched, err := r.when.program.EvalBool(e)
	if err != nil {
		return false, body.Locate(r.when.node, err)
	}
	return matched, nil
}

func (r *Rule) act(e *action.Evaluation) error {
	for _, a := range r.actions {
		if err := a.Evaluate(e); err != nil {
			return err
		}
	}
	return nil
}

func deleting(object map[string]any) bool {
	metadata, _ := object["metadata"].(map[string]any)
	return metadata["deletionTimestamp"] != nil
}
