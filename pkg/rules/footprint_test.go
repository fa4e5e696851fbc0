package rules_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
)

// reduced is a source that knows of each object only what the rules read or write.
type reduced struct {
	source lookup.Source
	kept   *footprint.Footprint
}

// Read implements [lookup.Source]. What selects an object must be kept, too.
func (r reduced) Read(q plan.Read) ([]map[string]any, error) {
	found, err := r.source.Read(plan.Read{From: q.From, By: plan.ByAll})
	var out []map[string]any
	for _, object := range found {
		if object = r.project(q.From[0].GVR, object); q.Selects(object) {
			out = append(out, object)
		}
	}
	return out, err
}

func (r reduced) project(gvr schema.GroupVersionResource, object map[string]any) map[string]any {
	return projection.New(r.kept.Of(gvr, gvr.Resource).Kept()).Project(object)
}

// sameWhenReduced fails unless the rules decide about the reduced objects as about
// the full ones, and predict of them what is left of a prediction about the full ones.
func sameWhenReduced(t tester, set *rules.Set, snapshot rules.Snapshot) {
	t.Helper()
	less := reduced{snapshot.Related, set.Footprint()}
	full := set.Evaluate(snapshot)
	if snapshot.Object != nil {
		snapshot.Object = less.project(snapshot.GVR, snapshot.Object)
	}
	if snapshot.Related != nil {
		snapshot.Related = less
	}
	some := set.Evaluate(snapshot)
	for _, operations := range [][]plan.Operation{full.Operations, full.Audited, some.Operations, some.Audited} {
		for i := range operations {
			operations[i].Predicted = withoutEmpty(less.project(operations[i].Target.GVR, operations[i].Predicted))
		}
	}
	diff := cmp.Diff(full, some,
		cmpopts.IgnoreFields(plan.Change{}, "Before"), // Of a list that a map replaces it has what was left out.
		cmpopts.IgnoreUnexported(plan.Change{}),
		cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }))
	if diff != "" {
		t.Fatalf("with the fields of\n%sthe plan differs (-full +reduced):\n%s", textOf(less.kept), diff)
	}
}

// withoutEmpty leaves out maps that have nothing. Of a map from which no key is kept an empty one stays, and the API server stores some
// empty maps as none, so the one plan predicts an empty map where the other predicts none.
func withoutEmpty(object map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range object {
		if inner, is := value.(map[string]any); is {
			if inner = withoutEmpty(inner); len(inner) > 0 {
				out[key] = inner
			}
			continue
		}
		out[key] = value
	}
	return out
}

// rich is rules that use all of the language.
const rich = `
  params: {least: 1}
  let: {size: "object.spec.size ?? params.least"}
  rules:
  - name: patches
    watch: tidbclusters
    let: {replicas: "object.spec.pd?.replicas ?? 0"}
    when: replicas > 0 && replicas % 2 == 0
    actions:
    - patch: {merge: {spec: {pd: {replicas: "${replicas + 1}"}}}}
    - patch: {json: [{op: add, path: /spec/list/-, value: "${size}"}]}
    - patch: {apply: {metadata: {labels: {size: "s${size}"}}}, subresource: status}
    - event: {reason: Grown, message: "PD had ${replicas} members"}
  - name: related
    watch: tidbclusters
    with:
      config: {resource: configmaps, name: "${object.metadata.name}-config"}
      some: {resource: pods, matchLabels: {app: "${object.metadata.name}"}}
      here: {resource: pods, matchFields: {spec.nodeName: "${object.spec.node ?? 'none'}"}}
      mine: {resource: pods, ownedBy: object}
    let:
      failed: filter(some, .status.phase == "Failed")
      oldest: first(sortBy(mine, [.spec.rank ?? 0, .metadata.name]))
    when: config != nil || len(here) > 0
    actions:
    - patch: {target: failed, merge: {metadata: {annotations: {seen: "${len(here)}"}}}}
    - when: oldest != nil
      delete: {target: oldest}
    - forEach: {key: "${keys(object.metadata.labels)}"}
      when: key startsWith "k"
      patch: {merge: {metadata: {annotations: {"${key}": "${index}"}}}}
  - name: children
    watch: tidbclusters
    when: "\"a\" in object.spec || object.spec.list != nil"
    actions:
    - apply:
        resource: configmaps
        prune: true
        manifest: {metadata: {name: "${object.metadata.name}-child"}, data: {version: "${toJSON(object.spec.pd)}"}}
  - name: new
    watch: tidbclusters
    with: {made: {resource: pods, matchLabels: {made: "yes"}}}
    when: len(made) < (object.spec.size ?? 0)
    actions:
    - create: {in: made, manifest: {metadata: {generateName: p-, labels: {made: "yes"}}, spec: {node: "${object.spec.node}"}}}
  - name: dynamic
    watch: tidbclusters
    mode: Audit
    when: object.spec[object.metadata.labels.key ?? "size"] == 2
    actions: [{patch: {merge: {status: {at: "${stamp()}", size: "${object.spec.size}"}}}}]
  - name: held
    watch: tidbclusters
    for: "object.spec.size ?? 10"
    when: olderThan(object.metadata.creationTimestamp, "1h")
    actions: [{patch: {merge: {status: {conditions: "${setCondition(object.status.conditions, {type: \"Old\", status: \"True\"})}"}}}}]
    onDelete: {actions: [{event: {reason: Bye, message: bye}}], done: object.spec.size == 0}
`

