package spec_test

import (
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// TestFieldsOfTests holds what the fields of a RuleTest refuse by themselves.
func TestFieldsOfTests(t *testing.T) {
	long := strings.Repeat("a", 121)
	tests := map[string]struct {
		reason string
		of     *field.Type
		text   string
		want   string
	}{
		"a title":         {"It is a line.", spec.CaseFields, "{name: a case, objects: [a.yaml]}", ""},
		"a long title":    {"It has an end.", spec.CaseFields, "{name: " + long + ", objects: [a.yaml]}", "the name of a case is one line of at most 120 bytes"},
		"two lines":       {"It is one.", spec.CaseFields, `{name: "a\nb", objects: [a.yaml]}`, "the name of a case is one line of at most 120 bytes"},
		"no word":         {"A golden is called by it.", spec.CaseFields, `{name: "- -", objects: [a.yaml]}`, `the name of a case has a letter or a digit, have "- -"`},
		"a time":          {"It has a zone.", spec.TestFields, `{rules: [a], now: "2026-01-01T00:00:00Z", cases: [a]}`, ""},
		"a date":          {"It is no time.", spec.TestFields, `{rules: [a], now: "2026-01-01", cases: [a]}`, `want a time such as "2026-01-01T00:00:00Z", have "2026-01-01"`},
		"a role":          {"Its name may have colons.", spec.StepDeleteFields, "{resource: clusterroles, name: 'a:b'}", ""},
		"a path":          {"It names no object.", spec.StepDeleteFields, "{resource: pods, name: a/b}", `"a/b" is not the name of an object`},
		"nothing happens": {"A step does something.", spec.StepFields, "{name: a}", "none of advance, apply, patch, delete is there"},
	}
	for name, tt := range tests {
		roots, errs := document.Parse(document.File{Name: "t.yaml", Data: []byte(tt.text)})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		_, errs = tt.of.Read(roots[0])
		var got []string
		for _, err := range errs {
			got = append(got, err.Message)
		}
		if text := strings.Join(got, "; "); text != tt.want {
			t.Errorf("%s: %s %q, want %q", name, tt.reason, text, tt.want)
		}
	}
	for text, want := range map[string]int{"a.yaml": 0, "[a.yaml, b]": 0, "''": 1, "['']": 1, "[]": 1, "{}": 1} {
		roots, _ := document.Parse(document.File{Name: "t.yaml", Data: []byte("a: " + text)})
		if errs := spec.PathErrors(roots[0].Get("a")); len(errs) != want {
			t.Errorf("%s is a path with %v", text, errs)
		}
	}
}
