package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

var releasing = plan.Rule{Kind: "ClusterRuleSet", Set: "guards", Name: "releasing"}

// TestGuardsOfReleases holds what becomes of applied fields that a rule gives up: a
// plan says it, a write carries it out, and then there is nothing left to do.
func TestGuardsOfReleases(t *testing.T) {
	alongside(t)
	deployments := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	const (
		deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: basic}, spec: {selector: {matchLabels: {a: b}},
			template: {metadata: {labels: {a: b}}, spec: {containers: [{name: main, image: x}]}}}}`
		service   = `{apiVersion: v1, kind: Service, metadata: {name: basic}, spec: {ports: [{port: 22, name: ssh}]}}`
		dashboard = `{apiVersion: pingcap.com/v1alpha1, kind: TidbDashboard, metadata: {name: basic}, spec: {clusters: [{name: basic}]}}`
		config    = `{apiVersion: v1, kind: ConfigMap, metadata: {name: basic}}`
	)
	tidb := kinds["TidbCluster"]
	tests := map[string]struct {
		reason      string
		gvr         schema.GroupVersionResource
		manifest    string
		subresource string
		release     plan.ReleasePolicy
		first, then string // what the rule applies
		want        string // the object then, as far as it matters
		wanted      string // the entry of the rule in managedFields, empty for none
		bare        bool   // nobody else is in managedFields
		force       bool
	}{
		"Orphan": {
			reason: "The value stays, and is nobody's.",
			gvr:    configmaps, manifest: config, release: plan.OrphanFields,
			first: `{data: {a: "1", b: "1"}}`, then: `{data: {b: "2"}}`,
			want: `{data: {a: "1", b: "2"}}`, wanted: `{"f:data": {"f:b": {}}}`,
		},
		"Remove": {
			reason: "The value goes, since nobody else owns it.",
			gvr:    configmaps, manifest: config, release: plan.RemoveFields,
			first: `{data: {a: "1", b: "1"}}`, then: `{data: {b: "2"}}`,
			want: `{data: {a: null, b: "2"}}`, wanted: `{"f:data": {"f:b": {}}}`,
		},
		"OrphanCustom": {
			reason: "So it is of a custom resource.",
			gvr:    tidb.gvr, manifest: tidb.manifest, release: plan.OrphanFields, force: true,
			first: `{spec: {tidb: {replicas: 2}, tikv: {replicas: 3}}}`, then: `{spec: {tikv: {replicas: 4}}}`,
			want: `{spec: {tidb: {replicas: 2}, tikv: {replicas: 4}}}`, wanted: `{"f:spec": {"f:tikv": {"f:replicas": {}}}}`,
		},
		"NothingElse": {
			reason: "What is kept stays the rule's, so that there is no conflict with whom the fields had before.",
			gvr:    configmaps, manifest: config, release: plan.OrphanFields, bare: true,
			first: `{data: {a: "1", b: "1"}}`, then: `{data: {b: "2"}}`,
			want: `{data: {a: "1", b: "2"}}`, wanted: `{"f:data": {"f:b": {}}}`,
		},
		"OnlyGivesUp": {
			reason: "Where nothing is left to apply on top.",
			gvr:    configmaps, manifest: config, release: plan.OrphanFields,
			first: `{data: {a: "1", b: "1"}}`, then: `{data: {b: "1"}}`,
			want: `{data: {a: "1", b: "1"}}`, wanted: `{"f:data": {"f:b": {}}}`,
		},
		"All": {
			reason: "A rule that applies nothing any more owns nothing.",
			gvr:    configmaps, manifest: config, release: plan.OrphanFields,
			first: `{data: {a: "1"}, metadata: {labels: {a: b}}}`, then: `{metadata: {}}`,
			want: `{data: {a: "1"}, metadata: {labels: {a: b}}}`,
		},
		"AllBare": {
			reason: "So it is where nobody else owns anything.",
			gvr:    configmaps, manifest: config, release: plan.OrphanFields, bare: true,
			first: `{data: {a: "1"}}`, then: `{}`,
			want: `{data: {a: "1"}}`,
		},
		"AllRemoved": {
			reason: "And where the values are to go.",
			gvr:    configmaps, manifest: config, release: plan.RemoveFields,
			first: `{data: {a: "1"}}`, then: `{}`,
			want: `{data: {a: null}}`,
		},
		"AllElse": {
			reason: "Of what was applied before nothing is applied any more.",
			gvr:    configmaps, manifest: config, release: plan.OrphanFields,
			first: `{data: {a: "1"}}`, then: `{metadata: {labels: {a: b}}}`,
			want: `{data: {a: "1"}, metadata: {labels: {a: b}}}`, wanted: `{"f:metadata": {"f:labels": {"f:a": {}}}}`,
		},
		"Keyed": {
			reason: "An element of a list that is merged by key stays, and so does a field of one that is kept.",
			gvr:    services, manifest: service, release: plan.OrphanFields,
			first:  `{spec: {ports: [{port: 80, protocol: TCP, name: web}, {port: 81, protocol: TCP, name: alt, appProtocol: http}]}}`,
			then:   `{spec: {ports: [{port: 81, protocol: TCP, name: alt}]}}`,
			want:   `{spec: {ports: [{port: 22, protocol: TCP, targetPort: 22, name: ssh}, {port: 80, protocol: TCP, targetPort: 80, name: web}, {port: 81, protocol: TCP, targetPort: 81, name: alt, appProtocol: http}]}}`,
			wanted: `{"f:spec": {"f:ports": {"k:{\"port\":81,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}, "f:protocol": {}, "f:name": {}}}}}`,
		},
		"Set": {
			reason: "A value of a set stays.",
			gvr:    configmaps, manifest: config, release: plan.OrphanFields,
			first: `{metadata: {finalizers: [example.com/a, example.com/b]}}`, then: `{metadata: {finalizers: [example.com/b]}}`,
			want: `{metadata: {finalizers: [example.com/a, example.com/b]}}`, wanted: `{"f:metadata": {"f:finalizers": {"v:\"example.com/b\"": {}}}}`,
		},
		"Required": {
			reason: "A field that must be there can be given up, which the API server would refuse to remove.",
			gvr:    deployments, manifest: deployment, release: plan.OrphanFields, force: true,
			first: `{spec: {minReadySeconds: 1, template: {spec: {containers: [{name: main, image: z}]}}}}`, then: `{spec: {minReadySeconds: 2}}`,
			want: `{spec: {minReadySeconds: 2}}`, wanted: `{"f:spec": {"f:minReadySeconds": {}}}`,
		},
		"Status": {
			reason: "The entry of the subresource is another.",
			gvr:    tidbdashboards, manifest: dashboard, subresource: "status", release: plan.OrphanFields,
			first: `{status: {phase: Normal, statefulSet: {replicas: 1}}}`, then: `{status: {phase: Abnormal}}`,
			want: `{status: {phase: Abnormal, statefulSet: {replicas: 1}}}`, wanted: `{"f:status": {"f:phase": {}}}`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			namespace := cluster(t).Namespace(t)
			create(t, tc.gvr, namespace, tc.manifest)
			for i, body := range []string{tc.first, tc.then} {
				if tc.bare && i == 1 {
					forgetOthers(t, tc.gvr, namespace)
				}
				wish := applying(t, tc.gvr, namespace, tc.subresource, body)
				wish.Release, wish.Force = tc.release, tc.force
				carriesOut(t, wish, i == 1 && tc.release == plan.OrphanFields)
			}
			live := get(t, tc.gvr, namespace, "basic")
			if diff := lacking(decode(t, tc.want), live.Object); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			want := map[string]any(nil)
			if tc.wanted != "" {
				want = decode(t, tc.wanted)
			}
			if diff := cmp.Diff(want, entryOf(live, tc.subresource)); diff != "" {
				t.Errorf("%s the entry (-want +got):\n%s", tc.reason, diff)
			}
			wish := applying(t, tc.gvr, namespace, tc.subresource, tc.then)
			wish.Release = tc.release
			if again := plan.Build([]plan.Wish{wish}, plan.Options{}); len(again.Operations) > 0 {
				t.Errorf("%s there is something left to do: %+v", tc.reason, again.Operations)
			}
			edit(t, tc.gvr, namespace, "basic", `{"metadata":{"finalizers":null}}`)
		})
	}
}

