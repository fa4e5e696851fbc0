package naming_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/engine/naming"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

func TestRandom(t *testing.T) {
	for _, prefix := range []string{"a-", "", strings.Repeat("x", 58), strings.Repeat("x", 253)} {
		name := naming.Random(prefix)
		if len(name) > validation.DNS1123LabelMaxLength || !strings.HasPrefix(name, prefix[:min(len(prefix), 58)]) {
			t.Errorf("%q becomes %q", prefix, name)
		}
		if name == naming.Random(prefix) {
			t.Errorf("%q becomes %q twice", prefix, name)
		}
	}
}

// creating is an operation that creates an object of a rule with this metadata.
func creating(rule, namespace string, metadata map[string]any) plan.Operation {
	return plan.Operation{
		Type: plan.Create, Rules: []plan.Rule{{Set: "s", Name: rule}},
		Target: plan.Object{GVR: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Namespace: namespace},
		Body:   map[string]any{"metadata": metadata, "data": map[string]any{}},
	}
}

// TestWith holds that only an object without a name gets one, and that the plan keeps the operation as it was.
func TestWith(t *testing.T) {
	operation := creating("r", "ns", map[string]any{"generateName": "x-"})
	named := naming.With(operation, "x-1")
	if naming.Prefix(operation) != "x-" || naming.Prefix(named) != "" || naming.Prefix(plan.Operation{Type: plan.Delete}) != "" {
		t.Errorf("the prefixes are %q, %q", naming.Prefix(operation), naming.Prefix(named))
	}
	want := map[string]any{"metadata": map[string]any{"generateName": "x-", "name": "x-1"}, "data": map[string]any{}}
	if diff := cmp.Diff(want, named.Body); diff != "" || named.Target.Name != "x-1" {
		t.Errorf("it is called %q (-want +got):\n%s", named.Target.Name, diff)
	}
}

// TestUnresolved holds that a name is used again once, the oldest first, and for the like only.
func TestUnresolved(t *testing.T) {
	var names naming.Unresolved
	asked := map[string]any{"generateName": "x-"}
	for _, name := range []string{"x-1", "x-2"} {
		names.Keep("x-", naming.With(creating("r", "ns", asked), name))
	}
	for _, other := range []plan.Operation{creating("another", "ns", asked), creating("r", "elsewhere", asked)} {
		if name := names.Take("x-", other); name != "" {
			t.Errorf("%v has %q", other.Rules, name)
		}
	}
	if name := names.Take("y-", creating("r", "ns", asked)); name != "" {
		t.Errorf("another prefix has %q", name)
	}
	for _, want := range []string{"x-1", "x-2", ""} {
		if name := names.Take("x-", creating("r", "ns", asked)); name != want {
			t.Errorf("have %q, want %q", name, want)
		}
	}
}
