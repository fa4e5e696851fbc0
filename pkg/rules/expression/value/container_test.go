package value

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestElement(t *testing.T) {
	list := []any{"a", "b"}
	for i, want := range map[int64]any{
		0: "a", 1: "b", 2: nil, -1: "b", -2: "a", -3: nil, math.MaxInt64: nil, math.MinInt64: nil,
	} {
		if got := Element(list, i); got != want {
			t.Errorf("Element(%d) = %v, want %v", i, got, want)
		}
	}
	if got := Element(nil, 0); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}

func TestSlice(t *testing.T) {
	list := make([]any, 3, 10)
	part := Slice(list, 0, 2)
	_ = append(part, "overwritten")
	if list[2] != nil {
		t.Error("appending to a slice reached the list")
	}
	if got := Slice(nil, 0, 0); got == nil {
		t.Error("an empty slice is nil")
	}
	if got := Slice(list, 2, 1); len(got) != 0 {
		t.Errorf("backwards: %v", got)
	}
}

func TestSortedKeys(t *testing.T) {
	keys, err := SortedKeys(map[string]any{"b": 1, "": 2, "a": 3, "B": 4}, NewBudget(0))
	if diff := cmp.Diff([]string{"", "B", "a", "b"}, keys); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestText(t *testing.T) {
	tests := map[string]struct {
		v    any
		want string
		ok   bool
	}{
		"string":       {"a\nb", "a\nb", true},
		"integer":      {least, "-9223372036854775808", true},
		"boolean":      {false, "false", true},
		"float":        {0.1, "0.1", true},
		"whole float":  {100.0, "100", true},
		"large float":  {1e100, "1e+100", true},
		"small float":  {1.5e-10, "1.5e-10", true},
		"nil":          {nil, "", false},
		"list":         {[]any{}, "", false},
		"map":          {map[string]any{}, "", false},
		"omitted":      {Omitted{}, "", false},
		"not a number": {math.NaN(), "", false},
		"infinity":     {math.Inf(1), "", false},
		"unsupported":  {1, "", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, ok := Text(tt.v); got != tt.want || ok != tt.ok {
				t.Errorf("Text(%v) = %q, %v, want %q, %v", tt.v, got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestExcerpt(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"short":                        "short",
		strings.Repeat("a", 60):        strings.Repeat("a", 60),
		strings.Repeat("a", 61):        strings.Repeat("a", 60) + "...",
		"a" + strings.Repeat("ö", 100): "a" + strings.Repeat("ö", 29) + "...",
	} {
		if got := Excerpt(text); got != want {
			t.Errorf("Excerpt(%q) = %q, want %q", text, got, want)
		}
	}
}
