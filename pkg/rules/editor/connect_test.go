package editor_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/editor"
	resources "github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// declaring is a rule set that declares resources and patches what it watches,
// wrongly if that is a widget.
func declaring(declared, watch string) string {
	return `apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources: ` + declared + `
  rules:
  - name: rule
    watch: ` + watch + `
    actions: [{patch: {merge: {spec: {nubmer: 1}}}}]
`
}

// TestDeclarations says of which documents a binding holds: those in which the name
// stands for that very resource. A wrong one would be a false alarm.
func TestDeclarations(t *testing.T) {
	t.Parallel()
	core := widgets("things")
	core.Resource.GroupVersionResource = schema.GroupVersionResource{Version: "v1", Resource: "things"}
	g := newSchema(t, widgets("widgets"), widgets("gadgets"), core)
	const declared = "{group: example.com, version: v1, resource: widgets}"
	tests := map[string]struct {
		reason, declared, watch string
		bound                   bool
	}{
		"declared":          {"The plain case.", "{widgets: " + declared + "}", "widgets", true},
		"with selection":    {"Of which objects it tells makes no difference.", "{widgets: {group: example.com, version: v1, resource: widgets, labelSelector: a=b}}", "widgets", true},
		"another name":      {"A resource may have several.", "{gadgets: " + declared + "}", "gadgets", true},
		"unknown name":      {"Nothing says what it stands for.", "{others: " + declared + "}", "others", false},
		"another version":   {"Its fields may be others.", "{widgets: {group: example.com, version: v2, resource: widgets}}", "widgets", false},
		"another group":     {"The name is free for others.", "{widgets: {group: example.org, version: v1, resource: widgets}}", "widgets", false},
		"another resource":  {"The name is free for others.", "{widgets: {group: example.com, version: v1, resource: gadgets}}", "widgets", false},
		"no group":          {"That is the core group.", "{widgets: {version: v1, resource: widgets}}", "widgets", false},
		"core":              {"It has no group.", "{things: {version: v1, resource: things}}", "things", true},
		"core in full":      {"Or an empty one.", `{things: {group: "", version: v1, resource: things}}`, "things", true},
		"not core":          {"", "{things: {group: example.com, version: v1, resource: things}}", "things", false},
		"watches another":   {"Which objects are patched decides.", "{widgets: " + declared + ", pods: {version: v1, resource: pods}}", "pods", false},
		"watches two kinds": {"A body for both cannot be told.", "{widgets: " + declared + ", pods: {version: v1, resource: pods}}", `"widgets, pods"`, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := g.judge(declaring(tc.declared, tc.watch)); (err != nil) != tc.bound {
				t.Errorf("%s\n%v", tc.reason, err)
			}
		})
	}
}

func TestByDeclaration(t *testing.T) {
	t.Parallel()
	widgetGVR := widget().GroupVersionResource
	known := func(gvr schema.GroupVersionResource) *resources.Resource {
		if gvr == widgetGVR {
			return widget()
		}
		return nil
	}
	text := func(name, declared, with string) string {
		return "apiVersion: dyncontroller.dev/v1alpha1\nkind: ClusterRuleSet\nmetadata: {name: " + name + "}\nspec:\n  resources: " + declared +
			"\n  rules: [{name: r, watch: widgets, with: " + with + ", actions: [" + seen + "]}]\n"
	}
	const (
		both = "{widgets: {group: example.com, version: v1, resource: widgets}, pods: {version: v1, resource: pods}}"
		free = "{gadgets: {group: example.com, version: v1, resource: widgets}}"
	)
	type bound struct {
		Name    string
		Related []string
	}
	tests := map[string]struct {
		reason string
		texts  []string
		want   []bound
	}{
		"declared": {
			"What is not known is left out.",
			[]string{text("a", both, "{mine: {resource: widgets, all: true}, pods: {resource: pods, all: true}}")},
			[]bound{{"widgets", []string{"widgets", "mine"}}},
		},
		"several sets": {
			"One name for one resource is one binding, with what all sets call its objects.",
			[]string{
				text("a", both, "{mine: {resource: widgets, all: true}}"),
				text("b", both, "{mine: {resource: widgets, all: true}, others: {resource: widgets, all: true}}"),
				text("c", free, "{}"),
			},
			[]bound{{"widgets", []string{"widgets", "mine", "others"}}, {"gadgets", []string{"gadgets"}}},
		},
		"unfinished": {
			"Who writes a rule needs the schema before it is right.",
			[]string{text("a", both, "{mine: {resource: widgets}, more: [], other: {resource: 5}}"), text("b", "{widgets: [a], pods: {}}", "a")},
			[]bound{{"widgets", []string{"widgets", "mine"}}},
		},
	}
	for name, tc := range tests {
		var files []document.File
		for _, text := range tc.texts {
			files = append(files, document.File{Name: "rules.yaml", Data: []byte(text)})
		}
		sets, _ := spec.Parse(files, "default")
		var got []bound
		for _, b := range editor.ByDeclaration(sets, known) {
			got = append(got, bound{b.Name, b.Related})
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s\n-want +got:\n%s", name, tc.reason, diff)
		}
	}
}

