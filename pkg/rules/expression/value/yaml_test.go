package value

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestYAML(t *testing.T) {
	tests := map[string]struct {
		reason string
		v      any
		want   string
	}{
		"nil":             {"a document may be null", nil, "null\n"},
		"a text":          {"plain where nobody takes it for anything else", "hello, world", "\"hello, world\"\n"},
		"numbers":         {"integers are exact", []any{int64(math.MaxInt64), 0.5, 2.0, 1e21, 1e-7, -1.5e300}, "- 9223372036854775807\n- 0.5\n- 2\n- 1.0e+21\n- 1.0e-7\n- -1.5e+300\n"},
		"booleans":        {"as they are", []any{true, false}, "- true\n- false\n"},
		"empty ones":      {"on one line", map[string]any{"a": []any{}, "b": map[string]any{}}, "a: []\nb: {}\n"},
		"sorted keys":     {"equal values have equal texts", map[string]any{"b": int64(1), "a": int64(2), "C": nil}, "C: null\na: 2\nb: 1\n"},
		"maps in maps":    {"by two spaces", map[string]any{"a": map[string]any{"b": map[string]any{"c": "d"}}}, "a:\n  b:\n    c: d\n"},
		"lists in maps":   {"kubectl does not indent them", map[string]any{"a": []any{"x", []any{"y", "z"}}}, "a:\n- x\n- - \"y\"\n  - z\n"},
		"maps in lists":   {"start on the line of the dash", []any{map[string]any{"a": "x", "b": []any{"c"}}, map[string]any{}}, "- a: x\n  b:\n  - c\n- {}\n"},
		"words":           {"some readers take them for something else", []any{"yes", "No", "NULL", "y", "", "~", "true", "on"}, "- \"yes\"\n- \"No\"\n- \"NULL\"\n- \"y\"\n- \"\"\n- \"~\"\n- \"true\"\n- \"on\"\n"},
		"looks":           {"some readers take them for something else", []any{"1", "0x1F", "1e3", "2026-01-01", "-", "a: b", "a #b", "#a", "a:", "[a]", ".5"}, "- \"1\"\n- \"0x1F\"\n- \"1e3\"\n- \"2026-01-01\"\n- \"-\"\n- \"a: b\"\n- \"a #b\"\n- \"#a\"\n- \"a:\"\n- \"[a]\"\n- \".5\"\n"},
		"images":          {"no quotes for what is everywhere", []any{"pingcap/tidb:v8.5.0", "http://a.b/c", "a_b-c@d.e"}, "- pingcap/tidb:v8.5.0\n- http://a.b/c\n- a_b-c@d.e\n"},
		"keys":            {"they are texts like others", map[string]any{"yes": int64(1), "a b": int64(2), "1": int64(3)}, "\"1\": 3\na b: 2\n\"yes\": 1\n"},
		"lines":           {"read best as such", map[string]any{"a": "x\n  y\n\nz\n"}, "a: |\n  x\n    y\n\n  z\n"},
		"no last break":   {"it must not get one", []any{"x\ny"}, "- |-\n  x\n  y\n"},
		"more breaks":     {"all are kept", "x\n\n\n", "|+\n  x\n\n\n"},
		"space in front":  {"the first line tells how far all are indented", " x\ny", "\" x\\ny\"\n"},
		"a tab":           {"it would be lost in a block", "x\n\ty", "\"x\\n\\ty\"\n"},
		"what is no text": {"as in JSON", "a\xffb", "\"a\uFFFDb\"\n"},
		"computed values": {
			"as a body holds them",
			[]any{amount(t, "1024Mi"), version(t, "v1.2"), time.Hour, noon},
			"- \"1Gi\"\n- \"1.2.0\"\n- \"1h0m0s\"\n- \"2026-01-31T12:00:00Z\"\n",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := YAML(tt.v, NewBudget(0))
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v: %s (-want +got)\n%s", err, tt.reason, diff)
			}
		})
	}
}

func TestYAMLErrors(t *testing.T) {
	deep := any("x")
	for range Depth + 1 {
		deep = []any{deep}
	}
	tests := map[string]struct {
		v    any
		want string
	}{
		"omitted":         {[]any{Omitted{}}, "omit() has no YAML form"},
		"infinity":        {math.Inf(1), "YAML in Kubernetes has no number for +Inf"},
		"no value":        {struct{}{}, "an unsupported value has no YAML form"},
		"too deep":        {deep, "the value nests deeper than 256 levels"},
		"a very long key": {map[string]any{strings.Repeat("a", 300): nil}, `the key "` + strings.Repeat("a", 60) + `..." is too long for YAML`},
	}
	for name, tt := range tests {
		if text, err := YAML(tt.v, nil); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %.80s, %v, want %s", name, text, err, tt.want)
		}
	}
}

