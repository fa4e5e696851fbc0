package value

import (
	"cmp"
	"math"
	"strings"
)

// Equal reports whether a and b are the same value, deeply. Numbers are compared
// as numbers, exactly; values of different kinds are unequal, and so an empty
// list is not nil.
func Equal(a, b any, budget *Budget) (bool, error) { return equal(a, b, budget, 0) }

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
	case int64, float64:
		order, ok := compareNumbers(a, b)
		return ok && order == 0, nil
	case nil, bool:
		return a == b, nil
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

// Compare orders two numbers or two strings; ok is false for anything else.
func Compare(a, b any) (order int, ok bool) {
	if x, isString := a.(string); isString {
		y, ok := b.(string)
		return strings.Compare(x, y), ok
	}
	return compareNumbers(a, b)
}

// CompareKeys orders two sort keys: nil first, then booleans with false first,
// numbers or strings; ok is false for keys that have no order between them.
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
