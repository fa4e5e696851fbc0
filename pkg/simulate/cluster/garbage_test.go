package cluster_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/cluster"
)

// remove deletes an object as a rule would.
func remove(t *testing.T, c *cluster.Cluster, gvr schema.GroupVersionResource, namespace, name string, how plan.Deletion) {
	t.Helper()
	of := unstructured.Unstructured{Object: get(t, c, plan.Object{GVR: gvr, Namespace: namespace, Name: name})}
	result := c.Write(t.Context(), plan.Operation{Type: plan.Delete, Body: how, Target: plan.Object{
		GVR: gvr, Kind: of.GetKind(), Namespace: namespace, Name: name, UID: of.GetUID(), ResourceVersion: of.GetResourceVersion(),
	}})
	if result.Class != write.Written {
		t.Fatalf("deleting %s: %s: %v", name, result.Class, result.Err)
	}
}

func collect(t *testing.T, c *cluster.Cluster) bool {
	t.Helper()
	changed, err := c.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func TestCollect(t *testing.T) {
	const held = ", finalizers: [example.com/f]"
	for name, test := range map[string]struct {
		objects []string
		how     string // of the deletion of o, which is a Gadget, none for empty
		want    []string
		reason  string
	}{
		"nothing to do": {
			objects: []string{gadget("o", ""), configMap("d", ownedBy("o"))},
			want:    []string{"d(o)", "o"}, reason: "the owner is there",
		},
		"an owner that never was": {
			objects: []string{configMap("d", ownedBy("other"))},
			want:    []string{"d(other)"}, reason: "a test need not have it",
		},
		"background": {
			objects: []string{gadget("o", ""), gadget("d", ownedBy("o")), configMap("dd", ownedBy("d")), configMap("other", "")}, how: "Background",
			want: []string{"other"}, reason: "dependents go, and theirs",
		},
		"one of two owners": {
			objects: []string{gadget("o", ""), gadget("p", ""), configMap("d", ownedBy("o", "p"))}, how: "Background",
			want: []string{"d(p)", "p"}, reason: "the other one keeps it; the reference goes",
		},
		"one of two, the other unknown": {
			objects: []string{gadget("o", ""), configMap("d", ownedBy("o", "other"))}, how: "Background",
			want: []string{"d(other)"}, reason: "an owner that never was is taken to be there",
		},
		"foreground": {
			objects: []string{gadget("o", ""), gadget("d", ownedBy("o!")), configMap("dd", ownedBy("d!"))}, how: "Foreground",
			want: []string{}, reason: "from the leaves up",
		},
		"foreground, held": {
			objects: []string{gadget("o", ""), configMap("d", ownedBy("o!")+held)}, how: "Foreground",
			want: []string{"-d(o)", "-o"}, reason: "the owner waits for what is held",
		},
		"foreground, held, not blocking": {
			objects: []string{gadget("o", ""), configMap("d", ownedBy("o")+held)}, how: "Foreground",
			want: []string{"-d(o)"}, reason: "the owner does not wait for what does not block it",
		},
		"foreground, of two owners": {
			objects: []string{gadget("o", ""), gadget("p", ""), configMap("d", ownedBy("o!", "p!"))}, how: "Foreground",
			want: []string{"d(p)", "p"}, reason: "the owner that stays keeps it",
		},
		"foreground, in a circle": {
			objects: []string{gadget("o", ownedBy("d!")), gadget("d", ownedBy("o!"))}, how: "Foreground",
			want: []string{}, reason: "they do not wait for each other for ever",
		},
		"orphan": {
			objects: []string{gadget("o", ""), configMap("d", ownedBy("o")), configMap("e", ownedBy("o", "other"))}, how: "Orphan",
			want: []string{"d", "e(other)"}, reason: "dependents stay, without the reference",
		},
		"a dependent that orphans": {
			objects: []string{gadget("o", ""), gadget("d", ownedBy("o")+", finalizers: [orphan]"), configMap("dd", ownedBy("d"))}, how: "Background",
			want: []string{"dd"}, reason: "it says itself how it is to go",
		},
		"in another namespace": {
			objects: []string{gadget("o", "namespace: b"), configMap("d", ownedBy("o"))},
			want:    []string{"o"}, reason: "an owner cannot be there: to the collector it is gone",
		},
		"cluster-scoped, with an owner that is not": {
			objects: []string{gadget("o", ""), "{apiVersion: example.com/v1, kind: Site, metadata: {name: d, uid: u-d, " + ownedBy("o") + "}}"}, how: "Background",
			want: []string{"d(o)"}, reason: "such an owner cannot be looked up, so it does not count",
		},
		"an owner that is held": {
			objects: []string{gadget("o", held), configMap("d", ownedBy("o"))}, how: "Background",
			want: []string{"-o", "d(o)"}, reason: "it is still there",
		},
		"as found, only to go": {
			objects: []string{gadget("d", `deletionTimestamp: "2025-12-31T00:00:00Z"`)},
			want:    []string{}, reason: "nothing holds it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Log(test.reason)
			c := newCluster(t, test.objects...)
			if test.how != "" {
				remove(t, c, gadgets, "a", "o", plan.Deletion{PropagationPolicy: test.how})
			}
			collect(t, c)
			if diff := cmp.Diff(test.want, names(t, c)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if collect(t, c) {
				t.Error("Collect changed something again")
			}
		})
	}
}

// An owner that came and went between two collections has been there.
func TestOwnerOfAMoment(t *testing.T) {
	c := newCluster(t)
	if err := c.Apply(t.Context(), object(t, "{apiVersion: example.com/v1, kind: Gadget, metadata: {name: o, namespace: a}, spec: {size: 1}}")); err != nil {
		t.Fatal(err)
	}
	owner := get(t, c, plan.Object{GVR: gadgets, Namespace: "a", Name: "o"})
	dependent := object(t, configMap("d", ownedBy("o")))
	references, _, _ := unstructured.NestedSlice(dependent, "metadata", "ownerReferences")
	references[0].(map[string]any)["uid"] = string((&unstructured.Unstructured{Object: owner}).GetUID())
	if err := unstructured.SetNestedSlice(dependent, references, "metadata", "ownerReferences"); err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(t.Context(), dependent); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), plan.Object{GVR: gadgets, Namespace: "a", Name: "o"}); err != nil {
		t.Fatal(err)
	}
	collect(t, c)
	if got := names(t, c); len(got) > 0 {
		t.Errorf("%v is still there", got)
	}
}