// carriesOut writes what a plan makes of a wish.
func carriesOut(t *testing.T, wish plan.Wish, givesUp bool) {
	t.Helper()
	built := plan.Build([]plan.Wish{wish}, plan.Options{})
	if len(built.Operations) != 1 || built.Operations[0].Orphans() != givesUp {
		t.Fatalf("the plan for %v is %+v", wish.Body, built)
	}
	result := writer(t).Write(t.Context(), built.Operations[0])
	live := get(t, wish.Target.GVR, wish.Target.Namespace, wish.Target.Name)
	if result.Class != write.Written || result.Echo == nil || result.Echo.Object.ResourceVersion != live.GetResourceVersion() {
		t.Fatalf("%v: got %q (%v), echo %+v, version %s", wish.Body, result.Class, result.Err, result.Echo, live.GetResourceVersion())
	}
}

// applying is the wish of a rule for an object as it is.
func applying(t *testing.T, gvr schema.GroupVersionResource, namespace, subresource, body string) plan.Wish {
	t.Helper()
	live := get(t, gvr, namespace, "basic")
	return plan.Wish{
		Rule: releasing, Type: plan.Apply, Subresource: subresource, Body: decode(t, body),
		Target: operationOn(live, gvr, plan.Apply).Target, Current: live.Object,
	}
}

