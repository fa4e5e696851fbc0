package e2e

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

const wrongUID = "00000000-0000-0000-0000-000000000000"

// kinds are what the guards are tried on: the API server treats custom
// resources and built-in types differently.
var kinds = map[string]struct {
	gvr      schema.GroupVersionResource
	manifest string
	merge    string // changes the object
	json     string
	invalid  string // is refused by the schema
}{
	"TidbCluster": {
		gvr: tidbclusters,
		manifest: `{apiVersion: pingcap.com/v1alpha1, kind: TidbCluster, metadata: {name: basic}, spec: {version: v8.5.5,
			pd: {replicas: 1, requests: {storage: 1Gi}}, tikv: {replicas: 1, requests: {storage: 1Gi}}, tidb: {replicas: 1}}}`,
		merge:   `{spec: {version: v8.5.6}}`,
		json:    `[{op: replace, path: /spec/version, value: v8.5.6}]`,
		invalid: `{spec: {pd: {replicas: "three"}}}`,
	},
	"ConfigMap": {
		gvr:      configmaps,
		manifest: `{apiVersion: v1, kind: ConfigMap, metadata: {name: basic}, data: {a: "1"}}`,
		merge:    `{data: {a: "2"}}`,
		json:     `[{op: replace, path: /data/a, value: "2"}]`,
		invalid:  `{data: {a: {b: c}}}`,
	},
}

// TestGuards holds what the API server answers to writes from a snapshot that
// is out of date, and that nothing of such a write is stored.
func TestGuards(t *testing.T) {
	alongside(t)
	wrong := func(_ *testing.T, o *plan.Object) { o.UID = wrongUID }
	changes := map[string]struct {
		reason string
		change func(*testing.T, *plan.Object)
		want   write.Class
	}{
		"Fresh":     {"Nothing changed since the snapshot.", func(*testing.T, *plan.Object) {}, write.Written},
		"Stale":     {"Somebody changed the object.", touch, write.Stale},
		"WrongUID":  {"The uid alone is wrong.", wrong, write.Stale},
		"Recreated": {"Another object has the name now.", recreate, write.Stale},
		"Deleted":   {"The object is gone: it must not be brought back.", remove, write.Stale},
	}
	for kind, k := range kinds {
		for change, c := range changes {
			for _, patch := range []plan.Type{plan.Merge, plan.JSON, plan.Apply} {
				t.Run(fmt.Sprintf("%s/%s/%s", kind, change, patch), func(t *testing.T) {
					namespace := cluster(t).Namespace(t)
					operation := operationOn(create(t, k.gvr, namespace, k.manifest), k.gvr, patch)
					operation.Body = decode(t, k.merge)
					if patch == plan.JSON {
						operation.Body = decode(t, "patch: "+k.json)["patch"]
					}
					operation.Force = true
					c.change(t, &operation.Target)
					before := state(t, operation.Target)
					result := writer(t).Write(t.Context(), operation)
					if result.Class != c.want {
						t.Errorf("%s got %q, want %q: %v", c.reason, result.Class, c.want, result.Err)
					}
					if after := state(t, operation.Target); (after == before) == (c.want == write.Written) {
						t.Errorf("%s was %q, is %q", c.reason, before, after)
					}
				})
			}
		}
	}
}

// TestAnswers holds how the API server words what is not about guards.
func TestAnswers(t *testing.T) {
	alongside(t)
	tidb, config := kinds["TidbCluster"], kinds["ConfigMap"]
	tests := map[string]struct {
		reason      string
		gvr         schema.GroupVersionResource
		manifest    string
		patch       plan.Type
		subresource string
		body        string
		prepare     func(*testing.T, *plan.Object)
		want        write.Class
	}{
		"InvalidCustom":  {"The CRD's schema refuses the value.", tidb.gvr, tidb.manifest, plan.Merge, "", tidb.invalid, nil, write.Terminal},
		"InvalidBuiltin": {"The type refuses the value.", config.gvr, config.manifest, plan.Merge, "", config.invalid, nil, write.Terminal},
		"UnknownField": {
			"A field that would be pruned, and written again for ever, is refused by name.",
			tidb.gvr, tidb.manifest, plan.Merge, "", `{spec: {replcas: 3}}`, nil, write.Terminal,
		},
		"NoStatusSubresource": {
			"TidbCluster has no status subresource.",
			tidb.gvr, tidb.manifest, plan.Merge, "status", `{status: {clusterID: x}}`, nil, write.Terminal,
		},
		"InvalidAndStale": {
			"The step of a JSON patch that leads nowhere is reported before the stale version.",
			config.gvr, config.manifest, plan.JSON, "", `{patch: [{op: remove, path: /data/a}]}`,
			func(t *testing.T, o *plan.Object) { edit(t, o.GVR, o.Namespace, o.Name, `{"data":{"a":null}}`) }, write.Stale,
		},
		"NoChange": {
			"A write that changes nothing keeps the resourceVersion.",
			tidb.gvr, tidb.manifest, plan.Merge, "", `{spec: {version: v8.5.5}}`, nil, write.Unchanged,
		},
		"OwnedByAnother": {
			"Another manager applied the field.",
			config.gvr, config.manifest, plan.Apply, "", config.merge, applyAs("rival", `{data: {a: "9"}}`), write.OwnedByAnother,
		},
		"OwnedByAnotherAndStale": {
			"The conflict of owners is reported before the stale version.",
			config.gvr, config.manifest, plan.Apply, "", config.merge,
			func(t *testing.T, o *plan.Object) {
				applyAs("rival", `{data: {a: "9"}}`)(t, o)
				o.ResourceVersion = "1"
			}, write.OwnedByAnother,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			namespace := cluster(t).Namespace(t)
			operation := operationOn(create(t, tc.gvr, namespace, tc.manifest), tc.gvr, tc.patch)
			operation.Body, operation.Subresource = decode(t, tc.body), tc.subresource
			if tc.patch == plan.JSON {
				operation.Body = decode(t, tc.body)["patch"]
			}
			if tc.prepare != nil {
				tc.prepare(t, &operation.Target)
			}
			result := writer(t).Write(t.Context(), operation)
			if result.Class != tc.want {
				t.Errorf("%s got %q, want %q: %v", tc.reason, result.Class, tc.want, result.Err)
			}
		})
	}
}

