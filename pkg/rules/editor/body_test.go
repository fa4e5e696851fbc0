package editor_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules/editor"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	resources "github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// widgetRules is a rule set about widgets, with these actions.
func widgetRules(actions string) string {
	return `apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources:
    widgets: {group: example.com, version: v1, resource: widgets}
    pods: {version: v1, resource: pods}
  rules:
  - name: rule
    watch: widgets
    with:
      pods: {resource: pods, all: true}
      mine: {resource: widgets, all: true}
    actions:
    ` + actions + "\n"
}

func TestBodies(t *testing.T) {
	t.Parallel()
	g := newSchema(t, widgets("widgets", "mine"))
	tests := map[string]struct {
		reason, spec string
		right        bool
	}{
		"a part":                 {"What the API server requires may be there already.", `{number: 1}`, true},
		"nothing":                {"It is the language that refuses an empty body.", `{}`, true},
		"a template":             {"All of it may come from one.", `"${object.spec}"`, true},
		"no template":            {"A text is no map.", `text`, false},
		"null":                   {"It removes the field.", `null`, true},
		"unknown field":          {"The schema is closed.", `{nubmer: 1}`, false},
		"templated key":          {"What it becomes is not known.", `{"${key}": 1, "a-${key}": b}`, true},
		"text":                   {"A text with holes is a text.", `{text: "a ${b} c"}`, true},
		"number for a text":      {"The API server does not convert.", `{text: 5}`, false},
		"number":                 {"", `{number: -5}`, true},
		"templated number":       {"It keeps its type.", `{number: "${1 + 1}"}`, true},
		"text for a number":      {"It has no template that could give one.", `{number: "5"}`, false},
		"fraction for a number":  {"It is an integer.", `{number: 0.5}`, false},
		"null for a number":      {"It removes the field.", `{number: null}`, true},
		"share":                  {"An integer is a number.", `{share: 0}`, true},
		"share too small":        {"There is a minimum.", `{share: -0.1}`, false},
		"share at its end":       {"The maximum is exclusive.", `{share: 1.0}`, false},
		"flag":                   {"", `{flag: true}`, true},
		"text for a flag":        {"", `{flag: "yes"}`, false},
		"either":                 {"Both forms of int-or-string.", `{either: 5}`, true},
		"either as a text":       {"Both forms of int-or-string.", `{either: 5%}`, true},
		"list for either":        {"", `{either: [5]}`, false},
		"choice":                 {"", `{choice: B}`, true},
		"templated choice":       {"", `{choice: "${object.spec.choice}"}`, true},
		"wrong choice":           {"", `{choice: C}`, false},
		"code":                   {"", `{code: abc}`, true},
		"templated code":         {"It may well match.", `{code: "abc-${x}"}`, true},
		"list":                   {"", `{list: [a, "${b}"]}`, true},
		"templated list":         {"", `{list: "${keys(a)}"}`, true},
		"text for a list":        {"", `{list: a}`, false},
		"wrong element":          {"", `{list: [5]}`, false},
		"map":                    {"", `{map: {a: 1, b: "${c}", "${d}": 2}}`, true},
		"wrong value":            {"", `{map: {a: b}}`, false},
		"open":                   {"Nothing is known of it.", `{open: {a: {b: [c]}}, anything: 5}`, true},
		"quantity":               {"A text or a number.", `{first: {cpu: 500m}, second: {cpu: 0.5}}`, true},
		"quantity of a list":     {"", `{first: {cpu: [1]}}`, false},
		"elements":               {"Their fields are known too.", `{parts: [{replicas: 1}, "${b}"]}`, true},
		"wrong field of a part":  {"Their fields are known too.", `{parts: [{replica: 1}]}`, false},
		"tree":                   {"A type may contain itself.", `{tree: {name: a, children: [{children: [{name: b}]}]}}`, true},
		"wrong leaf of the tree": {"A type may contain itself.", `{tree: {children: [{children: [{name: [b]}]}]}}`, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for form, action := range map[string]string{
				"merge":   "- patch: {merge: {spec: %s}}",
				"apply":   "- patch: {apply: {spec: %s}}",
				"target":  "- patch: {target: mine, merge: {spec: %s}}",
				"object":  "- patch: {target: object, merge: {spec: %s}}",
				"applied": "- apply: {resource: widgets, manifest: {metadata: {name: a}, spec: %s}}",
				"created": "- create: {in: mine, manifest: {metadata: {generateName: a-}, spec: %s}}",
			} {
				if err := g.judge(widgetRules(fmt.Sprintf(action, tc.spec))); (err == nil) != tc.right {
					t.Errorf("%s: %s\n%v", form, tc.reason, err)
				}
			}
		})
	}
}

