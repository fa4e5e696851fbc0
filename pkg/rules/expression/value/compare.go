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
