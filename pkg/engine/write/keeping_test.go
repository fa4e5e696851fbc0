package write_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
)

// TestKeeping holds how much of an answer a result has, and that what the writer itself looks at is among it.
func TestKeeping(t *testing.T) {
	namespace := plan.Object{
		GVR: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, Kind: "Namespace", Name: "a", UID: "u", ResourceVersion: "7",
	}
	const identity = `"name":"a","uid":"u","resourceVersion":"8"`
	metadata := map[string]any{"name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "8"}
	tests := map[string]struct {
		reason string
		client func(*rest.Config) (*write.Client, error)
		target plan.Object
		answer string
		want   write.Result
	}{
		"Kept": {
			reason: "Nobody looks at what the fields do not have.",
			client: write.NewClient, target: target,
			answer: `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"namespace":"ns",` + identity + `},"spec":{"size":1}}`,
			want: write.Result{
				Class: write.Written, Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata},
				Echo: &write.Echo{Object: later(target)},
			},
		},
		"Namespace": {
			reason: "Finalizers in its spec keep it from being gone.",
			client: write.NewClient, target: namespace,
			answer: `{"apiVersion":"v1","kind":"Namespace","metadata":{` + identity + `,"deletionTimestamp":"2026-01-01T00:00:00Z"},` +
				`"spec":{"finalizers":["kubernetes"]}}`,
			want: write.Result{
				Class: write.Written, Echo: &write.Echo{Object: later(namespace)},
				Object: map[string]any{
					"apiVersion": "v1", "kind": "Namespace", "spec": map[string]any{"finalizers": []any{"kubernetes"}},
					"metadata": map[string]any{"name": "a", "uid": "u", "resourceVersion": "8", "deletionTimestamp": "2026-01-01T00:00:00Z"},
				},
			},
		},
		"DryRun": {
			reason: "People are shown all of what would be.",
			client: newDryRun, target: target,
			answer: `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"namespace":"ns",` + identity + `},"spec":{"size":1}}`,
			want: write.Result{Class: write.Simulated, Object: map[string]any{
				"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, "spec": map[string]any{"size": int64(1)},
			}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client, err := tc.client(&rest.Config{Host: "http://localhost", Transport: answering{[]byte(tc.answer)}})
			if err != nil {
				t.Fatal(err)
			}
			o := operation(plan.Merge, map[string]any{})
			o.Target = tc.target
			if diff := cmp.Diff(tc.want, client.Write(live.Keeping(t.Context(), projection.New()), o)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// later is an object in its next version.
func later(object plan.Object) plan.Object {
	object.ResourceVersion = "8"
	return object
}
