package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestExamplesExpiry holds that objects go when their annotations say, and no sooner, that finished Pods go after a while, and
// that what has no annotation, or one that cannot be read, stays and is told.
func TestExamplesExpiry(t *testing.T) {
	virtually(t, func(t *testing.T) {
		const live = 5 * time.Second
		namespace := cluster(t).Namespace(t)
		allowPods(t, namespace)
		annotated := func(name, annotations string) {
			create(t, configmaps, namespace, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, annotations: {%s}}}`,
				name, annotations))
		}
		annotated("soon", "janitor/ttl: "+fmt.Sprintf("%.0fs", live.Seconds()))
		annotated("past", `janitor/expires: "2020-01-01"`)
		annotated("later", "janitor/ttl: 1w")
		annotated("forever", "janitor/ttl: forever")
		annotated("plain", "example.com/note: x")
		annotated("mistaken", `janitor/ttl: "90"`)
		pod(t, namespace, "failed", "labels: {app: a}")
		pod(t, namespace, "kept", `annotations: {janitor/ttl: forever}`)
		pod(t, namespace, "running", "labels: {app: a}")
		for name, phase := range map[string]string{"failed": "Failed", "kept": "Succeeded", "running": "Running"} {
			report(t, namespace, name, `{"phase":"`+phase+`"}`)
		}
		created := get(t, configmaps, namespace, "soon").GetCreationTimestamp().Time

		start(t, append(apart(namespace), "--rules", "../../examples/rules/expiry/expiry.yaml", "--param", "expiry.keep=2s")...)
		eventually(t, "what has a short ttl is gone", func() bool { return !exists(t, configmaps, namespace, "soon") })
		if lived := time.Since(created); lived < live {
			t.Errorf("it lived for %s, want %s", lived, live)
		}
		eventually(t, "what expired long ago is gone", func() bool { return !exists(t, configmaps, namespace, "past") })
		eventually(t, "the Pod that has failed is gone", func() bool { return !exists(t, pods, namespace, "failed") })
		told := func(reason, name string) func() bool {
			return func() bool {
				for _, event := range listEvents(t, namespace) {
					if event.Reason == reason && event.Regarding.Name == name {
						return true
					}
				}
				return false
			}
		}
		eventually(t, "an Event tells of the deletion, though the object is gone", told("Expired", "soon"))
		eventually(t, "an Event tells of the mistake", told("UnreadableExpiry", "mistaken"))
		if diff := cmp.Diff([]string{"forever", "later", "mistaken", "plain"}, names(t, configmaps, namespace, "!dyncontroller.dev/instance")); diff != "" {
			t.Errorf("ConfigMaps that stay (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"kept", "running"}, names(t, pods, namespace, "")); diff != "" {
			t.Errorf("Pods that stay (-want +got):\n%s", diff)
		}
	})
}
