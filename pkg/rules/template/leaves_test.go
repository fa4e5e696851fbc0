package template_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// shown is a leaf as one text.
func shown(leaf template.Leaf) string {
	text := fmt.Sprintf("%s = %v", leaf.Path, leaf.Value)
	if len(leaf.Names()) > 0 {
		text += fmt.Sprintf(" %v", leaf.Names())
	}
	if !leaf.Covers {
		text += " laid over"
	}
	return text
}

func TestLeaves(t *testing.T) {
	n := names(t)
	tests := map[string]struct {
		reason string
		text   string
		want   []string
	}{
		"Scalars":   {"Each is a leaf.", `{spec: {a: 1, b: {c: x}}}`, []string{"spec.a = 1", "spec.b.c = x"}},
		"Null":      {"null removes all that is there.", `{spec: {a: null}}`, []string{"spec.a = <nil>"}},
		"List":      {"A list is replaced.", `{spec: {a: [1, {b: 2}]}}`, []string{"spec.a = [1 map[b:2]]"}},
		"Empty":     {"An empty map changes nothing.", `{spec: {a: {}}}`, nil},
		"Template":  {"What an expression gives may be laid over what is there.", `{spec: {a: "${object.spec.b}"}}`, []string{"spec.a = ${object.spec.b} [object] laid over"}},
		"Text":      {"A text may not.", `{spec: {a: "x-${object.spec.b}-${params.right}"}}`, []string{"spec.a = x-${object.spec.b}-${params.right} [object params]"}},
		"Nil":       {"nil is null.", `{spec: {a: "${nil}"}}`, []string{"spec.a = <nil>"}},
		"Literal":   {"A constant is as good as written out.", `{spec: {a: "${3}"}}`, []string{"spec.a = 3"}},
		"Elements":  {"The names in a list are those of the leaf.", `{spec: {a: [x, "${object.spec.b}", {"${params.right}": 1}]}}`, []string{"spec.a = [x ${object.spec.b} map[${params.right}:1]] [object params]"}},
		"Key":       {"A key that is not known is no leaf.", `{spec: {"${object.metadata.name}": 1, a: 2}}`, []string{"spec.a = 2"}},
		"Beside":    {"Constants beside templates are leaves one by one.", `{spec: {a: {b: 1, c: 2}, d: "${object.spec.b}"}}`, []string{"spec.a.b = 1", "spec.a.c = 2", "spec.d = ${object.spec.b} [object] laid over"}},
		"Escaped":   {"A dollar that is meant is a text.", `{spec: {a: "$${x}"}}`, []string{"spec.a = $${x}"}},
		"All":       {"A body that is one expression has no leaves.", `"${object.spec}"`, nil},
		"NotAMap":   {"Nor has one that is no map.", `[1]`, nil},
		"DeepEmpty": {"", `{spec: {a: {b: {}}, c: 1}}`, []string{"spec.c = 1"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, leaf := range compiled(t, n, tc.text).Leaves() {
				got = append(got, shown(leaf))
				if leaf.Node().Position().Line != 1 {
					t.Errorf("%s is nowhere", leaf.Path)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n%s\n(-want +got):\n%s", tc.reason, tc.text, diff)
			}
		})
	}
}

func TestPatchedLeaves(t *testing.T) {
	n := names(t)
	tests := map[string]struct {
		reason string
		text   string
		want   []string
	}{
		"Add":       {"What is added and replaced.", `[{op: add, path: /spec/a, value: 1}, {op: replace, path: /spec/b, value: {c: 1}}]`, []string{"spec.a = 1", "spec.b = map[c:1]"}},
		"Remove":    {"What is removed is nil.", `[{op: remove, path: /spec/a}]`, []string{"spec.a = <nil>"}},
		"Template":  {"All that was there is replaced.", `[{op: add, path: /spec/a, value: "${object.spec.b}"}]`, []string{"spec.a = ${object.spec.b} [object]"}},
		"Others":    {"What others do is not known.", `[{op: test, path: /spec/a, value: 1}, {op: copy, from: /spec/a, path: /spec/b}, {op: move, from: /spec/a, path: /spec/b}]`, nil},
		"Element":   {"An element of a list is not told from others.", `[{op: add, path: /spec/a/0, value: 1}, {op: add, path: /spec/a/-/b, value: 1}, {op: remove, path: /spec/a/1}]`, nil},
		"Path":      {"Nor is a path that is not known.", `[{op: add, path: "/spec/${object.metadata.name}", value: 1}, {op: remove, path: "/spec/a${object.metadata.name}"}]`, nil},
		"Whole":     {"Nor all of the object.", `[{op: replace, path: "", value: {}}]`, nil},
		"Escaped":   {"A slash in a key.", `[{op: add, path: /metadata/labels/a~1b, value: x}]`, []string{`metadata.labels["a/b"] = x`}},
		"NoValue":   {"Without a value nothing is written.", `[{op: add, path: /spec/a}]`, nil},
		"Computed":  {"Operations that an expression gives are not known.", `["${ {'op': 'remove', 'path': '/spec/a'} }"]`, nil},
		"All":       {"Nor is a patch that one gives.", `"${[{'op': 'remove', 'path': '/spec/a'}]}"`, nil},
		"Operation": {"Nor what it is that is done.", `[{op: "${params.right}", path: /spec/a, value: 1}]`, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, leaf := range compiled(t, n, tc.text).PatchedLeaves() {
				got = append(got, shown(leaf))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n%s\n(-want +got):\n%s", tc.reason, tc.text, diff)
			}
		})
	}
}