func TestParseYAML(t *testing.T) {
	type m = map[string]any
	tests := map[string]struct {
		reason string
		text   string
		want   any
	}{
		"nothing":         {"an empty file holds nothing", "", nil},
		"a comment":       {"it holds nothing else", "# a\n", nil},
		"a map":           {"the common case", "a: 1\nb: [x, 'y', \"z\"]\n", m{"a": int64(1), "b": []any{"x", "y", "z"}}},
		"integers":        {"exact to the end", "[9223372036854775807, -1, +2, 0]", []any{int64(math.MaxInt64), int64(-1), int64(2), int64(0)}},
		"floats":          {"all readers agree", "[0.5, 1.0, 1.0e+3, 1.5e-3, .5, 0x1F]", []any{0.5, 1.0, 1000.0, 0.0015, 0.5, int64(31)}},
		"booleans":        {"in the cases of YAML 1.2", "[true, False, TRUE]", []any{true, false, true}},
		"null":            {"in all its forms", "a:\nb: ~\nc: null", m{"a": nil, "b": nil, "c": nil}},
		"times":           {"Kubernetes has them as strings", "[2026-01-01, 2026-01-01T00:00:00Z]", []any{"2026-01-01", "2026-01-01T00:00:00Z"}},
		"texts":           {"what looks like none", "[1.2.3, 10.0.0.1, 1Gi, v1, a:b, no way, 'yes', \"012\"]", []any{"1.2.3", "10.0.0.1", "1Gi", "v1", "a:b", "no way", "yes", "012"}},
		"blocks":          {"as they are", "a: |\n  x\n  y\nb: >-\n  x\n  y", m{"a": "x\ny\n", "b": "x y"}},
		"JSON":            {"it is YAML", `{"a": [1, {"b": null}]}`, m{"a": []any{int64(1), m{"b": nil}}}},
		"an alias":        {"it is what it stands for", "a: &x [1]\nb: *x", m{"a": []any{int64(1)}, "b": []any{int64(1)}}},
		"Windows":         {"lines may end that way", "a: 1\r\nb: 2\r\n", m{"a": int64(1), "b": int64(2)}},
		"a very long one": {"numbers are not that long", strings.Repeat("7:", 50) + "7", strings.Repeat("7:", 50) + "7"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseYAML(tt.text, NewBudget(0))
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v: %s (-want +got)\n%s", err, tt.reason, diff)
			}
		})
	}
}

func TestParseYAMLErrors(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"yes":                {"[yes]", `line 1 of the YAML: unquoted yes is not the same to all readers of YAML; write "yes" for the text, or true for the boolean`},
		"a merge key":        {"<<: {a: 1}", `line 1 of the YAML: unquoted << is not the same to all readers of YAML; write "<<" for the text`},
		"a large integer":    {"[1,\n9223372036854775808]", "line 2 of the YAML: 9223372036854775808 does not fit into 64 bits; write it in quotes if it is text"},
		"duplicate keys":     {"a: 1\nb: 2\na: 3", `line 3 of the YAML: the key "a" is already there`},
		"an integer as key":  {"1: a", "line 1 of the YAML: a key is an integer and has to be a string"},
		"a list as key":      {"[a]: b", "line 1 of the YAML: a key is a list and has to be a string"},
		"a tag":              {"a: !!str 1", "line 1 of the YAML: the tag !!str is not supported"},
		"several documents":  {"a: 1\n---\nb: 2", `the YAML has several documents; cut it with split(text, "\n---\n")`},
		"a broken second":    {"a: 1\n---\n[", "invalid YAML: line 3: did not find expected node content"},
		"open brackets":      {"[a", "invalid YAML: line 1: did not find expected ',' or ']'"},
		"a tab":              {"a:\n\tb: 1", "invalid YAML: line 2: found character that cannot start any token"},
		"an unknown anchor":  {"*a", "invalid YAML: unknown anchor 'a' referenced"},
		"control characters": {"\x01", "invalid YAML: control characters are not allowed"},
		"no text":            {"\xff\xfe\xff", "invalid YAML: incomplete UTF-16 character"},
		"itself":             {"&a [*a]", "the value nests deeper than 256 levels"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v, err := ParseYAML(tt.text, NewBudget(0))
			if _, isFault := errors.AsType[*Fault](err); !isFault || err.Error() != tt.want {
				t.Errorf("%v, %v, want %s", v, err, tt.want)
			}
		})
	}
}

// TestParseYAMLBudget reads what a person could have written, and stops at what
// only grows when it is read.
func TestParseYAMLBudget(t *testing.T) {
	config := strings.Repeat("- name: a-metric\n  expr: sum(rate(x[5m])) by (job)\n  labels: {severity: page, team: b}\n", 500)
	if v, err := ParseYAML(config, NewBudget(len(config))); err != nil {
		t.Errorf("%d bytes of configuration: %v, %v", len(config), v, err)
	}
	for name, text := range map[string]string{
		"aliases": "a: &a [x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\n" +
			"d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]",
		"brackets": strings.Repeat("[", 10_000), "dashes": strings.Repeat("- ", 10_000), "questions": strings.Repeat("? ", 10_000),
	} {
		if v, err := ParseYAML(text, NewBudget(len(text))); !errors.Is(err, ErrBudget) {
			t.Errorf("%s: %v, %v, want an error about the budget", name, v, err)
		}
	}
}
