package e2e

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

var secretsGVR = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}

const stringData = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: strings, namespace: NAMESPACE}
spec:
  resources:
    configmaps: {version: v1, resource: configmaps, labelSelector: told=yes}
    secrets: {version: v1, resource: secrets}
  rules:
  - name: makes
    watch: configmaps
    with: {made: {resource: secrets, name: made}}
    actions:
    - apply:
        resource: secrets
        manifest: {metadata: {name: made}, data: {a: bm90IHRoaXM=, c: dGhyZWU=}, stringData: {a: one, b: "${object.data?.b}"}}
  - name: merges
    watch: configmaps
    with: {theirs: {resource: secrets, name: theirs}}
    actions: [{patch: {target: theirs, merge: {stringData: {a: one}}}}]
`

// inVain counts writes that have changed nothing.
type inVain struct {
	engine.NopObserver
	n atomic.Int32
}

// Wrote implements [engine.Observer].
func (v *inVain) Wrote(_ engine.Key, _ plan.Operation, class write.Class) {
	if class == write.Unchanged {
		v.n.Add(1)
	}
}

// TestStringData holds that a Secret is kept as stringData says, which the API server never shows: what somebody
// changes is repaired, what the rule does not want any more goes, and nothing is written in vain.
func TestStringData(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		create(t, secretsGVR, namespace, `{apiVersion: v1, kind: Secret, metadata: {name: theirs}}`)
		create(t, configmaps, namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: of, labels: {told: "yes"}}, data: {b: two}}`)
		writes := &inVain{}
		runEngine(t, strings.ReplaceAll(stringData, "NAMESPACE", namespace), writes)
		become := func(what, name string, want map[string]any) {
			t.Helper()
			var got any
			eventually(t, what, func() bool {
				object, err := client(t).Resource(secretsGVR).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
				if apierrors.IsNotFound(err) {
					return false
				}
				if err != nil {
					t.Fatal(err)
				}
				got = object.Object["data"]
				return cmp.Equal(any(want), got)
			})
		}
		become("it is made", "made", map[string]any{"a": "b25l", "b": "dHdv", "c": "dGhyZWU="})
		become("it is patched", "theirs", map[string]any{"a": "b25l"})
		for range 2 { // The second time, the process knows what has had no effect.
			for _, name := range []string{"made", "theirs"} {
				edit(t, secretsGVR, namespace, name, `{"data":{"a":"ZHJpZnQ="}}`)
			}
			become("the drift is repaired", "made", map[string]any{"a": "b25l", "b": "dHdv", "c": "dGhyZWU="})
			become("that of a merge too", "theirs", map[string]any{"a": "b25l"})
		}
		edit(t, configmaps, namespace, "of", `{"data":{"b":null}}`)
		become("a key that is not wanted any more goes", "made", map[string]any{"a": "b25l", "c": "dGhyZWU="})
		if n := writes.n.Load(); n > 0 {
			t.Errorf("%d writes changed nothing", n)
		}
	})
}

// TestWriteOnlyFields holds why stringData is folded into data before it is sent: the API server notes who owns stringData,
// which nobody can see, and nobody owns what it becomes.
func TestWriteOnlyFields(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	apply := func(body string) *unstructured.Unstructured {
		t.Helper()
		object := &unstructured.Unstructured{Object: decode(t, body)}
		out, err := client(t).Resource(secretsGVR).Namespace(namespace).Apply(t.Context(), "a", object, metav1.ApplyOptions{FieldManager: "me"})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first := apply(`{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {x: b25l}, stringData: {x: two, z: three}}`)
	want := map[string]any{"x": "dHdv", "z": "dGhyZWU="}
	if diff := cmp.Diff(any(want), first.Object["data"]); diff != "" || first.Object["stringData"] != nil {
		t.Errorf("stringData wins, and is not shown (-want +got):\n%s", diff)
	}
	if owners := plan.Managers(first.Object, plan.Path{"data", "z"}); len(owners) > 0 {
		t.Errorf("what it becomes is owned by %v", owners)
	}
	second := apply(`{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {x: b25l}}`)
	if diff := cmp.Diff(any(map[string]any{"x": "b25l", "z": "dGhyZWU="}), second.Object["data"]); diff != "" {
		t.Errorf("what came from stringData alone and is not applied any more stays (-want +got):\n%s", diff)
	}
}
