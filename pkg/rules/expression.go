package rules

import (
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// EvaluateExpression returns the value of an expression that is in no rule, for
// trying it out: of the names of a rule it has object. Its errors are
// [*expression.Error]; a value that omit() leaves out is nil.
func EvaluateExpression(text string, object map[string]any, now time.Time) (any, error) {
	program, err := expression.Compile(text, expression.NewScope("object"))
	if err != nil {
		return nil, err
	}
	e := &expression.Evaluation{
		Names:   only{object},
		Budget:  value.NewLazyBudget(func() int { return value.Size(object) }),
		Instant: value.NewInstant(now),
	}
	v, err := program.Eval(e)
	if err == nil {
		v, err = value.Strip(v, e.Budget)
	}
	if err != nil {
		return nil, err
	}
	if _, omitted := v.(value.Omitted); omitted {
		return nil, nil
	}
	return template.Stamped(v, nil, now, schema.Merged), nil
}

// only is the names of an expression that is in no rule.
type only struct{ object map[string]any }

// Value implements [expression.Names].
func (o only) Value(int) (any, error) { return o.object, nil }