// forgetOthers leaves only the entries of the rule in managedFields.
func forgetOthers(t *testing.T, gvr schema.GroupVersionResource, namespace string) {
	t.Helper()
	live := get(t, gvr, namespace, "basic")
	live.SetManagedFields(slices.DeleteFunc(live.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager != releasing.FieldManager()
	}))
	if _, err := client(t).Resource(gvr).Namespace(namespace).Update(t.Context(), live, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// entryOf is what the rule owns, nil where it has no entry.
func entryOf(live *unstructured.Unstructured, subresource string) map[string]any {
	entries, _, _ := unstructured.NestedSlice(live.Object, "metadata", "managedFields")
	for _, element := range entries {
		entry := element.(map[string]any)
		of, _ := entry["subresource"].(string)
		if entry["manager"] == releasing.FieldManager() && entry["operation"] == "Apply" && of == subresource {
			return entry["fieldsV1"].(map[string]any)
		}
	}
	return nil
}

// lacking is what is wanted of an object and not so. A null is to be absent.
func lacking(want, have map[string]any) string {
	var out []string
	for key, value := range want {
		below, isMap := value.(map[string]any)
		if isMap {
			inner, _ := have[key].(map[string]any)
			out = append(out, lacking(below, inner))
		} else if diff := cmp.Diff(value, have[key]); diff != "" {
			out = append(out, key+": "+diff)
		}
	}
	return strings.Join(out, "")
}

// TestGuardsOfStaleReleases holds that nothing is given up of an object that has
// changed since the snapshot.
func TestGuardsOfStaleReleases(t *testing.T) {
	alongside(t)
	for name, change := range map[string]func(*testing.T, *plan.Object){"Changed": touch, "Recreated": recreate, "Deleted": remove} {
		t.Run(name, func(t *testing.T) {
			namespace := cluster(t).Namespace(t)
			create(t, configmaps, namespace, kinds["ConfigMap"].manifest)
			for i, body := range []string{`{data: {b: "1", c: "1"}}`, `{data: {c: "1"}}`} {
				wish := applying(t, configmaps, namespace, "", body)
				wish.Release = plan.OrphanFields
				operation := plan.Build([]plan.Wish{wish}, plan.Options{}).Operations[0]
				want := write.Written
				if i == 1 {
					change(t, &operation.Target)
					want = write.Stale
				}
				before := state(t, operation.Target)
				result := writer(t).Write(t.Context(), operation)
				if after := state(t, operation.Target); result.Class != want || (after == before) != (want == write.Stale) {
					t.Fatalf("request %d: got %q (%v), was %q, is %q", i, result.Class, result.Err, before, after)
				}
				if result.Echo == nil || result.Echo.Gone != (want == write.Stale && name != "Changed") {
					t.Errorf("request %d: the echo is %+v", i, result.Echo)
				}
			}
		})
	}
}

// TestGuardsOfReleasesInDryRuns holds that a dry run is not told of what removing
// the fields would break.
func TestGuardsOfReleasesInDryRuns(t *testing.T) {
	alongside(t)
	client, err := write.NewClient(cluster(t).RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	dryRun := client.DryRun()
	namespace := cluster(t).Namespace(t)
	create(t, configmaps, namespace, kinds["ConfigMap"].manifest)
	for i, body := range []string{`{data: {b: "1", c: "1"}}`, `{data: {c: "1"}}`} {
		wish := applying(t, configmaps, namespace, "", body)
		wish.Release = plan.OrphanFields
		operation := plan.Build([]plan.Wish{wish}, plan.Options{}).Operations[0]
		if i == 0 {
			writer(t).Write(t.Context(), operation)
			continue
		}
		before := state(t, operation.Target)
		result := dryRun.Write(t.Context(), operation)
		if after := state(t, operation.Target); result.Class != write.Simulated || after != before || result.Echo != nil {
			t.Errorf("got %q (%v), was %q, is %q", result.Class, result.Err, before, after)
		}
		if got := decoded(result, "data", "b"); got != "1" {
			t.Errorf("the answer has %v", got)
		}
	}
}

// TestGuardsOfManagedFields holds what makes the API server forget who owns fields:
// a list of one empty entry always, an empty list not of custom resources.
func TestGuardsOfManagedFields(t *testing.T) {
	alongside(t)
	for kind, k := range kinds {
		for name, tc := range map[string]struct {
			value []any
			left  bool
		}{
			"Empty":    {[]any{}, kind == "TidbCluster"},
			"OneEmpty": {[]any{map[string]any{}}, false},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				live := create(t, k.gvr, cluster(t).Namespace(t), k.manifest)
				operation := operationOn(live, k.gvr, plan.JSON)
				operation.Body = []any{map[string]any{"op": "replace", "path": "/metadata/managedFields", "value": tc.value}}
				result := writer(t).Write(t.Context(), operation)
				after := get(t, k.gvr, live.GetNamespace(), live.GetName())
				if left := len(after.GetManagedFields()) > 0; result.Class.Failed() || left != tc.left {
					t.Errorf("got %q (%v), left: %v", result.Class, result.Err, left)
				}
			})
		}
	}
}
