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
