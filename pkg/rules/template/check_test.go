package template_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
	"github.com/dyncontroller/dyncontroller/test/schemas"
)

// gateway is the type of the objects of the tests, which has every extension of
// Kubernetes to OpenAPI.
func gateway(t testing.TB) *schema.Type {
	t.Helper()
	found := schemas.Catalog(t).Resource(schemas.Gateways())
	if found == nil {
		t.Fatal("there is no gateway")
	}
	return found.Type
}

// typed resolves the names of the tests to types, and lets to their definitions.
type typed struct {
	scope *expression.Scope
	types map[string]typing.Type
	lets  map[string]*expression.Program
}

func names(t testing.TB) typed {
	t.Helper()
	scope := expression.NewScope("object", "other", "anything", "params", "pick", "joined", "circle")
	n := typed{scope: scope, types: map[string]typing.Type{
		"object":   typing.Object(gateway(t)),
		"other":    typing.Object(gateway(t)).Nilable(),
		"anything": typing.Unknown(),
		"params":   typing.Constant(map[string]any{"class": "publik", "right": "mesh", "hosts": []any{"a", "b"}, "numbers": []any{int64(1)}}),
		"pick":     typing.Union(typing.Constant("mesh"), typing.Constant("none")),
		"joined":   typing.Union(typing.Constant("mesh"), typing.Constant("none")),
		"circle":   typing.Union(typing.Constant("mesh"), typing.Constant("none")),
	}, lets: map[string]*expression.Program{}}
	for name, text := range map[string]string{
		"pick": `object.spec.enabled ? "mesh" : "none"`, "joined": `first(["mesh", "none"])`, "circle": `circle ?? pick`,
	} {
		p, err := expression.Compile(text, scope)
		if err != nil {
			t.Fatal(err)
		}
		n.lets[name] = p
	}
	return n
}

// Type implements check.Names.
func (n typed) Type(slot int, _ *typing.Facts) typing.Type { return n.types[n.scope.Names()[slot]] }

// Definition implements check.Names.
func (n typed) Definition(slot int) *expression.Program { return n.lets[n.scope.Names()[slot]] }

func compiled(t testing.TB, n typed, text string) *template.Body {
	t.Helper()
	nodes, errs := document.Parse(document.File{Name: "b.yaml", Data: []byte(text)})
	if len(errs) > 0 {
		t.Fatalf("%s\n%s", text, errs.Render())
	}
	b, errs := template.Compile(nodes[0], n.scope)
	if len(errs) > 0 {
		t.Fatalf("%s\n%s", text, errs.Render())
	}
	return b
}

// lines are mistakes without their file, one on a line.
func lines(errs document.Errors) []string {
	out := []string{}
	for _, err := range errs {
		out = append(out, strings.TrimPrefix(string(err.Code)+" "+err.Error(), "b.yaml:"))
	}
	return out
}

type checkCase struct {
	reason string
	text   string
	want   []string
}

func testCheck(t *testing.T, tests map[string]checkCase, check func(b *template.Body, c template.Context) document.Errors) {
	t.Helper()
	n := names(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := lines(check(compiled(t, n, tc.text), template.Context{Names: n, Scope: n.scope}))
			if tc.want == nil {
				tc.want = []string{}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n%s\n(-want +got):\n%s", tc.reason, tc.text, diff)
			}
		})
	}
}

func TestCheckMerged(t *testing.T) {
	of := gateway(t)
	testCheck(t, map[string]checkCase{
		"Right":        {"All of it fits.", `{spec: {replicas: 3, class: "${params.right}", hosts: ["${object.metadata.name}", b]}}`, nil},
		"Anything":     {"Nothing is known of the value.", `{spec: {replicas: "${anything}", class: "${anything.class}"}}`, nil},
		"NilDefault":   {"What has a default comes back.", `{spec: {replicas: "${nil}", limits: null}}`, nil},
		"MayBeOmitted": {"What is omitted stays.", `{spec: {class: "${object.metadata.labels.x == 'a' ? 'mesh' : omit()}"}}`, nil},
		"MayBeNil":     {"A field that need not be there is removed.", `{spec: {host: "${object.metadata.labels.host}", owner: "${object.metadata.labels.owner}"}}`, nil},
		"Key":          {"Any key will do where any key is taken.", `{metadata: {labels: {"${object.metadata.name}": a}}}`, nil},
		"KeyType": {
			"A key is a string.", `{metadata: {labels: {"${object.spec.replicas}": a}}}`,
			[]string{`type-mismatch b.yaml:1:22: metadata.labels["${object.spec.replicas}"]: a key must be a string, have an integer; make it a string, for example with string(...)`},
		},
		"KeyOmitted": {"A key may be omitted.", `{metadata: {labels: {"${object.spec.enabled ? 'a' : omit()}": b}}}`, nil},
		"Text": {
			"A text around ${ } makes it a string.", `{spec: {replicas: "${object.spec.replicas}0"}}`,
			[]string{`type-mismatch b.yaml:1:19: spec.replicas: want an integer, have a string; with text around ${ } it is a string; write all of it as one expression`},
		},
		"UnmarkedQuotes": {
			"In quotes that do not end in the expression.", `{spec: {replicas: 'len("abc" + pick)'}}`,
			[]string{`type-mismatch b.yaml:1:19: spec.replicas: want an integer, have a string; write '${len("abc" + pick)}'`},
		},
	}, func(b *template.Body, c template.Context) document.Errors {
		_, errs := b.Check(c, schema.Field{Type: of}, schema.Merged)
		return errs
	})
}

