package projection_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/projection"
)

// read is a field as the tests write it.
type read struct {
	path footprint.Path
	how  footprint.Strength
}

func exists(text string) read { return at(footprint.Exists, text) }
func length(text string) read { return at(footprint.Length, text) }
func value(text string) read  { return at(footprint.Value, text) }

// at reads steps from a text: keys with dots between, numbers, [*] for all items and * for all values.
func at(how footprint.Strength, text string) read {
	path := footprint.Path{}
	for step := range strings.FieldsSeq(strings.ReplaceAll(text, ".", " ")) {
		switch step {
		case "[*]":
			path = path.Then(footprint.Items())
		case "*":
			path = path.Then(footprint.Values())
		case "0", "1":
			path = path.Then(footprint.Index(int(step[0] - '0')))
		default:
			path = path.Then(footprint.Key(step))
		}
	}
	return read{path, how}
}

func tree(reads ...read) *footprint.Tree {
	t := &footprint.Tree{}
	for _, r := range reads {
		t.Add(r.path, r.how)
	}
	return t
}

func fields(reads ...read) *projection.Fields { return projection.New(tree(reads...)) }

// TestHasVersion holds that it is known whether a rule reads the version, which is kept for the engine of every object.
func TestHasVersion(t *testing.T) {
	none, version := fields(value("spec.size"), value("metadata.labels.a")), fields(value("metadata.resourceVersion"))
	for name, tc := range map[string]struct {
		fields *projection.Fields
		want   bool
	}{
		"other fields":     {none, false},
		"the version":      {version, true},
		"all metadata":     {fields(value("metadata")), true},
		"any of it":        {fields(value("metadata.*")), true},
		"the whole object": {nil, true},
		"neither of two":   {projection.Union(none, fields()), false},
		"one of two":       {projection.Union(none, version), true},
	} {
		if got := tc.fields.HasVersion(); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestProject(t *testing.T) {
	object := map[string]any{
		"name": "x", "none": nil, "on": true,
		"list":  []any{map[string]any{"a": int64(1), "b": int64(2)}, map[string]any{"a": int64(3)}, "s"},
		"words": []any{"a", "b", int64(1)},
		"map":   map[string]any{"a": map[string]any{"x": int64(1), "y": int64(2)}, "b": nil},
		"inner": map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": map[string]any{"x": int64(1)}},
		"kinds": map[string]any{"kind": []any{"a"}, "apiVersion": map[string]any{"b": int64(1)}},
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
		"kinds":        {reason: "Values of keys that objects have are values.", reads: []read{value("kinds.*")}, want: map[string]any{"kinds": object["kinds"]}},
		"wrong kind":   {reason: "Values of a list and elements of a map are none.", reads: []read{value("list.*"), value("map.[*]")}, want: map[string]any{"list": []any{}, "map": map[string]any{}}},
		"in":           {reason: "What in may ask for is kept in either.", reads: []read{exists("words.a"), exists("map.a")}, want: map[string]any{"words": []any{"a", "b", nil}, "map": map[string]any{"a": map[string]any{}}}},
		"an object":    {reason: "What makes a map an object stays.", reads: []read{exists("inner")}, want: map[string]any{"inner": map[string]any{"apiVersion": "v1", "kind": "Pod"}}},
	}
	for name, tc := range tests {
		if diff := cmp.Diff(tc.want, fields(tc.reads...).Project(object)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}

func TestProjectKeepsWhatTheEngineNeeds(t *testing.T) {
	entry := func(manager, operation string) any {
		return map[string]any{"manager": manager, "operation": operation, "fieldsV1": map[string]any{"f:a": map[string]any{}}}
	}
	text := map[string]any{"manager": "dyncontroller/set.rule-1", "operation": "Apply", "fieldsV1": `{"f:a":{}}`}
	kept := func(managed []any, annotations ...string) map[string]any {
		metadata := map[string]any{
			"name": "n", "namespace": "ns", "uid": "u", "resourceVersion": "1", "creationTimestamp": "t",
			"deletionTimestamp": "t", "deletionGracePeriodSeconds": int64(30), "generateName": "g", "finalizers": []any{"f"},
			"ownerReferences": []any{map[string]any{"uid": "o"}}, "labels": map[string]any{"a": "b"},
		}
		if managed != nil {
			metadata["managedFields"] = managed
		}
		texts := map[string]any{}
		for _, key := range append(annotations, "dyncontroller.dev/adopted") {
			texts[key] = "x"
		}
		metadata["annotations"] = texts
		return metadata
	}
	other, ours, foreign := map[string]any{}, entry("dyncontroller/set.rule-1", "Apply"), []any{
		entry("kubectl", "Update"), entry("dyncontroller", "Update"), entry("dyncontroller/set.rule-1", "Update"), entry("dyncontroller-2/x", "Apply"),
	}
	tests := map[string]struct {
		reason  string
		reads   []read
		managed []any
		want    map[string]any
	}{
		"nothing read": {
			reason:  "Entries of others are empty and keep their places, and Updates under our names are no applies. Of ours fieldsV1 is text.",
			managed: append(foreign, ours), want: kept([]any{other, other, other, other, text}),
		},
		"no entry of ours": {reason: "Nobody looks at the entries of others.", managed: foreign, want: kept(nil)},
		"partly read": {
			reason: "What the engine needs is whole where a rule reads part of it.", managed: []any{ours, foreign[0]},
			reads: []read{value("metadata.ownerReferences.0.kind"), exists("metadata.name"), length("metadata.finalizers"), value("metadata.labels.a")},
			want:  kept([]any{text, other}),
		},
		"managers read": {
			reason: "Of entries of others what is read is kept.", managed: []any{foreign[0], ours, "odd"},
			reads: []read{value("metadata.managedFields.[*].manager")}, want: kept([]any{map[string]any{"manager": "kubectl"}, ours, "odd"}),
		},
		"managers counted": {
			reason: "A list that is read stays.", managed: foreign[:2],
			reads: []read{length("metadata.managedFields")}, want: kept([]any{other, other}),
		},
		"keys read":     {reason: "A key that is read stays.", managed: foreign[:1], reads: []read{length("metadata")}, want: kept([]any{other})},
		"entries read":  {reason: "Or are whole.", managed: foreign, reads: []read{value("metadata.managedFields")}, want: kept(foreign)},
		"metadata read": {reason: "All of it.", managed: foreign, reads: []read{value("metadata")}, want: kept(foreign, "other")},
		"an annotation": {reason: "One that a rule reads.", reads: []read{value("metadata.annotations.other")}, want: kept(nil, "other")},
	}
	for name, tc := range tests {
		object := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": kept(tc.managed, "other"), "spec": map[string]any{"a": int64(1)}}
		want := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": tc.want}
		if diff := cmp.Diff(want, fields(tc.reads...).Project(object)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}

// TestProjectOdd projects what no API server sends.
func TestProjectOdd(t *testing.T) {
	for _, object := range []map[string]any{
		nil, {}, {"metadata": nil}, {"metadata": "text"}, {"metadata": map[string]any{"managedFields": "text", "name": int64(1)}},
	} {
		got := fields(value("metadata.managedFields.[*].manager"), value("metadata.name.a")).Project(object)
		if diff := cmp.Diff(object, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", object, diff)
		}
	}
}

func ExampleFields_Project() {
	reads := &footprint.Tree{}
	reads.Add(footprint.Fields("spec", "replicas"), footprint.Value)
	fmt.Println(projection.New(reads).Project(map[string]any{
		"kind": "Thing", "metadata": map[string]any{"name": "a", "selfLink": "/things/a"},
		"spec": map[string]any{"replicas": int64(3), "image": "i"},
	}))
	// Output:
	// map[kind:Thing metadata:map[name:a] spec:map[replicas:3]]
}

// TestCovers holds what fields have of each other, and how they are written.
func TestCovers(t *testing.T) {
	whole, some, more := fields(value("")), fields(value("spec.a")), fields(value("spec"))
	tests := map[string]struct {
		f, other *projection.Fields
		want     bool
	}{
		"themselves": {some, some, true}, "more": {more, some, true}, "less": {some, more, false},
		"whole": {whole, some, true}, "not the whole": {some, whole, false}, "whole of whole": {whole, nil, true},
		"what the engine needs":  {some, fields(value("metadata.labels.a"), value("spec.a.b")), true},
		"what it does not need":  {some, fields(length("metadata.managedFields")), false},
		"nothing but the engine": {fields(), fields(value("metadata.uid")), true},
	}
	for name, tc := range tests {
		if got := tc.f.Covers(tc.other); got != tc.want {
			t.Errorf("%s: %q covers %q: %v", name, tc.f, tc.other, got)
		}
	}
	if whole != nil || projection.Union(some, whole) != nil || whole.String() != "*" || !strings.Contains(some.String(), " metadata.uid spec.a") {
		t.Errorf("the fields are %q and %q", whole, some)
	}
}

func drawReads(t *rapid.T, label string) []read {
	step := rapid.SampledFrom([]string{"a", "b", "[*]", "*", "0", "1", "metadata", "managedFields", "kind"})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) read {
		how := rapid.SampledFrom([]footprint.Strength{footprint.Exists, footprint.Length, footprint.Value}).Draw(t, "how")
		return at(how, strings.Join(rapid.SliceOfN(step, 0, 4).Draw(t, "path"), "."))
	}), 0, 6).Draw(t, label)
}

// drawObject has some entries of managedFields, and other fields among the same names.
func drawObject(t *rapid.T) map[string]any {
	metadata := map[string]any{"name": "n", "a": drawValue(t, 2)}
	if rapid.Bool().Draw(t, "managed") {
		metadata["managedFields"] = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any {
			manager := rapid.SampledFrom([]string{"kubectl", "dyncontroller", "dyncontroller/1"}).Draw(t, "manager")
			return map[string]any{"manager": manager, "operation": rapid.SampledFrom([]string{"Apply", "Update"}).Draw(t, "operation"), "fieldsV1": drawValue(t, 2)}
		}), 0, 3).Draw(t, "entries")
	}
	return map[string]any{"a": drawValue(t, 4), "b": drawValue(t, 3), "metadata": metadata}
}

// drawValue is a value among the same names.
func drawValue(t *rapid.T, depth int) any {
	kinds := []string{"nil", "text", "number"}
	if depth > 0 {
		kinds = append(kinds, "list", "map", "map", "list")
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "list":
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			list = append(list, drawValue(t, depth-1))
		}
		return list
	case "map":
		m := map[string]any{}
		for _, key := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "kind"}), 0, 3).Draw(t, "keys") {
			m[key] = drawValue(t, depth-1)
		}
		return m
	case "text":
		return rapid.SampledFrom([]string{"a", "x"}).Draw(t, "text")
	case "number":
		return int64(1)
	default:
		return nil
	}
}

