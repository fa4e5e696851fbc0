package rules_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/test/generate"
)

// largest bounds objects of rules that write an object into itself, which takes cmp ever longer to compare, in bytes.
const largest = 1500

// most bounds the objects of rules that make more of what they watch: each round has each of them make some.
const most = 200

// TestGeneratedReduced is TestReduced for rules that are generated, with and without schemas, while a cluster carries their
// plans out: what is applied has entries in managedFields, what is made has marks, and the API server stores defaults.
func TestGeneratedReduced(t *testing.T) {
	options := []rules.Options{{DefaultNamespace: "db"}, typed(t)}
	rapid.Check(t, func(t *rapid.T) {
		var set *rules.Set
		for range 20 { // One in ten has no mistake.
			text := generate.YAML(t, generate.RuleSet([]string{"1", "true", `"text"`}).Draw(t, "set"))
			set, _ = rules.Load([]document.File{{Name: "f.yaml", Data: []byte(text)}}, rapid.SampledFrom(options).Draw(t, "options"))
			if set != nil {
				break
			}
		}
		if set == nil {
			t.Skip("all have mistakes")
		}
		s := &stage{t: t, set: set, now: noon, objects: lookup.Objects{
			pods: drawPods(t, "basic", "basic-x", "p-1", "db"), nodes: drawPods(t, "basic", "n"),
		}}
		for range 3 {
			for _, watched := range s.objects[pods] {
				if len(s.objects[pods]) > most {
					return
				}
				snapshot := s.snapshot()
				snapshot.GVR, snapshot.Object, snapshot.SelectedBy = pods, watched, set.Selections()
				sameWhenReduced(t, set, snapshot)
				for _, o := range set.Evaluate(snapshot).Operations {
					if value.Size(o.Predicted) > largest {
						continue
					}
					if o.Type == plan.Create || s.find(o.Target.GVR, o.Target.Namespace, o.Target.Name) >= 0 || o.Type == plan.Apply {
						s.carryOut(o)
					}
				}
			}
		}
	})
}

// drawPods has pods with most of what the generated rules read.
func drawPods(t *rapid.T, names ...string) (out []map[string]any) {
	for _, name := range names {
		object := drawObject(t, "Pod", name)
		spec, _ := object["spec"].(map[string]any)
		spec = maps.Clone(spec)
		if spec == nil {
			spec = map[string]any{}
		}
		for key, values := range map[string][]any{
			"replicas": {int64(1), int64(3), "3", nil}, "tags": {[]any{"a", "b"}, []any{}, []any{map[string]any{"a": int64(1), "b": "p-1"}, "p-1"}, "a"},
			"a": {int64(1), map[string]any{"a": "x", "b": int64(1)}}, "nodeName": {"p-1", "n"},
		} {
			if rapid.Bool().Draw(t, key) {
				spec[key] = runtime.DeepCopyJSONValue(rapid.SampledFrom(values).Draw(t, "value of "+key))
			}
		}
		object["spec"] = spec
		out = append(out, object)
	}
	return out
}

// TestReducedBudget holds that what is left out of objects leaves no less time to rules that compare each object with each.
func TestReducedBudget(t *testing.T) {
	set := mustLoad(t, world+`
  rules:
  - name: pairs
    watch: tidbclusters
    with: {pods: {resource: pods, all: true}}
    when: any(pods, any(pods, .metadata.name == "none"))
    actions: [{event: {reason: A, message: m}}]
`)
	outcomes := map[plan.Outcome]bool{}
	for count := 200; count <= 700; count += 50 {
		var all []map[string]any
		for i := range count {
			all = append(all, pod(fmt.Sprintf("p-%d", i), map[string]any{"filler": strings.Repeat("x", 10)}))
			all[i]["spec"] = map[string]any{"filler": strings.Repeat("x", 3500)}
		}
		snapshot := rules.Snapshot{
			GVR: tidbclusters, SelectedBy: set.Selections(), Now: noon, Related: lookup.Objects{pods: all}, Object: object(t, `{metadata: {name: basic, namespace: default}}`),
			Kinds: map[schema.GroupVersionResource]plan.Kind{pods: {Name: "Pod", Namespaced: true}},
		}
		sameWhenReduced(t, set, snapshot)
		for _, decision := range set.Evaluate(snapshot).Decisions {
			outcomes[decision.Outcome] = true
		}
	}
	if !outcomes[plan.Unmatched] || !outcomes[plan.Failed] {
		t.Errorf("the outcomes are %v, want some within the budget and some beyond", outcomes)
	}
}