func TestGrace(t *testing.T) {
	pod := func(name, metadata, spec string) string {
		return "{apiVersion: v1, kind: Pod, metadata: {namespace: a, name: " + name + ", uid: u-" + name + comma(metadata) + "}, spec: {containers: [{name: c, image: i}]" + comma(spec) + "}}"
	}
	c := newCluster(t, pod("placed", "", "nodeName: somewhere, terminationGracePeriodSeconds: 10"), pod("waiting", "", ""), pod("held", "finalizers: [example.com/f]", "nodeName: somewhere"), pod("slow", "", "nodeName: somewhere"))
	next := func() string {
		t.Helper()
		end, err := c.NextEnd(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if end.IsZero() {
			return "never"
		}
		return end.Sub(start).String()
	}
	if got := next(); got != "never" {
		t.Errorf("NextEnd is %s before anything is deleted", got)
	}
	for _, name := range []string{"placed", "waiting", "held", "slow"} {
		remove(t, c, pods, "a", name, plan.Deletion{})
	}
	for _, step := range []struct {
		after time.Duration
		want  []string
		next  string
	}{
		{0, []string{"-held", "-placed", "-slow"}, "10s"},
		{9 * time.Second, []string{"-held", "-placed", "-slow"}, "10s"},
		{time.Second, []string{"-held", "-slow"}, "30s"},
		{time.Hour, []string{"-held"}, "never"},
	} {
		c.Clock().Step(step.after)
		collect(t, c)
		if diff := cmp.Diff(step.want, names(t, c)); diff != "" {
			t.Errorf("at %s (-want +got):\n%s", c.Clock().Now(), diff)
		}
		if got := next(); got != step.next {
			t.Errorf("at %s: NextEnd is %s, want %s", c.Clock().Now(), got, step.next)
		}
	}
}

func TestNamespace(t *testing.T) {
	free := func(t *testing.T, c *cluster.Cluster, gvr schema.GroupVersionResource, in, name string) {
		t.Helper()
		err := c.Patch(t.Context(), plan.Object{GVR: gvr, Namespace: in, Name: name}, "", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		if err != nil {
			t.Fatal(err)
		}
	}
	c := newCluster(
		t, "{apiVersion: v1, kind: Namespace, metadata: {name: a, uid: u-a, finalizers: [example.com/f]}, spec: {finalizers: [kubernetes]}}",
		"{apiVersion: v1, kind: Namespace, metadata: {name: b, uid: u-b}}", gadget("x", ""), configMap("held", "finalizers: [example.com/f]"), gadget("other", "namespace: b"),
	)
	remove(t, c, namespaces, "", "a", plan.Deletion{})
	for _, step := range []struct {
		do     func()
		want   []string
		reason string
	}{
		{func() {}, []string{"-a", "-held", "b", "other"}, "what is in it goes, but for what is held"},
		{func() { free(t, c, configMaps, "a", "held") }, []string{"-a", "b", "other"}, "a finalizer of its own holds the namespace"},
		{func() { free(t, c, namespaces, "", "a") }, []string{"b", "other"}, "nothing holds it"},
		{func() { remove(t, c, namespaces, "", "b", plan.Deletion{}) }, []string{}, "the other one has no finalizers in its spec"},
	} {
		step.do()
		collect(t, c)
		if diff := cmp.Diff(step.want, names(t, c)); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", step.reason, diff)
		}
	}
}
