package write_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

var target = plan.Object{
	GVR:  schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"},
	Kind: "Widget", Namespace: "ns", Name: "a", UID: "u", ResourceVersion: "7",
}

func TestNewRequest(t *testing.T) {
	clusterScoped := target
	clusterScoped.Namespace = ""
	tests := map[string]struct {
		reason    string
		operation plan.Operation
		want      string
	}{
		"Merge": {
			reason:    "The guards join what the body says of the metadata.",
			operation: plan.Operation{Target: target, Type: plan.Merge, Body: map[string]any{"metadata": map[string]any{"labels": map[string]any{"x": "1"}}}},
			want:      `{"metadata":{"labels":{"x":"1"},"resourceVersion":"7","uid":"u"}}`,
		},
		"JSON": {
			reason:    "The guards come first, so that a stale patch fails before it is looked at.",
			operation: plan.Operation{Target: target, Type: plan.JSON, Body: []any{map[string]any{"op": "remove", "path": "/spec/a"}}},
			want: `[{"op":"replace","path":"/metadata/resourceVersion","value":"7"},` +
				`{"op":"replace","path":"/metadata/uid","value":"u"},{"op":"remove","path":"/spec/a"}]`,
		},
		"Apply": {
			reason:    "Server-side apply wants to know what it applies.",
			operation: plan.Operation{Target: target, Type: plan.Apply, Body: map[string]any{"spec": map[string]any{"a": int64(1)}}},
			want: `{"apiVersion":"example.com/v1","kind":"Widget",` +
				`"metadata":{"name":"a","namespace":"ns","resourceVersion":"7","uid":"u"},"spec":{"a":1}}`,
		},
		"ApplyClusterScoped": {
			reason:    "A cluster-scoped object has no namespace, not an empty one.",
			operation: plan.Operation{Target: clusterScoped, Type: plan.Apply, Body: map[string]any{}},
			want:      `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","resourceVersion":"7","uid":"u"}}`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			request, err := write.NewRequest(tc.operation)
			if err != nil {
				t.Fatal(err)
			}
			data, err := request.Data()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(data)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNewRequestLeavesTheOperationAlone(t *testing.T) {
	metadata := map[string]any{"labels": map[string]any{"x": "1"}}
	if _, err := write.NewRequest(plan.Operation{Target: target, Type: plan.Merge, Body: map[string]any{"metadata": metadata}}); err != nil {
		t.Fatal(err)
	}
	if len(metadata) != 1 {
		t.Errorf("the guards were written into the plan: %v", metadata)
	}
}

func TestNewRequestWantsGuards(t *testing.T) {
	for name, change := range map[string]func(*plan.Object){
		"NoUID":             func(o *plan.Object) { o.UID = "" },
		"NoResourceVersion": func(o *plan.Object) { o.ResourceVersion = "" },
	} {
		t.Run(name, func(t *testing.T) {
			unguarded := target
			change(&unguarded)
			operation := plan.Operation{Target: unguarded, Type: plan.Merge, Body: map[string]any{}}
			if _, err := write.NewRequest(operation); err == nil {
				t.Error("an unguarded write was accepted")
			}
			if result := (write.ClientDryRun{}).Write(t.Context(), operation); result.Class != write.Terminal {
				t.Errorf("a dry run of it is %s", result.Class)
			}
		})
	}
}

// TestNewRequestRefusesWhatItCannotDo holds that nothing else is done in place of
// an operation that is not built.
func TestNewRequestRefusesWhatItCannotDo(t *testing.T) {
	fields := map[string]any{"spec": map[string]any{"a": int64(1)}}
	for name, tc := range map[string]struct {
		operation plan.Operation
		want      string
	}{
		"Create":   {plan.Operation{Type: plan.Create, Body: fields}, `an operation of type "create" is not supported yet`},
		"Delete":   {plan.Operation{Type: plan.Delete, Body: plan.Deletion{}}, `an operation of type "delete" is not supported yet`},
		"Finalize": {plan.Operation{Type: plan.Finalize, Body: plan.Finalizer{Name: "f"}}, `an operation of type "finalizer" is not supported yet`},
		"Unknown":  {plan.Operation{Type: "strategic", Body: fields}, `an operation of type "strategic" is unknown`},
		"Confirm": {
			plan.Operation{Type: plan.Apply, Body: fields, Confirm: []plan.Read{{By: plan.ByName}}},
			"a write that a live read must confirm is not supported yet",
		},
		"WrongBody": {plan.Operation{Type: plan.JSON, Body: fields}, `a body of type map[string]interface {} is not a patch of type "json"`},
	} {
		t.Run(name, func(t *testing.T) {
			tc.operation.Target = target
			want := "writing widgets ns/a: " + tc.want
			if _, err := write.NewRequest(tc.operation); err == nil || err.Error() != want {
				t.Errorf("want the error %q, got %v", want, err)
			}
			if result := (write.ClientDryRun{}).Write(t.Context(), tc.operation); result.Class != write.Terminal {
				t.Errorf("a dry run of it is %s", result.Class)
			}
		})
	}
}
