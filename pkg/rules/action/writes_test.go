package action_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kubernetes "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// shapes resolves the names of the tests to what they read.
type shapes struct {
	scene     *typedScene
	footprint *footprint.Footprint
}

// Shape implements expression.Shapes.
func (s shapes) Shape(slot int) footprint.Shape {
	object := func(gvr kubernetes.GroupVersionResource) footprint.Shape {
		return footprint.Object(&s.footprint.Of(gvr, gvr.Resource).Reads)
	}
	switch s.scene.scope.Names()[slot] {
	case "object":
		return object(s.scene.watched)
	case "pods":
		return footprint.List(object(pods))
	case "config":
		return object(configmaps)
	case "either":
		return footprint.OneOf(object(pods), object(gateways))
	default:
		return footprint.Other()
	}
}

func writes(t testing.TB, text string) []action.Write {
	t.Helper()
	s := newTypedScene(t, gateways)
	f := &footprint.Footprint{}
	return s.compile(t, text).Effects(action.Traces{Footprint: f, Shapes: shapes{s, f}, Watched: []kubernetes.GroupVersionResource{gateways}}).Writes
}

func TestWrites(t *testing.T) {
	tests := map[string]struct {
		reason string
		action string
		want   []string
	}{
		"Merge":   {"Every field of the watched object.", `{patch: {merge: {spec: {replicas: 3, class: mesh}}}}`, []string{"gateways spec.replicas = 3", "gateways spec.class = mesh"}},
		"Target":  {"Of another object.", `{patch: {target: config, merge: {data: {a: b}}}}`, []string{"configmaps config data.a = b"}},
		"JSON":    {"By pointers.", `{patch: {json: [{op: remove, path: /spec/host}]}}`, []string{"gateways spec.host = <nil>"}},
		"Apply":   {"Lists are merged, and nil is not applied.", `{patch: {apply: {spec: {hosts: [a], owner: null, host: "${nil}", class: mesh}}}}`, []string{"gateways spec.hosts = [a] merges", "gateways spec.class = mesh"}},
		"Status":  {"The status is a field as any.", `{patch: {subresource: status, merge: {status: {phase: Ready}}}}`, []string{"gateways status.phase = Ready"}},
		"Scale":   {"What another subresource changes is not known.", `{patch: {subresource: scale, merge: {spec: {replicas: 3}}}}`, nil},
		"Loop":    {"In forEach, on each of a list.", `{forEach: {pod: "${pods}"}, patch: {target: pod, merge: {metadata: {labels: {a: b}}}}}`, []string{"pods pod metadata.labels.a = b of [pods]"}},
		"Outside": {"Or on one object.", `{forEach: {x: "${[1, object.spec.replicas]}"}, patch: {merge: {spec: {replicas: "${x}"}}}}`, []string{"gateways spec.replicas = ${x} of [object]"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, w := range writes(t, tc.action) {
				var on []string
				for _, resource := range w.Resources {
					on = append(on, resource.Resource)
				}
				line := strings.Join(on, "|") + " "
				if w.Target != "" {
					line += w.Target + " "
				}
				line += fmt.Sprintf("%s = %v", w.Path, w.Value)
				if w.Merges {
					line += " merges"
				}
				if w.Loop != nil {
					line += fmt.Sprintf(" of %v", w.Loop.List.Names())
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n%s\n(-want +got):\n%s", tc.reason, tc.action, diff)
			}
		})
	}
}

func TestLoop(t *testing.T) {
	s := newTypedScene(t, gateways)
	step := s.compile(t, `{forEach: {pod: "${pods}"}, when: pod.status.phase == "Failed", delete: {target: pod}}`)
	loop := step.Loop()
	if loop.Name != "pod" || loop.List.Node().Text() != "${pods}" || !loop.InLoop("pod") || !loop.InLoop("index") || loop.InLoop("pods") {
		t.Errorf("have %+v", loop)
	}
	if step.When() == nil || step.When().Program().Source() != `pod.status.phase == "Failed"` {
		t.Error("the condition is another")
	}
	plain := s.compile(t, `{delete: {target: pods}}`)
	if plain.Loop() != nil || plain.When() != nil || plain.Loop().InLoop("index") {
		t.Error("there is neither a loop nor a condition")
	}
}
