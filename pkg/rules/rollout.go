package rules

import (
	"errors"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// rollout is what a rule that comes in waves asks of each object.
type rollout struct {
	healthy *template.Expression
	by      *template.Expression // nil for the names of the objects
}

func compileRollout(source *spec.Rollout, scope *expression.Scope) (*rollout, document.Errors) {
	out := &rollout{}
	var errs, more document.Errors
	if source.Healthy != nil {
		out.healthy, errs = template.CompileCondition(source.Healthy, scope)
	}
	if source.By != nil {
		out.by, more = template.CompileExpression(source.By, scope)
	}
	return out, append(errs, more...)
}

// ordered are the kinds of values that objects can be ordered by.
const ordered = value.Bool | value.Int | value.Float | value.String | value.Time | value.Duration | value.Semver | value.Quantity

// check wants a condition, and something that objects can be ordered by.
func (o *rollout) check(in template.Context) document.Errors {
	_, errs := o.healthy.CheckCondition(in)
	if o.by == nil {
		return errs
	}
	given, more := o.by.Check(in)
	if errs = append(errs, more...); len(more) == 0 && given.Known() && given.Kinds()&ordered == 0 {
		errs = append(errs, o.by.Node().Errorf("order by a field, as in by: object.metadata.labels.stage",
			"by wants a number, a string, a time or a boolean, have %s", given).Coded(document.CodeTypeMismatch))
	}
	return errs
}

// health tells how the object fares that the rule watches, nil where that is not known.
func (t *ruleEvaluation) health() *plan.Health {
	rollout, current := t.rule.rollout, t.action.Current
	if rollout == nil || current == nil || plan.BeingDeleted(current) || !t.selected() {
		return nil
	}
	out := &plan.Health{}
	healthy, err := rollout.healthy.EvalBool(&t.expressions)
	switch out.Healthy = healthy && err == nil; {
	case errors.Is(err, lookup.ErrNotSynced) || errors.Is(t.reader.Err(), lookup.ErrNotSynced):
		return nil
	case err != nil && t.secret():
		out.Reason = errSecret.Error()
	case err != nil:
		out.Reason = err.Error()
	case !healthy:
		out.Reason = t.whyNot(rollout.healthy)
	}
	if rollout.by != nil {
		out.By, _ = rollout.by.Eval(&t.expressions) // One that has none comes first, as those without the field do.
	}
	return out
}
