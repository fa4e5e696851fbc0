package value

import (
	"cmp"
	"math"
	"math/bits"
	"strings"
	"time"
)

// Equal reports whether a and b are the same value, deeply. Numbers are compared
// as numbers, exactly, and times as moments, whatever their zone; values of
// different kinds are unequal, and so an empty list is not nil. A [Stamp] is an
// error, also within what has to be looked into.
func Equal(a, b any, budget *Budget) (bool, error) {
	same, err := equal(a, b, budget, 0)
	if err != nil || same {
		return same, err
	}
	if a == any(Stamp{}) || b == any(Stamp{}) {
		return false, ErrStamp
	}
	if !alike(a, b) {
		return false, nil
	}
	if err := refuseStamp(a, budget, 0); err != nil {
		return false, err
	}
	return false, refuseStamp(b, budget, 0)
}

// alike reports whether two lists or maps can only be told apart by what is in them.
func alike(a, b any) bool {
	switch x := a.(type) {
	case []any:
		y, ok := b.([]any)
		return ok && len(x) == len(y)
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && len(x) == len(y)
	default:
		return false
	}
}

// refuseStamp looks for one everywhere, since where maps differ first is left to
// chance.
func refuseStamp(v any, budget *Budget, depth int) error {
	if depth > Depth {
		return errDepth
	}
	switch v := v.(type) {
	case []any:
		if err := budget.Steps(len(v)); err != nil {
			return err
		}
		for _, element := range v {
			if err := refuseStamp(element, budget, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		if err := budget.Steps(2 * len(v)); err != nil {
			return err
		}
		for _, element := range v {
			if err := refuseStamp(element, budget, depth+1); err != nil {
				return err
			}
		}
	case Stamp:
		return ErrStamp
	}
	return nil
}

func equal(a, b any, budget *Budget, depth int) (bool, error) {
	switch x := a.(type) {
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false, nil
		}
		return equalLists(x, y, budget, depth)
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false, nil
		}
		return equalMaps(x, y, budget, depth)
	case string:
		y, ok := b.(string)
		return ok && x == y, budget.Steps(len(x) / 64)
	default:
		return equalScalars(a, b, budget)
	}
}

func equalScalars(a, b any, budget *Budget) (bool, error) {
	switch a.(type) {
	case int64, float64:
		order, ok := compareNumbers(a, b)
		return ok && order == 0, nil
	case nil, bool:
		return a == b, nil
	case Amount, Version, time.Duration, time.Time:
		order, ok := Compare(a, b)
		return ok && order == 0, budget.Steps(stepsOfComparison)
	default:
		return false, nil
	}
}

