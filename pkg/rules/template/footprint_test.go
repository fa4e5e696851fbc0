package template_test

import (
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// watched is the shape of the one name of the tests.
type watched struct{ reads *footprint.Tree }

func (w watched) Shape(int) footprint.Shape { return footprint.Object(w.reads) }

func paths(t *footprint.Tree) string { return strings.Join(t.Paths(), " ") }

func TestWritten(t *testing.T) {
	tests := map[string]struct{ reason, text, reads, writes string }{
		"static":         {"Leaves are written.", `{spec: {a: 1, b: {c: x}}}`, "", "spec.a spec.b.c"},
		"null":           {"A null too: it deletes.", `{spec: {a: null}}`, "", "spec.a"},
		"list":           {"A list is one field.", `{spec: {a: [1, {b: 2}]}}`, "", "spec.a"},
		"empty":          {"An empty map makes one.", `{spec: {a: {}}, b: 1}`, "", "b exists(spec.a)"},
		"template":       {"A template is read and written whole.", `{spec: {a: "${object.spec.b}"}}`, "spec.b", "spec.a"},
		"text":           {"So is a text.", `{spec: {a: "x-${object.spec.b}"}}`, "spec.b", "spec.a"},
		"built":          {"Of a map that an expression builds the keys are known.", `{spec: "${ {a: object.spec.b, c: {d: 1}} }"}`, "spec.b", "spec.a spec.c.d"},
		"omitted":        {"A key that may be left out may be written.", `{spec: {a: "${object.spec.on ? 1 : omit()}"}}`, "spec.on", "spec.a"},
		"always omitted": {"One that always is, is not.", `{spec: {a: "${omit()}", b: 1}}`, "", "spec.b"},
		"maybe a map":    {"What may be no map is written whole.", `{spec: "${object.spec.on ? {a: 1} : nil}"}`, "spec.on", "spec"},
		"key":            {"A templated key can be any.", `{metadata: {labels: {"${object.spec.k}": x, b: c}}}`, "spec.k", "metadata.labels.*"},
		"key and below":  {"With what is below.", `{data: {"${object.spec.k}": {a: 1}}}`, "spec.k", "data.*.a"},
		"in a list":      {"Templates in lists are read.", `{spec: {a: ["${object.spec.b}", {c: "${object.spec.d}", "${object.kind}": 1}, [x]]}}`, "kind spec.b spec.d", "spec.a"},
		"whole":          {"All of it may be one.", `"${object.spec.patch}"`, "spec.patch", "*"},
		"whole, built":   {"Or be built.", `"${ {spec: {a: 1}} }"`, "", "spec.a"},
	}
	for name, tc := range tests {
		compiled, errs := compile(t, tc.text)
		if len(errs) > 0 {
			t.Fatal(errs.Render())
		}
		reads, writes := &footprint.Tree{}, &footprint.Tree{}
		compiled.Written(watched{reads}, writes)
		if paths(reads) != tc.reads || paths(writes) != tc.writes {
			t.Errorf("%s: %s Reads %q, want %q; writes %q, want %q", name, tc.reason, paths(reads), tc.reads, paths(writes), tc.writes)
		}
	}
}

func TestPatched(t *testing.T) {
	tests := map[string]struct{ reason, text, reads, target, writes string }{
		"add":            {"A path is written.", `[{op: add, path: /spec/a, value: "${object.spec.b}"}]`, "spec.b", "", "spec.a"},
		"constant":       {"Of a body without expressions too.", `[{op: replace, path: /spec/a, value: 1}, {op: remove, path: /spec/b}]`, "", "", "spec.a spec.b"},
		"escapes":        {"Keys are unescaped.", `[{op: add, path: /metadata/labels/a~1b~01, value: x}]`, "", "", `metadata.labels["a/b~1"]`},
		"element":        {"An element is part of its list.", `[{op: add, path: /spec/list/0/a, value: 1}, {op: add, path: /spec/other/-, value: 1}]`, "", "", "spec.list spec.other"},
		"test":           {"test reads.", `[{op: test, path: /spec/a, value: 1}]`, "", "spec.a", ""},
		"copy":           {"copy reads where from.", `[{op: copy, from: /spec/a, path: /spec/b}]`, "", "spec.a", "spec.b"},
		"move":           {"move also removes there.", `[{op: move, from: /spec/a, path: /spec/b}]`, "", "spec.a", "spec.a spec.b"},
		"root":           {"The empty path is the object.", `[{op: replace, path: "", value: "${object}"}]`, "*", "", "*"},
		"templated":      {"A path that is not known can be any.", `[{op: add, path: "${object.spec.p}", value: 1}]`, "spec.p", "", "*"},
		"partly":         {"As far as it is known it is.", `[{op: add, path: "/metadata/annotations/x-${object.spec.k}", value: 1}]`, "spec.k", "", "metadata.annotations"},
		"operation":      {"An unknown operation can be any.", `[{op: "${object.spec.o}", from: /a, path: /b}]`, "spec.o", "a b", "a b"},
		"field":          {"So can one of unknown fields.", `[{op: add, "${object.spec.f}": /a, value: 1}]`, "spec.f", "*", "*"},
		"given":          {"And one that an expression gives.", `["${object.spec.o}"]`, "spec.o", "*", "*"},
		"all given":      {"And all of them.", `"${object.spec.o}"`, "spec.o", "*", "*"},
		"no path":        {"What is refused later may be anything.", `[{op: add}, {op: add, path: spec}, x]`, "", "*", "*"},
		"beside a value": {"Values are read wherever they are.", `[{op: add, path: /a, value: {x: ["${object.spec.b}"]}}, {op: remove, path: /c}]`, "spec.b", "", "a c"},
	}
	for name, tc := range tests {
		compiled, errs := compile(t, tc.text)
		if len(errs) > 0 {
			t.Fatal(errs.Render())
		}
		reads, target, writes := &footprint.Tree{}, &footprint.Tree{}, &footprint.Tree{}
		compiled.Patched(watched{reads}, target, writes)
		if paths(reads) != tc.reads || paths(target) != tc.target || paths(writes) != tc.writes {
			t.Errorf("%s: %s Reads %q, want %q; of the target %q, want %q; writes %q, want %q",
				name, tc.reason, paths(reads), tc.reads, paths(target), tc.target, paths(writes), tc.writes)
		}
	}
}

func TestShape(t *testing.T) {
	for text, want := range map[string]string{
		`"${object.spec}"`:              "spec.used",
		`x`:                             "",
		`{a: "${object.spec}"}`:         "spec",
		`["${object.spec.a}", "a", {}]`: "spec.a",
	} {
		compiled, errs := compile(t, text)
		if len(errs) > 0 {
			t.Fatal(errs.Render())
		}
		reads := &footprint.Tree{}
		compiled.Shape(watched{reads}).Key("used").Read(footprint.Value)
		if got := paths(reads); got != want {
			t.Errorf("%s reads %q, want %q", text, got, want)
		}
	}
}
