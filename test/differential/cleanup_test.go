package differential

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// TestCleanUpRemoves holds that what a rule has applied, and is to go with it, goes also where another manager owns the map that it is in
// as an empty one: the schema of a custom resource refuses null, which an apply of nothing would make of that.
func TestCleanUpRemoves(t *testing.T) {
	tests := map[string]struct {
		reason, made string
		edits        []string // by another manager
		applied      string
		want         string
	}{
		"Map":    {"All that was in it is ours.", `{choice: {}}`, nil, `{choice: {a: x}}`, `{choice: {}}`},
		"List":   {"Who has made a list owns it when its elements are gone.", `{low: 1}`, []string{`{members: [a]}`, `{members: []}`}, `{members: [b]}`, `{low: 1, members: []}`},
		"Shared": {"What another has applied stays.", `{choice: {b: x}}`, nil, `{choice: {b: x}, low: 1}`, `{choice: {b: x}}`},
		"Nested": {"It is in an element of a list.", `{parts: [{name: a, tags: {}}]}`, nil, `{parts: [{name: a, tags: {x: v, k: l}}], high: 3}`, `{parts: [{name: a, protocol: TCP, tags: {}}]}`},
		"Nobody": {"A map that nobody else owns goes as a whole.", `{low: 1}`, nil, `{choice: {a: x}, members: [a]}`, `{low: 1}`},
		"Beside": {"What the API server has added stays.", `{deep: {er: {}}}`, nil, `{deep: {er: {est: false}}}`, `{deep: {er: {est: true}}}`},
	}
	gadgets := shared.kinds[slices.IndexFunc(shared.kinds, func(k *kind) bool {
		return k.GroupVersionResource.Resource == "gadgets" && k.Version == "v1"
	})]
	simulated := &rest.Config{Host: "http://simulated", QPS: -1, Transport: shared.server.Transport(
		storage.NewWorld(clocktesting.NewFakeClock(time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC))))}
	for name, tc := range tests {
		for where, config := range map[string]*rest.Config{"Real": control.RESTConfig(), "Simulated": simulated} {
			t.Run(name+where, func(t *testing.T) {
				client, err := dynamic.NewForConfig(config)
				if err != nil {
					t.Fatal(err)
				}
				api, called := client.Resource(gadgets.GroupVersionResource).Namespace("default"), "cleanup-"+strings.ToLower(name)
				apply(t, api, gadgets, called, "helm", tc.made)
				defer func() { _ = api.Delete(context.WithoutCancel(t.Context()), called, metav1.DeleteOptions{}) }()
				for _, edit := range tc.edits {
					data, _ := json.Marshal(map[string]any{"spec": mustRead(edit)})
					if _, err := api.Patch(t.Context(), called, types.MergePatchType, data, metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
						t.Fatal(err)
					}
				}
				apply(t, api, gadgets, called, ruleOf.FieldManager(), tc.applied)
				writer, err := write.NewClient(config)
				if err != nil {
					t.Fatal(err)
				}
				l := plan.Leftover{Rule: ruleOf, GVR: gadgets.GroupVersionResource, Kind: plan.LeftFields, Release: plan.RemoveFields}
				var object *unstructured.Unstructured
				for sent := 0; ; sent++ {
					if object, err = api.Get(t.Context(), called, metav1.GetOptions{}); err != nil {
						t.Fatal(err)
					}
					o := l.CleanUp(object.Object)
					if o == nil {
						break
					}
					if result := writer.Write(t.Context(), *o); result.Class.Failed() || sent == 3 {
						t.Fatalf("%s request %d is answered with %v", tc.reason, sent, result.Err)
					}
				}
				want, _ := mustRead(tc.want).(map[string]any)
				spec, _ := object.Object["spec"].(map[string]any)
				for _, key := range []string{"replicas", "color", "maybe", "deep"} { // They have defaults.
					if _, told := want[key]; !told {
						delete(spec, key)
					}
				}
				if diff := cmp.Diff(want, spec); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
				for _, m := range plan.Managers(object.Object, nil) {
					if m.Name == ruleOf.FieldManager() {
						t.Error("the rule owns something still")
					}
				}
			})
		}
	}
}

// apply has a manager apply the spec of a gadget.
func apply(t *testing.T, api dynamic.ResourceInterface, of *kind, name, manager, spec string) {
	t.Helper()
	data, err := json.Marshal(map[string]any{"apiVersion": of.apiVersion(), "kind": of.Kind, "metadata": map[string]any{"name": name}, "spec": mustRead(spec)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.Patch(t.Context(), name, types.ApplyPatchType, data, metav1.PatchOptions{FieldManager: manager, Force: new(true)}); err != nil {
		t.Fatalf("%s: %v", manager, err)
	}
}
