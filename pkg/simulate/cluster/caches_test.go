package cluster_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/cluster"
)

var (
	everywhere = informer.Key{GVR: gadgets}
	inA        = informer.Key{GVR: gadgets, Namespace: "a"}
	inB        = informer.Key{GVR: gadgets, Namespace: "b"}
	databases  = informer.Key{GVR: gadgets, LabelSelector: "tier=db"}
	red        = informer.Key{GVR: gadgets, FieldSelector: "spec.colour=red"}
	older      = informer.Key{GVR: schema.GroupVersionResource{Group: "example.com", Version: "v1beta1", Resource: "gadgets"}}
)

func want(t *testing.T, c engine.Caches, keys ...informer.Key) {
	t.Helper()
	c.Want(keys, nil, false)
}

// patch changes the Gadget x.
func patch(t *testing.T, c *cluster.Cluster, body string) {
	t.Helper()
	if err := c.Patch(t.Context(), plan.Object{GVR: gadgets, Namespace: "a", Name: "x"}, "", types.MergePatchType, []byte(body)); err != nil {
		t.Fatal(err)
	}
}

// Whoever has written sees it in every cache at once, and has been told.
func TestCachesSeeWrites(t *testing.T) {
	c := newCluster(t, gadget("x", "labels: {tier: db}"))
	var told watcher
	caches := c.Caches(&told)
	want(t, caches, everywhere, inA, inB, databases, red, older)
	if diff := cmp.Diff([]string{
		"gadgets.v1.example.com: synced", "gadgets.v1.example.com -n a: synced", "gadgets.v1.example.com -n b: synced",
		"gadgets.v1.example.com -l tier=db: synced", "gadgets.v1.example.com --field-selector spec.colour=red: synced", "gadgets.v1beta1.example.com: synced",
	}, told.take()); diff != "" {
		t.Errorf("wanted (-want +got):\n%s", diff)
	}
	for _, step := range []struct {
		do     func()
		want   []string
		reason string
	}{
		{
			do: func() { patch(t, c, `{"spec":{"size":2}}`) },
			want: []string{
				"gadgets.v1.example.com: a/x 1 -> 2", "gadgets.v1.example.com -l tier=db: a/x 1 -> 2",
				"gadgets.v1.example.com -n a: a/x 1 -> 2", "gadgets.v1beta1.example.com: a/x 1 -> 2",
			},
			reason: "each cache that holds it, in order",
		},
		{do: func() { patch(t, c, `{"spec":{"size":2}}`) }, reason: "nothing has changed"},
		{
			do: func() { patch(t, c, `{"metadata":{"labels":{"tier":"web"}}}`) },
			want: []string{
				"gadgets.v1.example.com: a/x 2 -> 2", "gadgets.v1.example.com -l tier=db: a/x 2 -> nothing",
				"gadgets.v1.example.com -n a: a/x 2 -> 2", "gadgets.v1beta1.example.com: a/x 2 -> 2",
			},
			reason: "relabelled out of a selector, it looks as if it were gone",
		},
		{
			do: func() { patch(t, c, `{"metadata":{"labels":{"tier":"db"}},"spec":{"colour":"red"}}`) },
			want: []string{
				"gadgets.v1.example.com: a/x 2 -> 2", "gadgets.v1.example.com --field-selector spec.colour=red: a/x nothing -> 2",
				"gadgets.v1.example.com -l tier=db: a/x nothing -> 2", "gadgets.v1.example.com -n a: a/x 2 -> 2", "gadgets.v1beta1.example.com: a/x 2 -> 2",
			},
			reason: "and back, into two",
		},
		{
			do: func() {
				if err := c.Apply(t.Context(), object(t, "{apiVersion: example.com/v1, kind: Gadget, metadata: {name: w, namespace: b}, spec: {size: 5}}")); err != nil {
					t.Fatal(err)
				}
			},
			want: []string{
				"gadgets.v1.example.com: b/w nothing -> 5", "gadgets.v1.example.com -n b: b/w nothing -> 5", "gadgets.v1beta1.example.com: b/w nothing -> 5",
			},
			reason: "a new one, in its namespace",
		},
		{
			do: func() {
				if err := c.Delete(t.Context(), plan.Object{GVR: gadgets, Namespace: "b", Name: "w"}); err != nil {
					t.Fatal(err)
				}
			},
			want: []string{
				"gadgets.v1.example.com: b/w 5 -> nothing", "gadgets.v1.example.com -n b: b/w 5 -> nothing", "gadgets.v1beta1.example.com: b/w 5 -> nothing",
			},
			reason: "gone",
		},
		{
			do: func() {
				if err := c.Apply(t.Context(), object(t, configMap("m", ""))); err != nil {
					t.Fatal(err)
				}
			},
			reason: "of a resource that nobody wants",
		},
	} {
		step.do()
		if diff := cmp.Diff(step.want, told.take()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
	}
	if got := caches.View(databases, "a", "x"); !got.Synced || brief(got.Object.Fields()) != "2" {
		t.Errorf("View is %v", got)
	}
	if got := caches.View(inB, "a", "x"); !got.Synced || got.Object != nil {
		t.Errorf("View of another namespace is %v", got)
	}
	want(t, caches, inA)
	if got := caches.View(everywhere, "a", "x"); got.Synced || got.Object != nil {
		t.Errorf("View of a cache that nobody wants is %v", got)
	}
	if told.take() != nil || caches.Version(everywhere) != "" || caches.Version(inA) == "" {
		t.Errorf("Versions are %q of what nobody wants and %q of what is wanted", caches.Version(everywhere), caches.Version(inA))
	}
	caches.Stop()
	if got := caches.View(inA, "a", "x"); got.Synced {
		t.Error("a stopped cache is synced")
	}
}

func TestCachesRefuse(t *testing.T) {
	c := newCluster(t)
	told := &watcher{}
	caches := c.Caches(told)
	for name, key := range map[string]informer.Key{
		"no such resource": {GVR: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}},
		"no such field":    {GVR: gadgets, FieldSelector: "spec.size=1"},
		"no selector":      {GVR: gadgets, LabelSelector: "("},
	} {
		if caches.Want([]informer.Key{key}, nil, false); caches.View(key, "", "").Synced || told.take() == nil {
			t.Errorf("%s: nobody is told that it cannot be listed", name)
		}
	}
}

