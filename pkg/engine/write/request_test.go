package write_test

import (
	"encoding/json"
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
	grace := int64(5)
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
		"ApplyNew": {
			reason:    "An apply to what is not there can only make it.",
			operation: plan.Operation{Target: absent(target), Type: plan.Apply, Body: map[string]any{"spec": map[string]any{"a": int64(1)}}},
			want: `{"apiVersion":"example.com/v1","kind":"Widget",` +
				`"metadata":{"name":"a","namespace":"ns","resourceVersion":"1"},"spec":{"a":1}}`,
		},
		"Create": {
			reason:    "A new object is sent as it is written: a create can do nothing else.",
			operation: plan.Operation{Target: absent(target), Type: plan.Create, Body: map[string]any{"metadata": map[string]any{"name": "a"}}},
			want:      `{"metadata":{"name":"a"}}`,
		},
		"CreateUnnamed": {
			reason: "The API server may choose the name.",
			operation: plan.Operation{
				Target: plan.Object{GVR: target.GVR, Namespace: "ns"}, Type: plan.Create,
				Body: map[string]any{"metadata": map[string]any{"generateName": "a-"}},
			},
			want: `{"metadata":{"generateName":"a-"}}`,
		},
		"Delete": {
			reason:    "Both guards are preconditions; what is not given is the API server's choice.",
			operation: plan.Operation{Target: target, Type: plan.Delete, Body: plan.Deletion{}},
			want:      `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u","resourceVersion":"7"}}`,
		},
		"DeleteGracefully": {
			reason:    "What is given is passed on, a grace of zero too.",
			operation: plan.Operation{Target: target, Type: plan.Delete, Body: plan.Deletion{GracePeriodSeconds: &grace, PropagationPolicy: "Orphan"}},
			want: `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":5,` +
				`"preconditions":{"uid":"u","resourceVersion":"7"},"propagationPolicy":"Orphan"}`,
		},
		"DeleteAtOnce": {
			reason:    "No grace is a grace.",
			operation: plan.Operation{Target: target, Type: plan.Delete, Body: plan.Deletion{GracePeriodSeconds: new(int64)}},
			want:      `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"preconditions":{"uid":"u","resourceVersion":"7"}}`,
		},
		"Confirmed": {
			reason:    "What a live read must confirm is the engine's business.",
			operation: plan.Operation{Target: target, Type: plan.Delete, Body: plan.Deletion{}, Confirm: []plan.Read{{By: plan.ByName}}},
			want:      `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u","resourceVersion":"7"}}`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			request, err := write.NewRequest(tc.operation)
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(request.Body)
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

// absent is the object before it is there.
func absent(object plan.Object) plan.Object {
	object.UID, object.ResourceVersion = "", ""
	return object
}

// TestNewRequestForce holds that only what cannot take a field from anybody is forced
// unasked.
func TestNewRequestForce(t *testing.T) {
	fields := map[string]any{"metadata": map[string]any{"name": "a"}}
	for name, tc := range map[string]struct {
		operation plan.Operation
		want      bool
	}{
		"Asked":   {plan.Operation{Target: target, Type: plan.Apply, Force: true}, true},
		"Unasked": {plan.Operation{Target: target, Type: plan.Apply}, false},
		"New":     {plan.Operation{Target: absent(target), Type: plan.Apply}, true},
	} {
		t.Run(name, func(t *testing.T) {
			tc.operation.Body = fields
			request, err := write.NewRequest(tc.operation)
			if err != nil || request.Force != tc.want {
				t.Errorf("got %v (%v), want %v", request.Force, err, tc.want)
			}
		})
	}
}

// TestNewRequestRefuses holds that nothing is sent without what guards it, and that
// nothing else is done in place of an operation that cannot be.
func TestNewRequestRefuses(t *testing.T) {
	fields := map[string]any{"metadata": map[string]any{"name": "a"}}
	half := func(change func(*plan.Object)) plan.Object {
		object := target
		change(&object)
		return object
	}
	noUID := half(func(o *plan.Object) { o.UID = "" })
	noVersion := half(func(o *plan.Object) { o.ResourceVersion = "" })
	const unguarded = "what exists is written with its uid and resourceVersion, and what is new has neither"
	for name, tc := range map[string]struct {
		target    plan.Object
		operation plan.Operation
		want      string
	}{
		"NoUID":             {noUID, plan.Operation{Type: plan.Merge, Body: fields}, "writing widgets ns/a: " + unguarded},
		"NoVersion":         {noVersion, plan.Operation{Type: plan.Merge, Body: fields}, "writing widgets ns/a: " + unguarded},
		"NoVersionStatus":   {noVersion, plan.Operation{Type: plan.Merge, Body: fields, Subresource: "status"}, "writing status of widgets ns/a: " + unguarded},
		"NoVersionApply":    {noVersion, plan.Operation{Type: plan.Apply, Body: fields}, "writing widgets ns/a: " + unguarded},
		"NoVersionDelete":   {noVersion, plan.Operation{Type: plan.Delete, Body: plan.Deletion{}}, "deleting widgets ns/a: " + unguarded},
		"AbsentDelete":      {absent(target), plan.Operation{Type: plan.Delete, Body: plan.Deletion{}}, "deleting widgets ns/a: " + unguarded},
		"NoUIDApply":        {noUID, plan.Operation{Type: plan.Apply, Body: fields}, "creating widgets ns/a: " + unguarded},
		"CreateWhatIsThere": {target, plan.Operation{Type: plan.Create, Body: fields}, "creating widgets ns/a: " + unguarded},
		"Finalize":          {target, plan.Operation{Type: plan.Finalize, Body: plan.Finalizer{Name: "f"}}, `writing widgets ns/a: an operation of type "finalizer" cannot be sent`},
		"Unknown":           {target, plan.Operation{Type: "strategic", Body: fields}, `writing widgets ns/a: an operation of type "strategic" cannot be sent`},
	} {
		t.Run(name, func(t *testing.T) {
			tc.operation.Target = tc.target
			if _, err := write.NewRequest(tc.operation); err == nil || err.Error() != tc.want {
				t.Errorf("want the error %q, got %v", tc.want, err)
			}
			if result := (write.ClientDryRun{}).Write(t.Context(), tc.operation); result.Class != write.Terminal {
				t.Errorf("a dry run of it is %s", result.Class)
			}
		})
	}
}
