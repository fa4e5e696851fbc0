package expression

import (
	"cmp"
	"math/bits"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// OperandKinds are all that an operand can have.
const OperandKinds = value.Any | value.Computed | value.Stamped | value.Omission

// Outcome is the kinds that the result can have where the operands have one of several, none where there never is a result.
func (b *Binary) Outcome(left, right value.Kind) value.Kind {
	var all value.Kind
	for l := range kindsIn(left) {
		for r := range kindsIn(right) {
			all |= b.row.kinds(l, r)
		}
	}
	return all
}

// Checked reports whether the operator takes only operands of some kinds. The others take all, as == does.
func (b *Binary) Checked() bool { return b.row.kinds != nil }

// Orders reports whether the operator is <, <=, > or >=.
func (b *Binary) Orders() bool { return b.row.holds != nil }

// kindsIn visits the kinds of a set one by one.
func kindsIn(kinds value.Kind) func(func(value.Kind) bool) {
	return func(yield func(value.Kind) bool) {
		for rest := uint32(kinds); rest != 0; rest &= rest - 1 {
			if !yield(value.Kind(1 << bits.TrailingZeros32(rest))) {
				return
			}
		}
	}
}

// GoesWith is the kinds of one operand for which there is a result beside the other.
func (b *Binary) GoesWith(other value.Kind, right bool) value.Kind {
	var all value.Kind
	for kind := range kindsIn(OperandKinds) {
		left, second := kind, other
		if right {
			left, second = other, kind
		}
		if b.Outcome(left, second) != 0 {
			all |= kind
		}
	}
	return all
}

// Wanted is the kinds that an error names: those that go with the other operand, or else those that the operator usually takes.
func (b *Binary) Wanted(other value.Kind, right bool) value.Kind {
	goes := b.GoesWith(other, right)
	switch {
	case goes == 0, other == OperandKinds:
		return b.usual()
	case other&value.Computed != 0 && goes&value.Computed != 0:
		return goes & value.Computed
	case other&goes&value.Number != 0:
		return goes & value.Number
	case other&goes != 0:
		return other & goes
	default:
		return goes
	}
}

// usual is what the operator takes on both sides.
func (b *Binary) usual() value.Kind {
	var kinds value.Kind
	for kind := range kindsIn(OperandKinds &^ value.Computed) {
		if b.row.kinds(kind, kind) != 0 {
			kinds |= kind
		}
	}
	return kinds
}

// Mismatch is the error that there is never a result for operands of these kinds.
func (b *Binary) Mismatch(left, right value.Kind) *Error {
	l, r := b.Left.Written(), b.Right.Written()
	if left&b.GoesWith(OperandKinds, false) == 0 {
		err := l.Wants(b.Operator, b.Wanted(right, false), left)
		if b.usual() == value.String && left&(value.List|value.Map) != 0 {
			err.Hint = "write x in list"
		}
		return b.joining(err, left|right)
	}
	if right&b.GoesWith(OperandKinds, true) == 0 {
		return b.joining(r.Wants(b.Operator, b.Wanted(left, true), right), left|right)
	}
	sides := b.At.Errorf("%s has %s on one side and %s on the other", b.Operator, left, right)
	version := cmp.Or(l.Version(), r.Version())
	switch {
	case b.Operator == "+" && (left|right)&value.String != 0:
		return sides.WithHint("write string(x) to join texts, or int(x) to add")
	case b.Operator == "+", (left|right)&value.Computed != 0:
		return sides
	case b.Orders() && version != "":
		return sides.WithHint(`write semver(%s) %s semver("1.2.3") to compare versions, or int(x) around the text`, version, b.Operator)
	case b.Orders():
		return sides.WithHint("write int(x) or string(x) around one")
	case left&value.Number == 0:
		return l.Wants(b.Operator, value.Number, left)
	default:
		return r.Wants(b.Operator, value.Number, right)
	}
}

// joining says how lists and maps are added.
func (b *Binary) joining(err *Error, kinds value.Kind) *Error {
	switch {
	case b.Operator == "+" && kinds == value.List:
		err.Hint = "write concat(a, b)"
	case b.Operator == "+" && kinds == value.Map:
		err.Hint = "write merge(a, b)"
	}
	return err
}

// Version returns the text of an operand that most likely is a version, or "".
func (o *Operand) Version() string {
	last := strings.ToLower(strings.TrimSuffix(o.Text, `"]`))
	if !strings.HasSuffix(last, "version") || strings.HasSuffix(o.Text, "metadata.resourceVersion") {
		return ""
	}
	return o.Text
}

// reads is what is read as a computed value beside one.
func reads(computed value.Kind) value.Kind {
	switch computed {
	case value.Quantity:
		return value.Number | value.String
	case value.Semver, value.Time:
		return value.String
	case value.Duration:
		return value.Int | value.String
	default:
		return 0
	}
}

// pair reports whether two kinds are these, in either order.
func pair(left, right, one, other value.Kind) bool {
	return left == one && right&other != 0 || right == one && left&other != 0
}

func onlyNumbers(left, right value.Kind) bool { return (left|right)&^value.Number == 0 }

// numeric is an integer for two integers.
func numeric(left, right value.Kind) value.Kind {
	if left|right == value.Int {
		return value.Int
	}
	return value.Float
}

func sum(left, right value.Kind) value.Kind {
	switch {
	case onlyNumbers(left, right):
		return numeric(left, right)
	case left|right == value.String:
		return value.String
	case pair(left, right, value.Quantity, value.Quantity|reads(value.Quantity)):
		return value.Quantity
	case pair(left, right, value.Duration, value.Duration|value.Int):
		return value.Duration
	case pair(left, right, value.Duration, value.String):
		return value.Duration | value.Time // As the text says.
	case pair(left, right, value.Time, value.Duration|value.Int|value.String):
		return value.Time
	default:
		return 0
	}
}

func difference(left, right value.Kind) value.Kind {
	switch {
	case onlyNumbers(left, right):
		return numeric(left, right)
	case pair(left, right, value.Quantity, value.Quantity|reads(value.Quantity)):
		return value.Quantity
	default:
		return lessTime[left][right]
	}
}

// lessTime is what a difference is of times and durations. What a text is taken for
// depends on what it says.
var lessTime = map[value.Kind]map[value.Kind]value.Kind{
	value.Duration: {value.Duration: value.Duration, value.Int: value.Duration, value.String: value.Duration},
	value.Int:      {value.Duration: value.Duration},
	value.String:   {value.Duration: value.Duration | value.Time, value.Time: value.Duration},
	value.Time: {
		value.Duration: value.Time, value.Int: value.Time, value.Time: value.Duration, value.String: value.Duration | value.Time,
	},
}

func product(left, right value.Kind) value.Kind {
	switch {
	case onlyNumbers(left, right):
		return numeric(left, right)
	case pair(left, right, value.Duration, value.Int):
		return value.Duration
	default:
		return 0
	}
}

func quotient(left, right value.Kind) value.Kind {
	switch {
	case onlyNumbers(left, right), pair(left, right, value.Duration, value.Duration|value.String):
		return value.Float
	case left == value.Duration && right == value.Int:
		return value.Duration
	default:
		return 0
	}
}

func remainder(left, right value.Kind) value.Kind { return (left & right) & value.Int }

func power(left, right value.Kind) value.Kind {
	switch {
	case left|right == value.Int:
		return value.Number // A float where the exponent is negative.
	case onlyNumbers(left, right):
		return value.Float
	default:
		return 0
	}
}

func twoIntegers(left, right value.Kind) value.Kind {
	if left|right == value.Int {
		return value.List
	}
	return 0
}

func texts(left, right value.Kind) value.Kind {
	if left|right == value.String {
		return value.Bool
	}
	return 0
}

// ordered is for what is equal or not, unless it has no order.
func ordered(left, right value.Kind) value.Kind {
	const ordinal = value.Number | value.String | value.Computed
	if (left|right)&^ordinal == 0 && canEqual(left, right) {
		return value.Bool
	}
	return 0
}

// canEqual reports whether values of two kinds can be equal.
func canEqual(left, right value.Kind) bool {
	return left == right || onlyNumbers(left, right) || reads(left)&right != 0 || reads(right)&left != 0
}

// EverEqual reports whether values of two sets of kinds can be equal.
func EverEqual(left, right value.Kind) bool {
	for l := range kindsIn(left) {
		for r := range kindsIn(right) {
			if canEqual(l, r) {
				return true
			}
		}
	}
	return false
}
