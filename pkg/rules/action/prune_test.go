package action_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

// made is an object that the rule applied before.
func made(name string, pairs ...string) string {
	return replaced(strings.NewReplacer(pairs...).Replace(`
apiVersion: v1
kind: ConfigMap
metadata:
  name: NAME
  namespace: tidb
  uid: NAME
  resourceVersion: "3"
  labels: {dyncontroller.dev/set: guard-SET, dyncontroller.dev/rule: quorum, dyncontroller.dev/owner-uid: u-1}
  managedFields: [{manager: kubectl, operation: Update}, {manager: MANAGER, operation: Apply, fieldsV1: {}}]
---
`), "NAME", name, "MANAGER", rule.FieldManager())
}

func TestPrune(t *testing.T) {
	tests := map[string]scenario{
		"Nothing": {
			reason: "Nothing was applied.",
		},
		"Wanted": {
			reason: "What is wanted still is left alone.",
			action: applied + `}`,
			others: made("basic-x"),
		},
		"Unwanted": {
			reason: "What is not wanted any more is deleted, as it was seen.",
			others: made("b") + made("a"),
			want: `
delete configmaps tidb/a a@3 Background
delete configmaps tidb/b b@3 Background
`,
		},
		"Refused": {
			reason: "What was refused is not pruned, whoever it belongs to.",
			action: "apply: {resource: configmaps, manifest: {metadata: {name: a}}}",
			others: made("a", "uid: NAME", "uid: NAME\n  ownerReferences: [{kind: Job, name: j, uid: j, controller: true}]") + made("b"),
			want:   `delete configmaps tidb/b b@3 Background`,
		},
		"Going": {
			reason: "What is being deleted is.",
			others: made("a", "uid: NAME", "uid: NAME\n  deletionTimestamp: '2026-01-01T00:00:00Z'"),
		},
		"Created": {
			reason: "What was created has the labels, but was not applied.",
			others: made("a", "operation: Apply", "operation: Update"),
		},
		"ByAnotherRule": {
			reason: "Nor is pruned what another rule applied.",
			others: made("a", "MANAGER", "dyncontroller/ffffffff"),
		},
		"OtherRule": {
			reason: "Another rule's is not seen.",
			others: made("a", "rule: quorum", "rule: other"),
		},
		"OtherSet": {
			reason: "Nor another set's.",
			others: made("a", "guard-SET", "guard-ffffffff"),
		},
		"OtherOwner": {
			reason: "Nor what was made for another object.",
			others: made("a", "owner-uid: u-1", "owner-uid: u-2"),
		},
		"Elsewhere": {
			reason: "What is in another namespace is found, too.",
			others: made("a", "namespace: tidb", "namespace: other"),
			want:   `delete configmaps other/a a@3 Background`,
		},
		"SameNameElsewhere": {
			reason: "And told from what has the same name.",
			action: applied + `}`,
			others: made("basic-x", "namespace: tidb", "namespace: other") + made("basic-x"),
			want:   `delete configmaps other/basic-x basic-x@3 Background`,
		},
		"Adopted": {
			reason: "What was there before is given back, never deleted.",
			others: made("a", "uid: NAME", "uid: NAME\n  annotations: {dyncontroller.dev/adopted: 'true'}"),
			want:   `json configmaps tidb/a a@3 [{"op":"test","path":"/metadata/managedFields/1/manager","value":"dyncontroller/5893773c93242731"},{"op":"test","path":"/metadata/managedFields/1/operation","value":"Apply"},{"op":"remove","path":"/metadata/managedFields/1"},{"op":"remove","path":"/metadata/annotations/dyncontroller.dev~1adopted"},{"op":"remove","path":"/metadata/labels/dyncontroller.dev~1owner-uid"},{"op":"remove","path":"/metadata/labels/dyncontroller.dev~1rule"},{"op":"remove","path":"/metadata/labels/dyncontroller.dev~1set"}]`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			e := f.begin(t, watched, tc.others)
			if tc.action != "" {
				step, errs := f.compile(t, tc.action)
				if len(errs) > 0 {
					t.Fatal(errs.Render())
				}
				if err := step.Evaluate(e); err != nil && name != "Refused" {
					t.Fatal(err)
				}
				e.Wishes = nil
			}
			tc.check(t, e, action.Prune(e, action.Pruned{From: declared[1].Selections, Owned: true}))
		})
	}
}

// TestPruneWhenGone holds what becomes of children once the watched object, which is not needed, is gone.
func TestPruneWhenGone(t *testing.T) {
	const owned = "uid: NAME\n  ownerReferences: [{kind: TidbCluster, name: basic, uid: u-1, controller: true}]"
	const deleted, released = `delete configmaps tidb/a a@3 Background`, `json configmaps tidb/a a@3 [` +
		`{"op":"test","path":"/metadata/managedFields/1/manager","value":"dyncontroller/5893773c93242731"},{"op":"test","path":"/metadata/managedFields/1/operation","value":"Apply"},` +
		`{"op":"remove","path":"/metadata/managedFields/1"},{"op":"remove","path":"/metadata/labels/dyncontroller.dev~1owner-uid"},` +
		`{"op":"remove","path":"/metadata/labels/dyncontroller.dev~1rule"},{"op":"remove","path":"/metadata/labels/dyncontroller.dev~1set"}]`
	tests := map[string]struct {
		reason, others, want string
		notOwned             bool
	}{
		"Owned":    {"Whoever comes first deletes it.", made("a", "uid: NAME", owned), deleted, false},
		"NotOwned": {"Nobody else deletes it.", made("a"), deleted, true},
		"Orphaned": {"Garbage collection has let it go, so it is let go.", made("a"), released, false},
		"Handed":   {"Another owner does not keep it for the one that is gone.", made("a", "uid: NAME", strings.Replace(owned, "u-1", "u-2", 1)), released, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			e := f.begin(t, watched, tc.others)
			e.Current, e.Related.Current = nil, nil
			if err := action.Prune(e, action.Pruned{From: declared[1].Selections, Owned: !tc.notOwned}); err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(outcome(t, e, nil)); got != tc.want {
				t.Errorf("%s got %s, want %s", tc.reason, got, tc.want)
			}
			want := []plan.Read{{
				From: declared[1].Selections, By: plan.ByLabels,
				Labels: "dyncontroller.dev/owner-uid=u-1,dyncontroller.dev/rule=quorum,dyncontroller.dev/set=" + rule.SetID(),
			}}
			if diff := cmp.Diff(want, e.Related.Reads()); diff != "" {
				t.Errorf("reads (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPruneNotSynced(t *testing.T) {
	e := newFixture(t).beginWith(t, watched, broken{})
	if err := action.Prune(e, action.Pruned{From: declared[1].Selections, Owned: true}); !errors.Is(err, lookup.ErrNotSynced) || len(e.Wishes) > 0 {
		t.Errorf("want nothing but an error that says that it is not synced, have %v and %v", e.Wishes, err)
	}
}
