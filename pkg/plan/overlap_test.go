package plan

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"
)

func TestOverlaps(t *testing.T) {
	labels := func(text string) Selection { return Selection{LabelSelector: text} }
	fields := func(text string) Selection { return Selection{FieldSelector: text} }
	tests := []struct {
		reason string
		a, b   Selection
		want   bool
	}{
		{"All and all.", Selection{}, Selection{}, true},
		{"A bound, of which nothing is known.", labels("a>1"), labels("a>1"), true},
		{"All and some.", Selection{}, labels("a=b"), true},
		{"The same.", labels("a=b"), labels("a=b"), true},
		{"Two values of a label.", labels("a=b"), labels("a=c"), false},
		{"Two labels.", labels("a=b"), labels("c=d"), true},
		{"One of several values.", labels("a in (b, c)"), labels("a in (c, d)"), true},
		{"None of several.", labels("a in (b, c)"), labels("a in (d, e)"), false},
		{"There, and not there.", labels("a"), labels("!a"), false},
		{"A value, and not there.", labels("!a"), labels("a==b"), false},
		{"Not there, both.", labels("!a"), labels("!a"), true},
		{"A value, and another.", labels("a=b"), labels("a!=b"), false},
		{"A value, and any but others.", labels("a=b"), labels("a notin (c, d)"), true},
		{"Some values, and none of them.", labels("a notin (b, c, d)"), labels("a in (b, c)"), false},
		{"Some values, and not all of them excluded.", labels("a in (b, e)"), labels("a notin (b, c)"), true},
		{"There, and any but one.", labels("a"), labels("a!=b"), true},
		{"Not there, and any but one.", labels("!a"), labels("a!=b"), true},
		{"One of two labels.", labels("a=b,c=d"), labels("a=b,c=e"), false},
		{"A selector that is none.", labels("a in b"), labels("a=b"), true},
		{"Two resources.", Selection{GVR: schema.GroupVersionResource{Version: "v1", Resource: "pods"}}, Selection{GVR: schema.GroupVersionResource{Version: "v1", Resource: "nodes"}}, false},
		{"Two namespaces.", Selection{Namespace: "a"}, Selection{Namespace: "b"}, false},
		{"One namespace.", Selection{Namespace: "a"}, Selection{Namespace: "a"}, true},
		{"A namespace and all.", Selection{Namespace: "a"}, Selection{}, true},
		{"Two values of a field.", fields("metadata.name=a"), fields("metadata.name=b"), false},
		{"One value of a field.", fields("metadata.name=a"), fields("metadata.name==a"), true},
		{"A value of a field, and another.", fields("metadata.name!=a"), fields("metadata.name=a"), false},
		{"Any but one, and any but another.", fields("metadata.name!=a"), fields("metadata.name!=b"), true},
		{"Two fields.", fields("metadata.name=a"), fields("metadata.namespace=a"), true},
		{"What is false may be empty.", fields("spec.hostNetwork=false"), fields("spec.hostNetwork="), true},
		{"A field selector that is none.", fields("a"), fields("metadata.name=a"), true},
		{"A label, and a field.", labels("a=b"), fields("metadata.name=a"), true},
	}
	for _, tc := range tests {
		if got := tc.a.Overlaps(tc.b); got != tc.want {
			t.Errorf("%s %+v and %+v: %t, want %t", tc.reason, tc.a, tc.b, got, tc.want)
		}
		if tc.a.Overlaps(tc.b) != tc.b.Overlaps(tc.a) {
			t.Errorf("%s The order matters.", tc.reason)
		}
	}
}

// TestOverlapsNeverMisses holds that of an object which both selections admit it is known that one can be.
func TestOverlapsNeverMisses(t *testing.T) {
	selection := func(t *rapid.T, name string) Selection {
		return Selection{
			Namespace:     rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, name),
			LabelSelector: rapid.SampledFrom([]string{"", "a", "!a", "a=b", "a!=b", "a in (b,c)", "a notin (b)", "a=b,c", "a,!c"}).Draw(t, name),
			FieldSelector: rapid.SampledFrom([]string{"", "spec.x=", "spec.x=false", "spec.x!=", "spec.x=1", "spec.x!=1", "spec.x!=false,metadata.namespace=a"}).Draw(t, name),
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := selection(t, "a"), selection(t, "b")
		labels := map[string]any{}
		object := map[string]any{
			"metadata": map[string]any{"namespace": rapid.SampledFrom([]string{"a", "b"}).Draw(t, "namespace"), "labels": labels},
			"spec":     map[string]any{},
		}
		for _, key := range []string{"a", "c"} {
			if v := rapid.SampledFrom([]string{"", "b", "c"}).Draw(t, key); v != "" {
				labels[key] = v
			}
		}
		if v := rapid.SampledFrom([]any{nil, true, false, int64(1)}).Draw(t, "x"); v != nil {
			object["spec"] = map[string]any{"x": v}
		}
		if a.Admits(object) && b.Admits(object) && !a.Overlaps(b) {
			t.Fatalf("%+v and %+v both admit %v", a, b, object)
		}
	})
}
