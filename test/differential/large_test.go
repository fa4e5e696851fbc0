package differential

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestTooLarge holds that a write of an object that a real API server can never store is not tried again and again, and so keeps no other
// child of its rule from being made: etcd refuses it, or the API server cannot send it there, or does not read it. The first two are a 500.
func TestTooLarge(t *testing.T) {
	client, err := write.NewClient(control.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	namespace := control.Namespace(t)
	for size, told := range map[int]string{
		1 << 20:     "",
		1<<20 + 7e5: "etcdserver: request is too large",
		1<<21 + 1e5: "trying to send message larger than max",
		4 << 20:     "Request entity too large",
	} {
		name := fmt.Sprint("large-", size)
		manifest := map[string]any{
			"apiVersion": "v1", "kind": "PodTemplate", "metadata": map[string]any{"name": name, "namespace": namespace},
			"template": map[string]any{"spec": map[string]any{"containers": []any{
				map[string]any{"name": "a", "image": "a", "env": []any{map[string]any{"name": "TEXT", "value": strings.Repeat("x", size)}}},
			}}},
		}
		result := client.Write(t.Context(), plan.Operation{
			Type: plan.Apply, Manager: "large", Body: manifest,
			Target: plan.Object{GVR: schema.GroupVersionResource{Version: "v1", Resource: "podtemplates"}, Kind: "PodTemplate", Namespace: namespace, Name: name},
		})
		switch {
		case told == "" && result.Class != write.Written:
			t.Errorf("%d bytes: %s, %v", size, result.Class, result.Err)
		case told != "" && (result.Class != write.Terminal || !strings.Contains(result.Err.Error(), told)):
			t.Errorf("%d bytes: %s, %.300v; want it %s with %q", size, result.Class, result.Err, write.Terminal, told)
		}
	}
}