// TestProjectIsStable makes sure that projecting twice, or from what a larger tree
// keeps, gives the same, that a stronger tree keeps no less, and that the object
// stays as it is.
func TestProjectIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object := drawObject(t)
		before := asJSON(t, object)
		reads := tree(drawReads(t, "reads")...)
		small, large := projection.New(reads), projection.New(reads, tree(drawReads(t, "more")...))
		once := small.Project(object)
		if !reflect.DeepEqual(once, small.Project(once)) {
			t.Fatalf("%v keeps %v, and then %v", small, once, small.Project(once))
		}
		if via := small.Project(large.Project(object)); !reflect.DeepEqual(once, via) || !large.Covers(small) {
			t.Fatalf("%v keeps %v, of what %v keeps %v", small, once, large, via)
		}
		if after := asJSON(t, object); after != before {
			t.Fatalf("%s has become %s", before, after)
		}
	})
}

// TestTouchesWhatIsKept makes sure that a field that is not touched makes no
// difference to what is kept.
func TestTouchesWhatIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inner := map[string]any{"a": drawValue(t, 2), "b": drawValue(t, 2)}
		object := map[string]any{"a": inner, "b": []any{drawValue(t, 2)}}
		kept := tree(drawReads(t, "reads")...)
		before := asJSON(t, projection.New(kept).Project(object))
		path := value("a.b").path
		inner["b"] = drawValue(t, 2)
		if after := asJSON(t, projection.New(kept).Project(object)); after != before && !kept.Touches(path) {
			t.Fatalf("%v is not touched by %v, which changed %s to %s", kept.Paths(), path, before, after)
		}
	})
}

func asJSON(t *rapid.T, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
