package e2e

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

const (
	held   = `{"metadata":{"finalizers":["example.com/held"]}}`
	letGo  = `{metadata: {finalizers: null}}`
	absent = "absent"
)

// hold has a finalizer keep the object, and makes the snapshot fresh again.
func hold(t *testing.T, o *plan.Object) {
	t.Helper()
	o.ResourceVersion = edit(t, o.GVR, o.Namespace, o.Name, held).GetResourceVersion()
	at := client(t).Resource(o.GVR).Namespace(o.Namespace)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), write.Timeout)
		defer cancel()
		_, err := at.Patch(ctx, o.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
}

// holdDying does so for an object that is deleted already.
func holdDying(t *testing.T, o *plan.Object) {
	t.Helper()
	hold(t, o)
	remove(t, o)
	o.ResourceVersion = get(t, o.GVR, o.Namespace, o.Name).GetResourceVersion()
}

// TestGuardsOfDeletions holds what a deletion is answered with, that one from a
// snapshot that is out of date deletes nothing, and what the caches must show.
func TestGuardsOfDeletions(t *testing.T) {
	alongside(t)
	// What is left of the object: its state, or that it is gone.
	same, another, none := "same", "another", absent
	tests := map[string]struct {
		reason string
		change func(*testing.T, *plan.Object)
		want   write.Class
		left   string
		gone   bool // of the echo
		live   bool // of the echo: it has the version of what is left
	}{
		"Fresh":     {"Nothing changed since the snapshot.", func(*testing.T, *plan.Object) {}, write.Written, none, true, false},
		"Stale":     {"Somebody changed the object.", touch, write.Stale, same, false, true},
		"WrongUID":  {"The uid alone is wrong.", func(_ *testing.T, o *plan.Object) { o.UID = wrongUID }, write.Stale, another, true, false},
		"Recreated": {"Another object has the name now.", recreate, write.Stale, another, true, false},
		"Deleted":   {"What is wanted is so. The caches have to notice.", remove, write.Unchanged, none, true, false},
		"Held":      {"A finalizer delays the end: it is there with a deletionTimestamp.", hold, write.Written, same, true, true},
		"Again":     {"To delete once more what is going changes nothing.", holdDying, write.Written, same, true, true},
	}
	for kind, k := range kinds {
		for change, c := range tests {
			t.Run(kind+"/"+change, func(t *testing.T) {
				namespace := cluster(t).Namespace(t)
				operation := operationOn(create(t, k.gvr, namespace, k.manifest), k.gvr, plan.Delete)
				operation.Body = plan.Deletion{PropagationPolicy: "Background"}
				c.change(t, &operation.Target)
				result := writer(t).Write(t.Context(), operation)
				if result.Class != c.want || (result.Err != nil) != c.want.Failed() {
					t.Fatalf("%s got %q, want %q: %v", c.reason, result.Class, c.want, result.Err)
				}
				want := operation.Target
				want.ResourceVersion = ""
				left := none
				if state(t, operation.Target) != absent {
					live := get(t, k.gvr, namespace, "basic")
					left = another
					if live.GetUID() == operation.Target.UID {
						left = same
					}
					if c.live {
						want.ResourceVersion = live.GetResourceVersion()
					}
				}
				if left != c.left {
					t.Errorf("%s left is %s, want %s", c.reason, left, c.left)
				}
				if diff := cmp.Diff(&write.Echo{Object: want, Gone: c.gone}, result.Echo); diff != "" {
					t.Errorf("%s echo (-want +got):\n%s", c.reason, diff)
				}
			})
		}
	}
}

// TestGuardsOfPodDeletions holds how grace is given and cut short: a Pod on a node
// is not gone at once.
func TestGuardsOfPodDeletions(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	gvr := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	operation := operationOn(create(t, gvr, namespace, `{apiVersion: v1, kind: Pod, metadata: {name: a},
		spec: {nodeName: none, automountServiceAccountToken: false, containers: [{name: c, image: x}]}}`), gvr, plan.Delete)
	for _, step := range []struct {
		reason string
		grace  int64
		left   any
	}{
		{"The grace is that which was asked for.", 60, int64(60)},
		{"It can be made shorter; the version says that the caches have seen that.", 20, int64(20)},
		{"Without any the Pod is gone.", 0, nil},
	} {
		operation.Body = plan.Deletion{GracePeriodSeconds: &step.grace}
		result := writer(t).Write(t.Context(), operation)
		if result.Class != write.Written || result.Echo == nil || !result.Echo.Gone {
			t.Fatalf("%s got %q (%v), echo %+v", step.reason, result.Class, result.Err, result.Echo)
		}
		if step.left == nil {
			if got := state(t, operation.Target); got != absent || result.Echo.Object.ResourceVersion != "" {
				t.Errorf("%s it is %s, the echo %+v, the answer %v", step.reason, got, result.Echo, result.Object)
			}
			break
		}
		live := get(t, gvr, namespace, "a")
		if got := field(live, "metadata", "deletionGracePeriodSeconds"); got != step.left || result.Echo.Object.ResourceVersion != live.GetResourceVersion() {
			t.Errorf("%s left are %v s, the echo is %+v, the version %s", step.reason, got, result.Echo, live.GetResourceVersion())
		}
		operation.Target.ResourceVersion = live.GetResourceVersion()
	}
}

