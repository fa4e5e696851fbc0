package value

import (
	"math"
	"math/bits"
)

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
