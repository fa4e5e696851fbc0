package plan

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func TestRequirements(t *testing.T) {
	tests := map[string]struct {
		reason string
		read   Read
		want   []string // keys with their values
		none   bool     // no object answers
	}{
		"All":         {"Every object answers.", Read{By: ByAll}, nil, false},
		"Names":       {"One of the names.", Read{By: ByName, Names: []string{"a", "b"}}, []string{`name [a b]`}, false},
		"NoNames":     {"None is asked for.", Read{By: ByName}, []string{`name []`}, true},
		"Owners":      {"One of the owners.", Read{By: ByOwner, Owners: []types.UID{"u"}}, []string{`owner [u]`}, false},
		"NoOwners":    {"None is asked for.", Read{By: ByOwner}, []string{`owner []`}, true},
		"Fields":      {"Each of them.", Read{By: ByFields, Fields: []FieldValue{{Path{"a", "b"}, 1.0}, {Path{"a/b"}, true}}}, []string{`fields "/a/b" [1]`, `fields "/a~1b" [true]`}, false},
		"NoFields":    {"None is asked for.", Read{By: ByFields}, nil, true},
		"Labels":      {"Each of them.", Read{By: ByLabels, Labels: "a=1,b in (2)"}, []string{`labels "a" [1]`, `labels "b" [2]`}, false},
		"LabelExists": {"Who compares a label must have it.", Read{By: ByLabels, Labels: "a,b>1,c<2"}, []string{`has labels "a" [true]`, `has labels "b" [true]`, `has labels "c" [true]`}, false},
		"LabelAbsent": {"It must not be there.", Read{By: ByLabels, Labels: "!a"}, []string{`has labels "a" [false]`}, false},
		"LabelNot":    {"Any other value will do, and none.", Read{By: ByLabels, Labels: "a!=1,b notin (2)"}, nil, false},
		"NoLabels":    {"A selection never widens by accident.", Read{By: ByLabels}, nil, true},
		"WrongLabels": {"The API server refuses the selector.", Read{By: ByLabels, Labels: "a in b"}, nil, true},
		"Unknown":     {"An unknown question has no answers.", Read{By: "magic"}, nil, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			required, possible := tc.read.Requirements()
			var got []string
			for _, r := range required {
				got = append(got, fmt.Sprint(r.Key, " ", r.Values))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || possible == tc.none {
				t.Errorf("%s possible: %t (-want +got):\n%s", tc.reason, possible, diff)
			}
		})
	}
}

// TestRequirementsAreMet holds that an object which answers a question meets all that the question requires.
func TestRequirementsAreMet(t *testing.T) {
	object := decode[map[string]any](t, somePod)
	for _, read := range []Read{
		{By: ByName, Names: []string{"o", "p"}},
		{By: ByOwner, Owners: []types.UID{"u", "u-rs"}},
		{By: ByLabels, Labels: "app in (db,web),tier,!canary,app!=x"},
		{By: ByFields, Fields: []FieldValue{{Path{"spec", "priority"}, 5.0}, {Path{"spec", "tags", "0"}, "a"}, {Path{"spec", "hostNetwork"}, true}}},
	} {
		required, possible := read.Requirements()
		if !possible || !read.Matches(object) {
			t.Errorf("%s: possible %t", read.Key(), possible)
		}
		for _, r := range append(required, InNamespace("ns")) {
			value, has := r.Value(object)
			if found := cmp.Diff([]string{value}, r.Values); !has || len(r.Values) == 1 && found != "" {
				t.Errorf("%s: has %t (-got +want):\n%s", r.Key, has, found)
			}
		}
	}
}
