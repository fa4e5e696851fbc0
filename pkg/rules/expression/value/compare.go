package value

import (
	"cmp"
	"math"
	"strings"
	"time"
)

// Equal reports whether a and b are the same value, deeply. Numbers are compared
// as numbers, exactly, and times as moments, whatever their zone; values of
// different kinds are unequal, and so an empty list is not nil. A [Stamp] is an
// error, also within what has to be looked into.
func Equal(a, b any, budget *Budget) (same bool, err error) {
	defer Catch(&err)
	return equal(a, b, budget, 0), nil
}

// equal looks at all elements, since which of them differs first is left to chance in
// a map, and a stamp is an error wherever it is.
func equal(a, b any, budget *Budget, depth int) bool {
	if depth > Depth {
		Must(errDepth)
	}
	if a == any(Stamp{}) || b == any(Stamp{}) {
		Must(ErrStamp)
	}
	same := true
	switch x := a.(type) {
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		Must(budget.Steps(len(x)))
		for i := range x {
			same = equal(x[i], y[i], budget, depth+1) && same
		}
		return same
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		Must(budget.Steps(2 * len(x)))
		for key := range x {
			if _, found := y[key]; !found {
				return false
			}
		}
		for key := range x {
			same = equal(x[key], y[key], budget, depth+1) && same
		}
		return same
	case string:
		Must(budget.Steps(len(x) / 64))
		return a == b
	case nil, bool:
		return a == b
	case Amount, Version, time.Duration, time.Time:
		Must(budget.Steps(stepsOfComparison))
	}
	order, ok := Compare(a, b)
	return ok && order == 0
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
		return cmp.Compare(ordinal(a != nil), ordinal(b != nil)), true
	}
	if x, isBool := a.(bool); isBool {
		y, ok := b.(bool)
		return cmp.Compare(ordinal(x), ordinal(y)), ok
	}
	return Compare(a, b)
}

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

var errZero = Faultf("division by zero")

// Add returns a + b of two numbers, an integer if both are, or of computed values.
func Add(a, b any) (any, error) {
	if x, y, ok := integers(a, b); ok {
		sum := x + y
		return checked(x, "+", y, sum, (sum > x) == (y > 0))
	}
	if isComputed(a, b) {
		return compute(addComputed, a, b)
	}
	return floats(a, b, func(x, y float64) float64 { return x + y })
}

// Subtract returns a - b of two numbers, an integer if both are, or of computed
// values.
func Subtract(a, b any) (any, error) {
	if x, y, ok := integers(a, b); ok {
		difference := x - y
		return checked(x, "-", y, difference, (difference < x) == (y > 0))
	}
	if isComputed(a, b) {
		return compute(subtractComputed, a, b)
	}
	return floats(a, b, func(x, y float64) float64 { return x - y })
}

// Multiply returns a * b of two numbers, an integer if both are, or of a duration
// and an integer.
func Multiply(a, b any) (any, error) {
	if x, y, ok := integers(a, b); ok {
		product, ok := multiply(x, y)
		return checked(x, "*", y, product, ok)
	}
	if isComputed(a, b) {
		return compute(multiplyComputed, a, b)
	}
	return floats(a, b, func(x, y float64) float64 { return x * y })
}

// Divide returns a / b of two numbers or two durations, always a float, or of a
// duration and an integer, which is a duration.
func Divide(a, b any) (any, error) {
	if isComputed(a, b) {
		return compute(divideComputed, a, b)
	}
	if order, ok := compareNumbers(b, int64(0)); ok && order == 0 {
		return nil, errZero
	}
	return floats(a, b, func(x, y float64) float64 { return x / y })
}

// Quotient returns the integer a / b, truncated toward zero.
func Quotient(a, b int64) (any, error) {
	if b == 0 {
		return nil, errZero
	}
	return checked(a, "/", b, a/b, a != math.MinInt64 || b != -1)
}

// Remainder returns a % b of two integers, with the sign of a.
func Remainder(a, b any) (any, error) {
	x, y, _ := integers(a, b)
	if y == 0 {
		return nil, errZero
	}
	return x % y, nil
}

// Power returns a ** b of two numbers: an integer if both are and b is not
// negative, else a float.
func Power(a, b any) (any, error) {
	if x, y, ok := integers(a, b); ok && y >= 0 {
		power, ok := power(x, y)
		return checked(x, "**", y, power, ok)
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

// checked returns the result of an operation on integers, if it is what mathematics gives.
func checked(x int64, operator string, y, result int64, ok bool) (any, error) {
	if !ok {
		return nil, Faultf("%d %s %d overflows a 64-bit integer", x, operator, y)
	}
	return result, nil
}

// floats is an operation on numbers that gives a float. An integer beyond 2^53 is rounded.
func floats(a, b any, operation func(x, y float64) float64) (any, error) {
	var numbers [2]float64
	for i, v := range []any{a, b} {
		switch v := v.(type) {
		case int64:
			numbers[i] = float64(v)
		case float64:
			numbers[i] = v
		default:
			return nil, Faultf("arithmetic wants two numbers") // Callers check kinds first.
		}
	}
	result := operation(numbers[0], numbers[1])
	if math.IsNaN(result) || math.IsInf(result, 0) {
		return nil, Faultf("the result is not a finite number")
	}
	return result, nil
}

func multiply(x, y int64) (product int64, ok bool) {
	product = x * y
	return product, x == 0 || product/x == y && (x != -1 || y != math.MinInt64)
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
