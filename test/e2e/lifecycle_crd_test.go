package e2e

import (
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

const (
	sized   = `{size: {type: integer}, color: {type: string}}`
	unsized = `{color: {type: string}}`
)

// TestScopeChanges holds that a set of a namespace rests while its resource has no
// namespaces, says so, and goes on when it has them again.
func TestScopeChanges(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	d := definition{plural: "scopes", versions: []version{{name: "v1", store: true, spec: sized}}}
	d.install(t)
	defer func() { d.remove(t) }()
	d.thing(t, "v1", namespace, "before", "{}")
	p := serve(t, "--rules", rulesFile(t, namespace, d.rules("v1")))
	eventually(t, "the rule acts", func() bool { return d.seen(t, namespace, "before") })
	others(t, namespace, "1")

	since := p.now()
	d.remove(t)
	wide := d
	wide.scope = "Cluster"
	wide.install(t)
	wide.thing(t, "v1", "", "wide", "{}")
	informer := "informer scopes.v1." + d.group() + " -n " + namespace
	p.waits(t, informer, "[!]", "the API server has no resource scopes.v1."+d.group()+" whose objects have namespaces", "; rules wait for it: life/see")
	p.waits(t, "rules", "[!]", "do not fit the schemas of the cluster", "cluster-scoped")
	others(t, namespace, "2")
	if wide.seen(t, "", "wide") {
		t.Error("a set of a namespace has written something outside")
	}
	wide.remove(t)
	d.install(t)
	d.thing(t, "v1", namespace, "after", "{}")
	eventually(t, "the rule acts again", func() bool { return d.seen(t, namespace, "after") })
	p.waits(t, informer, "[+]", "synced")
	p.waits(t, "rules", "[+]")
	others(t, namespace, "3")
	p.calm(t, d, since, 12)
}

// TestVersionIsNotServed holds that nothing is done in a version that is not served.
func TestVersionIsNotServed(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	d := definition{plural: "versions", versions: []version{{name: "v1", store: true, spec: sized}, {name: "v2", spec: sized}}}
	d.install(t)
	defer d.remove(t)
	d.thing(t, "v1", namespace, "before", "{}")
	p := serve(t, "--rules", rulesFile(t, namespace, d.rules("v2")))
	eventually(t, "the rule acts", func() bool { return d.seen(t, namespace, "before") })
	others(t, namespace, "1")

	since, before := p.now(), requests(t)
	d.versions[1].unserved = true
	d.install(t)
	informer := "informer versions.v2." + d.group() + " -n " + namespace
	p.waits(t, informer, "[!]", "the API server has no resource versions.v2."+d.group(), "; rules wait for it: life/see")
	d.thing(t, "v1", namespace, "between", "{}")
	edit(t, d.gvr("v1"), namespace, "before", `{"metadata":{"labels":null}}`)
	others(t, namespace, "2")
	if d.seen(t, namespace, "between") || d.seen(t, namespace, "before") {
		t.Error("the rule has acted")
	}
	if n := requests(t).Since(before).Writes().Count(controlplane.Request{Group: d.group(), Version: "v2"}); n > 0 {
		t.Errorf("%d writes in a version that is not served", n)
	}
	p.calm(t, d, since, 3)

	d.versions[1].unserved = false
	d.install(t)
	eventually(t, "the rule acts again", func() bool {
		return d.seen(t, namespace, "between") && d.seen(t, namespace, "before")
	})
	p.waits(t, informer, "[+]", "synced")
	p.calm(t, d, since, 10)
}

// TestStorageVersionChanges holds that in which version objects are stored makes no
// difference to a rule, nor does that they are stored again.
func TestStorageVersionChanges(t *testing.T) {
	alongside(t)
	namespace := cluster(t).Namespace(t)
	d := definition{plural: "stores", versions: []version{{name: "v1", store: true, spec: sized}, {name: "v2", spec: sized}}}
	d.install(t)
	defer d.remove(t)
	d.thing(t, "v1", namespace, "a", "{size: 1}")
	p := serve(t, "--rules", rulesFile(t, namespace, d.rules("v1")))
	eventually(t, "the rule acts", func() bool { return d.seen(t, namespace, "a") })

	before := requests(t)
	d.versions[0].store, d.versions[1].store = false, true
	d.install(t)
	migrated := edit(t, d.gvr("v2"), namespace, "a", `{"spec":{"color":"red"}}`)
	d.thing(t, "v2", namespace, "b", "{size: 2}")
	eventually(t, "the rule acts on what is new", func() bool { return d.seen(t, namespace, "b") })
	others(t, namespace, "1")
	if now := get(t, d.gvr("v1"), namespace, "a"); now.GetResourceVersion() != migrated.GetResourceVersion() {
		t.Errorf("it was written again: %v", now)
	}
	// Ours of b, theirs of a and b.
	if n := requests(t).Since(before).Writes().Count(controlplane.Request{Group: d.group()}); n != 3 {
		t.Errorf("there were %d writes, want 3:\n%s", n, requests(t).Since(before).Writes())
	}
	p.waits(t, "informer stores.v1."+d.group()+" -n "+namespace, "[+]", "synced")
}

// TestNamespaceTerminates holds that what cannot be made in a namespace that is going is
// not tried in haste, and keeps nobody else waiting.
func TestNamespaceTerminates(t *testing.T) {
	alongside(t)
	namespace, going := cluster(t).Namespace(t), cluster(t).Namespace(t)
	create(t, configmaps, namespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: source, labels: {life: "yes"}}, data: {number: "1"}}`)
	if err := controlPlane(t).DeleteNamespace(t.Context(), going); err != nil {
		t.Fatal(err)
	}
	before := requests(t)
	p := serve(t, "--rules", rulesFile(t, namespace, `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: going}
spec:
  resources:
    sources: {version: v1, resource: configmaps, labelSelector: life=yes, namespaces: [NAMESPACE]}
    copies: {version: v1, resource: configmaps, labelSelector: life=copy}
  rules:
  - name: copy
    watch: sources
    actions:
    - apply: {resource: copies, owned: false, manifest: {metadata: {name: copy, namespace: `+going+`, labels: {life: copy}}}}
  - name: other
    watch: sources
    when: object.data?.number != nil && object.data?.copy != object.data?.number
    actions: [{patch: {merge: {data: {copy: "${object.data?.number}"}}}}]
`))
	eventually(t, "the other rule acts", func() bool { return field(get(t, configmaps, namespace, "source"), "data", "copy") == "1" })
	eventually(t, "it is refused", func() bool { return p.lines(0, "write failed", "being terminated") > 0 })
	lets(t, 10*time.Second)
	// After 0.2, 0.4, 0.8, ... seconds.
	if n := requests(t).Since(before).Count(controlplane.Request{Resource: "configmaps", Code: "403"}); n < 1 || n > 12 {
		t.Errorf("it was tried %d times in ten seconds", n)
	}
	if n := p.lines(0, "write failed"); n != 1 {
		t.Errorf("the log says so %d times", n)
	}
}

// lets a promise about a while come true.
func lets(t *testing.T, d time.Duration) {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
	}
}
