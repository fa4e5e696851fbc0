package plan_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

func TestPermissionString(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	tests := []struct {
		reason     string
		permission plan.Permission
		want       string
	}{
		{"On all objects of a namespace.", plan.Permission{Verb: "list", Resource: pods, Namespace: "shop"}, "list pods in namespace shop"},
		{"In all namespaces, or on what has none.", plan.Permission{Verb: "list", Resource: pods}, "list pods cluster-wide"},
		{"On one object.", plan.Permission{Verb: "get", Resource: pods, Namespace: "shop", Name: "a"}, `get pods "a" in namespace shop`},
		{
			"On a subresource of a group.",
			plan.Permission{Verb: "patch", Resource: schema.GroupResource{Group: "pingcap.com", Resource: "tidbclusters"}, Subresource: "status", Namespace: "shop"},
			"patch tidbclusters.pingcap.com/status in namespace shop",
		},
		{"A name that is not quoted would be a part of the sentence.", plan.Permission{Verb: "get", Resource: pods, Name: "in namespace x"}, `get pods "in namespace x" cluster-wide`},
	}
	for _, tc := range tests {
		if got := tc.permission.String(); got != tc.want {
			t.Errorf("%s have %s, want %s", tc.reason, got, tc.want)
		}
	}
}

// TestPermissionCompare holds that the order is total: resource by resource, the verbs
// of one side by side.
func TestPermissionCompare(t *testing.T) {
	want := []plan.Permission{
		{},
		{Verb: "list"},
		{Verb: "list", Name: "a"},
		{Verb: "get", Namespace: "a"},
		{Verb: "get", Subresource: "a"},
		{Verb: "get", Resource: schema.GroupResource{Resource: "a"}},
		{Verb: "list", Resource: schema.GroupResource{Resource: "a"}},
		{Verb: "get", Resource: schema.GroupResource{Group: "a"}},
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, plan.Permission.Compare)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, p := range want {
		if p.Compare(p) != 0 {
			t.Errorf("%v is not equal to itself", p)
		}
	}
}
