package body_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

func TestCheckPatch(t *testing.T) {
	of := gateway(t)
	testCheck(t, map[string]checkCase{
		"Right": {
			"Every operation, written and computed.",
			`[{op: test, path: /spec/class, value: mesh}, {op: replace, path: /spec/replicas, value: "${object.spec.replicas + 1}"},
			  {op: add, path: /spec/hosts/-, value: a}, {op: remove, path: /spec/host}, {op: copy, from: /spec/class, path: /spec/host}]`, nil,
		},
		"Whole":     {"All of the object.", `[{op: test, path: "", value: {spec: {class: mesh}}}]`, nil},
		"Unknown":   {"A step that leads nowhere.", `[{op: add, path: /spec/clas, value: mesh}]`, []string{`unknown-field b.yaml:1:24: [0].path: unknown field "clas"; did you mean "class"?`}},
		"Middle":    {"In the middle of the way.", `[{op: add, path: /spc/class, value: mesh}]`, []string{`unknown-field b.yaml:1:19: [0].path: unknown field "spc"; did you mean "spec"?`}},
		"Value":     {"A value of another type.", `[{op: add, path: /spec/class, value: 3}]`, []string{`type-mismatch b.yaml:1:38: [0].value: want a string, have an integer; put it in quotes: "3"`}},
		"Template":  {"That an expression gives.", `[{op: add, path: /spec/class, value: "${object.spec.replicas}"}]`, []string{`type-mismatch b.yaml:1:38: [0].value: want a string, have an integer; write string(...)`}},
		"Enum":      {"", `[{op: replace, path: /spec/class, value: none}]`, []string{`not-in-enum b.yaml:1:42: [0].value: want "public", "internal" or "mesh", have "none"`}},
		"Missing":   {"A value is all there is.", `[{op: add, path: /spec/listeners/0, value: {name: web}}]`, []string{`missing-field b.yaml:1:44: [0].value: the field "port" is missing; add port: ...`}},
		"Element":   {"A list leads on by position.", `[{op: replace, path: /spec/listeners/0/port, value: 80}]`, nil},
		"End":       {"Or by its end.", `[{op: add, path: /spec/hosts/-, value: 3}]`, []string{`type-mismatch b.yaml:1:40: [0].value: want a string, have an integer; put it in quotes: "3"`}},
		"Nullable":  {"Nor below a text that may be null.", `[{op: add, path: /spec/owner/name, value: a}]`, []string{`unknown-field b.yaml:1:30: [0].path: /spec/owner is a string and has no "name"; in a list, write a position, counted from 0, or - for the end; merge or apply find elements by name`}},
		"Escaped":   {"A slash in a key.", `[{op: add, path: /metadata/labels/a~1b, value: 1}]`, []string{`type-mismatch b.yaml:1:48: [0].value: want a string, have an integer; put it in quotes: "1"`}},
		"Tilde":     {"A tilde in a key that is not there.", `[{op: add, path: /spec/a~0b, value: 1}]`, []string{`unknown-field b.yaml:1:24: [0].path: unknown field "a~b"`}},
		"Open":      {"In an open map anything goes.", `[{op: add, path: /spec/options/a/b/0/c, value: {d: 1}}]`, nil},
		"Removed":   {"What is required stays.", `[{op: remove, path: /spec/class}]`, []string{`missing-field b.yaml:1:21: [0].path: what has to be there cannot be removed; replace it`}},
		"GivenBack": {"Unless it is given back.", `[{op: remove, path: /spec/class}, {op: add, path: /spec/class, value: mesh}]`, nil},
		"GivenTo":   {"Or may be.", `[{op: remove, path: /spec/class}, {op: add, path: "/spec/${object.metadata.name}", value: mesh}]`, nil},
		"GivenToo": {
			"Not before.", `[{op: add, path: /spec/class, value: mesh}, {op: remove, path: /spec/class}]`,
			[]string{`missing-field b.yaml:1:64: [1].path: what has to be there cannot be removed; replace it`},
		},
		"RemovedDefault": {"What has a default comes back.", `[{op: remove, path: /spec/replicas}]`, nil},
		"RemovedUnknown": {"What is not there is told of once.", `[{op: remove, path: /spec/clas}]`, []string{`unknown-field b.yaml:1:27: [0].path: unknown field "clas"; did you mean "class"?`}},
		"From":           {"Where it comes from has to be there.", `[{op: move, from: /spec/hst, path: /spec/host}]`, []string{`unknown-field b.yaml:1:25: [0].from: unknown field "hst"; did you mean "host"?`}},
		"Copied":         {"And fit where it goes.", `[{op: copy, from: /spec/hosts, path: /spec/host}]`, []string{`type-mismatch b.yaml:1:38: [0].path: want a string, have a list of strings`}},
		"CopiedUnknown":  {"If both are known.", `[{op: copy, from: "/spec/${object.metadata.name}", path: /spec/host}, {op: copy, from: /spec/options/x, path: /spec/host}]`, nil},
		"Test":           {"What cannot be stored is never there.", `[{op: test, path: /spec/replicas, value: "3"}]`, []string{`type-mismatch b.yaml:1:42: [0].value: want an integer, have a string; write it without quotes: 3`}},
		"TestNull":       {"So is absence tested for.", `[{op: test, path: /spec/enabled, value: null}, {op: test, path: /spec/enabled, value: "${nil}"}, {op: add, path: /spec/enabled, value: true}]`, nil},
		"TestNil":        {"A test may well be for what may be absent.", `[{op: test, path: /spec/class, value: "${object.spec.class}"}, {op: test, path: /spec/host, value: "${object.spec.host}"}]`, nil},
		"Templates": {
			"Expressions are checked wherever they are.",
			`[{op: "${object.spec.a}", path: "/spec/${object.spec.b}", from: "/${object.spec.c}", value: "${object.spec.d}"}]`,
			[]string{
				`unknown-field b.yaml:1:22: [0].op: object.spec has no field "a"`,
				`unknown-field b.yaml:1:54: [0].path: object.spec has no field "b"`,
				`unknown-field b.yaml:1:81: [0].from: object.spec has no field "c"`,
				`unknown-field b.yaml:1:108: [0].value: object.spec has no field "d"`,
			},
		},
		"Computed": {
			"So they are in operations that an expression gives.", `["${ {'op': 'add', 'path': object.spec.clas} }"]`,
			[]string{`unknown-field b.yaml:1:40: [0]: object.spec has no field "clas"; did you mean object.spec.class?`},
		},
		"AllComputed": {
			"Or in a patch that one gives.", `"${[{'op': 'remove', 'path': object.spec.clas}]}"`,
			[]string{`unknown-field b.yaml:1:42: object.spec has no field "clas"; did you mean object.spec.class?`},
		},
		"Key": {
			"Of an operation of which a key is not known nothing is.", `[{op: add, "${object.spec.clas}": /x}]`,
			[]string{`unknown-field b.yaml:1:27: [0]["${object.spec.clas}"]: object.spec has no field "clas"; did you mean object.spec.class?`},
		},
	}, func(b *body.Body, c body.Context) document.Errors { return b.CheckPatch(c, of) })
}

// TestCheckPatchUntyped holds that nothing is said of an object of which nothing is known.
func TestCheckPatchUntyped(t *testing.T) {
	testCheck(t, map[string]checkCase{
		"Any":        {"Any path, any value.", `[{op: add, path: /any/0/where, value: {a: 1}}, {op: remove, path: /x}, {op: move, from: /a, path: /b}]`, nil},
		"Expression": {"Expressions are checked.", `[{op: add, path: /x, value: "${object.spec.clas}"}]`, []string{`unknown-field b.yaml:1:44: [0].value: object.spec has no field "clas"; did you mean object.spec.class?`}},
	}, func(b *body.Body, c body.Context) document.Errors { return b.CheckPatch(c, nil) })
}
