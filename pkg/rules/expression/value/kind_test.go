package value

import (
	"testing"
)

func TestKindOf(t *testing.T) {
	tests := map[string]struct {
		v    any
		want Kind
		text string
	}{
		"nil":     {nil, Nil, "nil"},
		"boolean": {true, Bool, "a boolean"},
		"integer": {int64(1), Int, "an integer"},
		"float":   {1.5, Float, "a float"},
		"string":  {"", String, "a string"},
		"list":    {[]any{}, List, "a list"},
		"map":     {map[string]any{}, Map, "a map"},
		"omitted": {Omitted{}, Omission, "omit()"},
		"int":     {1, Foreign, "an unsupported value"},
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
		"both numbers":      {"nobody cares which", Number, "a number"},
		"two":               {"an alternative", Number | String, "a number or a string"},
		"an absent list":    {"what else is wanted counts", List | Nil, "a list"},
		"everything":        {"no list helps", Any, "a value"},
		"nothing":           {"it must not fail", 0, ""},
		"computed values":   {"each of them", Computed, "a quantity, a version, a duration or a time"},
		"all beside others": {"the others are what one has", Number | Computed, "a number"},
		"everything there":  {"no list helps", Any | Computed | Omission | Stamped, "a value"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.kinds.String(); got != tt.want {
				t.Errorf("%q, want %q: %s", got, tt.want, tt.reason)
			}
		})
	}
}
