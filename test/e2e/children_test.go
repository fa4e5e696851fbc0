package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/test/proxy"
)

// childRules make a ConfigMap of a TidbCluster, as OPTIONS say, and mirror a label of it, which shows that a change has
// been seen.
const childRules = `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: children, namespace: NAMESPACE}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    configmaps: {version: v1, resource: configmaps}
  rules:
  - name: mirror
    watch: tidbclusters
    when: object.metadata.labels.poke != object.metadata.labels.seen
    actions: [{patch: {merge: {metadata: {labels: {seen: "${object.metadata.labels.poke}"}}}}}]
  - name: child
    watch: tidbclusters
    when: object.metadata.labels.want != "no"
    actions:
    - apply: {resource: configmaps, manifest: {metadata: {name: "${object.metadata.name}-child"}, data: {of: "${object.metadata.name}"}}, OPTIONS}
`

// family is a TidbCluster "db" with a running process that makes "db-child".
type family struct {
	namespace string
	rule      plan.Rule
}

func newFamily(t *testing.T, options string, prepare func(namespace string)) family {
	t.Helper()
	return newFamilyOf(t, strings.Replace(childRules, "OPTIONS", options, 1), prepare)
}

func newFamilyOf(t *testing.T, rules string, prepare func(namespace string)) family {
	t.Helper()
	f := family{namespace: cluster(t).Namespace(t)}
	f.rule = plan.Rule{Kind: "RuleSet", Namespace: f.namespace, Set: "children", Name: "child"}
	tidbCluster(t, f.namespace, "db", "")
	if prepare != nil {
		prepare(f.namespace)
	}
	start(t, "--rules", rulesFile(t, f.namespace, rules))
	return f
}

// seen waits until everything up to now has been seen, and acted upon.
func (f family) seen(t *testing.T, poke string) {
	t.Helper()
	edit(t, tidbclusters, f.namespace, "db", fmt.Sprintf(`{"metadata":{"labels":{"poke":%q}}}`, poke))
	eventually(t, "the change is seen", func() bool {
		return field(get(t, tidbclusters, f.namespace, "db"), "metadata", "labels", "seen") == poke
	})
}

func (f family) wants(t *testing.T, want string) {
	t.Helper()
	edit(t, tidbclusters, f.namespace, "db", fmt.Sprintf(`{"metadata":{"labels":{"want":%q}}}`, want))
}

func (f family) childMade(t *testing.T) {
	t.Helper()
	eventually(t, "the child is there, as wanted", func() bool {
		found := find(t, configmaps, f.namespace, "db-child")
		return len(found) == 1 && field(&found[0], "data", "of") == "db"
	})
}

// marks are what a child shows of whose it is.
type marks struct {
	Set, Rule, OwnerUID, Adopted bool
	Controller                   string
	Managed                      bool // by the rule
	Value                        any
}

func (f family) marks(t *testing.T) marks {
	t.Helper()
	child, owner := get(t, configmaps, f.namespace, "db-child"), get(t, tidbclusters, f.namespace, "db")
	labels := child.GetLabels()
	_, adopted := child.GetAnnotations()[plan.AdoptedAnnotation]
	out := marks{
		Set: labels[plan.LabelSet] == f.rule.SetID(), Rule: labels[plan.LabelRule] == "child",
		OwnerUID: labels[plan.LabelOwnerUID] == string(owner.GetUID()), Adopted: adopted, Value: field(child, "data", "of"),
	}
	for _, reference := range child.GetOwnerReferences() {
		if reference.Controller != nil && *reference.Controller && reference.UID == owner.GetUID() {
			out.Controller = reference.Kind + "/" + reference.Name
		}
	}
	for _, entry := range child.GetManagedFields() {
		out.Managed = out.Managed || entry.Manager == f.rule.FieldManager()
	}
	return out
}

const theirs = `{apiVersion: v1, kind: ConfigMap, metadata: {name: db-child}, data: {theirs: "yes"}}`

