package tenants

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/test/virtual"
)

// deleted deletes the set keeper, and waits until it is gone with what it has left.
func deleted(t *testing.T, on virtual.Cluster, namespace string) {
	t.Helper()
	remove(t, on, ruleSets, namespace, "keeper")
	cleaned(t, on, namespace)
}

// cleaned waits until the set keeper is gone, and holds what there is then: what Orphan
// leaves, without an owner.
func cleaned(t *testing.T, on virtual.Cluster, namespace string) {
	t.Helper()
	within(t, 2*time.Minute, "the set is gone", func() bool { return get(t, on, ruleSets, namespace, "keeper") == nil })
	if got := traces(t, on, namespace); got != "stays" {
		t.Errorf("when the set is gone there is still %q", got)
	}
}

// TestSetDeleted holds that a set that is deleted cleans up, and then is gone.
func TestSetDeleted(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		start(t, cluster(t))
		keep(t, cluster(t), namespace)
		deleted(t, cluster(t), namespace)
	})
}

// TestSetDeletedWhileDown holds the same where nothing runs when the set is deleted, and
// that a set that is refused is not taken for one that is gone.
func TestSetDeletedWhileDown(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		first := start(t, cluster(t))
		keep(t, cluster(t), namespace)
		first.stop(t)

		apply(t, cluster(t), namespace, strings.Replace(keeper, `done: object.data`, `done: objekt.data`, 1))
		second := start(t, cluster(t))
		eventually(t, "the set is refused", func() bool {
			_, reason, _ := condition(t, cluster(t), ruleSets, namespace, "keeper", "Ready")
			return reason == "Refused"
		})
		still(t, namespace, allTraces)
		second.stop(t)

		remove(t, cluster(t), ruleSets, namespace, "keeper")
		if got := traces(t, cluster(t), namespace); got != allTraces {
			t.Errorf("before anything runs there is %q", got)
		}
		start(t, cluster(t))
		cleaned(t, cluster(t), namespace)
	})
}

// still holds that what a set has left stays as it is while others are served: a set
// that comes after it cleans up after itself.
func still(t *testing.T, namespace, want string) {
	t.Helper()
	other := strings.ReplaceAll(strings.ReplaceAll(keeper, "keeper", "other"), "role=source", "role=elsewhere")
	for range 2 {
		apply(t, cluster(t), namespace, other)
		ready(t, cluster(t), ruleSets, namespace, "other")
		eventually(t, "the other set has its finalizer", func() bool {
			return len(get(t, cluster(t), ruleSets, namespace, "other").GetFinalizers()) == 1
		})
		removed(t, cluster(t), ruleSets, namespace, "other")
	}
	if got := traces(t, cluster(t), namespace); got != want {
		t.Errorf("there is %q, want %q", got, want)
	}
}

// TestSetRuleRemoved holds that rules that leave a set are cleaned up after, one by one,
// and that a set which has left nothing has no finalizer.
func TestSetRuleRemoved(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		start(t, cluster(t))
		keep(t, cluster(t), namespace)
		rules := strings.Split(keeper, "  - name: ")
		for _, step := range []struct{ rest, traces, inventory string }{
			{rules[1] + "  - name: " + rules[3] + "  - name: " + rules[4], "finalizer stays goes owner", "goes:fields:bot hold:finalizer:bot stays:fields:bot"},
			{rules[3] + "  - name: " + rules[4], "stays goes owner", "goes:fields:bot stays:fields:bot"},
			{rules[3], "stays owner", "stays:fields:bot"},
		} {
			apply(t, cluster(t), namespace, rules[0]+"  - name: "+step.rest)
			eventually(t, "there is "+step.traces+" and "+step.inventory, func() bool {
				return traces(t, cluster(t), namespace) == step.traces && inventoried(get(t, cluster(t), ruleSets, namespace, "keeper")) == step.inventory
			})
		}
		apply(t, cluster(t), namespace, rules[0]+"  - name: idle\n    watch: sources\n    actions:\n    - patch: {merge: {data: {seen: \"1\"}}}\n")
		eventually(t, "the set has nothing left to clean up", func() bool {
			return traces(t, cluster(t), namespace) == "stays" && len(get(t, cluster(t), ruleSets, namespace, "keeper").GetFinalizers()) == 0
		})
	})
}

