package template_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

func TestCheckPatch(t *testing.T) {
	of := gateway(t)
	testCheck(t, map[string]checkCase{
		"Right": {
			"Every operation, written and computed.",
			`[{op: test, path: /spec/class, value: mesh}, {op: replace, path: /spec/replicas, value: "${object.spec.replicas + 1}"},
			  {op: add, path: /spec/hosts/-, value: a}, {op: remove, path: /spec/host}, {op: copy, from: /spec/class, path: /spec/host}]`, nil,
		},
		"Whole":          {"All of the object.", `[{op: test, path: "", value: {spec: {class: mesh}}}]`, nil},
		"Element":        {"A list leads on by position.", `[{op: replace, path: /spec/listeners/0/port, value: 80}]`, nil},
		"Nullable":       {"Nor below a text that may be null.", `[{op: add, path: /spec/owner/name, value: a}]`, []string{`unknown-field b.yaml:1:30: [0].path: /spec/owner is a string and has no "name"; in a list, write a position, counted from 0, or - for the end; merge or apply find elements by name`}},
		"Open":           {"In an open map anything goes.", `[{op: add, path: /spec/options/a/b/0/c, value: {d: 1}}]`, nil},
		"GivenBack":      {"Unless it is given back.", `[{op: remove, path: /spec/class}, {op: add, path: /spec/class, value: mesh}]`, nil},
		"GivenTo":        {"Or may be.", `[{op: remove, path: /spec/class}, {op: add, path: "/spec/${object.metadata.name}", value: mesh}]`, nil},
		"RemovedDefault": {"What has a default comes back.", `[{op: remove, path: /spec/replicas}]`, nil},
		"CopiedUnknown":  {"If both are known.", `[{op: copy, from: "/spec/${object.metadata.name}", path: /spec/host}, {op: copy, from: /spec/options/x, path: /spec/host}]`, nil},
		"TestNull":       {"So is absence tested for.", `[{op: test, path: /spec/enabled, value: null}, {op: test, path: /spec/enabled, value: "${nil}"}, {op: add, path: /spec/enabled, value: true}]`, nil},
		"TestNil":        {"A test may well be for what may be absent.", `[{op: test, path: /spec/class, value: "${object.spec.class}"}, {op: test, path: /spec/host, value: "${object.spec.host}"}]`, nil},
		"Key": {
			"Of an operation of which a key is not known nothing is.", `[{op: add, "${object.spec.clas}": /x}]`,
			[]string{`unknown-field b.yaml:1:27: [0]["${object.spec.clas}"]: object.spec has no field "clas"; did you mean object.spec.class?`},
		},
	}, func(b *template.Body, c template.Context) document.Errors { return b.CheckPatch(c, of) })
}

// TestCheckPatchUntyped holds that nothing is said of an object of which nothing is known.
func TestCheckPatchUntyped(t *testing.T) {
	testCheck(t, map[string]checkCase{
		"Any": {"Any path, any value.", `[{op: add, path: /any/0/where, value: {a: 1}}, {op: remove, path: /x}, {op: move, from: /a, path: /b}]`, nil},
	}, func(b *template.Body, c template.Context) document.Errors { return b.CheckPatch(c, nil) })
}
