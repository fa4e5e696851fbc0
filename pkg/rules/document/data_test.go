package document

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

func TestParseData(t *testing.T) {
	type m = map[string]any
	tests := map[string]struct {
		reason string
		text   string
		want   any
	}{
		"nothing":  {"an empty file holds nothing", "", nil},
		"a map":    {"the common case", "a: 1\nb: [x, 'y', \"z\"]\n", m{"a": int64(1), "b": []any{"x", "y", "z"}}},
		"times":    {"Kubernetes has them as strings", "[2026-01-01, 2026-01-01T00:00:00Z]", []any{"2026-01-01", "2026-01-01T00:00:00Z"}},
		"JSON":     {"it is YAML", `{"a": [1, {"b": null}]}`, m{"a": []any{int64(1), m{"b": nil}}}},
		"an alias": {"it is what it stands for", "a: &x [1]\nb: *x", m{"a": []any{int64(1)}, "b": []any{int64(1)}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseData(tt.text, value.NewBudget(0))
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v: %s (-want +got)\n%s", err, tt.reason, diff)
			}
		})
	}
}

func TestParseDataErrors(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"yes":               {"[yes]", `line 1 of the YAML: unquoted yes is not the same to all readers of YAML; write "yes" for the text, or true for the boolean`},
		"a merge key":       {"<<: {a: 1}", `line 1 of the YAML: merge keys are not supported; write the keys out`},
		"a tag":             {"a: !!str 1", `line 1 of the YAML: "!!str" is a tag, which is not supported; put the value in quotes if it is text, else write it out`},
		"several documents": {"a: 1\n---\nb: 2", `the YAML has several documents; cut it with split(text, "\n---\n")`},
		"a broken second":   {"a: 1\n---\n[", `line 3 of the YAML: "[" is not closed; add the closing bracket`},
		"an unknown anchor": {"*a", "line 1 of the YAML: anchors, aliases and tags are not supported; put the value in quotes if it is text, else write it out"},
		"a tag behind":      {"a: &x !!str b", `line 1 of the YAML: "!!str" is a tag, which is not supported; put the value in quotes if it is text, else write it out`},
		"itself":            {"&a [*a]", "line 1 of the YAML: maps and lists are nested deeper than 100; write it flatter"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v, err := ParseData(tt.text, value.NewBudget(0))
			if _, isFault := errors.AsType[*value.Fault](err); !isFault || err.Error() != tt.want {
				t.Errorf("%v, %v, want %s", v, err, tt.want)
			}
		})
	}
}

// TestParseDataBudget reads what a person could have written, and stops at what
// only grows when it is read.
func TestParseDataBudget(t *testing.T) {
	config := strings.Repeat("- name: a-metric\n  expr: sum(rate(x[5m])) by (job)\n  labels: {severity: page, team: b}\n", 500)
	if v, err := ParseData(config, value.NewBudget(len(config))); err != nil {
		t.Errorf("%d bytes of configuration: %v, %v", len(config), v, err)
	}
	for name, text := range map[string]string{
		"aliases": "a: &a [x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\n" +
			"d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]",
		"brackets": strings.Repeat("[", 10_000), "questions": strings.Repeat("? ", 10_000),
	} {
		if v, err := ParseData(text, value.NewBudget(len(text))); !errors.Is(err, value.ErrBudget) {
			t.Errorf("%s: %v, %v, want an error about the budget", name, v, err)
		}
	}
}

// FuzzParseData holds that no text makes the parser panic or go over its budget
// unnoticed, and that what it reads can be written.
func FuzzParseData(f *testing.F) {
	for _, text := range []string{
		"a: 1", "[a, b]", "- - a\n  - b", "a: &x [1]\nb: *x", "&x [*x]", "<<: {a: 1}", "!!str a", "a: 1\na: 2", "--- a\n--- b", "012", "yes", ".inf", "1e3",
		"? a\n: b", "{a: [}", "a: |\n b", "# only this", "%YAML 1.1\n---\na", "\"\\x\"", "1: a", "[]: a", "1_000", "18446744073709551616", "1:30", "2026-01-01",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseData(text, value.NewBudget(len(text)))
		var fault *value.Fault
		if err != nil {
			if !errors.As(err, &fault) && !errors.Is(err, value.ErrBudget) {
				t.Errorf("%q: %v is not a fault", text, err)
			}
			return
		}
		written, err := value.YAML(v, nil)
		if err != nil {
			return
		}
		again, err := ParseData(written, nil)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, written, err)
		}
		if same, err := value.Equal(v, again, nil); err != nil || !same {
			t.Errorf("%q became %q", text, written)
		}
	})
}
