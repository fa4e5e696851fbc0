package hostile_test

import (
	"strings"
	"testing"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/test/hostile"
)

// TestSchemas holds that the schemas are as wide and as deep as they are said to be, and know the object.
func TestSchemas(t *testing.T) {
	known := hostile.Schemas()
	of := func(name string) apischema.GroupVersionResource {
		return apischema.GroupVersionResource{Group: "hostile.test", Version: "v1", Resource: name}
	}
	r := known.Resource(of("things"))
	if r == nil || known.Resource(of("things")) != r || known.Resource(of("things1")).Type == r.Type {
		t.Fatal("each resource has a type of its own")
	}
	if known.Resource(apischema.GroupVersionResource{Version: "v1", Resource: "pods"}) != nil {
		t.Error("other groups are known too")
	}
	for path, want := range map[string]int{
		"spec.wide": 50_000, "spec.needs": 50_000, "spec.tree": 20, "spec.tree.branch1.branch2": 20, "spec.small": 2,
		"spec.deep" + strings.Repeat(".next", 90): 1, "spec.deep" + strings.Repeat(".next", 91): 0,
	} {
		at := r.Type
		for step := range strings.SplitSeq(path, ".") {
			f, _ := at.Field(step)
			at = f.Type
		}
		if got := len(at.Names()); got != want {
			t.Errorf("%s has %d fields, want %d", path, got, want)
		}
	}
	spec, _ := r.Type.Field("spec")
	if some, _ := spec.Type.Field("some"); len(some.Type.Items().Names()) != 1_000 {
		t.Errorf("the elements of spec.some have %d fields", len(some.Type.Items().Names()))
	}
	small, _ := spec.Type.Field("small")
	if object, _ := hostile.Object()["spec"].(map[string]any); small.Type.Validate(object["small"], 0) != nil {
		t.Errorf("the object is wrong: %v", small.Type.Validate(object["small"], 0))
	}
}