// TestStatusGuards holds that the resourceVersion guards a status patch of a
// custom resource, where the API server ignores the uid.
func TestStatusGuards(t *testing.T) {
	alongside(t)
	const manifest = `{apiVersion: pingcap.com/v1alpha1, kind: TidbDashboard, metadata: {name: basic}, spec: {clusters: [{name: basic}]}}`
	for name, tc := range map[string]struct {
		reason string
		change func(*testing.T, *plan.Object)
		want   write.Class
	}{
		"Fresh":     {"Nothing changed since the snapshot.", func(*testing.T, *plan.Object) {}, write.Written},
		"Stale":     {"Somebody changed the object.", touch, write.Stale},
		"Recreated": {"Another object has the name now.", recreate, write.Stale},
		"Deleted":   {"The object is gone: the answer is that of a resource without the subresource.", remove, write.Stale},
		"WrongUID": {
			"Only here does the API server ignore the uid. It answers with another object than the one that was asked for.",
			func(_ *testing.T, o *plan.Object) { o.UID = wrongUID }, write.Ambiguous,
		},
	} {
		for _, patch := range []plan.Type{plan.Merge, plan.JSON, plan.Apply} {
			t.Run(name+"/"+string(patch), func(t *testing.T) {
				namespace := cluster(t).Namespace(t)
				operation := operationOn(create(t, tidbdashboards, namespace, manifest), tidbdashboards, patch)
				operation.Subresource = "status"
				operation.Body = decode(t, `{status: {phase: Normal}}`)
				if patch == plan.JSON {
					operation.Body = []any{map[string]any{"op": "add", "path": "/status", "value": map[string]any{"phase": "Normal"}}}
				}
				tc.change(t, &operation.Target)
				if result := writer(t).Write(t.Context(), operation); result.Class != tc.want {
					t.Errorf("%s got %q, want %q: %v", tc.reason, result.Class, tc.want, result.Err)
				}
			})
		}
	}
}

// TestServerDryRun holds that a dry run is admitted and validated, and stores
// nothing.
func TestServerDryRun(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	k := kinds["TidbCluster"]
	operation := operationOn(create(t, k.gvr, namespace, k.manifest), k.gvr, plan.Merge)
	operation.Body = decode(t, k.merge)
	client, err := write.NewClient(cluster(t).RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	dryRun := client.DryRun()
	before := state(t, operation.Target)
	if result := dryRun.Write(t.Context(), operation); result.Class != write.Simulated || result.Echo != nil {
		t.Errorf("got %+v", result)
	}
	operation.Body = decode(t, k.invalid)
	if result := dryRun.Write(t.Context(), operation); result.Class != write.Terminal {
		t.Errorf("an invalid value was not refused: %+v", result)
	}
	if after := state(t, operation.Target); after != before {
		t.Errorf("was %q, is %q", before, after)
	}
}

func writer(t *testing.T) *write.Client {
	t.Helper()
	c, err := write.NewClient(cluster(t).RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func operationOn(object *unstructured.Unstructured, gvr schema.GroupVersionResource, patch plan.Type) plan.Operation {
	return plan.Operation{
		Type:    patch,
		Manager: plan.FieldManager,
		Target: plan.Object{
			GVR: gvr, Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName(),
			UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
		},
	}
}

// touch changes the object as somebody else would.
func touch(t *testing.T, o *plan.Object) {
	t.Helper()
	edit(t, o.GVR, o.Namespace, o.Name, `{"metadata":{"labels":{"theirs":"yes"}}}`)
}

// recreate puts another object in the place of this one.
func recreate(t *testing.T, o *plan.Object) {
	t.Helper()
	before := get(t, o.GVR, o.Namespace, o.Name)
	remove(t, o)
	unstructured.RemoveNestedField(before.Object, "metadata")
	before.SetName(o.Name)
	if _, err := client(t).Resource(o.GVR).Namespace(o.Namespace).Create(t.Context(), before, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, o *plan.Object) {
	t.Helper()
	if err := client(t).Resource(o.GVR).Namespace(o.Namespace).Delete(t.Context(), o.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// applyAs applies under another manager and makes the snapshot fresh again.
func applyAs(manager, body string) func(*testing.T, *plan.Object) {
	return func(t *testing.T, o *plan.Object) {
		t.Helper()
		object := &unstructured.Unstructured{Object: decode(t, body)}
		object.SetGroupVersionKind(o.GVR.GroupVersion().WithKind(o.Kind))
		object.SetName(o.Name)
		applied, err := client(t).Resource(o.GVR).Namespace(o.Namespace).
			Apply(t.Context(), o.Name, object, metav1.ApplyOptions{FieldManager: manager, Force: true})
		if err != nil {
			t.Fatal(err)
		}
		o.ResourceVersion = applied.GetResourceVersion()
	}
}

// state is the uid and version of what is stored, "absent" where nothing is.
func state(t *testing.T, o plan.Object) string {
	t.Helper()
	object, err := client(t).Resource(o.GVR).Namespace(o.Namespace).Get(t.Context(), o.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "absent"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(object.GetUID()) + " " + object.GetResourceVersion()
}
