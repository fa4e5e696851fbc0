package plan

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestScalarText holds that what is equal has the same text, by which it is found in an index.
func TestScalarText(t *testing.T) {
	for _, same := range [][]any{
		{1, int64(1), 1.0},
		{0, 0.0, math.Copysign(0, -1)},
		{int64(1 << 60), float64(1 << 60)},
		{int64(math.MinInt64), float64(math.MinInt64)},
		{"a"},
		{true},
		{nil},
		{1e300},
		{math.Inf(-1)},
	} {
		for _, value := range same {
			if got, want := ScalarText(value), ScalarText(same[0]); got != want {
				t.Errorf("%v is %s, and %v is %s", value, got, same[0], want)
			}
		}
	}
	values := rapid.OneOf(
		rapid.SampledFrom([]any{nil, "", "a", "1", true, false, 0, 1, 1.5, math.NaN(), int64(math.MaxInt64), float64(math.MaxInt64)}),
		rapid.Map(rapid.Int64(), func(i int64) any { return i }),
		rapid.Map(rapid.Int64(), func(i int64) any { return float64(i) }),
		rapid.Map(rapid.Float64(), func(f float64) any { return f }),
		rapid.Map(rapid.Int64(), func(i int64) any { return strconv.FormatInt(i, 10) }))
	rapid.Check(t, func(t *rapid.T) {
		a := values.Draw(t, "a")
		for _, b := range []any{values.Draw(t, "b"), a, asFloat(a), asInt(a)} {
			if Equal(a, b) && ScalarText(a) != ScalarText(b) {
				t.Fatalf("%T %v is %s, and %T %v is %s", a, a, ScalarText(a), b, b, ScalarText(b))
			}
		}
	})
}

func asFloat(v any) any {
	if i, ok := v.(int64); ok {
		return float64(i)
	}
	return v
}

func asInt(v any) any {
	if f, ok := v.(float64); ok {
		return int64(f)
	}
	return v
}
