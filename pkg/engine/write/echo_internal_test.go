package write

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestEnded holds which answers to a patch are the last that is seen of an object.
func TestEnded(t *testing.T) {
	metadata := func(pairs ...any) map[string]any {
		out := map[string]any{"resourceVersion": "7", "deletionTimestamp": "2026-01-01T00:00:00Z"}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i].(string)] = pairs[i+1]
		}
		return out
	}
	tests := map[string]struct {
		reason   string
		resource string // default: pods
		answer   map[string]any
		want     bool
	}{
		"Ended":       {"Nothing keeps it, and it was not stored.", "", map[string]any{"metadata": metadata()}, true},
		"NoVersion":   {"It may come back without a version.", "", map[string]any{"metadata": metadata("resourceVersion", "")}, true},
		"NoGrace":     {"A grace that is over keeps nothing.", "", map[string]any{"metadata": metadata("deletionGracePeriodSeconds", int64(0))}, true},
		"NoneLeft":    {"An empty list holds nothing.", "", map[string]any{"metadata": metadata("finalizers", []any{})}, true},
		"Living":      {"It is not being deleted.", "", map[string]any{"metadata": metadata("deletionTimestamp", nil)}, false},
		"Stored":      {"It has a new version.", "", map[string]any{"metadata": metadata("resourceVersion", "8")}, false},
		"Held":        {"A finalizer keeps it.", "", map[string]any{"metadata": metadata("finalizers", []any{"x"})}, false},
		"Grace":       {"Its grace keeps it.", "", map[string]any{"metadata": metadata("deletionGracePeriodSeconds", int64(30))}, false},
		"Namespace":   {"What is in a namespace keeps it.", "namespaces", map[string]any{"metadata": metadata(), "spec": map[string]any{"finalizers": []any{"kubernetes"}}}, false},
		"NamespaceOf": {"Until it is empty.", "namespaces", map[string]any{"metadata": metadata(), "spec": map[string]any{}}, true},
		"OtherSpec":   {"Such a field means nothing elsewhere.", "", map[string]any{"metadata": metadata(), "spec": map[string]any{"finalizers": []any{"x"}}}, true},
		"Odd":         {"What is malformed is not over.", "", map[string]any{"metadata": []any{}}, false},
		"Nothing":     {"Nor is no object.", "", nil, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			target := plan.Object{GVR: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, Name: "a", UID: "u", ResourceVersion: "7"}
			if tc.resource != "" {
				target.GVR.Resource = tc.resource
			}
			if got := Ended(target, &unstructured.Unstructured{Object: tc.answer}); got != tc.want {
				t.Errorf("%s got %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}
