package simulate_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/simulate"
)

// stepRules name pods by a key of their own, and clusters by their plural.
const stepRules = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources:
    running: {version: v1, resource: pods}
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
  rules:
  - name: never
    watch: running
    when: "false"
    actions: [{event: {reason: Never, message: never}}]
`

// stepsOf loads a test with one case and these steps.
func stepsOf(t *testing.T, steps string, files map[string]string) ([]simulate.Step, *memory) {
	t.Helper()
	all := newMemory(map[string]string{"tests/rules.yaml": stepRules, "tests/test.yaml": `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleTest
metadata: {name: steps}
spec:
  rules: [rules.yaml]
  cases:
  - name: one
    objects: [pod.yaml]
    steps: ` + steps})
	for name, data := range files {
		maps.Copy(all.MapFS, newMemory(map[string]string{name: data}).MapFS)
	}
	tests, errs := simulate.Load("tests/test.yaml", all)
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	return tests[0].Cases[0].Steps, all
}

func TestSteps(t *testing.T) {
	pod := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	clusters := schema.GroupVersionResource{Group: "pingcap.com", Version: "v1alpha1", Resource: "tidbclusters"}
	tests := map[string]struct {
		reason, step string
		want         simulate.Step
	}{
		"advance": {"durations are those of the language", "{advance: 1d12h}", simulate.Step{Advance: 36 * time.Hour}},
		"weeks":   {"weeks too", "{advance: 2w}", simulate.Step{Advance: 14 * 24 * time.Hour}},
		"seconds": {"a whole number is seconds", "{advance: 90}", simulate.Step{Advance: 90 * time.Second}},
		"delete by key": {"a resource has the name that the rules give it", "{delete: {resource: running, name: p-0}}", simulate.Step{
			Delete: &simulate.Delete{Object: simulate.Object{Resource: pod, Name: "p-0"}},
		}},
		"delete by plural": {"its version is that of the rules", "{delete: {resource: tidbclusters.pingcap.com, name: a, namespace: b}}", simulate.Step{
			Delete: &simulate.Delete{Object: simulate.Object{Resource: clusters, Name: "a", Namespace: "b"}},
		}},
		"core plural": {"so it is without a group", "{delete: {resource: pods, name: a}}", simulate.Step{
			Delete: &simulate.Delete{Object: simulate.Object{Resource: pod, Name: "a"}},
		}},
		"not of the rules": {"its version is for the cluster to know", "{delete: {resource: jobs.batch, name: a}}", simulate.Step{
			Delete: &simulate.Delete{Object: simulate.Object{Resource: schema.GroupVersionResource{Group: "batch", Resource: "jobs"}, Name: "a"}},
		}},
		"odd name": {"roles have names with colons", `{delete: {resource: clusterroles.rbac.authorization.k8s.io, name: "system:node"}}`, simulate.Step{
			Delete: &simulate.Delete{Object: simulate.Object{
				Resource: schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}, Name: "system:node",
			}},
		}},
		"merge": {"integers stay integers", "{patch: {resource: pods, name: a, subresource: status, merge: {status: {ready: 1, gone: null}}}}", simulate.Step{
			Patch: &simulate.Patch{
				Object: simulate.Object{Resource: pod, Name: "a"}, Subresource: "status", Type: types.MergePatchType,
				Body: map[string]any{"status": map[string]any{"ready": int64(1), "gone": nil}},
			},
		}},
		"json": {"a list of operations", "{patch: {resource: pods, name: a, json: [{op: replace, path: /a, value: null}]}}", simulate.Step{
			Patch: &simulate.Patch{
				Object: simulate.Object{Resource: pod, Name: "a"}, Type: types.JSONPatchType,
				Body: []any{map[string]any{"op": "replace", "path": "/a", "value": nil}},
			},
		}},
		"apply": {"only the fields to apply", "{patch: {resource: pods, name: a, apply: {spec: {a: 1.5}}}}", simulate.Step{
			Patch: &simulate.Patch{
				Object: simulate.Object{Resource: pod, Name: "a"}, Type: types.ApplyPatchType,
				Body: map[string]any{"spec": map[string]any{"a": 1.5}},
			},
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			steps, _ := stepsOf(t, "["+test.step+"]", nil)
			ignored := cmp.Options{cmpopts.IgnoreFields(simulate.Step{}, "Node"), cmpopts.IgnoreUnexported(simulate.Step{}), cmpopts.IgnoreUnexported(simulate.Object{}, simulate.Step{})}
			if diff := cmp.Diff([]simulate.Step{test.want}, steps, ignored); diff != "" {
				t.Errorf("%s (-want +have):\n%s", test.reason, diff)
			}
			if steps[0].Node.Position().Line != 10 {
				t.Errorf("the step is not placed: %+v", steps[0].Node.Position())
			}
		})
	}
}

func TestStepsKeepTheirOrder(t *testing.T) {
	steps, _ := stepsOf(t, "[{advance: 1s}, {delete: {resource: pods, name: a}}, {advance: 3s}]", nil)
	if len(steps) != 3 || steps[0].Advance != time.Second || steps[1].Delete == nil || steps[2].Advance != 3*time.Second {
		t.Errorf("have %+v", steps)
	}
}

func TestApplyReadsItsFiles(t *testing.T) {
	const one, two = "{apiVersion: v1, kind: Pod, metadata: {name: a}}", "{apiVersion: v1, kind: Pod, metadata: {name: b}}"
	tests := map[string]struct {
		reason, step string
		files        map[string]string
		names        []string
		wrong        string
	}{
		"one":     {"beside the test", "{apply: p.yaml}", map[string]string{"tests/p.yaml": one}, []string{"a"}, ""},
		"several": {"documents and files", "{apply: [p.yaml, ../q.yaml]}", map[string]string{"tests/p.yaml": one, "q.yaml": two}, []string{"a", "b"}, ""},
		"missing": {"a missing file is an error where it is named", "{apply: p.yaml}", nil, nil, `cannot read "tests/p.yaml": file does not exist`},
		"twice": {
			"one object cannot be applied twice at once", "{apply: [p.yaml, q.yaml]}",
			map[string]string{"tests/p.yaml": one, "tests/q.yaml": one},
			[]string{"a", "a"},
			"the object is in tests/p.yaml:1 already",
		},
		"no object": {"nor nothing", "{apply: p.yaml}", map[string]string{"tests/p.yaml": ""}, nil, "the file holds no object"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			steps, files := stepsOf(t, "["+test.step+"]", test.files)
			objects, errs := steps[0].Apply.Objects(files)
			var names []string
			for _, object := range objects {
				metadata, _ := object["metadata"].(map[string]any)
				name, _ := metadata["name"].(string)
				names = append(names, name)
			}
			if !slices.Equal(names, test.names) || !strings.Contains(errs.Error(), test.wrong) || (test.wrong == "") != (len(errs) == 0) {
				t.Errorf("%s: have %q and %v", test.reason, names, errs)
			}
		})
	}
}