// TestSetOtherAccount holds that a set that goes over to another ServiceAccount keeps all
// that it has, and cleans up as the new one when it has to.
func TestSetOtherAccount(t *testing.T) {
	for _, down := range []bool{false, true} {
		name := map[bool]string{false: "running", true: "down"}[down]
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				namespace := cluster(t).Namespace(t)
				p := start(t, cluster(t))
				keep(t, cluster(t), namespace)
				account(t, cluster(t), namespace, "heir", janitor...)
				child := get(t, cluster(t), configmaps, namespace, "a-child")
				since := time.Now()
				if down {
					p.stop(t)
				}
				apply(t, cluster(t), namespace, strings.Replace(keeper, "serviceAccountName: bot", "serviceAccountName: heir", 1))
				if down {
					start(t, cluster(t))
				}
				eventually(t, "the inventory is of the new account", func() bool {
					return inventoried(get(t, cluster(t), ruleSets, namespace, "keeper")) == "child:children:heir goes:fields:heir hold:finalizer:heir stays:fields:heir"
				})
				ready(t, cluster(t), ruleSets, namespace, "keeper")
				still(t, namespace, allTraces)
				if now := get(t, cluster(t), configmaps, namespace, "a-child"); now.GetUID() != child.GetUID() {
					t.Error("the child is another one")
				}
				for _, r := range requests(t, since) {
					if r.ObjectRef.Namespace == namespace && r.Verb == "delete" && r.ObjectRef.Resource == "configmaps" {
						t.Errorf("%s was deleted by %s", r.ObjectRef.Name, r.as())
					}
				}
				for _, of := range []schema.GroupVersionResource{serviceaccounts, roles, roleBindings} {
					remove(t, cluster(t), of, namespace, "bot")
				}
				deleted(t, cluster(t), namespace)
				asked(t, since, namespace, "system:serviceaccount:"+namespace+":heir")
			})
		})
	}
}

// asked holds who it was that cleaned up.
func asked(t *testing.T, since time.Time, namespace, who string) {
	t.Helper()
	n := 0
	for _, r := range requests(t, since) {
		if r.ObjectRef.Namespace == namespace && r.Verb == "delete" && r.ObjectRef.Resource == "configmaps" && r.granted() {
			if n++; r.as() != who {
				t.Errorf("%s was deleted by %s, want %s", r.ObjectRef.Name, r.as(), who)
			}
		}
	}
	if n != 1 {
		t.Errorf("%d children were deleted, want 1", n)
	}
}

// TestSetDeletedWithoutRights holds that a set that cannot clean up says why, stays, and
// goes when it can.
func TestSetDeletedWithoutRights(t *testing.T) {
	virtually(t, func(t *testing.T) {
		namespace := cluster(t).Namespace(t)
		start(t, cluster(t))
		keep(t, cluster(t), namespace)
		remove(t, cluster(t), roleBindings, namespace, "bot")
		remove(t, cluster(t), ruleSets, namespace, "keeper")
		var message string
		eventually(t, "the set says what keeps it", func() bool {
			var reason string
			_, reason, message = condition(t, cluster(t), ruleSets, namespace, "keeper", "Stalled")
			return reason == "CleaningUp"
		})
		for _, part := range []string{"cannot be cleaned up", "forbidden", "system:serviceaccount:" + namespace + ":bot", "configmaps"} {
			if !strings.Contains(message, part) {
				t.Errorf("the message lacks %q: %s", part, message)
			}
		}
		if set := get(t, cluster(t), ruleSets, namespace, "keeper"); set == nil || set.GetFinalizers()[0] != v1alpha1.Finalizer {
			t.Error("the set is let go of")
		}
		account(t, cluster(t), namespace, "bot", janitor...)
		cleaned(t, cluster(t), namespace)
	})
}

// TestSetNamespaceDeleted holds that a set keeps no namespace from going, that goes with
// its ServiceAccount, its rights and everything.
func TestSetNamespaceDeleted(t *testing.T) {
	alongside(t)
	start(t, cluster(t))
	names := make([]string, 3)
	for i := range names { // The order in which a namespace is emptied is a matter of luck.
		names[i] = cluster(t).Namespace(t)
		keep(t, cluster(t), names[i])
	}
	for _, name := range names {
		remove(t, cluster(t), namespaces, "", name)
	}
	within(t, 2*time.Minute, "the namespaces are gone", func() bool {
		for _, name := range names {
			if get(t, cluster(t), namespaces, "", name) != nil {
				return false
			}
		}
		return true
	})
}