func TestChildren(t *testing.T) {
	theirsIsThere := func(t *testing.T) func(string) {
		return func(namespace string) { create(t, configmaps, namespace, theirs) }
	}
	ours := marks{Set: true, Rule: true, OwnerUID: true, Controller: "TidbCluster/db", Managed: true, Value: "db"}

	runVirtually(t, "OwnerReferences", func(t *testing.T) {
		f := newFamily(t, "owned: true", nil)
		f.childMade(t)
		if diff := cmp.Diff(ours, f.marks(t)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
	runVirtually(t, "NotOwned", func(t *testing.T) {
		f := newFamily(t, "owned: false", nil)
		f.childMade(t)
		want := ours
		want.Controller = ""
		if diff := cmp.Diff(want, f.marks(t)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
	runVirtually(t, "AdoptAndRelease", func(t *testing.T) {
		f := newFamily(t, "adopt: true, prune: true", theirsIsThere(t))
		f.childMade(t)
		want := ours
		want.Adopted = true
		if diff := cmp.Diff(want, f.marks(t)); diff != "" {
			t.Errorf("adopted (-want +got):\n%s", diff)
		}
		f.wants(t, "no")
		eventually(t, "it is released, with its values", func() bool { return f.marks(t) == marks{Value: "db"} })
		if value := field(get(t, configmaps, f.namespace, "db-child"), "data", "theirs"); value != "yes" {
			t.Errorf("their value is %v", value)
		}
	})
	runVirtually(t, "AdoptWholeAndRelease", func(t *testing.T) { // Nobody else owns a field any more, so what is released is all of managedFields.
		f := newFamily(t, "adopt: true, prune: true", func(namespace string) {
			object := &unstructured.Unstructured{Object: decode(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: db-child}, data: {of: somebody}}`)}
			if _, err := client(t).Resource(configmaps).Namespace(namespace).
				Apply(t.Context(), "db-child", object, metav1.ApplyOptions{FieldManager: "somebody"}); err != nil {
				t.Fatal(err)
			}
		})
		f.childMade(t)
		if entries := get(t, configmaps, f.namespace, "db-child").GetManagedFields(); len(entries) != 1 {
			t.Errorf("others own something of it: %v", entries)
		}
		f.wants(t, "no")
		eventually(t, "it is released, with its values", func() bool { return f.marks(t) == marks{Value: "db"} })
	})
	runVirtually(t, "ForeignIsRefused", func(t *testing.T) {
		f := newFamily(t, "prune: true", theirsIsThere(t))
		before := get(t, configmaps, f.namespace, "db-child").GetResourceVersion()
		eventually(t, "an Event says so", func() bool { return len(f.refusals(t)) == 1 })
		f.wants(t, "no")
		f.seen(t, "refused")
		if after := get(t, configmaps, f.namespace, "db-child").GetResourceVersion(); after != before {
			t.Errorf("it was %s, is %s", before, after)
		}
		if events := f.refusals(t); len(events) != 1 || events[0] != "Warning TidbCluster/db" {
			t.Errorf("events: %v", events)
		}
	})
	runVirtually(t, "KeepLeavesWhatIsThere", func(t *testing.T) {
		f := newFamily(t, "existing: Keep", theirsIsThere(t))
		before := get(t, configmaps, f.namespace, "db-child").GetResourceVersion()
		f.seen(t, "kept")
		if after := get(t, configmaps, f.namespace, "db-child").GetResourceVersion(); after != before {
			t.Errorf("it was %s, is %s", before, after)
		}
		if events := f.refusals(t); len(events) > 0 {
			t.Errorf("it is not silent: %v", events)
		}
		deleteObject(t, configmaps, f.namespace, "db-child")
		f.childMade(t)
	})
	runVirtually(t, "KeepMakesWhatIsNot", func(t *testing.T) {
		f := newFamily(t, "existing: Keep", nil)
		f.childMade(t)
		edit(t, configmaps, f.namespace, "db-child", `{"data":{"of":"somebody"}}`)
		f.seen(t, "kept")
		if value := field(get(t, configmaps, f.namespace, "db-child"), "data", "of"); value != "somebody" {
			t.Errorf("it was not left alone: %v", value)
		}
	})
	runVirtually(t, "MadeAgain", func(t *testing.T) {
		f := newFamily(t, "owned: true", nil)
		f.childMade(t)
		deleteObject(t, configmaps, f.namespace, "db-child")
		f.childMade(t)
		edit(t, configmaps, f.namespace, "db-child", `{"data":{"of":"somebody"}}`)
		f.childMade(t)
	})
	runVirtually(t, "PruneWhenNotWanted", func(t *testing.T) {
		f := newFamily(t, "prune: true", nil)
		f.childMade(t)
		f.wants(t, "no")
		eventually(t, "it is pruned", func() bool { return !exists(t, configmaps, f.namespace, "db-child") })
		f.wants(t, "yes")
		f.childMade(t)
	})
	runVirtually(t, "StaysWithoutPrune", func(t *testing.T) {
		f := newFamily(t, "prune: false", nil)
		f.childMade(t)
		f.wants(t, "no")
		f.seen(t, "unwanted")
		if !exists(t, configmaps, f.namespace, "db-child") {
			t.Error("it was deleted though nothing says prune")
		}
	})
}

// refusals are the Events that say that a child is not ours: their type, and what they are about.
func (f family) refusals(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, event := range listEvents(t, f.namespace) {
		if event.Reason == "NotOurs" {
			out = append(out, event.Type+" "+event.Regarding.Kind+"/"+event.Regarding.Name)
		}
	}
	return out
}

// TestChildrenElsewhere holds that children are made for what cannot be their owner, or is in no namespace, and are
// pruned by their labels once the parent is gone.
func TestChildrenElsewhere(t *testing.T) {
	virtually(t, func(t *testing.T) {
		const text = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: elsewhere-HOME}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters, namespaces: [HOME]}
    namespaces: {version: v1, resource: namespaces, labelSelector: parent=HOME}
    configmaps: {version: v1, resource: configmaps, namespaces: [AWAY]}
  rules:
  - name: away
    watch: tidbclusters
    actions:
    - apply: {resource: configmaps, manifest: {metadata: {name: "${object.metadata.name}-away", namespace: AWAY}}, owned: false, prune: true}
  - name: inside
    watch: namespaces
    actions:
    - apply: {resource: configmaps, manifest: {metadata: {name: inside, namespace: "${object.metadata.name}"}}}
`
		home, away := cluster(t).Namespace(t), cluster(t).Namespace(t)
		tidbCluster(t, home, "db", "")
		tidbCluster(t, home, "other", "")
		parent := edit(t, namespacesGVR, "", away, fmt.Sprintf(`{"metadata":{"labels":{"parent":%q}}}`, home))
		rules := rulesFile(t, home, strings.NewReplacer("HOME", home, "AWAY", away).Replace(text))
		p := start(t, "--rules", rules)
		for _, name := range []string{"db-away", "other-away", "inside"} {
			eventually(t, name+" is made", func() bool { return exists(t, configmaps, away, name) })
		}
		references := get(t, configmaps, away, "inside").GetOwnerReferences()
		if len(references) != 1 || references[0].UID != parent.GetUID() || references[0].Kind != "Namespace" {
			t.Errorf("the owner of a child of a namespace is %v", references)
		}
		if references := get(t, configmaps, away, "db-away").GetOwnerReferences(); len(references) > 0 {
			t.Errorf("an owner in another namespace: %v", references)
		}

		deleteObject(t, tidbclusters, home, "db")
		eventually(t, "the child of a parent that is gone is pruned", func() bool { return !exists(t, configmaps, away, "db-away") })
		p.wait(t)
		// One that went while nobody looked.
		deleteObject(t, tidbclusters, home, "other")
		start(t, "--rules", rules)
		eventually(t, "the child of a parent that went meanwhile is pruned", func() bool { return !exists(t, configmaps, away, "other-away") })
		if !exists(t, configmaps, away, "inside") {
			t.Error("the child of another rule is gone")
		}
	})
}

// TestGenerateNameExactlyOnce holds that children whose names nobody knows beforehand are made exactly once, although the
// caches are late and answers get lost.
func TestGenerateNameExactlyOnce(t *testing.T) {
	virtually(t, func(t *testing.T) {
		const late = 2 * time.Second
		children := times(100, 200)
		namespace := cluster(t).Namespace(t)
		tidbCluster(t, namespace, "db", "")
		creates := func(r proxy.Request) bool {
			return r.Verb == "create" && r.Resource == "configmaps" && r.Namespace == namespace
		}
		p, args := proxied(t, proxy.All(
			proxy.On(proxy.Request.Watches, proxy.Action{Delay: late}),
			proxy.Every(7, creates, proxy.Action{Committed: proxy.Break}),
		))
		args = append(args, "--rules", rulesFile(t, namespace, fmt.Sprintf(`
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: many, namespace: NAMESPACE}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    children: {version: v1, resource: configmaps, labelSelector: child=yes}
  rules:
  - name: mirror
    watch: tidbclusters
    when: object.metadata.labels.poke != object.metadata.labels.seen
    actions: [{patch: {merge: {metadata: {labels: {seen: "${object.metadata.labels.poke}"}}}}}]
  - name: children
    watch: tidbclusters
    with:
      children: {resource: children, matchLabels: {of: "${object.metadata.name}"}}
    when: len(children) < %[1]d
    actions:
    - forEach: {number: "${len(children)..%[1]d-1}"}
      create:
        in: children
        manifest: {metadata: {generateName: "${object.metadata.name}-", labels: {child: "yes", of: "${object.metadata.name}"}}}
`, children)))
		run := start(t, args...)
		count := func() int { return len(names(t, configmaps, namespace, "child=yes")) }
		within(t, 5*time.Minute, "all children are there", func() bool { return count() >= children })
		edit(t, tidbclusters, namespace, "db", `{"metadata":{"labels":{"poke":"done"}}}`)
		eventually(t, "the object is evaluated with all of them", func() bool {
			return field(get(t, tidbclusters, namespace, "db"), "metadata", "labels", "seen") == "done"
		})
		run.wait(t)

		stored := func(r proxy.Request) bool { return creates(r) && r.Code == http.StatusCreated }
		lost := func(r proxy.Request) bool { return creates(r) && r.Faulted }
		if n, made := count(), p.Count(stored); n != children || made != children {
			t.Errorf("%d children are there, %d were made; want %d", n, made, children)
		}
		if n := p.Count(lost); n < children/7 {
			t.Errorf("only %d answers got lost: it proves nothing", n)
		}
		before := p.Last()
		if output, code := once(t, args...); code != 0 {
			t.Errorf("a second run ended with %d:\n%s", code, output)
		}
		if writes := p.Since(before, storing); len(writes) > 0 {
			t.Errorf("a second run sent writes: %v", writes)
		}
	})
}