// TestWhole is about what is around the spec.
func TestWhole(t *testing.T) {
	t.Parallel()
	g := newSchema(t, widgets("widgets", "mine"))
	tests := map[string]struct {
		reason, actions string
		right           bool
	}{
		"labels":             {"", `- patch: {merge: {metadata: {labels: {a: b, c: null, "${d}": e}, annotations: null, finalizers: [a]}}}`, true},
		"label of a number":  {"", `- patch: {merge: {metadata: {labels: {a: 1}}}}`, false},
		"name":               {"A patch does not rename.", `- patch: {merge: {metadata: {name: a}}}`, false},
		"kind":               {"Nor does it convert.", `- patch: {merge: {kind: Widget, spec: {}}}`, false},
		"unknown part":       {"Objects have spec and status, of this kind.", `- patch: {merge: {data: {}}}`, false},
		"templated part":     {"", `- patch: {merge: {"${a}": {}}}`, true},
		"status":             {"It has a subresource, and is not written without.", `- patch: {merge: {status: {phase: A}}}`, false},
		"subresource":        {"", `- patch: {subresource: status, merge: {status: {phase: A}}}`, true},
		"... wrong":          {"", `- patch: {subresource: status, merge: {status: {phase: 1}}}`, false},
		"... spec":           {"It has nothing but the status.", `- patch: {subresource: status, merge: {spec: {number: 1}}}`, false},
		"scale":              {"Its body is another kind.", `- patch: {subresource: scale, merge: {spec: {replicas: 1}}}`, true},
		"... wrong field":    {"Its body is another kind.", `- patch: {subresource: scale, merge: {spec: {number: 1}}}`, false},
		"no subresource":     {"All of them are known.", `- patch: {subresource: stauts, merge: {status: {}}}`, false},
		"json":               {"Its values are not looked at.", `- patch: {json: [{op: add, path: /spec/number, value: text}]}`, true},
		"other target":       {"A pod is no widget.", `- patch: {target: pods, merge: {spec: {nodeName: a}}}`, true},
		"unknown target":     {"What a let stands for is not known.", `- patch: {target: chosen, merge: {spec: {nodeName: a}}}`, true},
		"own kind":           {"A manifest may repeat it.", `- apply: {resource: widgets, manifest: {apiVersion: example.com/v1, kind: Widget, metadata: {name: a}}}`, true},
		"other kind":         {"But not another one.", `- apply: {resource: widgets, manifest: {kind: Gadget, metadata: {name: a}}}`, false},
		"generated name":     {"An apply is of a certain name.", `- apply: {resource: widgets, manifest: {metadata: {generateName: a}}}`, false},
		"other resource":     {"", `- apply: {resource: pods, manifest: {metadata: {name: a}, data: {}}}`, true},
		"create elsewhere":   {"", `- create: {in: pods, manifest: {metadata: {name: a}, data: {}}}`, true},
		"manifest from text": {"", `- apply: {resource: widgets, manifest: "${a}"}`, true},
		"while deleted":      {"The bodies of onDelete are known as well.", `- event: {reason: A, message: a}` + "\n    onDelete: {actions: [{patch: {merge: {spec: {nubmer: 1}}}}]}", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := g.judge(widgetRules(tc.actions)); (err == nil) != tc.right {
				t.Errorf("%s\n%v", tc.reason, err)
			}
		})
	}
}

// TestAnyType says that whatever a schema is like, there is a JSON schema of it,
// and not a large one: types may be shared, and contain themselves.
func TestAnyType(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 12).Draw(t, "types")
		types := make([]*resources.Type, count)
		for i := range types {
			types[i] = &resources.Type{}
		}
		one := func(label string) *resources.Type {
			if rapid.IntRange(0, 9).Draw(t, label+" is open") == 0 {
				return resources.Open()
			}
			return types[rapid.IntRange(0, count-1).Draw(t, label)]
		}
		for _, each := range types {
			each.Kinds = value.Kind(rapid.Uint32Range(1, uint32(value.Any)).Draw(t, "kinds")) & value.Any
			if rapid.Bool().Draw(t, "list") {
				each.List = &resources.List{Items: one("items")}
			}
			if rapid.Bool().Draw(t, "map") {
				each.Map = &resources.Map{Fields: map[string]resources.Field{}, Open: rapid.Bool().Draw(t, "open")}
				for _, name := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "rule", "a.2", "${x}", "", "ü/~"}), 0, 4).Draw(t, "names") {
					each.Map.Fields[name] = resources.Field{Type: one("field")}
				}
				if rapid.Bool().Draw(t, "values") {
					each.Map.Values = one("values")
				}
			}
			if rapid.Bool().Draw(t, "limited") {
				each.Limit = &resources.Limits{Enum: []any{"a", int64(1), nil}[:rapid.IntRange(0, 3).Draw(t, "enum")], Pattern: "^a$"}
			}
		}
		b := widgets("widgets")
		b.Resource.Type = fields(map[string]*resources.Type{"spec": types[0], "other": types[count-1]})
		data, err := editor.Schema([]editor.Binding{b})
		if err != nil {
			t.Fatal(err)
		}
		compile(t, data)
		if len(data) > 200_000 {
			t.Errorf("the schema of %d types has %d bytes", count, len(data))
		}
	})
}
