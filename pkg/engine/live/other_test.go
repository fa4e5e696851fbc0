package live_test

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestOtherObjects holds that a read of one object, or of the objects of a namespace, never returns another one, whatever is answered.
func TestOtherObjects(t *testing.T) {
	const one, many = group + "/namespaces/ns/widgets/a", group + "/namespaces/ns/widgets?" + limited
	right := object("ns", "a")
	for name, tc := range map[string]struct {
		answer string
		field  string
		listed bool // it may be in a list
	}{
		"the object":        {right, "", true},
		"another name":      {object("ns", "b"), "metadata.name", true},
		"another namespace": {object("other", "a"), "metadata.namespace", false},
		"no namespace":      {`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}`, "metadata.namespace", false},
		"no name":           {`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"namespace":"ns"}}`, "metadata.name", false},
		"another group":     {strings.Replace(right, "example.com", "example.org", 1), "apiVersion", false},
		"another version":   {strings.Replace(right, "/v1", "/v2", 1), "apiVersion", false},
	} {
		r, _ := reader(t, map[string][]string{one: {tc.answer}, many: {list("", right, tc.answer)}})
		found, err := r.Get(t.Context(), widgets, "ns", "a")
		other, is := errors.AsType[*live.OtherObjectError](err)
		if tc.field == "" && (found == nil || err != nil) || tc.field != "" && (found != nil || !is || other.Field != tc.field) {
			t.Errorf("%s: got %v, %v", name, found, err)
		}
		err = r.List(t.Context(), plan.Selection{GVR: widgets, Namespace: "ns"}, func(map[string]any) error { return nil })
		if _, is := errors.AsType[*live.OtherObjectError](err); is == tc.listed {
			t.Errorf("%s in a list: got %v", name, err)
		}
	}
}

// TestLargeObjects holds that a page that is too large is asked for again in smaller ones: objects may be large, and many.
func TestLargeObjects(t *testing.T) {
	large := func(name string) string {
		return strings.TrimSuffix(object("", name), "}") + `,"x":"` + strings.Repeat("x", 10<<20) + `"}`
	}
	seven := make([]string, 7)
	for i := range seven {
		seven[i] = large(string(rune('a' + i)))
	}
	r, server := reader(t, map[string][]string{
		group + "/widgets?limit=500":           {list("", seven...)},
		group + "/widgets?limit=31":            {list("2", seven[:5]...)},
		group + "/widgets?continue=2&limit=31": {list("", seven[5:]...)},
	})
	visited := 0
	if err := r.List(t.Context(), plan.Selection{GVR: widgets}, func(map[string]any) error { visited++; return nil }); err != nil || visited != 7 || len(server.asked) != 3 {
		t.Errorf("visited %d objects with %q, %v", visited, server.asked, err)
	}
}

// TestPaths holds that no resource leads a request to another place: an inventory in the cluster may name any.
func TestPaths(t *testing.T) {
	r, server := reader(t, nil)
	for _, part := range []string{"..", ".", "a/b", "../../api/v1/namespaces/ns/pods/a/proxy", "%2e%2e", "a%2Fb"} {
		for _, gvr := range []schema.GroupVersionResource{
			{Group: part, Version: "v1", Resource: "widgets"},
			{Group: "example.com", Version: part, Resource: "widgets"},
			{Group: "example.com", Version: "v1", Resource: part},
			{Version: part, Resource: "pods"},
		} {
			if found, err := r.Get(t.Context(), gvr, "ns", "a"); found != nil || err == nil {
				t.Errorf("%v: got %v, %v", gvr, found, err)
			}
			if err := r.List(t.Context(), plan.Selection{GVR: gvr}, func(map[string]any) error { return nil }); err == nil {
				t.Errorf("%v: listed", gvr)
			}
		}
	}
	if len(server.asked) > 0 {
		t.Errorf("asked for %q", server.asked)
	}
}
