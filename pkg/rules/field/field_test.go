package field_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
)

// sample has a field of each type.
var sample = field.Object("sample",
	field.Required("name", field.Label, ""),
	field.Optional("domain", field.Subdomain, ""),
	field.Optional("active", field.Bool, ""),
	field.Optional("mode", field.Words("Enforce", "Audit"), ""),
	field.Optional("names", field.List(field.NotBlank), ""),
	field.Optional("entries", field.Map(field.Label, field.Words("a", "b")), ""),
	field.Optional("count", &field.Type{Kinds: document.KindInt, Template: true, Hint: "write 3"}, ""),
	field.Optional("inner", field.Object("", field.Required("list", field.List(field.Text), "")), ""),
	field.Optional("body", field.Any, ""),
).Otherwise(func(key, value string) string {
	if key == "spec" {
		return "put " + value + " into a body"
	}
	return ""
})

func parse(t *testing.T, text string) *document.Node {
	t.Helper()
	roots, errs := document.Parse(document.File{Name: "f.yaml", Data: []byte(text)})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return roots[0]
}

func TestRead(t *testing.T) {
	const name = "name: a\n"
	long := strings.Repeat("x", 80)
	for text, want := range map[string]string{
		`{name: a, domain: a.b, active: true, mode: Audit, names: [b, c], entries: {z: a}, count: 3, inner: {list: []}, body: [e, 1]}`: "",
		name + `count: "${1 + 1}"`: "",
		name + "body:":             "",
		"[name]":                   "f.yaml:1:1: want a map, have a list; write lines of key: value, or {key: value}",
		"inner: {}":                `f.yaml:1:1: the field "name" is missing; add name: ...`,
		"name:":                    `f.yaml:1:1: name: the field "name" has no value; give it one`,
		name + "active:":           "f.yaml:2:1: active: want a boolean, have nil; give it a value or remove it",
		"nmae: a":                  `f.yaml:1:1: nmae: unknown field "nmae"; did you mean "name"?`,
		name + "spec: x":           `f.yaml:2:1: spec: unknown field "spec"; put x into a body`,
		name + long + ": b": fmt.Sprintf("f.yaml:2:1: [\"%.60s...\"]: unknown field \"%.60s...\"; "+
			"the fields here are name, domain, active, mode, names, entries, count, inner, body", long, long),
		"name: 1.10":             `f.yaml:1:7: name: want a string, have a float; put it in quotes: "1.10"`,
		"name: ''":               "f.yaml:1:7: name: the name is empty; give it one",
		"name: A":                `f.yaml:1:7: name: "A" is not a name that Kubernetes takes; use lower-case letters, digits and -, with a letter or a digit at both ends`,
		"name: " + long:          fmt.Sprintf("f.yaml:1:7: name: %q is too long; it must be no more than 63 characters", long),
		name + "domain: a..b":    `f.yaml:2:9: domain: "a..b" is not a name that Kubernetes takes; use lower-case letters, digits, - and ., with a letter or a digit at both ends`,
		name + "mode: audit":     `f.yaml:2:7: mode: "audit" is not known here; did you mean Audit?`,
		name + "mode: Sometimes": `f.yaml:2:7: mode: "Sometimes" is not known here; write one of Enforce, Audit`,
		name + "mode: 3":         `f.yaml:2:7: mode: want a string, have an integer; write one of Enforce, Audit`,
		name + "names: []":       "f.yaml:2:8: names: a list without elements does nothing; add one, or remove what needs none",
		name + `names: [a, " "]`: "f.yaml:2:12: names[1]: want a text that is not blank, have \" \"",
		name + "entries: {X: a}": `f.yaml:2:11: entries.X: "X" is not a name that Kubernetes takes; use lower-case letters, digits and -, with a letter or a digit at both ends`,
		name + "entries: {x: c}": `f.yaml:2:14: entries.x: "c" is not known here; did you mean a?`,
		name + "count: three":    "f.yaml:2:8: count: want an integer, have a string; write 3",
	} {
		_, errs := sample.Read(parse(t, text))
		if diff := cmp.Diff(want, errs.Sorted().Error()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// TestReadCounts holds what is said of fields of which a map has one, or at least one.
func TestReadCounts(t *testing.T) {
	one := field.Object("", field.Optional("a", field.Any, ""), field.Optional("b", field.Any, ""), field.Optional("c", field.Text, "")).With("a", "b")
	some := *one
	some.OneOf, some.SomeOf = nil, []string{"a", "b"}
	for text, want := range map[string][2]string{
		"a: 1":          {},
		"a: 1\nb: 2":    {"f.yaml:1:1: a and b exclude each other; write one of them", ""},
		"c: x":          {"f.yaml:1:1: none of a, b is there; write one of a, b", `f.yaml:1:1: the field "a" is missing; add a: ..., or b: ...`},
		"c: 1":          {`f.yaml:1:4: c: want a string, have an integer; put it in quotes: "1"`, `f.yaml:1:4: c: want a string, have an integer; put it in quotes: "1"`},
		"{c: [], d: 1}": {`f.yaml:1:5: c: want a string, have a list` + "\n" + `f.yaml:1:9: d: unknown field "d"; did you mean "a"?`, `f.yaml:1:5: c: want a string, have a list` + "\n" + `f.yaml:1:9: d: unknown field "d"; did you mean "a"?`},
	} {
		_, exactly := one.Read(parse(t, text))
		_, least := some.Read(parse(t, text))
		if diff := cmp.Diff(want, [2]string{exactly.Sorted().Error(), least.Sorted().Error()}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	filled := &field.Type{Fields: one.Fields, Filled: true}
	if _, errs := filled.Read(parse(t, "{}")); len(errs) != 1 {
		t.Errorf("an empty map: %v", errs)
	}
}

// TestReadValues says that values are those that are right but for what is in them.
func TestReadValues(t *testing.T) {
	v, _ := sample.Read(parse(t, `{name: A, active: x, mode: Audit, names: [b, 1], inner: {}, entries: {}}`))
	got := fmt.Sprint(len(v), v.Word("mode", "Enforce"), v.Word("other", "default"), len(v["names"].Elements()), v["active"].Value())
	if want := fmt.Sprint(4, "Audit", "default", 2, nil); got != want {
		t.Errorf("have %s, want %s", got, want)
	}
}

// TestReadInvalid holds that nothing is said of what the parser has reported.
func TestReadInvalid(t *testing.T) {
	roots, errs := document.Parse(document.File{Name: "f.yaml", Data: []byte(
		"b: &b c\na: {name: no, active: off, mode: on, names: [1e3, a], inner: !x {list: [n]}, entries: {on: a, ok: no}, body: *b, 1: x, [a]: y}")})
	if len(errs) < 9 {
		t.Fatal(errs)
	}
	if _, errs := sample.Read(roots[0].Get("a")); len(errs) > 0 {
		t.Errorf("reported twice: %v", errs)
	}
	if v, errs := sample.Read(nil); v != nil || errs != nil {
		t.Errorf("no node, but %v, %v", v, errs)
	}
}

// TestReadEnough holds that reading ends when all of it is wrong.
func TestReadEnough(t *testing.T) {
	var keys strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&keys, "k%d: c\n", i)
	}
	for _, text := range []string{keys.String(), "names:\n" + strings.Repeat("- 1\n", 5000), "entries:\n  " + strings.ReplaceAll(keys.String(), "\n", "\n  ")} {
		if _, errs := sample.Read(parse(t, text)); len(errs) == 0 || len(errs) > 101 {
			t.Errorf("%.20s: %d errors", text, len(errs))
		}
	}
}

func TestCodes(t *testing.T) {
	for text, want := range map[string]document.Code{
		"nmae: x": document.CodeUnknownField, "mode: Audit": document.CodeMissingField, "name:": document.CodeMissingField,
		"name: 1": document.CodeTypeMismatch, "name: x\nmode: b": document.CodeNotInEnum, "name: x\nmode: 1": document.CodeTypeMismatch,
	} {
		if _, errs := sample.Read(parse(t, text)); len(errs) == 0 || errs[0].Code != want {
			t.Errorf("%q: want %s, got %v", text, want, errs)
		}
	}
}

func TestTemplates(t *testing.T) {
	if got := fmt.Sprint(sample.Templates()); got != "[count]" {
		t.Errorf("templates are in %s", got)
	}
}
