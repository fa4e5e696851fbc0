package corpus

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMark(t *testing.T) {
	for _, c := range []struct {
		reason, draft, right, wrong string
		at                          region
		found                       bool
	}{
		{"nothing is marked", "a: b\n", "a: b\n", "", region{}, false},
		{"in the first line", "a: " + mark("b", "cd") + "\n", "a: b\n", "a: cd\n", region{1, 4, 6}, true},
		{"in a later line", "a:\n- " + mark("b", "c") + "d\n", "a:\n- bd\n", "a:\n- cd\n", region{2, 3, 4}, true},
		{"columns are characters", "é: " + mark("b", "é"), "é: b", "é: é", region{1, 4, 5}, true},
		{"what is left out has a place", "[" + mark("b", "") + "]", "[b]", "[]", region{1, 2, 3}, true},
		{"over several lines", mark("a\nb", "c\nd"), "a\nb", "c\nd", region{1, 1, 4}, true},
	} {
		if got := right(c.draft); got != c.right {
			t.Errorf("%s: right is %q, want %q", c.reason, got, c.right)
		}
		got, at, found := wrong(c.draft)
		if got != c.wrong || at != c.at || found != c.found {
			t.Errorf("%s: wrong is %q at %v, %t, want %q at %v, %t", c.reason, got, at, found, c.wrong, c.at, c.found)
		}
	}
}

func TestYAMLText(t *testing.T) {
	for _, c := range []struct {
		reason string
		value  any
		want   string
	}{
		{"a text is quoted", "yes", `"yes"`},
		{"an expression is none", "a${b}", `"a$${b}"`},
		{"signs of HTML stay", "<&>", `"<&>"`},
		{"numbers", []any{int64(1), 0.5, true, nil}, "[1, 0.5, true, null]"},
		{"keys in order", map[string]any{"second": int64(2), "first": int64(1)}, "{first: 1, second: 2}"},
		{"keys that YAML could misread", map[string]any{"on": int64(1), "true": int64(2), "a-b": int64(3)}, `{"a-b": 3, "on": 1, "true": 2}`},
		{"a marked key", map[string]any{mark("name", "on"): int64(1)}, "{" + mark("name", `"on"`) + ": 1}"},
		{"text as it is", map[string]any{"spec": raw("{a: b}")}, "{spec: {a: b}}"},
	} {
		if diff := cmp.Diff(c.want, yamlText(c.value)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
	}
}

func TestLiteral(t *testing.T) {
	for _, c := range []struct {
		reason string
		value  any
		want   string
		ok     bool
	}{
		{"a text", "a b", `"a b"`, true},
		{"an integer", int64(3), "3", true},
		{"a float", 0.5, "0.5", true},
		{"a boolean", true, "true", true},
		{"a quote would need an escape", `a"b`, "", false},
		{"a quote of YAML too", "a'b", "", false},
		{"no letter of ASCII", "é", "", false},
		{"a map is no literal", map[string]any{}, "", false},
		{"a negative number could be a subtraction", int64(-1), "", false},
	} {
		got, ok := literal(c.value)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%s: %q, %t, want %q, %t", c.reason, got, ok, c.want, c.ok)
		}
	}
}
