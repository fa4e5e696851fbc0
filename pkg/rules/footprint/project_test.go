package footprint_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

func TestProject(t *testing.T) {
	object := map[string]any{
		"name": "x", "none": nil, "on": true,
		"list":  []any{map[string]any{"a": int64(1), "b": int64(2)}, map[string]any{"a": int64(3)}, "s"},
		"words": []any{"a", "b", int64(1)},
		"map":   map[string]any{"a": map[string]any{"x": int64(1), "y": int64(2)}, "b": nil},
		"inner": map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": map[string]any{"x": int64(1)}},
	}
	tests := map[string]struct {
		reason string
		reads  []read
		want   map[string]any
	}{
		"nothing":      {reason: "Nothing is read.", want: map[string]any{}},
		"value":        {reason: "A value is kept whole.", reads: []read{value("map")}, want: map[string]any{"map": object["map"]}},
		"everything":   {reason: "So is the object.", reads: []read{value("")}, want: object},
		"field":        {reason: "A field leaves its neighbours out.", reads: []read{value("map.a.x")}, want: map[string]any{"map": map[string]any{"a": map[string]any{"x": int64(1)}}}},
		"missing":      {reason: "What is absent stays so.", reads: []read{value("other.a")}, want: map[string]any{}},
		"nil":          {reason: "A null stays one.", reads: []read{value("none.a"), exists("map.b")}, want: map[string]any{"none": nil, "map": map[string]any{"b": nil}}},
		"scalar":       {reason: "A scalar is kept where a map or list is expected.", reads: []read{value("name.a"), length("on")}, want: map[string]any{"name": "x", "on": true}},
		"exists":       {reason: "Of a map or list the kind is kept.", reads: []read{exists("map"), exists("list")}, want: map[string]any{"map": map[string]any{}, "list": []any{}}},
		"keys":         {reason: "The keys are kept.", reads: []read{length("map")}, want: map[string]any{"map": map[string]any{"a": nil, "b": nil}}},
		"keys and one": {reason: "And the value of one.", reads: []read{length("map"), value("map.a.x")}, want: map[string]any{"map": map[string]any{"a": map[string]any{"x": int64(1)}, "b": nil}}},
		"length":       {reason: "The length is kept.", reads: []read{length("list")}, want: map[string]any{"list": []any{nil, nil, nil}}},
		"items":        {reason: "Of each element a field.", reads: []read{value("list.[*].a")}, want: map[string]any{"list": []any{map[string]any{"a": int64(1)}, map[string]any{"a": int64(3)}, "s"}}},
		"index":        {reason: "Of one element a field; the others keep their places.", reads: []read{value("list.0.b")}, want: map[string]any{"list": []any{map[string]any{"b": int64(2)}, nil, nil}}},
		"index beyond": {reason: "An element that is not there.", reads: []read{value("words.1"), value("list.1.b")}, want: map[string]any{"words": []any{nil, "b", nil}, "list": []any{nil, map[string]any{}, nil}}},
		"values":       {reason: "Of each value a field.", reads: []read{value("map.*.x")}, want: map[string]any{"map": map[string]any{"a": map[string]any{"x": int64(1)}, "b": nil}}},
		"wrong kind":   {reason: "Values of a list and elements of a map are none.", reads: []read{value("list.*"), value("map.[*]")}, want: map[string]any{"list": []any{}, "map": map[string]any{}}},
		"in":           {reason: "What in may ask for is kept in either.", reads: []read{exists("words.a"), exists("map.a")}, want: map[string]any{"words": []any{"a", "b", nil}, "map": map[string]any{"a": map[string]any{}}}},
		"an object":    {reason: "What makes a map an object stays.", reads: []read{exists("inner")}, want: map[string]any{"inner": map[string]any{"apiVersion": "v1", "kind": "Pod"}}},
	}
	for name, tc := range tests {
		if diff := cmp.Diff(tc.want, tree(tc.reads...).Project(object, "m")); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}

func TestProjectKeepsIdentity(t *testing.T) {
	entry := func(manager string) any {
		return map[string]any{"manager": manager, "fieldsV1": map[string]any{"f:a": map[string]any{}}}
	}
	identity := func(managed ...any) map[string]any {
		metadata := map[string]any{
			"name": "n", "namespace": "ns", "uid": "u", "resourceVersion": "1", "generation": int64(2), "creationTimestamp": "t",
			"deletionTimestamp": "t", "deletionGracePeriodSeconds": int64(30), "generateName": "g", "finalizers": []any{"f"},
			"ownerReferences": []any{map[string]any{"uid": "o"}},
		}
		if managed != nil {
			metadata["managedFields"] = managed
		}
		return metadata
	}
	ours, rule := entry("dyncontroller"), entry("dyncontroller/set.rule-1")
	full := identity(entry("kubectl"), ours, entry("dyncontroller-other"), rule, "odd")
	full["labels"] = map[string]any{"a": "b"}
	object := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": full, "spec": map[string]any{"a": int64(1)}}
	tests := map[string]struct {
		reason string
		reads  []read
		want   any
	}{
		"nothing read": {reason: "Of managedFields only entries of the manager are kept.", want: identity(ours, rule)},
		"partly read": {
			reason: "Identity is kept whole where a rule reads part of it.",
			reads:  []read{value("metadata.ownerReferences.0.kind"), exists("metadata.name"), length("metadata.finalizers")}, want: identity(ours, rule),
		},
		"managers read": {
			reason: "Where rules read entries they keep their places.",
			reads:  []read{value("metadata.managedFields.[*].manager")},
			want:   identity(map[string]any{"manager": "kubectl"}, ours, map[string]any{"manager": "dyncontroller-other"}, rule, "odd"),
		},
		"all entries read": {reason: "Or are whole.", reads: []read{value("metadata.managedFields")}, want: identity(entry("kubectl"), ours, entry("dyncontroller-other"), rule, "odd")},
		"metadata read":    {reason: "All of it.", reads: []read{value("metadata")}, want: full},
	}
	for name, tc := range tests {
		got := tree(tc.reads...).Project(object, "dyncontroller")
		want := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": tc.want}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}

// TestProjectOdd projects what no API server sends.
func TestProjectOdd(t *testing.T) {
	for _, object := range []map[string]any{
		nil, {}, {"metadata": nil}, {"metadata": "text"}, {"metadata": map[string]any{"managedFields": "text", "name": int64(1)}},
	} {
		got := tree(value("metadata.managedFields.[*].manager"), value("metadata.name.a")).Project(object, "m")
		want := object
		if want == nil {
			want = map[string]any{}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", object, diff)
		}
	}
}

func BenchmarkProject(b *testing.B) {
	labels := map[string]any{}
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		labels[key] = "value"
	}
	object := map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "n", "uid": "u", "labels": labels},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "a", "image": "i"}}, "nodeName": "node"},
		"status":   map[string]any{"phase": "Running"},
	}
	t := tree(value("metadata.labels.a"), value("spec.nodeName"), value("spec.containers.[*].image"), value("status.phase"))
	b.ReportAllocs()
	for b.Loop() {
		if len(t.Project(object, "m")) != 5 {
			b.Fatal("not projected")
		}
	}
}

func ExampleTree_Project() {
	reads := &footprint.Tree{}
	reads.Add(footprint.Fields("spec", "replicas"), footprint.Value)
	show(reads.Paths(), reads.Project(map[string]any{
		"kind": "Thing", "metadata": map[string]any{"name": "a", "labels": map[string]any{"x": "y"}},
		"spec": map[string]any{"replicas": int64(3), "image": "i"},
	}, "dyncontroller"))
	// Output:
	// [spec.replicas]
	// map[kind:Thing metadata:map[name:a] spec:map[replicas:3]]
}
