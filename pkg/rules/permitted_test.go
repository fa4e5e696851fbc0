package rules

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// TestPermitted holds that a rule writes nothing of which its footprint does not tell, whatever the reason: rights and sensitive kinds
// were checked by the footprint.
func TestPermitted(t *testing.T) {
	set, errs := Load([]document.File{{Name: "r.yaml", Data: []byte(`
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources: {pods: {version: v1, resource: pods}}
  rules: [{name: r, watch: pods, actions: [{patch: {merge: {metadata: {labels: {a: b}}}}}]}]
`)}}, Options{})
	if set == nil {
		t.Fatal(errs.Render())
	}
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	object := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p", "namespace": "n", "uid": "u"}}
	decide := func() plan.Plan {
		return set.Evaluate(Snapshot{GVR: pods, Object: object, SelectedBy: set.Selections()})
	}
	if out := decide(); len(out.Operations) != 1 {
		t.Fatalf("it writes %v", out.Operations)
	}
	reads := &footprint.Footprint{}
	reads.Of(pods, "pods").Allow("list", "")
	for _, known := range []*footprint.Footprint{{}, reads} {
		set.rules[0].effects = func() *effects { return &effects{footprint: known} }
		out := decide()
		if len(out.Operations) > 0 || out.Decisions[0].Outcome != plan.Failed || !strings.Contains(out.Decisions[0].Reason, "would write pods") {
			t.Errorf("it writes %v, and decides %+v", out.Operations, out.Decisions[0])
		}
	}
}
