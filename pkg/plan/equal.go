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

func equalNumbers(a, b any) bool {
	x, xInt, xOK := number(a)
	y, yInt, yOK := number(b)
	switch {
	case !xOK || !yOK:
		return false
	case xInt != nil && yInt != nil:
		return *xInt == *yInt
	case xInt == nil && yInt == nil:
		return x == y
	case xInt == nil:
		return equalMixed(*yInt, x)
	default:
		return equalMixed(*xInt, y)
	}
}

// equalMixed avoids the rounding of large integers that a conversion to float
// would bring.
func equalMixed(i int64, f float64) bool {
	return f == math.Trunc(f) && f >= math.MinInt64 && f < math.MaxInt64 && int64(f) == i
}

func number(value any) (f float64, i *int64, ok bool) {
	switch value := value.(type) {
	case int64:
		return 0, &value, true
	case int:
		wide := int64(value)
		return 0, &wide, true
	case float64:
		return value, nil, true
	default:
		return 0, nil, false
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
	float, integer, ok := number(value)
	switch {
	case !ok:
		return ""
	case integer != nil:
		return strconv.FormatInt(*integer, 10)
	case equalMixed(int64(float), float):
		return strconv.FormatInt(int64(float), 10)
	default:
		return strconv.FormatFloat(float, 'g', -1, 64)
	}
}