func TestCheckWhole(t *testing.T) {
	of := gateway(t)
	testCheck(t, map[string]checkCase{
		"Right":      {"It has what is required.", `{metadata: {name: a}, spec: {class: mesh}}`, nil},
		"MayBeThere": {"A key that is not known may be it.", `{metadata: {name: a}, spec: {"${object.metadata.name}": mesh}}`, nil},
		"Default":    {"What has a default need not be given.", `{spec: {class: mesh, replicas: "${other?.spec.replicas}", limits: "${nil}"}}`, nil},
		"Nullable":   {"null is a value of its own here.", `{spec: {class: mesh, owner: "${object.metadata.labels.owner}"}}`, nil},
		"Copied":     {"A part of an object fits where it comes from.", `{spec: "${object.spec}"}`, nil},
		"CopiedNot":  {"And not elsewhere.", `{spec: {class: mesh, hosts: "${object.spec.replicas}"}}`, []string{`type-mismatch b.yaml:1:29: spec.hosts: want a list, have an integer`}},
	}, func(b *template.Body, c template.Context) document.Errors {
		_, errs := b.Check(c, schema.Field{Type: of}, schema.Whole)
		return errs
	})
}

func TestCheckApplied(t *testing.T) {
	of := gateway(t)
	testCheck(t, map[string]checkCase{
		"Some":   {"Some fields will do.", `{spec: {replicas: 1, class: "${object.metadata.labels.class}"}}`, nil},
		"Nil":    {"nil is not applied.", `{spec: {class: "${nil}"}}`, nil},
		"Keyed":  {"Elements are told apart by their keys; one has a default.", `{spec: {listeners: [{port: 80}, {port: 80, protocol: TCP}]}}`, nil},
		"Atomic": {"An atomic map is replaced.", `{spec: {affinity: {zone: a}}}`, nil},
	}, func(b *template.Body, c template.Context) document.Errors {
		_, errs := b.Check(c, schema.Field{Type: of}, schema.Applied)
		return errs
	})
}

// TestCheckUntyped holds that expressions are checked where nothing is known of the place.
func TestCheckUntyped(t *testing.T) {
	testCheck(t, map[string]checkCase{
		"Right": {"Anything goes.", `{a: [1, {b: "${object.spec.class}"}], "${object.metadata.name}": x}`, nil},
	}, func(b *template.Body, c template.Context) document.Errors {
		_, errs := b.Check(c, schema.Field{}, schema.Whole)
		return errs
	})
}

func TestType(t *testing.T) {
	n := names(t)
	tests := map[string]struct {
		reason string
		text   string
		want   typing.Type
	}{
		"Constant":  {"All of it is known.", `{a: 1}`, typing.Constant(map[string]any{"a": int64(1)})},
		"Template":  {"The type of the expression.", `"${object.spec.replicas + 1}"`, typing.Of(value.Int)},
		"Text":      {"A text.", `"a${object.spec.replicas}"`, typing.Of(value.String)},
		"Map":       {"A map of types.", `{a: "${object.spec.replicas + 1}", b: x}`, typing.Map(map[string]typing.Type{"a": typing.Of(value.Int), "b": typing.Constant("x")})},
		"List":      {"A list of them.", `[1, "${object.spec.replicas + 1}"]`, typing.List(typing.Union(typing.Constant(int64(1)), typing.Of(value.Int)))},
		"Key":       {"Of a key that is not known.", `{"${object.metadata.name}": "${object.spec.replicas + 1}"}`, typing.Map(map[string]typing.Type{}, typing.Of(value.Int))},
		"Mistake":   {"A mistake leaves the type open.", `"${object.spec.clas}"`, typing.Unknown()},
		"EmptyList": {"Nothing is in it.", `[]`, typing.Constant([]any{})},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, _ := compiled(t, n, tc.text).Check(template.Context{Names: n}, schema.Field{}, schema.Whole)
			if !got.Equal(tc.want) {
				t.Errorf("%s %s: have %v (%+v), want %v", tc.reason, tc.text, got, got, tc.want)
			}
		})
	}
}

func TestConditions(t *testing.T) {
	n := names(t)
	c := template.Context{Names: n, Scope: n.scope}
	condition := func(text string) *template.Expression {
		nodes, errs := document.Parse(document.File{Name: "b.yaml", Data: []byte("when: '" + text + "'")})
		if len(errs) > 0 {
			t.Fatal(errs.Render())
		}
		x, errs := template.CompileCondition(nodes[0].Get("when"), n.scope)
		if len(errs) > 0 {
			t.Fatal(errs.Render())
		}
		return x
	}
	var none *template.Expression
	if held, errs := none.CheckCondition(c); errs != nil || held.Facts != c.Facts {
		t.Errorf("no condition: %v", errs)
	}
	guarded := condition(`other != nil`)
	held, errs := guarded.CheckCondition(c)
	if len(errs) > 0 {
		t.Error(errs.Render())
	}
	use := condition(`other.spec.replicas > 3`)
	want := []string{`may-be-absent b.yaml:1:14: when: other may be absent, so other.spec cannot be read; write other?.spec, which is nil then`}
	_, errs = use.CheckCondition(c)
	if diff := cmp.Diff(want, lines(errs)); diff != "" {
		t.Errorf("unguarded (-want +got):\n%s", diff)
	}
	slot, _ := n.scope.Slot("other")
	if !held.Facts.Has(slot) {
		t.Error("the condition says nothing of the name")
	}
	given, errs := condition(`other?.spec.enabled == true`).Check(c)
	if len(errs) > 0 || given.Kinds() != value.Bool {
		t.Errorf("have %v and %v", given, errs)
	}
}
