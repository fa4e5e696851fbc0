package cluster_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/cluster"
)

// get reads an object that is there.
func get(t *testing.T, c *cluster.Cluster, at plan.Object) map[string]any {
	t.Helper()
	found, err := c.Live().Get(t.Context(), at.GVR, at.Namespace, at.Name)
	if err != nil || found == nil {
		t.Fatalf("%v is not there: %v", at, err)
	}
	return found
}

func TestPut(t *testing.T) {
	for name, test := range map[string]struct {
		object string
		at     plan.Object
		want   map[string]string // dotted, of the metadata
		err    string
		reason string
	}{
		"with a uid and a time": {
			object: `{apiVersion: example.com/v1, kind: Gadget, metadata: {name: x, namespace: a, uid: mine, creationTimestamp: "2020-01-01T00:00:00Z", resourceVersion: "7"}, spec: {size: 1}}`,
			at:     plan.Object{GVR: gadgets, Namespace: "a", Name: "x"},
			want:   map[string]string{"uid": "mine", "creationTimestamp": "2020-01-01T00:00:00Z", "resourceVersion": "1001"},
			reason: "what it says stays, but for the version, which is the world's",
		},
		"without": {
			object: `{apiVersion: example.com/v1, kind: Gadget, metadata: {name: x, namespace: a}, spec: {size: 1}}`,
			at:     plan.Object{GVR: gadgets, Namespace: "a", Name: "x"},
			want:   map[string]string{"uid": "97900b3b-3365-500b-b4e3-10ce07c32549", "creationTimestamp": "2026-01-01T00:00:00Z"},
			reason: "what all stored objects have is added",
		},
		"in an older version": {
			object: `{apiVersion: example.com/v1beta1, kind: Gadget, metadata: {name: x, namespace: a}, spec: {size: 1}}`,
			at:     plan.Object{GVR: gadgets, Namespace: "a", Name: "x"}, reason: "all versions are of one object",
		},
		"cluster-scoped": {
			object: `{apiVersion: example.com/v1, kind: Site, metadata: {name: x}}`,
			at:     plan.Object{GVR: sites, Name: "x"}, reason: "no namespace",
		},
		"no name":      {object: `{apiVersion: example.com/v1, kind: Gadget, metadata: {namespace: a}}`, err: "an object needs a name", reason: "nothing could find it"},
		"a path":       {object: `{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a/b, namespace: a}}`, err: "an object needs a name", reason: "it would be another object's place"},
		"no namespace": {object: `{apiVersion: example.com/v1, kind: Gadget, metadata: {name: x}}`, err: "an object needs a name", reason: "the kind has them"},
		"version":      {object: `{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: x, namespace: a}}`, err: "a real API server has", reason: "the simulation has another version"},
		"unknown":      {object: `{apiVersion: example.com/v1, kind: Thing, metadata: {name: x}}`, err: "does not know the kind", reason: "nothing defines it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Log(test.reason)
			c := newCluster(t)
			given := object(t, test.object)
			if err := c.Put(given); (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Fatalf("Put returned %v, want %q", err, test.err)
			}
			if diff := cmp.Diff(object(t, test.object), given); diff != "" {
				t.Errorf("Put changed what it was given (-before +after):\n%s", diff)
			}
			if test.err != "" {
				return
			}
			found := get(t, c, test.at)
			for field, want := range test.want {
				if got := plan.Text(found, "metadata", field); got != want {
					t.Errorf("%s is %s, want %s", field, got, want)
				}
			}
		})
	}
}

