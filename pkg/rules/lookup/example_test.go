package lookup_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

// watched is the one name of the example.
type watched map[string]any

func (w watched) Value(int) (any, error) { return map[string]any(w), nil }

func ExampleLookup() {
	gvr := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	pods := &lookup.Declaration{Name: "pods", GVR: gvr, Selections: []plan.Selection{{GVR: gvr}}}
	nodes, errs := document.Parse(document.File{Name: "rules.yaml", Data: []byte(`{resource: pods, matchLabels: {app: "${object.metadata.name}"}}`)})
	if len(errs) > 0 {
		fmt.Println(errs.Render())
		return
	}
	r, errs := lookup.Compile("pods", nodes[0], expression.NewScope("object"), lookup.Declarations{pods})
	if len(errs) > 0 {
		fmt.Println(errs.Render())
		return
	}
	pod := func(name, app string) map[string]any {
		return map[string]any{"metadata": map[string]any{"namespace": "a", "name": name, "labels": map[string]any{"app": app}}}
	}
	reader := &lookup.Reader{
		Source: lookup.Objects{gvr: {pod("web-1", "web"), pod("db-0", "db"), pod("web-0", "web")}},
		Kinds:  map[schema.GroupVersionResource]plan.Kind{gvr: {Name: "Pod", Namespaced: true}},
		Home:   plan.Object{Namespace: "a", Name: "web"},
	}
	found, err := r.Evaluate(&expression.Evaluation{Names: watched{"metadata": map[string]any{"name": "web"}}}, reader)
	if err != nil {
		fmt.Println(err)
		return
	}
	list, _ := found.([]any)
	for _, v := range list {
		object, _, _ := reader.Origin(v)
		fmt.Println(object)
	}
	fmt.Println(reader.Reads()[0].Labels)
	// Output:
	// pods a/web-0
	// pods a/web-1
	// app=web
}
