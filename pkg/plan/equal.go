package plan

import (
	"math"
	"strconv"
)

// Equal compares JSON values exactly: 1 and 1.0 are the same number, an absent
// key and a null are not the same map.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && equalMaps(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && equalLists(a, b)
	case int64, int, float64:
		return equalNumbers(a, b)
	default:
		return a == b
	}
}

// equalMaps knows a map from itself at once: two versions of an object share
// all that has not changed.
func equalMaps(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	if sameMap(a, b) {
		return true
	}
	for key, value := range a {
		other, ok := b[key]
		if !ok || !Equal(value, other) {
			return false
		}
	}
	return true
}

// sameMap reports whether both are one map.
func sameMap(a, b map[string]any) bool {
	return a != nil && memory(a) == memory(b)
}

func equalLists(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) > 0 && &a[0] == &b[0] {
		return true
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// equalNumbers avoids the rounding of large integers that a conversion to float
// would bring.
func equalNumbers(a, b any) bool {
	x, i, isInt := number(a)
	y, j, areInts := number(b)
	return isInt == areInts && i == j && (isInt || x == y)
}

// number is a whole number as an integer where it is one, and what is no number as NaN.
func number(value any) (f float64, i int64, whole bool) {
	switch value := value.(type) {
	case int64:
		return 0, value, true
	case int:
		return 0, int64(value), true
	case float64:
		if value == math.Trunc(value) && value >= math.MinInt64 && value < math.MaxInt64 {
			return 0, int64(value), true
		}
		return value, 0, false
	default:
		return math.NaN(), 0, false
	}
}

// ScalarText is the same for scalars that are equal, such as 1 and 1.0, and for some that are not, such as 1 and "1". It is
// empty for what is no scalar.
func ScalarText(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case bool:
		return strconv.FormatBool(value)
	}
	switch float, integer, whole := number(value); {
	case whole:
		return strconv.FormatInt(integer, 10)
	case math.IsNaN(float):
		return ""
	default:
		return strconv.FormatFloat(float, 'g', -1, 64)
	}
}