func TestFootprint(t *testing.T) {
	set := mustLoad(t, world+rich)
	compareGolden(t, "testdata/footprint.golden", textOf(set.Footprint()))
}

func textOf(f *footprint.Footprint) string {
	text := ""
	for _, a := range f.All() {
		text += fmt.Sprintf("%s (%s)\n  verbs: %v\n  reads:\n    %s\n  writes:\n    %s\n", a.Name, a.Resource.GroupResource(), a.Verbs(),
			strings.Join(a.Reads.Paths(), "\n    "), strings.Join(a.Writes.Paths(), "\n    "))
	}
	return text
}

// TestSelectorsReduced holds that of what a cache keeps it can be said whether another one has it.
func TestSelectorsReduced(t *testing.T) {
	set := mustLoad(t, `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources:
    placed: {version: v1, resource: pods, fieldSelector: "spec.nodeName!=,status.phase=Running", labelSelector: app=db}
    pods: {version: v1, resource: pods}
  rules:
  - {name: one, watch: placed, actions: [{event: {reason: A, message: m}}]}
  - {name: all, watch: pods, actions: [{event: {reason: A, message: m}}]}
`)
	less := reduced{kept: set.Footprint()}
	object := named(t, "Pod", `{metadata: {name: p, labels: {app: db}}, spec: {nodeName: node-1, other: o}, status: {phase: Running}}`)
	for _, selection := range set.Selections() {
		if !selection.Admits(object) || !selection.Admits(less.project(pods, object)) {
			t.Errorf("%s does not select %v as it selects %v", selection, less.project(pods, object), object)
		}
	}
	if spec := less.project(pods, object)["spec"]; !cmp.Equal(spec, map[string]any{"nodeName": "node-1"}) {
		t.Errorf("of spec %v is kept", spec)
	}
}

// TestReduced holds that the cache may forget what is not in the footprint.
func TestReduced(t *testing.T) {
	set := mustLoad(t, world+rich)
	rapid.Check(t, func(t *rapid.T) {
		snapshot := rules.Snapshot{
			GVR: tidbclusters, SelectedBy: set.Selections(), Now: noon, Explain: true,
			Object: drawObject(t, "TidbCluster", "basic"),
			Kinds:  map[schema.GroupVersionResource]plan.Kind{pods: {Name: "Pod", Namespaced: true}, configMaps: {Name: "ConfigMap", Namespaced: true}},
			Related: lookup.Objects{
				pods:       drawObjects(t, "Pod", "p-0", "p-1", "p-2"),
				configMaps: drawObjects(t, "ConfigMap", "basic-config", "basic-child", "other"),
			},
		}
		sameWhenReduced(t, set, snapshot)
	})
}

// TestExamplesReduced is TestReduced for the rules that users see first.
func TestExamplesReduced(t *testing.T) {
	folders, err := filepath.Glob("../../examples/rules/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("found %d examples, err %v", len(folders), err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			set, errs := rules.Load(readFolder(t, folder), rules.Options{DefaultNamespace: "db"})
			if len(errs) > 0 {
				t.Fatal(errs.Render())
			}
			rapid.Check(t, func(t *rapid.T) {
				for _, selection := range set.Selections() {
					sameWhenReduced(t, set, rules.Snapshot{
						GVR: selection.GVR, SelectedBy: set.Selections(), Now: noon, Explain: true,
						Object: drawObject(t, "TidbCluster", "basic"), Related: lookup.Objects{},
					})
				}
			})
		})
	}
}

