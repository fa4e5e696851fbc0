package check

import (
	"math/bits"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// outcomes says for each operator which kinds its result can have where the operands
// have two kinds, none where there never is a result. It follows the evaluator.
var outcomes = map[string]func(left, right value.Kind) value.Kind{
	"+": sum, "-": difference, "*": product, "/": quotient, "%": remainder, "**": power, "^": power,
	"..": sequence, "<": ordered, "<=": ordered, ">": ordered, ">=": ordered,
	"contains": texts, "startsWith": texts, "endsWith": texts, "matches": texts,
}

// operandKinds are all that an operand can have.
const operandKinds = value.Any | value.Computed | value.Stamped | value.Omission

// outcome is the kinds of the result where the operands can have several.
func outcome(operator string, left, right value.Kind) value.Kind {
	var all value.Kind
	for l := range kindsIn(left) {
		for r := range kindsIn(right) {
			all |= outcomes[operator](l, r)
		}
	}
	return all
}

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

// goesWith is the kinds of one operand for which there is a result beside the other.
func goesWith(operator string, other value.Kind, right bool) value.Kind {
	var all value.Kind
	for kind := range kindsIn(operandKinds) {
		left, second := kind, other
		if right {
			left, second = other, kind
		}
		if outcome(operator, left, second) != 0 {
			all |= kind
		}
	}
	return all
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

func sequence(left, right value.Kind) value.Kind {
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
	if (left|right)&^ordinal == 0 && alike(left, right) {
		return value.Bool
	}
	return 0
}

// alike reports whether values of two kinds can be equal.
func alike(left, right value.Kind) bool {
	return left == right || onlyNumbers(left, right) || reads(left)&right != 0 || reads(right)&left != 0
}

// everEqual is alike for sets of kinds.
func everEqual(left, right value.Kind) bool {
	for l := range kindsIn(left) {
		for r := range kindsIn(right) {
			if alike(l, r) {
				return true
			}
		}
	}
	return false
}
