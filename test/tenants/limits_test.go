package tenants

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/test/virtual"
)

// careful is [guard] for one object in ten minutes.
var careful = strings.Replace(guard, "    watch:", "    limits: {maxObjects: 1}\n    watch:", 1)

// blues makes ConfigMaps that the set guard wants to label.
func blues(t *testing.T, on virtual.Cluster, namespace string, names ...string) []string {
	t.Helper()
	for _, name := range names {
		apply(t, on, namespace, strings.NewReplacer("NAMESPACE", namespace, "NAME", name, "COLOR", "blue").Replace(blue))
	}
	return names
}

// pauses are those that the status of the set guard has.
func pauses(t *testing.T, on virtual.Cluster, namespace string) []any {
	t.Helper()
	list, _ := field(get(t, on, ruleSets, namespace, "guard"), "status", "paused").([]any)
	return list
}

// labels counts the ConfigMaps that the set guard has labelled.
func labels(t *testing.T, on virtual.Cluster, namespace string, names []string) (count int) {
	t.Helper()
	for _, name := range names {
		if field(get(t, on, configmaps, namespace, name), "metadata", "labels", "color") == "blue" {
			count++
		}
	}
	return count
}

// TestLimitOfASet follows a set whose rule passes its limits: its status and an Event tell
// it, a restart changes nothing, and an annotation does, which is taken out again.
func TestLimitOfASet(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		account(t, cluster(t), namespace, "bot", editor)
		names := blues(t, cluster(t), namespace, "cm-0", "cm-1", "cm-2")
		p := start(t, cluster(t))
		apply(t, cluster(t), namespace, careful)
		paused := func() bool {
			status, reason, _ := condition(t, cluster(t), ruleSets, namespace, "guard", "Stalled")
			return status == "True" && reason == "Paused"
		}
		stored := func() []any {
			t.Helper()
			return pauses(t, cluster(t), namespace)
		}
		eventually(t, "it is paused, and that is stored", func() bool { return paused() && len(stored()) == 1 })
		counted(t, cluster(t), namespace, "Paused", false)
		if n := labels(t, cluster(t), namespace, names); n != 1 {
			t.Errorf("%d are labelled, want 1", n)
		}
		_, _, message := condition(t, cluster(t), ruleSets, namespace, "guard", "Ready")
		if !strings.Contains(message, " on RuleSet "+namespace+"/guard") {
			t.Errorf("it does not say what to do: %s", message)
		}

		p.stop(t)
		start(t, cluster(t))
		rule := fmt.Sprint(stored()[0].(map[string]any)["rule"])
		since := stored()[0].(map[string]any)["since"]
		names = append(names, blues(t, cluster(t), namespace, "late")...)
		eventually(t, "the new process has looked, and says that it is paused", func() bool {
			list, _ := field(get(t, cluster(t), ruleSets, namespace, "guard"), "status", "rules").([]any)
			return paused() && len(list) == 1 && fmt.Sprint(list[0].(map[string]any)["errors"]) == "3"
		})
		if n := labels(t, cluster(t), namespace, names); n != 1 || stored()[0].(map[string]any)["since"] != since {
			t.Errorf("after a restart %d are labelled, paused %v, want it as before, since %v", n, stored(), since)
		}

		eventually(t, "the second of the pause is over, by which it is told from the next", func() bool {
			at, err := time.Parse(time.RFC3339, fmt.Sprint(since))
			return err == nil && time.Since(at) > time.Second
		})
		edit(t, cluster(t), ruleSets, namespace, "guard", `{"metadata":{"annotations":{"dyncontroller.dev/resume":"`+rule+`"}}}`)
		eventually(t, "one more is labelled, and the annotation is gone", func() bool {
			set := get(t, cluster(t), ruleSets, namespace, "guard")
			return labels(t, cluster(t), namespace, names) == 2 && set.GetAnnotations()["dyncontroller.dev/resume"] == ""
		})
		eventually(t, "it is paused again", func() bool { return paused() && len(stored()) == 1 && stored()[0].(map[string]any)["since"] != since })

		apply(t, cluster(t), namespace, strings.Replace(careful, "maxObjects: 1", `maxObjects: "100%"`, 1))
		ready(t, cluster(t), ruleSets, namespace, "guard")
		eventually(t, "all are labelled", func() bool { return labels(t, cluster(t), namespace, names) == len(names) && len(stored()) == 0 })
		quiet(t, namespace)
	})
}
