package operator

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// stored is the RuleSet shop/s as the API server has it: with the inventory of its rule two,
// which is paused.
func (k *kit) stored(uid string, generation int, deleting bool) {
	metadata := map[string]any{
		"name": "s", "namespace": "shop", "uid": uid, "generation": generation, "finalizers": []any{v1alpha1.Finalizer},
	}
	if deleting {
		metadata["deletionTimestamp"] = "2000-01-01T00:00:00Z"
	}
	k.put("rulesets", map[string]any{
		"apiVersion": "dyncontroller.dev/v1alpha1", "kind": "RuleSet", "metadata": metadata,
		"status": map[string]any{
			"inventory": []any{map[string]any{
				"rule": "two", "kind": "children", "version": "v1", "resource": "configmaps", "namespace": "shop", "prune": true,
				"serviceAccount": "ann", "serviceAccountNamespace": "shop",
			}},
			"paused": []any{map[string]any{
				"rule": "two", "digest": "d", "since": "2000-01-01T00:00:00Z", "objects": 1, "of": 2, "limit": "1", "per": "1h",
			}},
		},
	})
}

// childOfTwo is a ConfigMap that the rule two of RuleSet shop/s has made.
func (k *kit) childOfTwo() {
	two := plan.Rule{Kind: "RuleSet", Namespace: "shop", Set: "s", Name: "two"}
	k.put("configmaps", map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"precious": "yes"},
		"metadata": map[string]any{
			"name": "child", "namespace": "shop",
			"labels": map[string]any{plan.LabelSet: two.SetID(), plan.LabelRule: "two", plan.LabelOwnerUID: "uid-of-parent"},
			"managedFields": []any{map[string]any{
				"manager": two.FieldManager(), "operation": "Apply",
				"fieldsV1": map[string]any{"f:metadata": map[string]any{"f:labels": map[string]any{"f:" + plan.LabelSet: map[string]any{}}}},
			}},
		},
	})
}

// TestTrailingSets holds that a leader whose watch of set objects trails takes nothing away
// that the set may want, nor forgets what the inventory says: only what is in effect here and
// in the cluster decides that a rule is gone.
func TestTrailingSets(t *testing.T) {
	one := asObject(t, keeps("s", "ann", "one"))
	deleting := leaving(one, "ann")
	anew := deleting
	anew.UID = "uid-before"
	broken := edited(t, one, strings.ReplaceAll(keeps("s", "ann", "two"), "watch: configmaps", "watch: nothing"))
	tests := map[string]struct {
		reason     string
		shown      []source.Object // by the watch, one after the other
		generation int             // of the set in the cluster
		deleting   bool
		swept      bool
	}{
		"Current":  {reason: "The rule is gone, which is no mistake.", shown: []source.Object{one}, generation: 1, swept: true},
		"Deleting": {reason: "The set is being deleted.", shown: []source.Object{deleting}, generation: 1, deleting: true, swept: true},
		"Added":    {reason: "The next generation has the rule.", shown: []source.Object{one}, generation: 2},
		"Remade":   {reason: "The set that was deleted is there again, with another uid.", shown: []source.Object{anew}, generation: 1},
		"Refused":  {reason: "The next generation is refused here, and may not have been by the leader before.", shown: []source.Object{one, broken}, generation: 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t, nil)
				k.account("shop", "ann")
				k.stored(string(one.UID), tc.generation, tc.deleting)
				k.childOfTwo()
				for _, set := range tc.shown {
					k.setObjects(set)
				}
				defer k.start()()
				k.pass(time.Minute)
				kept := k.field("configmaps", "shop", "child", "data") != nil
				if kept == tc.swept {
					t.Errorf("%s The child is there: %t", tc.reason, kept)
				}
				for _, field := range []string{"inventory", "paused"} {
					list, _ := k.field("rulesets", "shop", "s", "status", field).([]any)
					about := slices.ContainsFunc(list, func(one any) bool { return one.(map[string]any)["rule"] == "two" })
					if about == tc.swept {
						t.Errorf("%s status.%s is %v", tc.reason, field, list)
					}
				}
			})
		})
	}
}
