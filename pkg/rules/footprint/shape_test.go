package footprint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

func TestRead(t *testing.T) {
	var tree *footprint.Tree
	object := func() footprint.Shape { return footprint.Object(tree) }
	both := func() footprint.Shape {
		return footprint.Map(map[string]footprint.Shape{"a": object().Key("a"), "b": object().Key("b")}, object().Key("c"))
	}
	tests := map[string]struct {
		reason string
		of     func() footprint.Shape
		how    footprint.Strength
		want   string
	}{
		"key":         {"A key of a key.", func() footprint.Shape { return object().Key("a").Key("b") }, footprint.Value, "a.b"},
		"length":      {"How strongly is up to the reader.", func() footprint.Shape { return object().Key("a") }, footprint.Length, "len(a)"},
		"index":       {"An element.", func() footprint.Shape { return object().Key("a").Index(2).Key("b") }, footprint.Value, "a[2].b"},
		"negative":    {"Any element.", func() footprint.Shape { return object().Key("a").Index(-1) }, footprint.Exists, "exists(a[*])"},
		"known key":   {"A constant key.", func() footprint.Shape { return object().Key("a").At("b") }, footprint.Value, "a.b"},
		"known index": {"A constant index.", func() footprint.Shape { return object().Key("a").At(int64(1)) }, footprint.Value, "a[1]"},
		"unknown":     {"One that is not known is all.", func() footprint.Shape { return object().Key("a").At(nil) }, footprint.Value, "a"},
		"map":         {"A key of a built map, or one that is not known.", func() footprint.Shape { return both().Key("a") }, footprint.Value, "a c"},
		"map lacks":   {"Only one that is not known.", func() footprint.Shape { return both().Key("z") }, footprint.Value, "c"},
		"map whole":   {"All of it.", both, footprint.Value, "a b c"},
		"map length":  {"Its keys are known.", both, footprint.Length, ""},
		"map values":  {"Any of it.", func() footprint.Shape { return both().Values().Key("x") }, footprint.Value, "a.x b.x c.x"},
		"list":        {"An element of a built list.", func() footprint.Shape { return footprint.List(object().Key("a")).Index(0).Key("b") }, footprint.Value, "a.b"},
		"list kind":   {"Nothing is in it under a key.", func() footprint.Shape { return footprint.List(object().Key("a")).Key("b") }, footprint.Value, ""},
		"union":       {"Either.", func() footprint.Shape { return footprint.OneOf(both(), object().Key("d")).Key("b") }, footprint.Value, "b c d.b"},
		"union of maps": {"Keys of either, apart.", func() footprint.Shape {
			return footprint.OneOf(footprint.Map(map[string]footprint.Shape{"x": object().Key("x")}), both()).Key("x")
		}, footprint.Value, "c x"},
		"union of values": {"Unknown keys of either.", func() footprint.Shape { return footprint.OneOf(footprint.Map(nil, object().Key("x")), both()).Key("z") }, footprint.Value, "c x"},
		"union of lists": {"Elements of either.", func() footprint.Shape {
			return footprint.OneOf(footprint.List(object().Key("x")), footprint.List(object().Key("y"))).Items()
		}, footprint.Value, "x y"},
		"twice":       {"The same is one.", func() footprint.Shape { return footprint.OneOf(object(), object()).Key("a") }, footprint.Value, "a"},
		"other":       {"Nothing to read.", func() footprint.Shape { return footprint.Other().Key("a") }, footprint.Value, ""},
		"going there": {"Only what is on the way.", func() footprint.Shape { object().Key("a").Key("b"); return footprint.Other() }, footprint.Value, "exists(a)"},
		"flat":        {"Elements, and those of lists in them.", func() footprint.Shape { return object().Key("a").Flat() }, footprint.Exists, "a[*][*][*]"},
		"flat built": {"Built lists are known.", func() footprint.Shape {
			return footprint.List(footprint.List(footprint.OneOf(footprint.Other(), both()))).Flat().Key("a")
		}, footprint.Value, "a c"},
		"has":           {"Whether a key is there.", func() footprint.Shape { object().Key("a").Has("b"); return footprint.Other() }, footprint.Value, "exists(a.b)"},
		"has of a list": {"A built list is compared.", func() footprint.Shape { footprint.List(object().Key("a")).Has("b"); return footprint.Other() }, footprint.Value, "a"},
		"typed": {"Of what is built.", func() footprint.Shape {
			footprint.Map(map[string]footprint.Shape{"kind": object().Key("k")}).Typed()
			return footprint.Other()
		}, footprint.Value, "exists(k)"},
		"typed object": {"Not of objects, which keep it.", func() footprint.Shape { object().Typed(); return footprint.Other() }, footprint.Value, ""},
	}
	for name, tc := range tests {
		tree = &footprint.Tree{}
		tc.of().Read(tc.how)
		if got := strings.Join(tree.Paths(), " "); got != tc.want {
			t.Errorf("%s: %s Reads %q, want %q", name, tc.reason, got, tc.want)
		}
	}
}

