package value

import (
	"testing"
	"time"
)

func TestKindOf(t *testing.T) {
	tests := map[string]struct {
		v    any
		want Kind
		text string
	}{
		"nil":             {nil, Nil, "nil"},
		"boolean":         {true, Bool, "a boolean"},
		"integer":         {int64(1), Int, "an integer"},
		"float":           {1.5, Float, "a float"},
		"string":          {"", String, "a string"},
		"list":            {[]any{}, List, "a list"},
		"nil list":        {[]any(nil), List, "a list"},
		"map":             {map[string]any{}, Map, "a map"},
		"omitted":         {Omitted{}, Omission, "omit()"},
		"quantity":        {Amount{}, Quantity, "a quantity"},
		"version":         {Version{}, Semver, "a version"},
		"duration":        {time.Hour, Duration, "a duration"},
		"time":            {time.Time{}, Time, "a time"},
		"stamp":           {Stamp{}, Stamped, "stamp()"},
		"int":             {1, Foreign, "an unsupported value"},
		"another map":     {map[string]string{}, Foreign, "an unsupported value"},
		"another list":    {[]string{}, Foreign, "an unsupported value"},
		"a pointer to it": {new(int64), Foreign, "an unsupported value"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := KindOf(tt.v); got != tt.want || got.String() != tt.text {
				t.Errorf("KindOf(%v) = %d (%s), want %d (%s)", tt.v, got, got, tt.want, tt.text)
			}
		})
	}
}

func TestKindString(t *testing.T) {
	tests := map[string]struct {
		reason string
		kinds  Kind
		want   string
	}{
		"both numbers":       {"nobody cares which", Number, "a number"},
		"two":                {"an alternative", Number | String, "a number or a string"},
		"three":              {"a list of alternatives", Bool | String | Map, "a boolean, a string or a map"},
		"an absent list":     {"what else is wanted counts", List | Nil, "a list"},
		"everything":         {"no list helps", Any, "a value"},
		"everything present": {"no list helps", Any &^ Nil, "a value"},
		"nothing":            {"it must not fail", 0, ""},
		"computed values":    {"each of them", Computed, "a quantity, a version, a duration or a time"},
		"some of them":       {"the alternatives", String | Duration, "a string or a duration"},
		"all beside others":  {"the others are what one has", Number | Computed, "a number"},
		"everything there":   {"no list helps", Any | Computed | Omission | Stamped, "a value"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.kinds.String(); got != tt.want {
				t.Errorf("%q, want %q: %s", got, tt.want, tt.reason)
			}
		})
	}
}

func TestKindHas(t *testing.T) {
	if !Any.Has(Number) || Int.Has(Number) || Any.Has(Omission) || Any.Has(Foreign) {
		t.Error("Any has numbers and is free of what Kubernetes does not know; an integer is not all numbers")
	}
}

func TestFault(t *testing.T) {
	plain := Faultf("%d apples", 2)
	hinted := plain.WithHint("write %q", "x")
	if plain.Error() != "2 apples" || hinted.Error() != `2 apples; write "x"` {
		t.Errorf("%q and %q", plain, hinted)
	}
}
