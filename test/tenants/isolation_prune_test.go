package tenants

import (
	"encoding/json"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// pruner makes a child while its seed wants one.
const pruner = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: pruner, namespace: NAMESPACE}
spec:
  serviceAccountName: bot
  resources:
    seeds: {version: v1, resource: configmaps, labelSelector: role=seed}
    configmaps: {version: v1, resource: configmaps}
  rules:
  - name: prune
    watch: seeds
    when: object.data?.keep == "yes"
    actions: [{apply: {resource: configmaps, prune: true, manifest: {metadata: {name: child}, data: {a: b}}}}]
`

// prune holds that what looks in every way like a child of a set is not deleted in
// another namespace: not when it is not wanted any more, and not with the set, even if
// its status says that the set has left something there.
func (h *house) prune(t *testing.T) {
	t.Helper()
	apply(t, cluster(t), h.a, pruner)
	eventually(t, "there is a child", func() bool { return get(t, cluster(t), configmaps, h.a, "child") != nil })
	forged := get(t, cluster(t), configmaps, h.a, "child")
	forged.SetNamespace(h.b)
	forged.SetResourceVersion("")
	forged.SetUID("")
	forged.SetManagedFields(nil)
	forged.SetOwnerReferences(nil)
	forged, err := client(t, cluster(t)).Resource(configmaps).Namespace(h.b).
		Apply(t.Context(), "child", forged, metav1.ApplyOptions{FieldManager: get(t, cluster(t), configmaps, h.a, "child").GetManagedFields()[0].Manager})
	if err != nil {
		t.Fatal(err)
	}
	edit(t, cluster(t), configmaps, h.a, "seed", `{"data": {"keep": "no"}}`)
	eventually(t, "the child is pruned", func() bool { return get(t, cluster(t), configmaps, h.a, "child") == nil })
	edit(t, cluster(t), configmaps, h.a, "seed", `{"data": {"keep": "yes"}}`)
	eventually(t, "there is a child again", func() bool { return get(t, cluster(t), configmaps, h.a, "child") != nil })
	h.forge(t)
	removed(t, cluster(t), ruleSets, h.a, "pruner")
	if get(t, cluster(t), configmaps, h.a, "child") != nil {
		t.Error("a child outlives its set")
	}
	if now := get(t, cluster(t), configmaps, h.b, "child"); now == nil || now.GetResourceVersion() != forged.GetResourceVersion() {
		t.Error("what looks like a child is not left alone elsewhere")
	}
}

// forge has the status of the pruner say that it has left something as the other tenant, as
// dyncontroller itself, and in all namespaces: whoever has all rights in a namespace may.
func (h *house) forge(t *testing.T) {
	t.Helper()
	set := get(t, cluster(t), ruleSets, h.a, "pruner")
	inventory, _, err := unstructured.NestedSlice(set.Object, "status", "inventory")
	if err != nil || len(inventory) == 0 {
		t.Fatalf("the inventory is %v: %v", inventory, err)
	}
	for i, more := range []map[string]any{
		{"namespace": h.b, "serviceAccount": "bot", "serviceAccountNamespace": h.b},
		{"namespace": h.b},
		{"namespace": h.b, "serviceAccount": "bot", "serviceAccountNamespace": h.a},
		{},
	} {
		more["rule"], more["kind"], more["version"], more["resource"] = fmt.Sprintf("prune-%d", i), "children", "v1", "configmaps"
		more["prune"] = true
		inventory = append(inventory, more)
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"inventory": inventory}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client(t, cluster(t)).Resource(ruleSets).Namespace(h.a).
		Patch(t.Context(), "pruner", types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
}
