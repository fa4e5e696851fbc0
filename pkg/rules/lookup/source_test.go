package lookup_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

func TestObjects(t *testing.T) {
	pods := func(selections ...plan.Selection) []plan.Selection {
		for i := range selections {
			selections[i].GVR = podsGVR
		}
		return selections
	}
	every := pods(plan.Selection{})
	tests := map[string]struct {
		reason string
		read   plan.Read
		want   []string
	}{
		"All":         {"All of a resource.", plan.Read{From: every, By: plan.ByAll}, []string{"a/x", "a/xa", "a/z", "b/x", "b/xa"}},
		"Namespace":   {"Of one namespace.", plan.Read{From: every, By: plan.ByAll, Namespace: "b"}, []string{"b/x", "b/xa"}},
		"Declared":    {"Only what is declared.", plan.Read{From: pods(plan.Selection{LabelSelector: "tier"}), By: plan.ByAll}, []string{"a/xa"}},
		"DeclaredTwo": {"In any of several declarations, once.", plan.Read{From: pods(plan.Selection{Namespace: "b"}, plan.Selection{LabelSelector: "app=web"}), By: plan.ByAll}, []string{"a/x", "a/xa", "b/x", "b/xa"}},
		"Names":       {"By name.", plan.Read{From: every, By: plan.ByName, Namespace: "a", Names: []string{"nope", "x"}}, []string{"a/x"}},
		"Labels":      {"By labels.", plan.Read{From: every, By: plan.ByLabels, Labels: "app in (db)"}, []string{"a/z"}},
		"Fields":      {"By fields.", plan.Read{From: every, By: plan.ByFields, Fields: []plan.FieldValue{{Path: plan.Path{"spec", "priority"}, Value: int64(3)}}}, []string{"a/x"}},
		"Owners":      {"By the owner that controls.", plan.Read{From: every, By: plan.ByOwner, Owners: uids("u-w")}, []string{"a/x"}},
		"Unknown":     {"Of another resource there are none.", plan.Read{From: []plan.Selection{{GVR: widgetsGVR}}, By: plan.ByAll}, []string{}},
		"Nothing":     {"A question about nothing has no answer.", plan.Read{By: plan.ByAll}, []string{}},
	}
	source := worldObjects(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := (&lookup.Reader{Source: source}).Read(tc.read, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, identities(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			found, err := source.Read(tc.read)
			if err != nil || len(found) != len(got) {
				t.Errorf("%s The source itself finds %d and %v", tc.reason, len(found), err)
			}
		})
	}
}