// TestGuardsOfTheLastFinalizer holds what a patch is answered with that ends an
// object: the object as it would have been, under the version that it had.
func TestGuardsOfTheLastFinalizer(t *testing.T) {
	alongside(t)
	bodies := map[plan.Type]any{
		plan.Merge: decode(t, letGo),
		plan.JSON:  []any{map[string]any{"op": "remove", "path": "/metadata/finalizers"}},
		plan.Apply: map[string]any{},
	}
	for kind, k := range kinds {
		for patch, body := range bodies {
			t.Run(kind+"/"+string(patch), func(t *testing.T) {
				namespace := cluster(t).Namespace(t)
				operation := operationOn(create(t, k.gvr, namespace, k.manifest), k.gvr, patch)
				operation.Body = body
				if patch == plan.Apply {
					applyAs(operation.Manager, held)(t, &operation.Target)
				} else {
					hold(t, &operation.Target)
				}
				remove(t, &operation.Target)
				operation.Target.ResourceVersion = get(t, k.gvr, namespace, "basic").GetResourceVersion()
				result := writer(t).Write(t.Context(), operation)
				want := operation.Target
				want.ResourceVersion = ""
				if diff := cmp.Diff(&write.Echo{Object: want, Gone: true}, result.Echo); result.Class != write.Written || diff != "" {
					t.Errorf("got %q (%v), echo (-want +got):\n%s", result.Class, result.Err, diff)
				}
				if version := decoded(result, "metadata", "resourceVersion"); version != operation.Target.ResourceVersion {
					t.Errorf("the answer has the version %v, the request had %s", version, operation.Target.ResourceVersion)
				}
				if finalizers := decoded(result, "metadata", "finalizers"); finalizers != nil {
					t.Errorf("the answer has the finalizers %v", finalizers)
				}
				if got := state(t, operation.Target); got != absent {
					t.Errorf("it is %s", got)
				}
			})
		}
	}
}

// TestGuardsOfTheDying holds that patches of what is being deleted and stays are
// told from those that end it.
func TestGuardsOfTheDying(t *testing.T) {
	alongside(t)
	k := kinds["ConfigMap"]
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	const pod = `{apiVersion: v1, kind: Pod, metadata: {name: basic}, spec: {nodeName: none, automountServiceAccountToken: false, containers: [{name: c, image: x}]}}`
	tests := map[string]struct {
		reason   string
		gvr      schema.GroupVersionResource
		manifest string
		prepare  func(*testing.T, *plan.Object)
		body     string
		want     write.Class
	}{
		"Unchanged":      {"Nothing changes.", k.gvr, k.manifest, holdDying, `{data: {a: "1"}}`, write.Unchanged},
		"Changed":        {"A field changes.", k.gvr, k.manifest, holdDying, `{data: {a: "2"}}`, write.Written},
		"GraceUnchanged": {"A Pod in its grace has no finalizer either, and stays.", pods, pod, grace, `{metadata: {generateName: null}}`, write.Unchanged},
		"GraceHeld":      {"Without its finalizer it stays too.", pods, pod, holdDying, letGo, write.Written},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			operation := operationOn(create(t, tc.gvr, cluster(t).Namespace(t), tc.manifest), tc.gvr, plan.Merge)
			operation.Body = decode(t, tc.body)
			tc.prepare(t, &operation.Target)
			result := writer(t).Write(t.Context(), operation)
			if result.Class != tc.want || result.Echo != nil && result.Echo.Gone {
				t.Errorf("%s got %q (%v), echo %+v", tc.reason, result.Class, result.Err, result.Echo)
			}
			if live := get(t, tc.gvr, operation.Target.Namespace, "basic"); result.Echo != nil && result.Echo.Object.ResourceVersion != live.GetResourceVersion() {
				t.Errorf("%s the echo is %+v, the version %s", tc.reason, result.Echo, live.GetResourceVersion())
			}
		})
	}
}

func grace(t *testing.T, o *plan.Object) {
	t.Helper()
	remove(t, o)
	o.ResourceVersion = get(t, o.GVR, o.Namespace, o.Name).GetResourceVersion()
}

// decoded is a field of what came back.
func decoded(result write.Result, path ...string) any {
	var value any = result.Object
	for _, key := range path {
		fields, isMap := value.(map[string]any)
		if !isMap {
			return fmt.Sprintf("no map at %s", key)
		}
		value = fields[key]
	}
	return value
}

// TestGuardsOfDryRunsInTheQuery holds why a dry run of a deletion says so in its
// body: beside one, the API server does not read the query.
func TestGuardsOfDryRunsInTheQuery(t *testing.T) {
	alongside(t)
	config := dynamic.ConfigFor(cluster(t).RESTConfig())
	raw, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	k := kinds["ConfigMap"]
	target := operationOn(create(t, k.gvr, cluster(t).Namespace(t), k.manifest), k.gvr, plan.Delete).Target
	err = raw.Delete().AbsPath("api", "v1", "namespaces", target.Namespace, "configmaps", target.Name).
		SetHeader("Content-Type", "application/json").Param("dryRun", "All").
		Body([]byte(`{"apiVersion":"v1","kind":"DeleteOptions"}`)).Do(t.Context()).Error()
	if err != nil {
		t.Fatal(err)
	}
	if got := state(t, target); got != absent {
		t.Errorf("it is %s: the query counts, too", got)
	}
}
