package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestChildrenUnselected holds what becomes of a child whose name belongs to a ConfigMap that the selector of the rules
// leaves out.
func TestChildrenUnselected(t *testing.T) {
	selecting := func(t *testing.T, options string, there bool) family {
		t.Helper()
		rules := strings.NewReplacer("OPTIONS", options,
			"resource: configmaps}", "resource: configmaps, labelSelector: part=child}",
			`-child"}`, `-child", labels: {part: child}}`).Replace(childRules)
		return newFamilyOf(t, rules, func(namespace string) {
			if there {
				create(t, configmaps, namespace, theirs)
			}
		})
	}
	version := func(t *testing.T, f family) string {
		t.Helper()
		return get(t, configmaps, f.namespace, "db-child").GetResourceVersion()
	}

	runVirtually(t, "ForeignIsRefused", func(t *testing.T) {
		f := selecting(t, "prune: true", true)
		before := version(t, f)
		eventually(t, "an Event says so", func() bool { return len(f.refusals(t)) == 1 })
		f.seen(t, "refused") // Another rule goes on.
		f.seen(t, "again")
		if after := version(t, f); after != before {
			t.Errorf("it was %s, is %s", before, after)
		}
		if diff := cmp.Diff([]string{"Warning TidbCluster/db"}, f.refusals(t)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		deleteObject(t, configmaps, f.namespace, "db-child")
		f.seen(t, "gone")
		f.childMade(t)
	})
	runVirtually(t, "KeepLeavesWhatIsThere", func(t *testing.T) {
		f := selecting(t, "existing: Keep", true)
		before := version(t, f)
		f.seen(t, "kept")
		f.seen(t, "again")
		if after := version(t, f); after != before {
			t.Errorf("it was %s, is %s", before, after)
		}
		if events := f.refusals(t); len(events) > 0 {
			t.Errorf("it is not silent: %v", events)
		}
	})
	runVirtually(t, "OursIsHealed", func(t *testing.T) {
		f := selecting(t, "prune: true", false)
		f.childMade(t)
		uid := get(t, configmaps, f.namespace, "db-child").GetUID()
		edit(t, configmaps, f.namespace, "db-child", `{"metadata":{"labels":{"part":null}}}`)
		eventually(t, "the label is put back", func() bool {
			return get(t, configmaps, f.namespace, "db-child").GetLabels()["part"] == "child"
		})
		f.seen(t, "healed")
		if now := get(t, configmaps, f.namespace, "db-child").GetUID(); now != uid {
			t.Errorf("the uid was %s, is %s", uid, now)
		}
		ours := marks{Set: true, Rule: true, OwnerUID: true, Controller: "TidbCluster/db", Managed: true, Value: "db"}
		if diff := cmp.Diff(ours, f.marks(t)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if events := f.refusals(t); len(events) > 0 {
			t.Errorf("events: %v", events)
		}
	})
}
