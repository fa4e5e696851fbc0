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

func TestLeaves(t *testing.T) {
	tests := map[string]struct {
		reason string
		action string
		want   []string
	}{
		"Merge":       {"What is merged is owned by nobody in particular.", `{patch: {merge: {spec: {a: 1}}}}`, nil},
		"Apply":       {"What is applied is the rule's.", `{patch: {apply: {spec: {class: mesh}}}}`, []string{"fields gateways Orphan"}},
		"Remove":      {"It may be taken along.", `{patch: {apply: {spec: {class: mesh}}, release: Remove}}`, []string{"fields gateways Remove"}},
		"Target":      {"On what the target is.", `{patch: {target: config, apply: {data: {a: b}}}}`, []string{"fields configmaps Orphan"}},
		"Either":      {"On each that it may be.", `{patch: {target: either, apply: {spec: {a: 1}}}}`, []string{"fields pods Orphan", "fields gateways Orphan"}},
		"Child":       {"Children stay,", `{apply: {resource: configmaps, manifest: {metadata: {name: a}}}}`, []string{"children configmaps "}},
		"ChildPruned": {"or go.", `{apply: {resource: configmaps, prune: true, manifest: {metadata: {name: a}}}}`, []string{"children configmaps  prune"}},
		"Delete":      {"Nothing is left by a deletion,", `{delete: {target: config}}`, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newTypedScene(t, gateways)
			f := &footprint.Footprint{}
			traces := action.Traces{Footprint: f, Shapes: shapes{s, f}, Watched: []kubernetes.GroupVersionResource{gateways}}
			var got []string
			for _, l := range s.compile(t, tc.action).Effects(traces).Leaves {
				line := fmt.Sprintf("%s %s %s", l.Kind, l.GVR.Resource, l.Release)
				if l.Prune {
					line += " prune"
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLeavesCreated holds that what is created is told from what is applied.
func TestLeavesCreated(t *testing.T) {
	f := newFixture(t)
	step, errs := f.compile(t, `{create: {in: pods, manifest: {metadata: {generateName: a-}}}}`)
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	got := step.Effects(action.Traces{Footprint: &footprint.Footprint{}, Shapes: shapes{newTypedScene(t, gateways), &footprint.Footprint{}}}).Leaves
	if len(got) != 1 || !strings.HasPrefix(got[0].String(), "created of rule / on pods.v1") {
		t.Errorf("got %v", got)
	}
}
