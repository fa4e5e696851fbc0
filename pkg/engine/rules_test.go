package engine_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	types "github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

func decode(t testing.TB, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := utiljson.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

const head = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources:
    widgets: {group: example.com, version: v1, resource: widgets}
    others: {group: example.com, version: v1, resource: widgets, labelSelector: other=yes}
`

// load compiles rules, which are written without the head of their set.
func load(t testing.TB, text string) *rules.Set {
	t.Helper()
	return compile(t, rules.Options{}, head+"  rules:\n"+text)
}

// families compiles rules of which the kinds are known.
func families(t testing.TB, text string) *rules.Set {
	t.Helper()
	return compile(t, rules.Options{Schemas: types.NewCatalog(kinds{})}, head+`    gadgets: {group: example.com, version: v1, resource: gadgets}
    items: {group: example.com, version: v1, resource: items}
    tagged: {group: example.com, version: v1, resource: items, labelSelector: tag=yes}
    calm: {group: example.com, version: v1, resource: items, labelSelector: stormy!=yes}
  rules:
`+text)
}

func compile(t testing.TB, options rules.Options, sets ...string) *rules.Set {
	t.Helper()
	var files []document.File
	for _, text := range sets {
		files = append(files, document.File{Name: "rules.yaml", Data: []byte(text)})
	}
	set, errs := rules.Load(files, options)
	if len(errs) > 0 {
		t.Fatalf("loading the rules:\n%s", errs.Render())
	}
	return set
}

// kinds is a [types.Source] that knows what the resources are, and nothing of their
// fields.
type kinds struct{}

var kindOf = map[schema.GroupVersionResource]string{widgets: "Widget", gadgets: "Gadget", items: "Item"}

// Resource implements [types.Source].
func (kinds) Resource(gvr schema.GroupVersionResource) *types.Resource {
	if kindOf[gvr] == "" {
		return nil
	}
	anything := &types.Type{Kinds: value.Map, Map: &types.Map{Open: true}, Object: true}
	return &types.Resource{GroupVersionResource: gvr, Kind: kindOf[gvr], Namespaced: true, Type: anything}
}

// Resources implements [types.Source].
func (kinds) Resources() []types.Name { return nil }

// Whole implements [types.Source].
func (kinds) Whole(string) bool { return false }

func encode(object map[string]any) []byte {
	data, err := yaml.Marshal(object)
	if err != nil {
		panic(err)
	}
	return data
}