func TestWritten(t *testing.T) {
	object := footprint.Object(&footprint.Tree{})
	built := func(fields map[string]footprint.Shape) footprint.Shape { return footprint.Map(fields) }
	tests := map[string]struct {
		reason string
		value  footprint.Shape
		want   string
	}{
		"scalar":        {"A value is written where it is put.", footprint.Other(), "spec"},
		"part":          {"Of a part of an object the keys are not known.", object.Key("a"), "spec"},
		"list":          {"A list is one.", footprint.List(footprint.Other()), "spec"},
		"nothing":       {"Nothing is not written.", footprint.Shape{}, ""},
		"map":           {"A built map is written by its leaves.", built(map[string]footprint.Shape{"a": footprint.Other(), "b": built(map[string]footprint.Shape{"c": object})}), "spec.a spec.b.c"},
		"omitted":       {"Without what is nothing.", built(map[string]footprint.Shape{"a": footprint.Other(), "b": {}}), "spec.a"},
		"empty":         {"Without entries it is there.", built(nil), "exists(spec)"},
		"unknown key":   {"A key that is not known can be any.", footprint.Map(nil, footprint.Other()), "spec.*"},
		"map or other":  {"If it can be another value it is written as a whole.", footprint.OneOf(built(nil), footprint.Other()), "spec"},
		"one of maps":   {"Of two maps either.", footprint.OneOf(built(map[string]footprint.Shape{"a": footprint.Other()}), built(map[string]footprint.Shape{"b": footprint.Other()})), "spec.a spec.b"},
		"maybe nothing": {"Or nothing.", footprint.OneOf(footprint.Shape{}, built(map[string]footprint.Shape{"a": footprint.Other()})), "spec.a"},
		"key of a map":  {"What is taken out of a map is as it was.", built(map[string]footprint.Shape{"a": built(map[string]footprint.Shape{"x": footprint.Other()})}).Key("a"), "spec.x"},
	}
	for name, tc := range tests {
		writes := &footprint.Tree{}
		tc.value.Written(writes, footprint.Fields("spec"))
		if got := strings.Join(writes.Paths(), " "); got != tc.want {
			t.Errorf("%s: %s Writes %q, want %q", name, tc.reason, got, tc.want)
		}
	}
}

func TestObjects(t *testing.T) {
	pods, nodes := &footprint.Tree{}, &footprint.Tree{}
	pod, node := footprint.Object(pods), footprint.Object(nodes)
	tests := map[string]struct {
		reason string
		value  footprint.Shape
		want   []*footprint.Tree
	}{
		"object":  {"An object is one.", pod, []*footprint.Tree{pods}},
		"maybe":   {"So is one that may be absent.", footprint.OneOf(pod, footprint.Other()), []*footprint.Tree{pods}},
		"list":    {"The elements of a list are.", footprint.List(footprint.OneOf(pod, node)), []*footprint.Tree{pods, nodes}},
		"either":  {"Both, each once.", footprint.OneOf(pod, footprint.List(pod)), []*footprint.Tree{pods}},
		"part":    {"A part is none.", pod.Key("spec"), nil},
		"in maps": {"Nor is what a map holds.", footprint.Map(map[string]footprint.Shape{"a": pod}), nil},
		"other":   {"Nor anything else.", footprint.Other(), nil},
	}
	for name, tc := range tests {
		if got := tc.value.Objects(); !cmp.Equal(got, tc.want, cmp.Comparer(func(a, b *footprint.Tree) bool { return a == b })) {
			t.Errorf("%s: %s %d objects, want %d", name, tc.reason, len(got), len(tc.want))
		}
	}
}

// TestTooLarge makes sure that a shape that is given up has been read.
func TestTooLarge(t *testing.T) {
	tree := &footprint.Tree{}
	all := footprint.Shape{}
	for i := range 1000 {
		all = footprint.OneOf(all, footprint.Object(tree).Key(fmt.Sprint("k", i)))
	}
	all.Key("x").Read(footprint.Value)
	for i := range 1000 {
		if path := footprint.Fields(fmt.Sprint("k", i), "x"); !tree.Touches(path) {
			t.Fatalf("%v is lost", path)
		}
	}
	doubled := footprint.Object(tree).Key("a")
	for range 100 {
		doubled = footprint.Map(map[string]footprint.Shape{"x": doubled, "y": doubled})
	}
	if !tree.Covers(footprint.Union(tree)) || !tree.Touches(footprint.Fields("a", "b")) {
		t.Error("what was doubled is lost")
	}
	if !doubled.Same(footprint.OneOf(doubled, doubled)) || doubled.Same(footprint.OneOf(doubled, footprint.List(footprint.Other()))) {
		t.Error("a union with more counts as the same")
	}
}

// TestWholeObjects holds that objects that are read already are not followed, and stay targets.
func TestWholeObjects(t *testing.T) {
	whole, part := &footprint.Tree{}, &footprint.Tree{}
	whole.Add(nil, footprint.Value)
	object := footprint.Object(whole)
	if got := object.Objects(); len(got) != 1 {
		t.Errorf("it is one of %d objects", len(got))
	}
	if got := object.Key("spec"); len(got.Objects()) > 0 || !got.Same(footprint.Other()) {
		t.Error("what is in it is followed")
	}
	footprint.Object(whole, part).Key("spec").Read(footprint.Value)
	if diff := cmp.Diff([]string{"spec"}, part.Paths()); diff != "" {
		t.Errorf("beside it, another is not followed (-want +got):\n%s", diff)
	}
	writes := &footprint.Tree{}
	object.Key("spec").Written(writes, footprint.Fields("a"))
	if diff := cmp.Diff([]string{"a"}, writes.Paths()); diff != "" {
		t.Errorf("what is written (-want +got):\n%s", diff)
	}
}
