package engine_test

import (
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// asScale answers writes to scale as an API server does, with a Scale. where is the
// field of spec that it stands for.
func asScale(c *cluster, where string) func(plan.Operation) *write.Result {
	return func(o plan.Operation) *write.Result {
		if o.Subresource != "scale" {
			return nil
		}
		key := engine.Key{GVR: widgets, Namespace: "ns", Name: "a"}
		body, _ := o.Body.(map[string]any)
		wanted, _ := body["spec"].(map[string]any)
		result := &write.Result{Class: write.Unchanged}
		c.mu.Lock()
		stored := c.stored[key]
		spec, _ := stored["spec"].(map[string]any)
		if spec[where] != wanted["replicas"] {
			c.version++
			stored = merged(stored, map[string]any{"spec": map[string]any{where: wanted["replicas"]}})
			(&unstructured.Unstructured{Object: stored}).SetResourceVersion(strconv.Itoa(c.version))
			c.stored[key] = stored
			result.Class = write.Written
			result.Echo = &write.Echo{Object: o.Target}
			result.Echo.Object.ResourceVersion = strconv.Itoa(c.version)
		}
		version := resourceVersion(stored)
		c.mu.Unlock()
		if result.Class == write.Written {
			c.see(key)
		}
		result.Object = map[string]any{
			"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": wanted,
			"metadata": map[string]any{"namespace": "ns", "name": "a", "uid": "uid-of-a", "resourceVersion": version},
		}
		return result
	}
}

// TestScaleGoesOn holds that an answer that is not the object stops nothing: the
// rest of the plan is carried out, and the Event recorded.
func TestScaleGoesOn(t *testing.T) {
	c := newCluster()
	c.put(t, `{metadata: {namespace: ns, name: a}, spec: {replicas: 9}}`)
	c.answer = asScale(c, "replicas")
	run(t, c, `
  - name: shrink
    watch: widgets
    when: object.spec.replicas > 5
    actions:
    - patch: {subresource: scale, merge: {spec: {replicas: 5}}}
    - patch: {merge: {metadata: {annotations: {shrunk: "yes"}}}}
    - event: {reason: Shrunk, message: "was too large"}
`, func(t *testing.T, _ *engine.Engine) {
		pass(time.Hour)
		if c.count() != 2 || len(c.events) != 1 {
			t.Errorf("want two writes and an Event, got %d and %v", c.count(), c.events)
		}
	})
}

// TestScaleSettles holds that a write to scale that changed nothing is not
// repeated, although its field is never seen in the object.
func TestScaleSettles(t *testing.T) {
	c := newCluster()
	c.put(t, `{metadata: {namespace: ns, name: a}, spec: {workers: 3}}`)
	c.answer = asScale(c, "workers")
	run(t, c, `
  - name: three
    watch: widgets
    actions: [{patch: {subresource: scale, merge: {spec: {replicas: 3}}}}]
`, func(t *testing.T, _ *engine.Engine) {
		for i := range 10 {
			c.put(t, `{metadata: {namespace: ns, name: a}, spec: {workers: 3, other: `+strconv.Itoa(i)+`}}`)
			pass(time.Hour)
		}
		if got := c.count(); got != 1 {
			t.Errorf("want one write, got %d after ten unrelated changes", got)
		}
	})
}
