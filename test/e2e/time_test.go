package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const timed = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: timed, namespace: NAMESPACE}
spec:
  resources:
    configmaps: {version: v1, resource: configmaps, labelSelector: timed=yes}
  rules:
  - name: lasting
    watch: configmaps
    when: object.data?.hot == "true"
    for: 2s
    actions: [{patch: {merge: {metadata: {labels: {lasted: "true"}}}}}]
  - name: due
    watch: configmaps
    when: object.data?.at != nil && after(object.data.at)
    actions: [{patch: {merge: {metadata: {labels: {due: "true"}}}}}]
`

// TestTime holds that rules act when their moment has come, with nothing but the time to tell them, and not before it. How
// soon is held by TestTimers and TestForHolds of pkg/engine, in virtual time.
func TestTime(t *testing.T) {
	const ahead = 2 * time.Second
	for name, tc := range map[string]struct {
		label string
		data  func(at time.Time) string
	}{
		"For":   {"lasted", func(time.Time) string { return `{hot: "true"}` }},
		"After": {"due", func(at time.Time) string { return fmt.Sprintf("{at: %q}", at.UTC().Format(time.RFC3339Nano)) }},
	} {
		runVirtually(t, name, func(t *testing.T) {
			namespace := cluster(t).Namespace(t)
			rules := rulesFile(t, namespace, timed)
			p := start(t, "--rules", rules)
			text := func(name, data string) string {
				return fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, labels: {timed: "yes"}}, data: %s}`, name, data)
			}
			create(t, configmaps, namespace, text("started", `{at: "2020-01-01T00:00:00Z"}`))
			eventually(t, "the process is at work", func() bool { return label(t, namespace, "started", "due") != nil })

			at := time.Now().Add(ahead)
			create(t, configmaps, namespace, text("timed", tc.data(at)))
			eventually(t, "the rule acts", func() bool { return label(t, namespace, "timed", tc.label) != nil })
			if acted := time.Now(); acted.Before(at) {
				t.Errorf("acted %s before the moment", at.Sub(acted))
			}
			p.wait(t)
			settled(t, "--rules", rules)
		})
	}
}

func label(t *testing.T, namespace, name, key string) any {
	t.Helper()
	return field(get(t, configmaps, namespace, name), "metadata", "labels", key)
}

// TestOnceWaitsForNoTimer holds that a run with --once ends although rules have
// something to do later.
func TestOnceWaitsForNoTimer(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		at := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		create(t, configmaps, namespace, fmt.Sprintf(
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {timed: "yes"}}, data: {hot: "true", at: %q}}`, at))
		output, code := once(t, "--rules", rulesFile(t, namespace, timed))
		if code != 0 || !strings.Contains(output, "0 writes, 0 failures\n1 object not waited for") {
			t.Errorf("ended with %d:\n%s", code, output)
		}
	})
}