func TestRead(t *testing.T) {
	c := newCluster(
		t, gadget("z", "labels: {tier: db}"), gadget("x", "labels: {tier: web}, namespace: a-b"), gadget("x2", "labels: {tier: db}, namespace: b"),
		gadget("w", "labels: {tier: web}, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: o, uid: u-o, controller: true}]"),
	)
	caches := c.Caches(&watcher{})
	want(t, caches, everywhere, inA, databases)
	all := []plan.Selection{everywhere}
	for name, test := range map[string]struct {
		ask    plan.Read
		want   []string
		err    error
		reason string
	}{
		"all":            {ask: plan.Read{From: all, By: plan.ByAll}, want: []string{"w", "z", "x", "x2"}, reason: "in the order of namespaces and names"},
		"of a namespace": {ask: plan.Read{From: all, Namespace: "a", By: plan.ByAll}, want: []string{"w", "z"}, reason: "of the question"},
		"of a cache":     {ask: plan.Read{From: []plan.Selection{inA}, By: plan.ByAll}, want: []string{"w", "z"}, reason: "of the selection"},
		"of two caches": {
			ask: plan.Read{From: []plan.Selection{databases, inA}, By: plan.ByAll}, want: []string{"z", "x2", "w"}, reason: "each once",
		},
		"by name":   {ask: plan.Read{From: all, Namespace: "a", By: plan.ByName, Names: []string{"z", "none"}}, want: []string{"z"}, reason: "those that are there"},
		"by labels": {ask: plan.Read{From: all, By: plan.ByLabels, Labels: "tier=db"}, want: []string{"z", "x2"}, reason: "a selector"},
		"by fields": {
			ask: plan.Read{From: all, By: plan.ByFields, Fields: []plan.FieldValue{{Path: plan.Path{"metadata", "name"}, Value: "x"}}}, want: []string{"x"}, reason: "any field",
		},
		"by owner": {ask: plan.Read{From: all, By: plan.ByOwner, Owners: []types.UID{"u-o"}}, want: []string{"w"}, reason: "the controller"},
		"not wanted": {
			ask: plan.Read{From: []plan.Selection{red}, By: plan.ByAll}, err: lookup.ErrNotSynced, reason: "nothing is known of what it has",
		},
		"not wanted, elsewhere": {
			ask: plan.Read{From: []plan.Selection{inB, inA}, Namespace: "a", By: plan.ByAll}, want: []string{"w", "z"},
			reason: "a cache of another namespace does not matter, as to informers",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Log(test.reason)
			found, err := caches.Read(test.ask)
			if !errors.Is(err, test.err) || err != nil && test.err == nil {
				t.Fatalf("Read returned %v, want %v", err, test.err)
			}
			var got []string
			for _, fields := range found {
				got = append(got, plan.Text(fields, "metadata", "name"))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if diff := cmp.Diff([]types.NamespacedName{{Namespace: "a", Name: "w"}, {Namespace: "a", Name: "z"}}, caches.Names(inA)); diff != "" {
		t.Errorf("Names (-want +got):\n%s", diff)
	}
}
