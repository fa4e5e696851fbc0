package expression

import (
	"errors"
	"math"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// operator is a row of the table of operators.
type operator struct {
	// kinds says which kinds the result can have where the operands have two, none where there never is a result. It is nil
	// where the operator takes operands of all kinds, or says itself what is wrong with them.
	kinds func(left, right value.Kind) value.Kind
	// apply gives the result for two operands.
	apply func(e *Evaluation, b *Binary, left, right any) (any, error)
	// holds says whether an order holds.
	holds func(order int) bool
	// eval is instead of apply where an operand may not be evaluated.
	eval func(e *Evaluation, b *Binary) (any, error)
}

var operators = map[string]*operator{
	"&&":         {eval: and},
	"and":        {eval: and},
	"||":         {eval: or},
	"or":         {eval: or},
	"??":         {eval: coalesce},
	"==":         {apply: equal},
	"!=":         {apply: unequal},
	"in":         {apply: in},
	"<":          {kinds: ordered, apply: order, holds: func(order int) bool { return order < 0 }},
	"<=":         {kinds: ordered, apply: order, holds: func(order int) bool { return order <= 0 }},
	">":          {kinds: ordered, apply: order, holds: func(order int) bool { return order > 0 }},
	">=":         {kinds: ordered, apply: order, holds: func(order int) bool { return order >= 0 }},
	"+":          {kinds: sum, apply: add},
	"-":          {kinds: difference, apply: computing(value.Subtract)},
	"*":          {kinds: product, apply: computing(value.Multiply)},
	"/":          {kinds: quotient, apply: computing(value.Divide)},
	"%":          {kinds: remainder, apply: computing(value.Remainder)},
	"**":         {kinds: power, apply: computing(value.Power)},
	"^":          {kinds: power, apply: computing(value.Power)},
	"..":         {kinds: twoIntegers, apply: sequence},
	"contains":   {kinds: texts, apply: onTexts(strings.Contains)},
	"startsWith": {kinds: texts, apply: onTexts(strings.HasPrefix)},
	"endsWith":   {kinds: texts, apply: onTexts(strings.HasSuffix)},
	"matches":    {kinds: texts, apply: matches},
}

func (b *Binary) eval(e *Evaluation) (any, error) {
	if b.row.eval != nil {
		return b.row.eval(e, b)
	}
	left, err := b.Left.eval(e)
	if err != nil {
		return nil, err
	}
	right, err := b.Right.eval(e)
	if err != nil {
		return nil, err
	}
	if b.row.kinds != nil {
		if l, r := value.KindOf(left), value.KindOf(right); b.row.kinds(l, r) == 0 {
			return nil, b.Mismatch(l, r)
		}
	}
	v, err := b.row.apply(e, b, left, right)
	if err != nil {
		return nil, b.At.Locate(err)
	}
	return v, nil
}

// Holds is what a comparison says of two constants, if that is known.
func (b *Binary) Holds(left, right any) (holds, known bool) {
	if b.row.apply == nil || b.Checked() && b.row.kinds(value.KindOf(left), value.KindOf(right)) == 0 {
		return false, false
	}
	v, err := b.row.apply(&Evaluation{}, b, left, right)
	holds, known = v.(bool)
	return holds, known && err == nil
}

func and(e *Evaluation, b *Binary) (any, error) {
	if ok, err := e.holds(b.Left, b.Operator); err != nil || !ok {
		return false, err
	}
	return boxed(e.holds(b.Right, b.Operator))
}

func or(e *Evaluation, b *Binary) (any, error) {
	if ok, err := e.holds(b.Left, b.Operator); err != nil || ok {
		return ok, err
	}
	return boxed(e.holds(b.Right, b.Operator))
}

func boxed(ok bool, err error) (any, error) { return ok, err }

func coalesce(e *Evaluation, b *Binary) (any, error) {
	if v, err := b.Left.eval(e); err != nil || v != nil {
		return v, err
	}
	return b.Right.eval(e)
}

func equal(e *Evaluation, _ *Binary, left, right any) (any, error) {
	return boxed(alike(e, left, right))
}

func unequal(e *Evaluation, _ *Binary, left, right any) (any, error) {
	same, err := alike(e, left, right)
	return !same, err
}

// alike is equality, for which a text beside a time is a time, and so on. Within
// lists and maps it is not.
func alike(e *Evaluation, left, right any) (bool, error) {
	left, right, err := value.Align(left, right, e.Budget)
	if err != nil {
		return false, err
	}
	return value.Equal(left, right, e.Budget)
}

func order(e *Evaluation, b *Binary, left, right any) (any, error) {
	left, right, err := value.Align(left, right, e.Budget)
	if err != nil {
		return nil, err
	}
	order, _ := value.Compare(left, right)
	return b.row.holds(order), nil
}

// in looks for an element of a list or a key of a map; what is absent has none.
func in(e *Evaluation, b *Binary, left, right any) (any, error) {
	switch container := right.(type) {
	case nil:
		return false, nil
	case []any:
		if err := e.Budget.Steps(len(container)); err != nil {
			return nil, err
		}
		for _, element := range container {
			if same, err := alike(e, left, element); err != nil || same {
				return same, err
			}
		}
		return false, nil
	case map[string]any:
		key, ok := left.(string)
		if !ok && left != nil {
			return nil, wants(b.Left, "in of a map", value.String, left)
		}
		_, found := container[key]
		return found && ok, nil
	default:
		return nil, b.NoContainer(value.KindOf(right))
	}
}

// NoContainer is the error that what stands behind in is of a kind that has no elements.
func (b *Binary) NoContainer(kind value.Kind) *Error {
	err := b.Right.Written().Wants("in", value.List|value.Map, kind)
	if kind == value.String {
		err.Hint = "write text contains part"
	}
	return err
}

// computing is for operators on numbers, some of which also take quantities, durations or times.
func computing(apply func(a, b any) (any, error)) func(*Evaluation, *Binary, any, any) (any, error) {
	return func(e *Evaluation, _ *Binary, left, right any) (any, error) {
		if (value.KindOf(left)|value.KindOf(right))&value.Computed != 0 {
			if err := e.Budget.Conversion(); err != nil {
				return nil, err
			}
		}
		return apply(left, right)
	}
}

var addNumbers = computing(value.Add)

// add adds numbers, quantities, durations and times, and joins strings.
func add(e *Evaluation, b *Binary, left, right any) (any, error) {
	text, first := left.(string)
	part, second := right.(string)
	if first && second {
		if err := e.Budget.Text(len(text) + len(part)); err != nil {
			return nil, err
		}
		return text + part, nil
	}
	sum, err := addNumbers(e, b, left, right)
	if fault, ok := errors.AsType[*value.Fault](err); ok && (first || second) {
		err = fault.WithHint("write string(...) around the other side to join texts")
	}
	return sum, err
}

// sequence lists the integers of a range; it is empty if the range runs
// backwards.
func sequence(e *Evaluation, _ *Binary, left, right any) (any, error) {
	from, _ := left.(int64)
	to, _ := right.(int64)
	if from > to {
		return []any{}, nil
	}
	n := int(min(uint64(to-from), math.MaxInt32)) + 1
	// Each integer is boxed beside its element.
	if err := e.Budget.List(2 * n); err != nil {
		return nil, err
	}
	list := make([]any, n)
	for i := range list {
		list[i] = from + int64(i)
	}
	return list, nil
}

func onTexts(test func(text, part string) bool) func(*Evaluation, *Binary, any, any) (any, error) {
	return func(e *Evaluation, _ *Binary, left, right any) (any, error) {
		text, _ := left.(string)
		part, _ := right.(string)
		if err := e.Budget.Steps(len(text) / 8); err != nil {
			return nil, err
		}
		return test(text, part), nil
	}
}

func matches(e *Evaluation, b *Binary, left, _ any) (any, error) {
	text, _ := left.(string)
	if err := e.Budget.Steps(1 + len(text)*(4+b.cost)/4); err != nil {
		return nil, err
	}
	return b.pattern.MatchString(text), nil
}

// Negates reports whether the operator is ! and not a sign.
func (u *Unary) Negates() bool { return u.Operator == "!" || u.Operator == "not" }

func (u *Unary) eval(e *Evaluation) (any, error) {
	if u.Negates() {
		return u.negate(e)
	}
	v, err := u.X.eval(e)
	if err != nil {
		return nil, err
	}
	if value.KindOf(v)&Signed == 0 {
		return nil, wants(u.X, u.Operator, value.Number, v)
	}
	if u.Operator == "-" {
		v, err = value.Negate(v)
	}
	return v, u.At.Locate(err)
}

// Signed is what the operators - and + before an operand take.
const Signed = value.Number | value.Quantity | value.Duration

func (u *Unary) negate(e *Evaluation) (any, error) {
	v, err := e.eval(u.X)
	if err != nil {
		return nil, err
	}
	b, ok := v.(bool)
	if !ok {
		return nil, u.NotBoolean(value.KindOf(v))
	}
	return !b, nil
}

// NotBoolean is the error that what ! negates is of another kind.
func (u *Unary) NotBoolean(kind value.Kind) *Error {
	err := u.X.Written().Wants(u.Operator, value.Bool, kind)
	if kind&(value.Nil|value.Stamped) == 0 {
		return err.WithHint("%s binds tighter than a comparison: write %s (a == b)", u.Operator, u.Operator)
	}
	return err
}
