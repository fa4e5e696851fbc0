package engine_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestNamespaceGoing holds that a rule whose onDelete makes an object in a namespace that is being deleted lets its object go, and that
// ordinary actions try that seldom.
func TestNamespaceGoing(t *testing.T) {
	for name, action := range map[string]string{
		"Apply":  `apply: {resource: items, manifest: {metadata: {name: tomb}, spec: {x: 1}}, owned: false}`,
		"Create": `create: {in: found, manifest: {metadata: {name: tomb, labels: {of: "${object.metadata.name}"}}}, owned: false}`,
	} {
		for _, deleted := range []bool{true, false} {
			t.Run(name+map[bool]string{true: "OnDelete", false: "Ordinary"}[deleted], func(t *testing.T) {
				text := "\n  - name: tomb\n    watch: widgets\n    with: {found: {resource: items, matchLabels: {of: \"${object.metadata.name}\"}}}\n"
				if deleted {
					text += "    onDelete:\n      actions:\n      - " + action + "\n"
				} else {
					text += "    actions:\n    - " + action + "\n"
				}
				set := families(t, text)
				c := newCluster()
				c.put(t, small)
				if deleted {
					c.put(t, strings.Replace(small, "name: a", `name: a, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [`+set.Rules()[0].ID.Finalizer()+`]`, 1))
				}
				c.answer = func(o plan.Operation) *write.Result {
					if o.Target.GVR != items {
						return nil
					}
					err := apierrors.NewForbidden(items.GroupResource(), "tomb", errRefused)
					err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
					return &write.Result{Class: write.Classify(err), Err: err}
				}
				runWith(t, c, engine.Housekeeping{}, set, func(t *testing.T, _ *engine.Engine) {
					pass(time.Hour)
					if deleted && c.get("a") != nil {
						t.Error("the object is held")
					}
					if n := c.count(); n > 40 {
						t.Errorf("%d requests in an hour", n)
					}
				})
			})
		}
	}
}
