package e2e

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// failedPods deletes Failed Pods once they have been so for 10 seconds: as a rule of the Pods themselves, and as one of
// the TidbCluster that they belong to.
const failedPods = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: failed-pods, namespace: NAMESPACE}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    pods: {version: v1, resource: pods}
  rules:
  - name: watched
    watch: pods
    let:
      since: condition(object, "Ready")?.lastTransitionTime ?? object.metadata.creationTimestamp
    when: object.metadata.labels.app == nil && object.status.phase == "Failed" && olderThan(since, "10s")
    actions: [{delete: {target: object}}]
  - name: related
    watch: tidbclusters
    with:
      pods: {resource: pods, matchLabels: {app: "${object.metadata.name}"}}
    let:
      failed: >-
        filter(pods, .status.phase == "Failed" &&
        olderThan(condition(#, "Ready")?.lastTransitionTime ?? .metadata.creationTimestamp, "10s"))
    actions: [{delete: {target: failed}}]
`

// TestFailedPodsAfter10s holds that a Pod is deleted within a second of its moment, and not before it, with nothing but
// the time to tell.
func TestFailedPodsAfter10s(t *testing.T) {
	const age, late = 10 * time.Second, time.Second
	for name, tc := range map[string]struct {
		labels     string
		conditions string // of %s, the moment
	}{
		"WatchedByCondition": {"{}", `[{type: Ready, status: "False", lastTransitionTime: %q}]`},
		"WatchedByAge":       {"{}", "[]"},
		"RelatedByCondition": {"{app: db}", `[{type: Ready, status: "False", lastTransitionTime: %q}]`},
		"RelatedByAge":       {"{app: db}", "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			virtuallyAlone(t, func(t *testing.T) {
				namespace := cluster(t).Namespace(t)
				allowPods(t, namespace)
				tidbCluster(t, namespace, "db", "")
				start(t, "--rules", rulesFile(t, namespace, failedPods))
				pod(t, namespace, "healthy", "labels: "+tc.labels)
				failed := pod(t, namespace, "failed", "labels: "+tc.labels)

				since, conditions := failed.GetCreationTimestamp().Time, tc.conditions
				if conditions != "[]" {
					since = time.Now().Truncate(time.Second)
					conditions = fmt.Sprintf(conditions, since.UTC().Format(time.RFC3339))
				}
				editStatus(t, namespace, "failed", fmt.Sprintf("{status: {phase: Failed, conditions: %s}}", conditions))
				eventually(t, "the Pod is deleted", func() bool { return !exists(t, pods, namespace, "failed") })
				deleted := time.Now()
				if after := deleted.Sub(since); after < age || after > age+late {
					t.Errorf("it was deleted after %s, want %s and at most %s more", after, age, late)
				}
				if !exists(t, pods, namespace, "healthy") {
					t.Error("the Pod that had not failed was deleted")
				}
			})
		})
	}
}

const holding = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: holding, namespace: NAMESPACE}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    pods: {version: v1, resource: pods}
  rules:
  - name: early
    watch: tidbclusters
    with:
      pod: {resource: pods, name: "${object.metadata.name}-0"}
    when: pod?.status.phase == "Failed"
    for: 2s
    actions: [{patch: {merge: {metadata: {labels: {early: "yes"}}}}}]
  - name: reset
    watch: tidbclusters
    with:
      pod: {resource: pods, name: "${object.metadata.name}-0"}
    when: pod != nil && pod.status.phase != "Failed" && object.metadata.labels.early == "yes"
    actions: [{patch: {merge: {metadata: {labels: {reset: "yes"}}}}}]
  - name: late
    watch: tidbclusters
    with:
      pod: {resource: pods, name: "${object.metadata.name}-0"}
    when: pod?.status.phase == "Failed"
    for: 5s
    actions: [{delete: {target: pod}}]
`

// TestForHolds holds that `for` waits for what a related object does, and begins again when that was interrupted.
func TestForHolds(t *testing.T) {
	virtuallyAlone(t, func(t *testing.T) {
		const hold, late = 5 * time.Second, time.Second
		namespace := cluster(t).Namespace(t)
		allowPods(t, namespace)
		tidbCluster(t, namespace, "db", "")
		pod(t, namespace, "db-0", "labels: {}")
		start(t, "--rules", rulesFile(t, namespace, holding))
		label := func(name string) any { return field(get(t, tidbclusters, namespace, "db"), "metadata", "labels", name) }

		editStatus(t, namespace, "db-0", "{status: {phase: Failed}}")
		eventually(t, "it has held for a while", func() bool { return label("early") != nil })
		editStatus(t, namespace, "db-0", "{status: {phase: Pending}}")
		eventually(t, "the interruption is seen", func() bool { return label("reset") != nil })
		again := time.Now()
		editStatus(t, namespace, "db-0", "{status: {phase: Failed}}")
		sent := time.Now()
		eventually(t, "it has held for long", func() bool { return !exists(t, pods, namespace, "db-0") })
		acted := time.Now()
		if acted.Before(again.Add(hold)) || acted.After(sent.Add(hold+late)) {
			t.Errorf("the rule acted %s after it began to hold again, want %s and at most %s more", acted.Sub(again), hold, late)
		}
	})
}

// editStatus writes the status of a Pod as its kubelet would.
func editStatus(t *testing.T, namespace, name, patch string) {
	t.Helper()
	_, err := client(t).Resource(pods).Namespace(namespace).
		Patch(t.Context(), name, types.MergePatchType, []byte(asJSON(t, patch)), metav1.PatchOptions{FieldManager: "kubelet"}, "status")
	if err != nil {
		t.Fatal(err)
	}
}
