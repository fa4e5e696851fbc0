package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// TestRollout holds that a rule comes in waves on a real API server: it stops for an object that is not healthy, also in the process after, and
// goes on when its set asks for it.
func TestRollout(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		const objects = 8
		for i := range objects {
			tidbCluster(t, namespace, fmt.Sprint("c", i), "")
		}
		write := func(resume string) string {
			return rulesFile(t, namespace, strings.ReplaceAll(`
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: waves, namespace: NAMESPACE, annotations: {dyncontroller.dev/resume: "RESUME"}}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
  rules:
  - name: done
    watch: tidbclusters
    rollout: {waves: [1, 50%], healthy: object.metadata.labels.ok == "yes", soak: 1s, timeout: 10s}
    actions: [{patch: {merge: {metadata: {labels: {done: "yes"}}}}}]
`, "RESUME", resume))
		}
		done := func() int { return len(names(t, tidbclusters, namespace, "done=yes")) }
		args := []string{"--namespace", namespace, "--instance", namespace, "--rules"}
		p := start(t, append(args, write(""))...)
		eventually(t, "it stops for the first", func() bool { return p.lines(0, "rule is paused", namespace+"/c0") == 1 })
		stored := &careful{t: t, namespace: namespace} // A process that ends before has not paused.
		eventually(t, "that is stored", func() bool { return strings.Contains(stored.stored(), "unhealthy") })
		p.wait(t)
		for i := range objects {
			edit(t, tidbclusters, namespace, fmt.Sprint("c", i), `{"metadata":{"labels":{"ok":"yes"}}}`)
		}
		if output, code := once(t, append(args, write(""))...); done() != 1 || code != 1 || !strings.Contains(output, "not healthy 10s later") {
			t.Fatalf("nobody asked it to resume, and it has written for %d objects, exit code %d:\n%s", done(), code, output)
		}
		p = start(t, append(args, write("done"))...)
		eventually(t, "all are written", func() bool { return done() == objects })
		eventually(t, "the waves are told", func() bool { return p.lines(0, "wave of a rollout is over", "wave=2", "objects=4") == 1 })
	})
}
