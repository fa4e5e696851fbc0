package plan

import (
	"math"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

var (
	pods    = Selection{GVR: schema.GroupVersionResource{Version: "v1", Resource: "pods"}}
	podsInA = Selection{GVR: pods.GVR, Namespace: "a"}
	podsInB = Selection{GVR: pods.GVR, Namespace: "b", LabelSelector: "x=y"}
)

func TestSelectionString(t *testing.T) {
	apps := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	for want, selection := range map[string]Selection{
		"pods.v1":                       pods,
		"deployments.v1.apps -n a -l b": {GVR: apps, Namespace: "a", LabelSelector: "b"},
		"deployments.v1.apps --field-selector metadata.name=c": {GVR: apps, FieldSelector: "metadata.name=c"},
	} {
		if got := selection.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestReadKeySame(t *testing.T) {
	field := func(value any) Read {
		return Read{From: []Selection{pods}, By: ByFields, Fields: []FieldValue{{Path{"spec", "port"}, value}}}
	}
	tests := map[string]struct {
		reason string
		a, b   Read
	}{
		"OrderOfSelections": {
			"An object is selected or not, whichever comes first.",
			Read{From: []Selection{podsInA, podsInB}, By: ByAll},
			Read{From: []Selection{podsInB, podsInA}, By: ByAll},
		},
		"SelectionTwice": {
			"Twice is once.",
			Read{From: []Selection{podsInA, podsInA}, By: ByAll},
			Read{From: []Selection{podsInA}, By: ByAll},
		},
		"EmptyAndNil": {
			"No names are no names.",
			Read{From: []Selection{pods}, By: ByName, Names: []string{}},
			Read{From: []Selection{pods}, By: ByName},
		},
		"IntKinds":   {"A number is the same in any type.", field(int64(80)), field(80)},
		"WholeFloat": {"So is a whole float.", field(int64(80)), field(80.0)},
		"Zero":       {"There is one zero.", field(0), field(math.Copysign(0, -1))},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if a, b := tc.a.Key(), tc.b.Key(); a != b {
				t.Errorf("%s\n%s\n%s", tc.reason, a, b)
			}
		})
	}
}

func TestReadKeyDistinct(t *testing.T) {
	fields := func(fields ...FieldValue) Read { return Read{From: []Selection{pods}, By: ByFields, Fields: fields} }
	field := func(value any) Read { return fields(FieldValue{Path{"spec", "a"}, value}) }
	names := func(names ...string) Read { return Read{From: []Selection{pods}, By: ByName, Names: names} }
	seen := map[string]string{}
	for name, r := range map[string]Read{
		"Empty":             {},
		"All":               {From: []Selection{pods}, By: ByAll},
		"AllInA":            {From: []Selection{podsInA}, By: ByAll},
		"AllInAAndB":        {From: []Selection{podsInA, podsInB}, By: ByAll},
		"AllNamespace":      {From: []Selection{pods}, By: ByAll, Namespace: "a"},
		"OtherVersion":      {From: []Selection{{GVR: schema.GroupVersionResource{Version: "v2", Resource: "pods"}}}, By: ByAll},
		"OtherGroup":        {From: []Selection{{GVR: schema.GroupVersionResource{Group: "g", Version: "v1", Resource: "pods"}}}, By: ByAll},
		"SelectsFields":     {From: []Selection{{GVR: pods.GVR, FieldSelector: "x=y"}}, By: ByAll},
		"SelectsLabels":     {From: []Selection{{GVR: pods.GVR, LabelSelector: "x=y"}}, By: ByAll},
		"Name":              names("a"),
		"EmptyName":         names(""),
		"Names":             names("a", "b"),
		"NamesInOtherOrder": names("b", "a"),
		"NameWithBoth":      names("a b"),
		"NameLikeTwo":       names(`a" name "b`),
		"NotUTF8":           names("\xff"),
		"NotUTF8Either":     names("\xfe"),
		"Labels":            {From: []Selection{pods}, By: ByLabels, Labels: "x=y"},
		"LabelsLikeName":    {From: []Selection{pods}, By: ByLabels, Labels: "a"},
		"Owner":             {From: []Selection{pods}, By: ByOwner, Owners: []types.UID{"a"}},
		"Owners":            {From: []Selection{pods}, By: ByOwner, Owners: []types.UID{"a", "b"}},
		"Text":              field("1"),
		"Number":            field(1),
		"Fraction":          field(1.5),
		"Large":             field(int64(math.MaxInt64)),
		"LargeRounded":      field(float64(math.MaxInt64)),
		"NotANumber":        field(math.NaN()),
		"Infinite":          field(math.Inf(1)),
		"True":              field(true),
		"TextTrue":          field("true"),
		"TextOfTrue":        field("bool(true)"),
		"Null":              field(nil),
		"OtherField":        fields(FieldValue{Path{"spec", "b"}, "1"}),
		"FieldWithSlash":    fields(FieldValue{Path{"spec/a"}, "1"}),
		"TwoFields":         fields(FieldValue{Path{"spec", "a"}, "1"}, FieldValue{Path{"spec", "b"}, "1"}),
	} {
		key := r.Key()
		if other, twice := seen[key]; twice {
			t.Errorf("%s and %s are different questions with one key: %s", name, other, key)
		}
		seen[key] = name
	}
}

// TestReadKeyInjective holds for names of any bytes that the key tells where
// each begins and ends.
func TestReadKeyInjective(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{`"`, " ", "\\", `" name "`, "\xff"})), 0, 3)
		a, b := texts.Draw(t, "a"), texts.Draw(t, "b")
		same := len(a) == len(b)
		for i := range a {
			same = same && a[i] == b[i]
		}
		if (Read{By: ByName, Names: a}).Key() == (Read{By: ByName, Names: b}).Key() != same {
			t.Fatalf("%q and %q", a, b)
		}
	})
}