// A fixture need not say what defaulting adds: a write that says no more than it is one
// that changes nothing.
func TestPutAndNothing(t *testing.T) {
	c := newCluster(t, "{kind: Gadget, apiVersion: example.com/v1, spec: {size: 1, other: 2}, metadata: {name: x, namespace: a}}")
	var told watcher
	want(t, c.Caches(&told), everywhere)
	told.take()
	patch(t, c, `{"spec":{"size":1}}`)
	if got := told.take(); got != nil {
		t.Errorf("a write of nothing was told: %v", got)
	}
	patch(t, c, `{"spec":{"size":2}}`)
	if diff := cmp.Diff([]string{"gadgets.v1.example.com: a/x 1 -> 2"}, told.take()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWriteAndRequests(t *testing.T) {
	c := newCluster(t, gadget("x", ""))
	var told watcher
	want(t, c.Caches(&told), everywhere)
	told.take()
	at := plan.Object{GVR: gadgets, Namespace: "a", Name: "x"}
	target := plan.Object{GVR: gadgets, Kind: "Gadget", Namespace: "a", Name: "x", UID: "u-x", ResourceVersion: plan.Text(get(t, c, at), "metadata", "resourceVersion")}
	merge := plan.Operation{Type: plan.Merge, Target: target, Manager: plan.FieldManager, Body: map[string]any{"spec": map[string]any{"size": int64(3)}}}
	if result := c.Write(t.Context(), merge); result.Class != write.Written {
		t.Fatalf("Write returned %s: %v", result.Class, result.Err)
	}
	if diff := cmp.Diff([]string{"gadgets.v1.example.com: a/x 1 -> 3"}, told.take()); diff != "" {
		t.Errorf("told when the write returned (-want +got):\n%s", diff)
	}
	if result := c.Write(t.Context(), merge); result.Class != write.Stale {
		t.Errorf("a stale Write returned %s: %v", result.Class, result.Err)
	}
	if err := c.Record(t.Context(), plan.Event{Regarding: target, Type: "Normal", Reason: "R", Action: "A", Message: "m"}, false); err != nil {
		t.Fatal(err)
	}
	type sent struct {
		Method, Path, Type, Body string
		Status                   int
	}
	var got []sent
	for _, r := range c.Requests() {
		body := string(r.Body)
		if r.Method == http.MethodPost {
			body = "" // An Event, which has a test of its own.
		}
		got = append(got, sent{r.Method, r.Path, r.Type, body, r.Status})
	}
	body := `{"metadata":{"resourceVersion":"1001","uid":"u-x"},"spec":{"size":3}}`
	const path, as = "/apis/example.com/v1/namespaces/a/gadgets/x", "application/merge-patch+json"
	if diff := cmp.Diff([]sent{
		{"PATCH", path, as, body, 200},
		{"PATCH", path, as, body, 409},
		{"POST", "/apis/events.k8s.io/v1/namespaces/a/events", "application/vnd.kubernetes.protobuf", "", 201},
	}, got); diff != "" {
		t.Errorf("on the wire (-want +got):\n%s", diff)
	}
	if again := c.Requests(); len(again) > 0 {
		t.Errorf("Requests returned %v again", again)
	}
}

func TestUser(t *testing.T) {
	c := newCluster(t, gadget("there", ""))
	at := plan.Object{GVR: gadgets, Namespace: "a", Name: "x"}
	text := func(size, rest string) map[string]any {
		return object(t, "{apiVersion: example.com/v1, kind: Gadget, metadata: {name: x, namespace: a, uid: u-none, resourceVersion: \"3\", generation: 7}, spec: {size: "+size+"}"+rest+"}")
	}
	if err := c.Apply(t.Context(), text("1", ", status: {phase: Good}")); err != nil {
		t.Fatal(err)
	}
	found := get(t, c, at)
	if got := plan.Text(found, "status", "phase"); got != "Good" {
		t.Errorf("the status that was applied is %q", got)
	}
	for name, test := range map[string]struct {
		do   func() error
		want func(error) bool
	}{
		"apply, invalid":    {func() error { return c.Apply(t.Context(), text("-1", "")) }, apierrors.IsInvalid},
		"apply, no kind":    {func() error { return c.Apply(t.Context(), map[string]any{}) }, func(err error) bool { return err != nil }},
		"apply, bad status": {func() error { return c.Apply(t.Context(), text("1", ", status: {phase: Ugly}")) }, apierrors.IsInvalid},
		"patch, not there": {func() error {
			return c.Patch(t.Context(), plan.Object{GVR: gadgets, Namespace: "a", Name: "none"}, "", types.MergePatchType, []byte(`{}`))
		}, apierrors.IsNotFound},
		"patch, no JSON":     {func() error { return c.Patch(t.Context(), at, "", types.MergePatchType, []byte(`{`)) }, apierrors.IsBadRequest},
		"patch, no such sub": {func() error { return c.Patch(t.Context(), at, "other", types.MergePatchType, []byte(`{}`)) }, apierrors.IsNotFound},
		"patch, no name":     {func() error { return c.Patch(t.Context(), plan.Object{GVR: gadgets}, "", types.MergePatchType, nil) }, func(err error) bool { return err != nil }},
		"delete, not there":  {func() error { return c.Delete(t.Context(), plan.Object{GVR: gadgets, Namespace: "a", Name: "none"}) }, apierrors.IsNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			if err := test.do(); !test.want(err) {
				t.Errorf("the error is %v", err)
			}
		})
	}
	if err := c.Patch(t.Context(), at, "status", types.MergePatchType, []byte(`{"status":{"phase":"Bad"}}`)); err != nil {
		t.Fatal(err)
	}
	if err := c.Patch(t.Context(), at, "", types.JSONPatchType, []byte(`[{"op":"replace","path":"/spec/size","value":8}]`)); err != nil {
		t.Fatal(err)
	}
	if found := get(t, c, at); plan.Text(found, "status", "phase") != "Bad" || brief(found) != "8" {
		t.Errorf("it is %v", found)
	}
	if err := c.Apply(t.Context(), object(t, "{apiVersion: example.com/v1, kind: Site, metadata: {name: s}, spec: {size: 1}, status: {phase: Good}}")); err != nil {
		t.Fatal(err)
	}
	if found := get(t, c, plan.Object{GVR: sites, Name: "s"}); plan.Text(found, "status", "phase") != "Good" {
		t.Errorf("the status of what has no such subresource is %v", found["status"])
	}
}

// What caches leave out of objects is still in the cluster.
func TestCachesKeepObjectsWhole(t *testing.T) {
	c := newCluster(t)
	want(t, c.Caches(&watcher{}), everywhere)
	if err := c.Apply(t.Context(), object(t, "{apiVersion: example.com/v1, kind: Gadget, metadata: {name: x, namespace: a}, spec: {size: 1}}")); err != nil {
		t.Fatal(err)
	}
	want(t, c.Caches(&watcher{}), inA)
	all, err := c.Objects(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("Objects returned %v, %v", all, err)
	}
	if entries := all[0].GetManagedFields(); len(entries) != 1 || entries[0].Manager != "test" {
		t.Errorf("managedFields are %v", entries)
	}
}
