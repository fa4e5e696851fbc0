package expression

import (
	"errors"
	"math"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// arithmetic returns nil for an operator that is none.
func (o *operation) arithmetic() evaluator {
	switch o.operator {
	case "+":
		return o.add
	case "-":
		return o.compute(value.Subtract)
	case "*":
		return o.compute(value.Multiply)
	case "/":
		return o.compute(value.Divide)
	case "%":
		return o.onNumbers(value.Remainder, value.Int)
	case "**", "^":
		return o.onNumbers(value.Power, value.Number)
	default:
		return nil
	}
}

// compute is onNumbers for what also takes quantities, durations or times.
func (o *operation) compute(apply func(a, b any) (any, error)) evaluator {
	return func(e *Evaluation) (any, error) {
		left, right, err := o.operands(e)
		if err != nil {
			return nil, err
		}
		return o.result(e, apply, left, right)
	}
}

func (o *operation) result(e *Evaluation, apply func(a, b any) (any, error), left, right any) (any, error) {
	leftKind, rightKind := value.KindOf(left), value.KindOf(right)
	takes := value.Number
	if (leftKind|rightKind)&value.Computed != 0 {
		takes |= value.String | value.Computed
		if err := e.Budget.Conversion(); err != nil {
			return nil, o.at.Locate(err)
		}
	}
	if leftKind&takes == 0 {
		return nil, o.left.wants(o.operator, o.partner(rightKind), left)
	}
	if rightKind&takes == 0 {
		return nil, o.right.wants(o.operator, o.partner(leftKind), right)
	}
	result, err := apply(left, right)
	if fault, ok := errors.AsType[*value.Fault](err); ok && o.operator == "+" && (leftKind|rightKind)&value.String != 0 {
		err = fault.WithHint("write string(...) around the other side to join texts")
	}
	return result, o.at.Locate(err)
}

// partner is what a message says that goes with a kind.
func (o *operation) partner(kind value.Kind) value.Kind {
	switch {
	case kind == value.Time && o.operator == "-":
		return value.Duration | value.Time
	case kind == value.Time:
		return value.Duration
	case kind&value.Computed != 0:
		return kind
	default:
		return value.Number
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
		return result, o.at.Locate(err)
	}
}

// add adds numbers, quantities, durations and times, and joins strings.
func (o *operation) add(e *Evaluation) (any, error) {
	left, right, err := o.operands(e)
	if err != nil {
		return nil, err
	}
	if a, ok := left.(string); ok {
		if b, ok := right.(string); ok {
			if err := e.Budget.Text(len(a) + len(b)); err != nil {
				return nil, o.at.Locate(err)
			}
			return a + b, nil
		}
	}
	kinds := value.KindOf(left) | value.KindOf(right)
	if kinds&^value.Number == 0 || kinds&value.Computed != 0 {
		return o.result(e, value.Add, left, right)
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
		return nil, o.at.Locate(err)
	}
	list := make([]any, n)
	for i := range list {
		list[i] = from + int64(i)
	}
	return list, nil
}