func drawObjects(t *rapid.T, kind string, names ...string) []map[string]any {
	var out []map[string]any
	for _, name := range names {
		if rapid.Bool().Draw(t, "there is "+name) {
			out = append(out, drawObject(t, kind, name))
		}
	}
	return out
}

// drawObject makes objects of few words, so that they hit what rules look for.
func drawObject(t *rapid.T, kind, name string) map[string]any {
	out := map[string]any{"apiVersion": "v1", "kind": kind}
	if kind == "TidbCluster" {
		out["apiVersion"] = "pingcap.com/v1alpha1"
	}
	metadata := drawMap(t, 1, "extra")
	metadata["name"], metadata["namespace"], metadata["uid"], metadata["resourceVersion"] = name, "db", "u-"+name, "7"
	metadata["creationTimestamp"] = rapid.SampledFrom([]string{"2026-01-01T11:30:00Z", "2026-01-01T10:00:00Z"}).Draw(t, "created")
	metadata["labels"] = drawTexts(t)
	metadata["annotations"] = drawTexts(t)
	if rapid.Bool().Draw(t, "owned") {
		metadata["ownerReferences"] = []any{map[string]any{"uid": "u-basic", "controller": true}}
	}
	out["metadata"] = metadata
	for _, part := range []string{"spec", "status", "data"} {
		if rapid.IntRange(0, 4).Draw(t, part) > 0 {
			out[part] = drawMap(t, 2, "size", "pd", "replicas", "list", "node", "nodeName", "rank", "phase", "a", "version", "conditions", "tikv")
		}
	}
	return out
}

func drawTexts(t *rapid.T) map[string]any {
	out := map[string]any{}
	for _, key := range []string{"app", "made", "key", "k1", "env", "size"} {
		if rapid.Bool().Draw(t, key) {
			out[key] = rapid.SampledFrom([]string{"basic", "yes", "size", "prod", "s2"}).Draw(t, "text")
		}
	}
	return out
}

func drawMap(t *rapid.T, depth int, keys ...string) map[string]any {
	out := map[string]any{}
	for _, key := range keys {
		if rapid.IntRange(0, 2).Draw(t, "has "+key) > 0 {
			out[key] = drawValue(t, depth)
		}
	}
	return out
}

func drawValue(t *rapid.T, depth int) any {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.Int64Range(0, 4).Draw(t, "n")
	case 1:
		return rapid.SampledFrom([]string{"none", "Failed", "basic", "2m"}).Draw(t, "text")
	case 2:
		return rapid.Bool().Draw(t, "b")
	case 3:
		return rapid.Int64Range(0, 4).Draw(t, "n")
	case 4:
		return drawMap(t, depth-1, "replicas", "size", "type", "status")
	default:
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "length"))
		for i := range list {
			list[i] = drawValue(t, depth-1)
		}
		return list
	}
}

// TestElementsOfParamsReduced holds that what is written is kept where its value and its key come from the elements of a param.
func TestElementsOfParamsReduced(t *testing.T) {
	set := mustLoad(t, `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  params: {zones: [a, b], names: {one: x}}
  resources: {pods: {version: v1, resource: pods}}
  rules:
  - name: zones
    watch: pods
    actions:
    - forEach: {zone: "${params.zones}"}
      patch: {merge: {metadata: {annotations: {"zone-${index}": "${zone}"}}}}
    - forEach: {name: "${values(params.names)}"}
      patch: {merge: {spec: {hostname: "${name}"}}}
`)
	object := named(t, "Pod", `{metadata: {name: p, annotations: {zone-0: a}}, spec: {hostname: x, other: o}}`)
	less := reduced{kept: set.Footprint()}.project(pods, object)
	if want := named(t, "Pod", `{metadata: {name: p, annotations: {zone-0: a}}, spec: {hostname: x}}`); !cmp.Equal(want, less) {
		t.Error(cmp.Diff(want, less))
	}
}
