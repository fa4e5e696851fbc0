package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// holdRules hold TidbClusters until a ConfigMap says that they may go. OPTIONS and DONE are changed by tests.
const holdRules = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: finalizers, namespace: NAMESPACE}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters, labelSelector: managed=yes}
    configmaps: {version: v1, resource: configmaps}
  rules:
  - name: seen
    watch: tidbclusters
    when: object.metadata.labels.poke != object.metadata.labels.seen
    actions: [{patch: {merge: {metadata: {labels: {seen: "${object.metadata.labels.poke}"}}}}}]
`

const holdRule = `
  - name: hold
    watch: tidbclusters
    OPTIONS
    with:
      note: {resource: configmaps, name: "${object.metadata.name}-note"}
    when: object.metadata.labels.hold == "yes"
    actions:
    - patch: {target: note, merge: {metadata: {labels: {ordinary: "${object.metadata.labels.poke ?? 'none'}"}}}}
    onDelete:
      actions:
      - patch: {target: note, merge: {metadata: {labels: {deleting: "${object.metadata.labels.poke ?? 'none'}"}}}}
      DONE
`

func holdText(options, done string) string {
	return holdRules + strings.NewReplacer("OPTIONS", options, "DONE", done).Replace(holdRule)
}

const whenReleased = `done: note?.metadata?.labels?.released == "yes"`

// captive is a TidbCluster "db" that the rule holds, with a ConfigMap "db-note".
type captive struct{ namespace, path string }

func newCaptive(t *testing.T, text string) captive {
	t.Helper()
	h := captive{namespace: cluster(t).Namespace(t)}
	create(t, configmaps, h.namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: db-note}}`)
	tidbCluster(t, h.namespace, "db", `managed: "yes", hold: "yes"`)
	h.path = rulesFile(t, h.namespace, text)
	start(t, "--rules", h.path)
	eventually(t, "it is held", func() bool { return h.isHeld(t) })
	return h
}

func (h captive) isHeld(t *testing.T) bool {
	t.Helper()
	rule := plan.Rule{Kind: "RuleSet", Namespace: h.namespace, Set: "finalizers", Name: "hold"}
	return slices.Contains(get(t, tidbclusters, h.namespace, "db").GetFinalizers(), rule.Finalizer())
}

func (h captive) note(t *testing.T, label string) any {
	t.Helper()
	return field(get(t, configmaps, h.namespace, "db-note"), "metadata", "labels", label)
}

func (h captive) edit(t *testing.T, patch string) {
	t.Helper()
	edit(t, tidbclusters, h.namespace, "db", patch)
}

