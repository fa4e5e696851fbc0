package template_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// values resolves the one name of the tests.
type values map[string]any

func (v values) Value(int) (any, error) { return map[string]any(v), nil }

func compile(t *testing.T, text string) (*template.Body, document.Errors) {
	t.Helper()
	nodes, errs := document.Parse(document.File{Name: "b.yaml", Data: []byte(text)})
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	return template.Compile(nodes[0], expression.NewScope("object"))
}

func TestEval(t *testing.T) {
	object := values{"int": int64(1 << 60), "list": []any{"a", nil}, "map": map[string]any{"k": "v"}, "key": "dynamic"}
	tests := map[string]struct {
		reason string
		text   string
		want   any
		err    string
	}{
		"Typed":        {reason: "One expression alone keeps its type.", text: `a: "${object.int}"`, want: map[string]any{"a": int64(1 << 60)}},
		"Spaces":       {reason: "White space around it does not make it a text.", text: `a: " ${object.list} "`, want: map[string]any{"a": []any{"a", nil}}},
		"Interpolated": {reason: "With more around it, it is a text.", text: `a: x${object.int}`, want: map[string]any{"a": "x1152921504606846976"}},
		"Escaped":      {reason: "A doubled dollar is a literal one.", text: `a: $${object.int}`, want: map[string]any{"a": "${object.int}"}},
		"Null":         {reason: "A null is written, an absent value is a null.", text: `{a: null, b: "${object.none}"}`, want: map[string]any{"a": nil, "b": nil}},
		"Omitted":      {reason: "A key or an element is left out.", text: `{a: "${omit()}", l: [1, "${omit()}", 2]}`, want: map[string]any{"l": []any{int64(1), int64(2)}}},
		"OmittedKey":   {reason: "So is an entry whose key is.", text: `{"${omit()}": 1, b: 2}`, want: map[string]any{"b": int64(2)}},
		"OmittedDeep":  {reason: "And what an expression built.", text: `a: "${ {'x': omit(), 'z': [omit()]} }"`, want: map[string]any{"a": map[string]any{"z": []any{}}}},
		"OmittedAll":   {reason: "Nothing is left of it.", text: `"${omit()}"`, want: nil},
		"Key":          {reason: "Keys are templates too.", text: `"${object.key}-x": 1`, want: map[string]any{"dynamic-x": int64(1)}},
		"KeyTwice":     {reason: "A key that an expression repeats would hide the other.", text: `{dynamic: 1, "${object.key}": 2}`, err: `b.yaml:1:14: ["${object.key}"]: the key "dynamic" is there already; give each key once`},
		"KeyType":      {reason: "A key is a string.", text: `"${object.int}": 1`, err: `b.yaml:1:1: ["${object.int}"]: a key must be a string, have an integer; make it a string, for example with string(...)`},
		"Located":      {reason: "An error has the place of its expression.", text: "a:\n  b: [1, 'x ${object.none.deeper}']", err: "b.yaml:2:27: a.b[1]: object.none is absent, so object.none.deeper cannot be read; write object.none?.deeper, which is nil then"},
		"NilInText":    {reason: "A text with a hole in it is a mistake.", text: `a: x${object.none}`, err: "b.yaml:1:7: a: object.none is absent, and the text around ${ } wants a boolean, a number or a string; say when: object.none != nil if nothing is to be done then, or give a default: ${object.none ?? \"none\"}"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			compiled, errs := compile(t, tc.text)
			if len(errs) > 0 {
				t.Fatal(errs.Render())
			}
			got, err := compiled.Eval(&expression.Evaluation{Names: object})
			message := ""
			if err != nil {
				message = err.Error()
			}
			if diff := cmp.Diff(tc.err, message); diff != "" {
				t.Errorf("%s error (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestConstant(t *testing.T) {
	for text, want := range map[string]bool{
		`{a: [1, {b: c}]}`:      true,
		`{a: [1, {b: "${1}"}]}`: false,
		`{"${'a'}": 1}`:         false,
		`a: $${escaped}`:        true,
	} {
		compiled, errs := compile(t, text)
		if len(errs) > 0 {
			t.Fatal(errs.Render())
		}
		if _, got := compiled.Constant(); got != want {
			t.Errorf("%s: constant is %v, want %v", text, got, want)
		}
	}
}

func TestCompileFindsAllErrors(t *testing.T) {
	_, errs := compile(t, "a: ${nope}\nb: [\"${1 +}\", {c: \"${object\"}]\n\"${}\": 1\n")
	var got []string
	for _, err := range errs.Sorted() {
		got = append(got, strings.SplitN(err.Error(), " ", 2)[0])
	}
	want := []string{"b.yaml:1:6:", "b.yaml:2:11:", "b.yaml:2:20:", "b.yaml:3:2:"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s\n%s", diff, errs.Render())
	}
}
