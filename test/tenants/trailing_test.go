package tenants

import (
	"context"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/dyncontroller/dyncontroller/test/proxy"
	"github.com/dyncontroller/dyncontroller/test/virtual"
)

// keeperSet makes a ConfigMap for each one with the label parent, and prunes it.
const keeperSet = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: keeper, namespace: NAMESPACE}
spec:
  serviceAccountName: bot
  resources:
    parents: {version: v1, resource: configmaps, labelSelector: parent}
    children: {version: v1, resource: configmaps, labelSelector: child}
  rules:
`

const keeps = `  - name: RULE
    watch: parents
    actions:
    - apply:
        resource: children
        prune: true
        manifest: {metadata: {name: "${object.metadata.name}-RULE", labels: {child: RULE}}, data: {version: "VERSION"}}
`

const aParent = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NAMESPACE, labels: {parent: yes-it-is}}\n"

// TestTrailingLeader holds that a process that takes over, and whose watch has not shown yet that a rule was changed and
// another one added, writes nothing by the old rules, and takes none of the children away.
func TestTrailingLeader(t *testing.T) {
	virtually(t, func(t *testing.T) {
		const trails = 25 * time.Second // far more than a hand-over takes
		namespace := cluster(t).Namespace(t)
		account(t, cluster(t), namespace, "bot", editor)
		set := func(version string, rules ...string) {
			text := keeperSet
			for _, rule := range rules {
				text += strings.NewReplacer("RULE", rule, "VERSION", version).Replace(keeps)
			}
			apply(t, cluster(t), namespace, text)
		}
		set("1", "one")
		apply(t, cluster(t), namespace, aParent)
		election := []string{
			"--leader-elect", "--leader-elect-resource-name", "trailing", "--leader-elect-resource-namespace", namespace,
			"--leader-elect-lease-duration", "6s", "--leader-elect-renew-deadline", "4s", "--leader-elect-retry-period", "500ms",
		}
		leader := start(t, cluster(t), election...)
		made := func(name string) any {
			return field(get(t, cluster(t), configmaps, namespace, name), "metadata", "uid")
		}
		eventually(t, "the first rule works", func() bool { return made("a-one") != nil })
		sets := func(r proxy.Request) bool { return r.Watches() && strings.HasSuffix(r.Resource, "rulesets") }
		_, path := virtual.Proxy(t, cluster(t), proxy.Options{Fault: proxy.On(sets, proxy.Action{Delay: trails})})
		standby := launch(t, cluster(t), append([]string{
			"run", "--kubeconfig", path, "--rules-from-cluster",
			"--metrics-bind-address", "0", "--health-probe-bind-address", "0",
		}, election...)...)
		t.Cleanup(func() {
			standby.stop(t)
			if t.Failed() {
				t.Logf("standby:\n%s", standby.output)
			}
		})
		bot := "system:serviceaccount:" + namespace + ":bot"
		eventually(t, "both have caches", func() bool { return watching(t, bot, "configmaps") == 4 })

		edited := time.Now()
		set("2", "one", "two")
		eventually(t, "the second rule works", func() bool { return made("a-two") != nil })
		child := made("a-two")
		version := func(object *unstructured.Unstructured) any { return field(object, "data", "version") }
		eventually(t, "the first rule works as it was changed", func() bool {
			return version(get(t, cluster(t), configmaps, namespace, "a-one")) == "2"
		})
		following, stop := context.WithCancel(t.Context())
		var followed sync.WaitGroup
		of := client(t, cluster(t)).Resource(configmaps).Namespace(namespace)
		list, err := of.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		followed.Go(func() {
			follow(following, t, of, list.GetResourceVersion(), func(_ watch.EventType, object *unstructured.Unstructured) {
				if version(object) == "1" {
					t.Errorf("%s was written by the old rules", object.GetName())
				}
			})
		})
		defer followed.Wait()
		defer stop()
		lease := schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
		holder := func() any { return field(get(t, cluster(t), lease, namespace, "trailing"), "spec", "holderIdentity") }
		before := holder()
		leader.signal(t, syscall.SIGKILL)
		eventually(t, "the other one leads", func() bool { return holder() != before })
		if took := time.Since(edited); took > trails {
			t.Fatalf("it leads only after %s, when its watch has shown all", took)
		}
		apply(t, cluster(t), namespace, strings.Replace(aParent, "name: a", "name: b", 1))
		eventually(t, "it knows the second rule", func() bool { return made("b-two") != nil })
		if now := made("a-two"); now != child {
			t.Errorf("the child is %v, and was %v", now, child)
		}
		for _, r := range about(t, edited, bot, "configmaps") {
			if r.Verb == "delete" {
				t.Errorf("it deleted %s", r.ObjectRef.Name)
			}
		}
	})
}

// TestAnotherAccount holds that a set with another account does not make again what is being
// made as the one before.
func TestAnotherAccount(t *testing.T) {
	virtually(t, func(t *testing.T) {
		const each = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: each, namespace: NAMESPACE}
spec:
  serviceAccountName: ann
  resources:
    parents: {version: v1, resource: configmaps, labelSelector: parent}
    children: {version: v1, resource: configmaps, labelSelector: child}
  rules:
  - name: one
    watch: parents
    with: {mine: {resource: children, ownedBy: object}}
    actions:
    - when: len(mine) == 0
      create: {in: mine, manifest: {metadata: {generateName: "child-", labels: {child: "yes"}}}}
`
		namespace := cluster(t).Namespace(t)
		account(t, cluster(t), namespace, "ann", editor)
		account(t, cluster(t), namespace, "bob", editor)
		slow := make(chan struct{})
		creates := func(r proxy.Request) bool {
			return r.Verb == "create" && r.Resource == "configmaps" && r.Namespace == namespace
		}
		between, path := virtual.Proxy(t, cluster(t), proxy.Options{Fault: proxy.Nth(1, creates, proxy.Action{Before: proxy.Hold(slow)})})
		p := launch(t, cluster(t), "run", "--kubeconfig", path, "--rules-from-cluster", "--metrics-bind-address", "0", "--health-probe-bind-address", "0")
		t.Cleanup(func() {
			p.stop(t)
			if t.Failed() {
				t.Logf("dyncontroller:\n%s", p.output)
			}
		})
		apply(t, cluster(t), namespace, aParent)
		apply(t, cluster(t), namespace, each)
		eventually(t, "a request is under way", func() bool { return between.Count(creates) == 1 })
		edit(t, cluster(t), ruleSets, namespace, "each", `{"spec":{"serviceAccountName":"bob"}}`)
		eventually(t, "the set says that it waits", func() bool {
			_, reason, message := condition(t, cluster(t), ruleSets, namespace, "each", "Ready")
			return reason == "Syncing" && strings.Contains(message, "under way")
		})
		close(slow)
		apply(t, cluster(t), namespace, strings.Replace(aParent, "name: a", "name: b", 1))
		children := func() []string {
			list, err := client(t, cluster(t)).Resource(configmaps).Namespace(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "child"})
			if err != nil {
				t.Fatal(err)
			}
			var parents []string
			for _, child := range list.Items {
				parents = append(parents, child.GetOwnerReferences()[0].Name)
			}
			slices.Sort(parents)
			return parents
		}
		eventually(t, "the other account works", func() bool { return slices.Contains(children(), "b") })
		if got := children(); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("the children are of %v, want one of each", got)
		}
		for user, want := range map[string]int{"ann": 1, "bob": 1} {
			made := slices.DeleteFunc(about(t, time.Time{}, "system:serviceaccount:"+namespace+":"+user, "configmaps"), func(r request) bool { return r.Verb != "create" })
			if len(made) != want {
				t.Errorf("%s has made %d", user, len(made))
			}
		}
	})
}