// TestFinalizers holds when a rule holds an object, and what makes it let go.
func TestFinalizers(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, h captive){
		"Suspended":   func(t *testing.T, h captive) { h.rewrite(t, holdText("suspend: true", whenReleased)) },
		"Audited":     func(t *testing.T, h captive) { h.rewrite(t, holdText("mode: Audit", whenReleased)) },
		"Removed":     func(t *testing.T, h captive) { h.rewrite(t, holdRules) },
		"WhenIsFalse": func(t *testing.T, h captive) { h.edit(t, `{"metadata":{"labels":{"hold":"no"}}}`) },
		"Unselected":  func(t *testing.T, h captive) { h.edit(t, `{"metadata":{"labels":{"managed":"no"}}}`) },
	} {
		runVirtually(t, "ReleasedWhen"+name, func(t *testing.T) {
			h := newCaptive(t, holdText("", whenReleased))
			change(t, h)
			eventually(t, "the finalizer is taken off", func() bool { return !h.isHeld(t) })
			if deleting := get(t, tidbclusters, h.namespace, "db").GetDeletionTimestamp(); deleting != nil || h.note(t, "deleting") != nil {
				t.Error("the living object was treated as one that is being deleted")
			}
			deleteObject(t, tidbclusters, h.namespace, "db")
			if exists(t, tidbclusters, h.namespace, "db") {
				t.Error("something still holds the object")
			}
		})
	}
	runVirtually(t, "HeldAgain", func(t *testing.T) {
		h := newCaptive(t, holdText("", whenReleased))
		h.edit(t, `{"metadata":{"labels":{"hold":"no"}}}`)
		eventually(t, "the finalizer is taken off", func() bool { return !h.isHeld(t) })
		h.edit(t, `{"metadata":{"labels":{"hold":"yes"}}}`)
		eventually(t, "the finalizer is put on again", func() bool { return h.isHeld(t) })
	})
	runVirtually(t, "HeldUntilDone", func(t *testing.T) {
		h := newCaptive(t, holdText("", whenReleased))
		h.edit(t, `{"metadata":{"labels":{"poke":"living"}}}`)
		eventually(t, "the ordinary action has run", func() bool { return h.note(t, "ordinary") == "living" })
		if deleting := h.note(t, "deleting"); deleting != nil {
			t.Errorf("onDelete ran on a living object: %v", deleting)
		}
		deleteObject(t, tidbclusters, h.namespace, "db")
		h.edit(t, `{"metadata":{"labels":{"poke":"dying"}}}`)
		eventually(t, "onDelete has run", func() bool { return h.note(t, "deleting") == "dying" })
		if ordinary, seen := h.note(t, "ordinary"), field(get(t, tidbclusters, h.namespace, "db"), "metadata", "labels", "seen"); ordinary != "living" || seen != "living" {
			t.Errorf("ordinary actions ran on an object that is being deleted: %v, %v", ordinary, seen)
		}
		if !h.isHeld(t) {
			t.Error("it is not held though onDelete is not done")
		}
		h.release(t)
	})
	runVirtually(t, "HeldThoughWhenTurnsFalseWhileDeleting", func(t *testing.T) {
		h := newCaptive(t, holdText("", whenReleased))
		deleteObject(t, tidbclusters, h.namespace, "db")
		h.edit(t, `{"metadata":{"labels":{"hold":"no","poke":"dying"}}}`)
		eventually(t, "onDelete runs where the finalizer is", func() bool { return h.note(t, "deleting") == "dying" })
		if !h.isHeld(t) {
			t.Error("it is not held though onDelete is not done")
		}
		h.release(t)
	})
	runVirtually(t, "DoneWithTheActions", func(t *testing.T) {
		h := newCaptive(t, holdText("", ""))
		deleteObject(t, tidbclusters, h.namespace, "db")
		eventually(t, "it is gone", func() bool { return !exists(t, tidbclusters, h.namespace, "db") })
		if deleting := h.note(t, "deleting"); deleting != "none" {
			t.Errorf("it went without onDelete: %v", deleting)
		}
	})
	runVirtually(t, "ReleasedWhenRemovedWhileDeleting", func(t *testing.T) {
		h := newCaptive(t, holdText("", whenReleased))
		deleteObject(t, tidbclusters, h.namespace, "db")
		eventually(t, "onDelete has run", func() bool { return h.note(t, "deleting") == "none" })
		h.rewrite(t, holdRules)
		eventually(t, "it is gone", func() bool { return !exists(t, tidbclusters, h.namespace, "db") })
	})
	runVirtually(t, "OnlyReacts", func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		h := captive{namespace: namespace}
		create(t, configmaps, namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: db-note}}`)
		tidbCluster(t, namespace, "db", `managed: "yes", hold: "yes"`)
		h.edit(t, `{"metadata":{"finalizers":["example.com/theirs"],"labels":{"poke":"living"}}}`)
		start(t, "--rules", rulesFile(t, namespace, holdText("", "hold: false")))
		eventually(t, "the ordinary action has run", func() bool { return h.note(t, "ordinary") == "living" })
		if h.isHeld(t) {
			t.Error("hold: false put a finalizer on")
		}
		deleteObject(t, tidbclusters, namespace, "db")
		eventually(t, "onDelete has run", func() bool { return h.note(t, "deleting") == "living" })
		h.edit(t, `{"metadata":{"finalizers":null}}`)
		eventually(t, "it is gone", func() bool { return !exists(t, tidbclusters, namespace, "db") })
	})
}

// rewrite changes the rules under the running process.
func (h captive) rewrite(t *testing.T, text string) {
	t.Helper()
	writeFile(t, h.path, strings.ReplaceAll(text, "NAMESPACE", h.namespace))
}

// release lets the object go and holds that it does.
func (h captive) release(t *testing.T) {
	t.Helper()
	edit(t, configmaps, h.namespace, "db-note", `{"metadata":{"labels":{"released":"yes"}}}`)
	eventually(t, "it is gone", func() bool { return !exists(t, tidbclusters, h.namespace, "db") })
}