// TestUnknownResources says that where nothing is known, nothing is refused.
func TestUnknownResources(t *testing.T) {
	t.Parallel()
	open := widgets("widgets")
	open.Resource.Type = resources.Open()
	none := widgets("widgets")
	none.Resource.Type = nil
	for name, b := range map[string]editor.Binding{"an open type": open, "no type": none, "no resource": {Name: "widgets"}} {
		if err := newSchema(t, b).judge(widgetRules("- patch: {merge: {spec: {nubmer: 1}, more: 2}}")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCompletion holds what editors make of a schema: what yaml-language-server
// offers comes from properties and from constants, conditions included, and all
// that is required, known and of a type is one snippet.
func TestCompletion(t *testing.T) {
	t.Parallel()
	g := newSchema(t, widgets("widgets", "mine"))
	var offered []string
	var visit func(value any)
	visit = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			for _, unwanted := range []string{"default", "oneOf"} {
				// Defaults are written into the document, and oneOf hides what it offers.
				if _, there := value[unwanted]; there && value["type"] != nil {
					t.Errorf("there is %s in %v", unwanted, value)
				}
			}
			if title, _ := value["title"].(string); title != "" && value["required"] != nil {
				properties, _ := value["properties"].(map[string]any)
				snippet := title
				for _, field := range slices.Sorted(maps.Keys(properties)) {
					property, _ := properties[field].(map[string]any)
					text, _ := property["const"].(string)
					snippet += " " + field + "=" + text
				}
				offered = append(offered, snippet)
			}
			for _, below := range value {
				visit(below)
			}
		case []any:
			for _, below := range value {
				visit(below)
			}
		}
	}
	visit(g.json)
	slices.Sort(offered)
	want := []string{
		"Widget of example.com/v1 group=example.com resource=widgets version=v1",
		"some of widgets resource=widgets", "some of widgets resource=widgets",
	}
	if diff := cmp.Diff(want, offered); diff != "" {
		t.Errorf("what is offered as a whole (-want +got):\n%s", diff)
	}
}

// TestSharing says that what is written often is defined once.
func TestSharing(t *testing.T) {
	t.Parallel()
	binding := widgets("a")
	one, err := editor.Schema([]editor.Binding{binding})
	if err != nil {
		t.Fatal(err)
	}
	var bindings []editor.Binding
	for name := range strings.SplitSeq("abcdefghij", "") {
		bindings = append(bindings, editor.Binding{Name: name, Resource: binding.Resource, Related: []string{name}})
	}
	ten, err := editor.Schema(bindings)
	if err != nil {
		t.Fatal(err)
	}
	language, err := editor.Schema(nil)
	if err != nil {
		t.Fatal(err)
	}
	if more, first := len(ten)-len(language), len(one)-len(language); more > 5*first {
		t.Errorf("one resource adds %d bytes, the same under ten names %d", first, more)
	}
}
