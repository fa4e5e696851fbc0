package expression

import (
	"math"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// arithmetic returns nil for an operator that is none.
func (o *operation) arithmetic() evaluator {
	switch o.operator {
	case "+":
		return o.add
	case "-":
		return o.onNumbers(value.Subtract, value.Number)
	case "*":
		return o.onNumbers(value.Multiply, value.Number)
	case "/":
		return o.onNumbers(value.Divide, value.Number)
	case "%":
		return o.onNumbers(value.Remainder, value.Int)
	case "**", "^":
		return o.onNumbers(value.Power, value.Number)
	default:
		return nil
	}
}

func (o *operation) onNumbers(apply func(a, b any) (any, error), kinds value.Kind) evaluator {
	return func(e *Evaluation) (any, error) {
		left, right, err := o.operands(e)
		if err != nil {
			return nil, err
		}
		if value.KindOf(left)&kinds == 0 {
			return nil, o.left.wants(o.operator, kinds, left)
		}
		if value.KindOf(right)&kinds == 0 {
			return nil, o.right.wants(o.operator, kinds, right)
		}
		result, err := apply(left, right)
		return result, o.at.locate(err)
	}
}

// add adds numbers and joins strings.
func (o *operation) add(e *Evaluation) (any, error) {
	left, right, err := o.operands(e)
	if err != nil {
		return nil, err
	}
	if a, ok := left.(string); ok {
		if b, ok := right.(string); ok {
			if err := e.Budget.Text(len(a) + len(b)); err != nil {
				return nil, o.at.locate(err)
			}
			return a + b, nil
		}
	}
	kinds := value.KindOf(left) | value.KindOf(right)
	if kinds&^value.Number == 0 {
		sum, err := value.Add(left, right)
		return sum, o.at.locate(err)
	}
	failure := o.mismatch(left, right, value.Number|value.String)
	if kinds == value.List {
		failure.Hint = "write concat(a, b)"
	}
	if kinds == value.Map {
		failure.Hint = "write merge(a, b)"
	}
	return nil, failure
}

// sequence lists the integers of a range; it is empty if the range runs
// backwards.
func (o *operation) sequence(e *Evaluation) (any, error) {
	left, right, err := o.operands(e)
	if err != nil {
		return nil, err
	}
	from, ok := left.(int64)
	if !ok {
		return nil, o.left.wants("..", value.Int, left)
	}
	to, ok := right.(int64)
	if !ok {
		return nil, o.right.wants("..", value.Int, right)
	}
	if from > to {
		return []any{}, nil
	}
	n := int(min(uint64(to-from), math.MaxInt32)) + 1
	// Each integer is boxed beside its element.
	if err := e.Budget.List(2 * n); err != nil {
		return nil, o.at.locate(err)
	}
	list := make([]any, n)
	for i := range list {
		list[i] = from + int64(i)
	}
	return list, nil
}
