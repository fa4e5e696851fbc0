package scenario

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
)

// TestNamesDoNotDependOnOthers holds that who asks first does not decide who gets which
// name: in the reversed order of the queue the same objects must come about.
func TestNamesDoNotDependOnOthers(t *testing.T) {
	key := func(name string) engine.Key {
		return engine.Key{GVR: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Namespace: "a", Name: name}
	}
	ask := func(names ...string) map[string][]string {
		n, out := namer{}, map[string][]string{}
		for _, name := range names {
			out[name] = append(out[name], n.next(key(name), "job-"))
		}
		return out
	}
	one, two := ask("x", "y", "x"), ask("y", "x", "x")
	for _, name := range []string{"x", "y"} {
		for i := range one[name] {
			if one[name][i] != two[name][i] {
				t.Errorf("%s gets %v, and in another order %v", name, one[name], two[name])
			}
		}
	}
	if one["x"][0] == one["y"][0] || one["x"][0] == one["x"][1] {
		t.Errorf("two objects have one name: %v", one)
	}
}
