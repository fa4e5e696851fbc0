package value

import (
	"errors"
	"math"
	"math/big"
	"testing"
	"testing/quick"
)

func TestEqual(t *testing.T) {
	tests := map[string]struct {
		a, b any
		want bool
	}{
		"nil":                        {nil, nil, true},
		"nil and an empty list":      {nil, []any{}, false},
		"an integer and a float":     {int64(1), 1.0, true},
		"no rounding":                {int64(1<<53 + 1), float64(1 << 53), false},
		"minus zero":                 {int64(0), math.Copysign(0, -1), true},
		"an infinite float":          {most, math.Inf(1), false},
		"not a number":               {int64(0), math.NaN(), false},
		"lists":                      {[]any{int64(1), "a"}, []any{1.0, "a"}, true},
		"a list and a map":           {[]any{}, map[string]any{}, false},
		"maps":                       {map[string]any{"a": int64(1), "b": nil}, map[string]any{"b": nil, "a": 1.0}, true},
		"maps with other keys":       {map[string]any{"a": nil}, map[string]any{"b": nil}, false},
		"omitted equals nothing":     {Omitted{}, Omitted{}, false},
		"unsupported equals nothing": {1, 1, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for range 2 { // Both ways round.
				if got, err := Equal(tt.a, tt.b, nil); err != nil || got != tt.want {
					t.Errorf("Equal(%v, %v) = %v, %v, want %v", tt.a, tt.b, got, err, tt.want)
				}
				tt.a, tt.b = tt.b, tt.a
			}
		})
	}
}

// TestCompareIsExact compares mixed numbers with arbitrary precision.
func TestCompareIsExact(t *testing.T) {
	check := func(i int64, f float64) bool {
		want := new(big.Float).SetInt64(i).Cmp(new(big.Float).SetFloat64(f))
		got, ok := Compare(i, f)
		turned, alsoOK := Compare(f, i)
		return ok && alsoOK && got == want && turned == -want
	}
	floats := []float64{
		0, 0.5, -0.5, 1, -1, 1.5, 1 << 53, 1<<53 + 2, -1 << 53, 1 << 62, 1 << 63, -1 << 63, math.Nextafter(1<<63, 0),
		math.Nextafter(-1<<63, math.Inf(-1)), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1),
	}
	for _, i := range []int64{0, 1, -1, 2, 1 << 53, 1<<53 + 1, 1<<62 + 1, most, most - 1, least, least + 1} {
		for _, f := range floats {
			if !check(i, f) {
				t.Errorf("%d and %v are not ordered exactly", i, f)
			}
		}
	}
	if err := quick.Check(check, nil); err != nil {
		t.Error(err)
	}
}

func TestCompare(t *testing.T) {
	tests := map[string]struct {
		a, b  any
		order int
		ok    bool
		keyOK bool
		key   int
	}{
		"integers":              {int64(1), int64(2), -1, true, true, -1},
		"strings":               {"a", "b", -1, true, true, -1},
		"a string and a number": {"a", int64(1), 0, false, false, 0},
		"booleans":              {false, true, 0, false, true, -1},
		"a boolean, a number":   {true, int64(1), 0, false, false, 0},
		"nil and a number":      {nil, int64(-1), 0, false, true, -1},
		"a string and nil":      {"", nil, 0, false, true, 1},
		"lists":                 {[]any{}, []any{}, 0, false, false, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if order, ok := Compare(tt.a, tt.b); ok != tt.ok || ok && order != tt.order {
				t.Errorf("Compare(%v, %v) = %d, %v", tt.a, tt.b, order, ok)
			}
			if order, ok := CompareKeys(tt.a, tt.b); ok != tt.keyOK || ok && order != tt.key {
				t.Errorf("CompareKeys(%v, %v) = %d, %v", tt.a, tt.b, order, ok)
			}
		})
	}
}

func TestEqualIsBounded(t *testing.T) {
	shared, other := any(int64(1)), any(int64(1))
	for range 64 {
		shared, other = []any{shared, shared}, []any{other, other}
	}
	if _, err := Equal(shared, other, NewBudget(0)); !errors.Is(err, ErrBudget) {
		t.Errorf("an exploding list: %v, want one that wraps ErrBudget", err)
	}
	if _, err := Equal(deepList(2*Depth), deepList(2*Depth), nil); err == nil {
		t.Error("a deep list: no error")
	}
	if _, err := Equal(deepMap(2*Depth), deepMap(2*Depth), nil); err == nil {
		t.Error("a deep map: no error")
	}
	if same, err := Equal(deepMap(Depth), deepMap(Depth), nil); err != nil || !same {
		t.Errorf("a map as deep as allowed: %v, %v", same, err)
	}
}

func deepList(depth int) any {
	v := any(int64(1))
	for range depth {
		v = []any{v}
	}
	return v
}

func deepMap(depth int) any {
	v := any(int64(1))
	for range depth {
		v = map[string]any{"a": v}
	}
	return v
}
