package e2e

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestGuardsOfCreates holds that what makes an object only ever makes one, and what
// it is told where it cannot.
func TestGuardsOfCreates(t *testing.T) {
	alongside(t)
	exists := func(t *testing.T, o *plan.Object, manifest string) { create(t, o.GVR, o.Namespace, manifest) }
	tests := map[string]struct {
		reason  string
		prepare func(t *testing.T, o *plan.Object, manifest string)
		creates write.Class // by POST
		applies write.Class // by a create-only apply
	}{
		"New": {
			"Nothing has the name.",
			func(*testing.T, *plan.Object, string) {}, write.Written, write.Written,
		},
		"There": {
			"Something has the name. It is left alone.",
			exists, write.Taken, write.Stale,
		},
		"OwnedByAnother": {
			"Whose fields they are does not matter.",
			func(t *testing.T, o *plan.Object, manifest string) {
				live := create(t, o.GVR, o.Namespace, manifest)
				target := operationOn(live, o.GVR, plan.Apply).Target
				applyAs("rival", `{metadata: {labels: {made: by-a-rival}}}`)(t, &target)
			}, write.Taken, write.Stale,
		},
		"Going": {
			"Something is on its way and has the name still.",
			func(t *testing.T, o *plan.Object, manifest string) {
				target := operationOn(create(t, o.GVR, o.Namespace, manifest), o.GVR, plan.Apply).Target
				holdDying(t, &target)
			}, write.Taken, write.Stale,
		},
		"Gone": {
			"Something had the name.",
			func(t *testing.T, o *plan.Object, manifest string) {
				create(t, o.GVR, o.Namespace, manifest)
				remove(t, o)
			}, write.Written, write.Written,
		},
		"NoNamespace": {
			"There is no such namespace: no fresh snapshot brings it.",
			func(_ *testing.T, o *plan.Object, _ string) { o.Namespace = "nowhere" }, write.Terminal, write.Terminal,
		},
		"NamespaceGoing": {
			"The namespace is on its way: that is not to be tried again and again.",
			func(t *testing.T, o *plan.Object, _ string) {
				kept := operationOn(create(t, configmaps, o.Namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: kept}}`), configmaps, plan.Merge).Target
				hold(t, &kept)
				remove(t, &plan.Object{GVR: namespacesGVR, Name: o.Namespace})
			}, write.Terminal, write.Terminal,
		},
	}
	for kind, k := range kinds {
		for name, tc := range tests {
			for patch, want := range map[plan.Type]write.Class{plan.Create: tc.creates, plan.Apply: tc.applies} {
				t.Run(kind+"/"+name+"/"+string(patch), func(t *testing.T) {
					operation := making(t, kind, patch, cluster(t).Namespace(t))
					tc.prepare(t, &operation.Target, k.manifest)
					setNamespace(&operation)
					before := state(t, operation.Target)
					result := writer(t).Write(t.Context(), operation)
					if result.Class != want {
						t.Fatalf("%s got %q, want %q: %v", tc.reason, result.Class, want, result.Err)
					}
					after := state(t, operation.Target)
					if (after == before) == (want == write.Written) {
						t.Errorf("%s was %q, is %q", tc.reason, before, after)
					}
					echoes(t, tc.reason, result, after)
				})
			}
		}
	}
}

// making is a request for a new object of the kind.
func making(t *testing.T, kind string, patch plan.Type, namespace string) plan.Operation {
	t.Helper()
	body := decode(t, kinds[kind].manifest)
	operation := plan.Operation{
		Type: patch, Manager: plan.FieldManager, Body: body,
		Target: plan.Object{GVR: kinds[kind].gvr, Kind: kind, Namespace: namespace, Name: "basic"},
	}
	return operation
}

func setNamespace(operation *plan.Operation) {
	of := unstructured.Unstructured{Object: operation.Body.(map[string]any)}
	of.SetNamespace(operation.Target.Namespace)
}

// echoes holds that the caches are to show what is there, where something is.
func echoes(t *testing.T, reason string, result write.Result, state string) {
	t.Helper()
	switch {
	case result.Class == write.Terminal:
		if result.Echo != nil {
			t.Errorf("%s the echo is %+v", reason, result.Echo)
		}
	case result.Echo == nil:
		t.Errorf("%s there is no echo", reason)
	default:
		if object := result.Echo.Object; string(object.UID)+" "+object.ResourceVersion != state || object.Name != "basic" || result.Echo.Gone {
			t.Errorf("%s the echo is %+v, the object %s", reason, result.Echo, state)
		}
	}
	if _, has := result.Object["metadata"]; has == (result.Class == write.Terminal) {
		t.Errorf("%s the object is %v", reason, result.Object)
	}
}

// TestGuardsOfGeneratedNames holds that the API server chooses a name where nobody
// else has.
func TestGuardsOfGeneratedNames(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	operation := making(t, "ConfigMap", plan.Create, namespace)
	operation.Target.Name = ""
	operation.Body = decode(t, `{apiVersion: v1, kind: ConfigMap, metadata: {generateName: made-, namespace: `+namespace+`}}`)
	result := writer(t).Write(t.Context(), operation)
	if result.Class != write.Written || result.Echo == nil {
		t.Fatalf("got %q: %v", result.Class, result.Err)
	}
	live := get(t, configmaps, namespace, result.Echo.Object.Name)
	if !strings.HasPrefix(live.GetName(), "made-") || live.GetUID() != result.Echo.Object.UID || live.GetResourceVersion() != result.Echo.Object.ResourceVersion {
		t.Errorf("the echo is %+v", result.Echo)
	}
}

// TestGuardsOfUnknownFields holds that they are refused by name, whatever makes the
// object.
func TestGuardsOfUnknownFields(t *testing.T) {
	alongside(t)
	for kind := range kinds {
		for _, patch := range []plan.Type{plan.Create, plan.Apply} {
			t.Run(kind+"/"+string(patch), func(t *testing.T) {
				operation := making(t, kind, patch, cluster(t).Namespace(t))
				setNamespace(&operation)
				operation.Body.(map[string]any)["sepc"] = map[string]any{"a": "hunter2"}
				result := writer(t).Write(t.Context(), operation)
				if result.Class != write.Terminal || !strings.Contains(result.Err.Error(), "sepc") || strings.Contains(result.Err.Error(), "hunter2") {
					t.Errorf("got %q: %v", result.Class, result.Err)
				}
				if !strings.HasPrefix(result.Err.Error(), "creating ") {
					t.Errorf("got %v", result.Err)
				}
			})
		}
	}
}

// TestGuardsOfDryRuns holds that nothing is made or deleted, and that what would be
// refused is.
func TestGuardsOfDryRuns(t *testing.T) {
	alongside(t)
	client, err := write.NewClient(cluster(t).RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	dryRun := client.DryRun()
	for kind, k := range kinds {
		t.Run(kind, func(t *testing.T) {
			namespace := cluster(t).Namespace(t)
			for _, patch := range []plan.Type{plan.Create, plan.Apply} {
				operation := making(t, kind, patch, namespace)
				setNamespace(&operation)
				if result := dryRun.Write(t.Context(), operation); result.Class != write.Simulated || result.Echo != nil {
					t.Errorf("%s: got %+v", patch, result)
				}
				if got := state(t, operation.Target); got != absent {
					t.Errorf("%s: it is %s", patch, got)
				}
			}
			operation := operationOn(create(t, k.gvr, namespace, k.manifest), k.gvr, plan.Delete)
			operation.Body = plan.Deletion{}
			before := state(t, operation.Target)
			if result := dryRun.Write(t.Context(), operation); result.Class != write.Simulated || result.Echo != nil {
				t.Errorf("delete: got %+v", result)
			}
			if after := state(t, operation.Target); after != before {
				t.Errorf("delete: was %q, is %q", before, after)
			}
			touch(t, &operation.Target)
			if result := dryRun.Write(t.Context(), operation); result.Class != write.Stale {
				t.Errorf("a stale deletion: got %+v", result)
			}
			again := making(t, kind, plan.Create, namespace)
			setNamespace(&again)
			if result := dryRun.Write(t.Context(), again); result.Class != write.Taken {
				t.Errorf("what is there: got %+v", result)
			}
		})
	}
}