func equalLists(a, b []any, budget *Budget, depth int) (bool, error) {
	if depth > Depth {
		return false, errDepth
	}
	for i := range a {
		if err := budget.Steps(1); err != nil {
			return false, err
		}
		if same, err := equal(a[i], b[i], budget, depth+1); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// equalMaps visits entries in Go's order, which decides how much work a difference
// takes to find but never the answer.
func equalMaps(a, b map[string]any, budget *Budget, depth int) (bool, error) {
	if depth > Depth {
		return false, errDepth
	}
	if err := budget.Steps(2 * len(a)); err != nil {
		return false, err
	}
	for key := range a {
		if _, found := b[key]; !found {
			return false, nil
		}
	}
	for key, x := range a {
		if same, err := equal(x, b[key], budget, depth+1); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// Compare orders two numbers, strings, quantities, versions, durations or times;
// ok is false for anything else.
func Compare(a, b any) (order int, ok bool) {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		return strings.Compare(x, y), ok
	case Amount:
		y, ok := b.(Amount)
		return x.compare(y), ok
	case Version:
		y, ok := b.(Version)
		return x.compare(y), ok
	case time.Duration:
		y, ok := b.(time.Duration)
		return cmp.Compare(x, y), ok
	case time.Time:
		y, ok := b.(time.Time)
		return x.Compare(y), ok
	default:
		return compareNumbers(a, b)
	}
}

// CompareKeys orders two sort keys: nil first, then booleans with false first, or
// what [Compare] orders; ok is false for keys that have no order between them.
func CompareKeys(a, b any) (order int, ok bool) {
	if a == nil || b == nil {
		return cmp.Compare(present(a), present(b)), true
	}
	if x, isBool := a.(bool); isBool {
		y, ok := b.(bool)
		return cmp.Compare(ordinal(x), ordinal(y)), ok
	}
	return Compare(a, b)
}

func present(v any) int { return ordinal(v != nil) }

func ordinal(b bool) int {
	if b {
		return 1
	}
	return 0
}

func compareNumbers(a, b any) (order int, ok bool) {
	switch x := a.(type) {
	case int64:
		switch y := b.(type) {
		case int64:
			return cmp.Compare(x, y), true
		case float64:
			return compareMixed(x, y), true
		}
	case float64:
		switch y := b.(type) {
		case int64:
			return -compareMixed(y, x), true
		case float64:
			return cmp.Compare(x, y), true
		}
	}
	return 0, false
}

// compareMixed compares without rounding the integer to a float.
func compareMixed(i int64, f float64) int {
	const limit = 1 << 63
	switch {
	case f >= limit:
		return -1
	case f < -limit || math.IsNaN(f):
		return 1
	}
	whole := math.Trunc(f)
	if order := cmp.Compare(i, int64(whole)); order != 0 {
		return order
	}
	return cmp.Compare(whole, f)
}

// errNotNumbers is unreachable for callers that check kinds first.
var errNotNumbers = Faultf("arithmetic wants two numbers")

var errZero = Faultf("division by zero")

// Add returns a + b of two numbers, an integer if both are, or of computed values.
func Add(a, b any) (any, error) {
	if x, y, ok := integers(a, b); ok {
		if sum := x + y; (sum > x) == (y > 0) {
			return sum, nil
		}
		return nil, overflow(x, "+", y)
	}
	if isComputed(a, b) {
		return addComputed(a, b)
	}
	return floats(a, b, func(x, y float64) float64 { return x + y })
}

// Subtract returns a - b of two numbers, an integer if both are, or of computed
// values.
func Subtract(a, b any) (any, error) {
	if x, y, ok := integers(a, b); ok {
		if difference := x - y; (difference < x) == (y > 0) {
			return difference, nil
		}
		return nil, overflow(x, "-", y)
	}
	if isComputed(a, b) {
		return subtractComputed(a, b)
	}
	return floats(a, b, func(x, y float64) float64 { return x - y })
}

// Multiply returns a * b of two numbers, an integer if both are, or of a duration
// and an integer.
func Multiply(a, b any) (any, error) {
	if x, y, ok := integers(a, b); ok {
		if product, ok := multiply(x, y); ok {
			return product, nil
		}
		return nil, overflow(x, "*", y)
	}
	if isComputed(a, b) {
		return multiplyComputed(a, b)
	}
	return floats(a, b, func(x, y float64) float64 { return x * y })
}

// Divide returns a / b of two numbers or two durations, always a float, or of a
// duration and an integer, which is a duration.
func Divide(a, b any) (any, error) {
	if isComputed(a, b) {
		return divideComputed(a, b)
	}
	if y, ok := toFloat(b); ok && y == 0 {
		return nil, errZero
	}
	return floats(a, b, func(x, y float64) float64 { return x / y })
}

// Quotient returns the integer a / b, truncated toward zero.
func Quotient(a, b int64) (any, error) {
	if b == 0 {
		return nil, errZero
	}
	if a == math.MinInt64 && b == -1 {
		return nil, overflow(a, "/", b)
	}
	return a / b, nil
}

// Remainder returns a % b of two integers, with the sign of a.
func Remainder(a, b any) (any, error) {
	x, y, ok := integers(a, b)
	if !ok {
		return nil, errNotNumbers
	}
	if y == 0 {
		return nil, errZero
	}
	if y == -1 {
		return int64(0), nil // Also for the smallest integer, which Go would trap on.
	}
	return x % y, nil
}

// Power returns a ** b of two numbers: an integer if both are and b is not
// negative, else a float.
func Power(a, b any) (any, error) {
	if x, y, ok := integers(a, b); ok && y >= 0 {
		if power, ok := power(x, y); ok {
			return power, nil
		}
		return nil, overflow(x, "**", y)
	}
	return floats(a, b, math.Pow)
}

// Negate returns -a of a number, a quantity or a duration.
func Negate(a any) (any, error) {
	if a == any(int64(math.MinInt64)) {
		return nil, Faultf("-(%d) overflows a 64-bit integer", a)
	}
	return Subtract(int64(0), a)
}

func integers(a, b any) (x, y int64, ok bool) {
	x, first := a.(int64)
	y, second := b.(int64)
	return x, y, first && second
}

// toFloat converts a number; an integer beyond 2^53 is rounded.
func toFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	default:
		return 0, false
	}
}

func floats(a, b any, operation func(x, y float64) float64) (any, error) {
	x, first := toFloat(a)
	y, second := toFloat(b)
	if !first || !second {
		return nil, errNotNumbers
	}
	result := operation(x, y)
	if math.IsNaN(result) || math.IsInf(result, 0) {
		return nil, Faultf("the result is not a finite number")
	}
	return result, nil
}

func multiply(x, y int64) (int64, bool) {
	high, low := bits.Mul64(magnitude(x), magnitude(y))
	if high != 0 {
		return 0, false
	}
	if (x < 0) != (y < 0) {
		return -int64(low), low <= 1<<63
	}
	return int64(low), low < 1<<63
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// power squares and multiplies, so that it takes at most 63 rounds.
func power(base, exponent int64) (int64, bool) {
	result := int64(1)
	for {
		var ok bool
		if exponent&1 == 1 {
			if result, ok = multiply(result, base); !ok {
				return 0, false
			}
		}
		if exponent >>= 1; exponent == 0 {
			return result, true
		}
		if base, ok = multiply(base, base); !ok {
			return 0, false
		}
	}
}

func overflow(x int64, operator string, y int64) *Fault {
	return Faultf("%d %s %d overflows a 64-bit integer", x, operator, y)
}
