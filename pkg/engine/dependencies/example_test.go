package dependencies_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/dependencies"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

func ExampleIndex() {
	pods := plan.Selection{GVR: schema.GroupVersionResource{Version: "v1", Resource: "pods"}}
	podsOf := func(app string) plan.Read {
		return plan.Read{From: []plan.Selection{pods}, Namespace: "shop", By: plan.ByLabels, Labels: "app=" + app}
	}
	index := dependencies.NewIndex[string]()
	index.Ask("cluster web", podsOf("web")) // Before it is answered,
	index.Ask("cluster db", podsOf("db"))
	index.Keep("cluster web", []plan.Read{podsOf("web")}) // and when all of them are.

	pod := func(app string) map[string]any {
		return map[string]any{"metadata": map[string]any{
			"namespace": "shop", "name": "x", "labels": map[string]any{"app": app},
		}}
	}
	fmt.Println("appears:", index.Concerned(pods, nil, pod("web")))
	fmt.Println("relabelled:", len(index.Concerned(pods, pod("web"), pod("db"))), "askers")
	fmt.Println("another:", index.Concerned(pods, nil, pod("cache")))

	index.Forget("cluster web")
	fmt.Println("asking still:", index.Asking(pods))
	// Output:
	// appears: [cluster web]
	// relabelled: 2 askers
	// another: []
	// asking still: [cluster db]
}
