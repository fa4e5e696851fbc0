package action_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

// another is a second object that the rule watches.
const another = `
apiVersion: pingcap.com/v1alpha1
kind: TidbCluster
metadata: {name: other, namespace: elsewhere, uid: u-2, resourceVersion: "8"}
`

func unseenText(u plan.Unseen) string {
	if u.Event == nil {
		return ""
	}
	return eventText(*u.Event)
}

// TestApplyClaim is about what is there already.
func TestApplyClaim(t *testing.T) {
	tests := map[string]scenario{
		"Ours": {
			reason: "What the rule applied before is applied to what it is now.",
			action: applied + `}`,
			others: replaced(ours),
			want:   `apply configmaps tidb/basic-x c-1@3 force {"data":{"size":"1"},"metadata":{"labels":{"ours":true},"ownerReferences":"basic"}}`,
		},
		"SelectedAsItIs": {
			reason: "A label that is there already does not have to be applied.",
			action: `apply: {resource: pods, adopt: true, manifest: {metadata: {name: p-0}}}`,
			others: twoPods,
			want:   `apply pods tidb/p-0 p0@10 force confirm {"metadata":{"annotations":{"dyncontroller.dev/adopted":"true"},"labels":{"ours":true},"ownerReferences":"basic"}}`,
		},
		"Unselected": {
			reason: "A label that hides it is as bad as one that is missing.",
			action: `apply: {resource: pods, adopt: true, manifest: {metadata: {name: p-0, labels: {app: web}}}}`,
			others: twoPods,
			err:    `a.yaml:1:48: apply.manifest: pods tidb/p-0 would not be among what resources.pods selects, so no rule would see it; give it the labels and fields that the selectors there want, or widen them`,
		},
		"Unseen": {
			reason: "What has the name and is not selected would be in the way.",
			action: `apply: {resource: pods, manifest: {metadata: {name: p-9, labels: {app: db}}}}`,
			want: `apply pods tidb/p-9 force unseen (event tidbclusters tidb/basic Warning NotOurs Apply: pods tidb/p-9 is there already, and is not among what resources.pods selects; write another name, or widen what is selected)` +
				` {"metadata":{"labels":{"app":"db","ours":true},"ownerReferences":"basic"}}`,
		},
		"UnseenKept": {
			reason: "With Keep, nobody is told.",
			action: `apply: {resource: pods, existing: Keep, manifest: {metadata: {name: p-9, labels: {app: db}}}}`,
			want:   `apply pods tidb/p-9 force unseen () {"metadata":{"labels":{"app":"db","ours":true},"ownerReferences":"basic"}}`,
		},
		"Foreign": {
			reason: "What another made is left alone, and the users of the watched object are told.",
			action: applied + `}`,
			others: foreign,
			want:   `refused event tidbclusters tidb/basic Warning NotOurs Apply: configmaps tidb/basic-x is there already, and was not made by the ClusterRuleSet guard; write another name, or adopt: true to take it over`,
			err:    `a.yaml:1:59: apply.manifest.metadata.name: configmaps tidb/basic-x is there already, and was not made by the ClusterRuleSet guard; write another name, or adopt: true to take it over`,
		},
		"Adopted": {
			reason: "Where it may be adopted it is marked, after a live look.",
			action: applied + `, adopt: true}`,
			others: foreign,
			want:   `apply configmaps tidb/basic-x c-1@3 force confirm {"data":{"size":"1"},"metadata":{"annotations":{"dyncontroller.dev/adopted":"true"},"labels":{"ours":true},"ownerReferences":"basic"}}`,
		},
		"AdoptedBefore": {
			reason: "The mark would be given up if it were not applied again.",
			action: applied + `}`,
			others: replaced(ours, "resourceVersion", "annotations: {dyncontroller.dev/adopted: 'true'}\n  resourceVersion"),
			want:   `apply configmaps tidb/basic-x c-1@3 force {"data":{"size":"1"},"metadata":{"annotations":{"dyncontroller.dev/adopted":"true"},"labels":{"ours":true},"ownerReferences":"basic"}}`,
		},
		"AnotherOwner": {
			reason: "Two watched objects that want the same child would fight for it,",
			action: applied + `}`,
			others: replaced(ours, "owner-uid: u-1", "owner-uid: u-2") + "\n---\n" + another,
			want:   `refused event tidbclusters tidb/basic Warning NotOurs Apply: configmaps tidb/basic-x was made by the rule quorum for another object, of the uid "u-2"; give each a name of its own, such as one with ${object.metadata.name}`,
			err:    `a.yaml:1:59: apply.manifest.metadata.name: configmaps tidb/basic-x was made by the rule quorum for another object, of the uid "u-2"; give each a name of its own, such as one with ${object.metadata.name}`,
		},
		"AnotherOwnerAdopted": {
			reason: "whatever else may be adopted.",
			action: applied + `, adopt: true}`,
			others: replaced(ours, "owner-uid: u-1", "owner-uid: u-2") + "\n---\n" + another,
			want:   `refused event tidbclusters tidb/basic Warning NotOurs Apply: configmaps tidb/basic-x was made by the rule quorum for another object, of the uid "u-2"; give each a name of its own, such as one with ${object.metadata.name}`,
			err:    `a.yaml:1:59: apply.manifest.metadata.name: configmaps tidb/basic-x was made by the rule quorum for another object, of the uid "u-2"; give each a name of its own, such as one with ${object.metadata.name}`,
		},
		"AnotherOwnerOfAnotherKind": {
			reason: "A rule may watch several kinds.",
			action: applied + `}`,
			others: replaced(ours, "owner-uid: u-1", "owner-uid: n-1") + "\n---\n" + replaced(clusterScoped, "uid: u-1", "uid: n-1"),
			want:   `refused event tidbclusters tidb/basic Warning NotOurs Apply: configmaps tidb/basic-x was made by the rule quorum for another object, of the uid "n-1"; give each a name of its own, such as one with ${object.metadata.name}`,
			err:    `a.yaml:1:59: apply.manifest.metadata.name: configmaps tidb/basic-x was made by the rule quorum for another object, of the uid "n-1"; give each a name of its own, such as one with ${object.metadata.name}`,
		},
		"AnotherRule": {
			reason: "What another rule watches is not known here.",
			action: applied + `}`,
			others: replaced(ours, "owner-uid: u-1", "owner-uid: u-2", "rule: quorum", "rule: other"),
			want:   `refused event tidbclusters tidb/basic Warning NotOurs Apply: configmaps tidb/basic-x was made by the rule other for another object, of the uid "u-2"; give each a name of its own, such as one with ${object.metadata.name}`,
			err:    `a.yaml:1:59: apply.manifest.metadata.name: configmaps tidb/basic-x was made by the rule other for another object, of the uid "u-2"; give each a name of its own, such as one with ${object.metadata.name}`,
		},
		"Renamed": {
			reason: "A child goes with the rule that makes it for the same object now.",
			action: applied + `}`,
			others: replaced(ours, "rule: quorum", "rule: other"),
			want:   `apply configmaps tidb/basic-x c-1@3 force {"data":{"size":"1"},"metadata":{"labels":{"ours":true},"ownerReferences":"basic"}}`,
		},
		"Abandoned": {
			reason: "A watched object that was made anew finds the child of the old one.",
			action: applied + `}`,
			others: replaced(ours, "owner-uid: u-1", "owner-uid: u-0"),
			want:   `apply configmaps tidb/basic-x c-1@3 force confirm {"data":{"size":"1"},"metadata":{"labels":{"ours":true},"ownerReferences":"basic"}}`,
		},
		"ControlledByTheOneBefore": {
			reason: "The watched object was deleted and made anew, and garbage collection has not taken the child of the old one yet.",
			action: applied + `}`,
			others: replaced(ours, "uid: c-1", "uid: c-1\n  ownerReferences: [{apiVersion: pingcap.com/v1alpha1, kind: TidbCluster, name: basic, uid: u-0, controller: true}]", "owner-uid: u-1", "owner-uid: u-0"),
			want:   `refused event tidbclusters tidb/basic Warning NotOurs Apply: configmaps tidb/basic-x belongs to an earlier TidbCluster basic, which is gone, and is not deleted yet; the child is made anew once garbage collection has deleted it`,
			err:    `a.yaml:1:59: apply.manifest.metadata.name: configmaps tidb/basic-x belongs to an earlier TidbCluster basic, which is gone, and is not deleted yet; the child is made anew once garbage collection has deleted it`,
		},
		"Controlled": {
			reason: "An object has one controller.",
			action: applied + `, adopt: true}`,
			others: replaced(foreign, "uid: c-1", "uid: c-1, ownerReferences: [{kind: Job, name: j, uid: j-1}, {kind: StatefulSet, name: web, uid: s-1, controller: true}]"),
			want:   `refused event tidbclusters tidb/basic Warning NotOurs Apply: configmaps tidb/basic-x is controlled by the StatefulSet web; write owned: false, or another name`,
			err:    `a.yaml:1:59: apply.manifest.metadata.name: configmaps tidb/basic-x is controlled by the StatefulSet web; write owned: false, or another name`,
		},
		"ControlledNotOwned": {
			reason: "A second owner is not in the way of the first.",
			action: applied + `, adopt: true, owned: false}`,
			others: replaced(foreign, "uid: c-1", "uid: c-1, ownerReferences: [{kind: StatefulSet, name: web, uid: s-1, controller: true}]"),
			want:   `apply configmaps tidb/basic-x c-1@3 force confirm {"data":{"size":"1"},"metadata":{"annotations":{"dyncontroller.dev/adopted":"true"},"labels":{"ours":true}}}`,
		},
		"ControlledByUs": {
			reason: "The reference that the rule wrote is its own.",
			action: applied + `}`,
			others: replaced(ours, "uid: c-1", "uid: c-1\n  ownerReferences: [{kind: TidbCluster, name: basic, uid: u-1, controller: true}]"),
			want:   `apply configmaps tidb/basic-x c-1@3 force {"data":{"size":"1"},"metadata":{"labels":{"ours":true},"ownerReferences":"basic"}}`,
		},
		"Kept": {
			reason: "With Keep, whatever exists is left alone without a word.",
			action: applied + `, existing: Keep}`,
			others: foreign,
		},
		"Going": {
			reason: "What is being deleted is looked at again when it is gone.",
			action: applied + `}`,
			others: replaced(ours, "uid: c-1", "uid: c-1\n  deletionTimestamp: '2026-01-01T00:00:00Z'"),
		},
		"StampKept": {
			reason: "A stamp stays as long as nothing beside it changes.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: basic-x}, data: {size: "0", at: "${stamp()}"}}}`,
			others: replaced(ours, `size: "0"`, `size: "0", at: "2020-01-01T00:00:00Z"`),
			want:   `apply configmaps tidb/basic-x c-1@3 force {"data":{"at":"2020-01-01T00:00:00Z","size":"0"},"metadata":{"labels":{"ours":true},"ownerReferences":"basic"}}`,
		},
		"StampMoved": {
			reason: "And moves with it.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: basic-x}, data: {size: "1", at: "${stamp()}"}}}`,
			others: replaced(ours, `size: "0"`, `size: "0", at: "2020-01-01T00:00:00Z"`),
			want:   `apply configmaps tidb/basic-x c-1@3 force {"data":{"at":"2026-01-02T03:04:05Z","size":"1"},"metadata":{"labels":{"ours":true},"ownerReferences":"basic"}}`,
		},
		"ForEach": {
			reason: "One object for each element, whichever of them is refused.",
			action: "forEach: {part: '${[\"a\", \"x\", \"c\"]}'}\n" + `apply: {resource: configmaps, manifest: {metadata: {name: "basic-${part}"}, data: {at: "${index}"}}}`,
			others: foreign,
			want: `
apply configmaps tidb/basic-a force {"data":{"at":0},"metadata":{"labels":{"ours":true},"ownerReferences":"basic"}}
apply configmaps tidb/basic-c force {"data":{"at":2},"metadata":{"labels":{"ours":true},"ownerReferences":"basic"}}
refused event tidbclusters tidb/basic Warning NotOurs Apply: configmaps tidb/basic-x is there already, and was not made by the ClusterRuleSet guard; write another name, or adopt: true to take it over
`,
			err: `a.yaml:2:59: apply.manifest.metadata.name: configmaps tidb/basic-x is there already, and was not made by the ClusterRuleSet guard; write another name, or adopt: true to take it over`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.run(t) })
	}
}

// TestApplyClaimReads holds that the owner of a child counts as read: when it
// goes, the next one is looked at again.
func TestApplyClaimReads(t *testing.T) {
	f := newFixture(t)
	step, errs := f.compile(t, applied+`}`)
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	e := f.begin(t, watched, replaced(ours, "owner-uid: u-1", "owner-uid: u-0"))
	if err := step.Evaluate(e); err != nil {
		t.Fatal(err)
	}
	owner := []plan.FieldValue{{Path: plan.Path{"metadata", "uid"}, Value: "u-0"}}
	var want []plan.Read
	for _, selection := range slices.Concat(declared[0].Selections, declared[3].Selections) {
		want = append(want, plan.Read{From: []plan.Selection{selection}, By: plan.ByFields, Fields: owner})
	}
	if diff := cmp.Diff(want, e.Related.Reads()[1:]); diff != "" {
		t.Errorf("reads (-want +got):\n%s", diff)
	}
}

// unsyncedOwners is a source that knows everything but the watched objects.
type unsyncedOwners struct{ lookup.Objects }

func (u unsyncedOwners) Read(q plan.Read) ([]map[string]any, error) {
	if q.By == plan.ByFields {
		return nil, lookup.ErrNotSynced
	}
	return u.Objects.Read(q)
}

func TestApplyClaimNotSynced(t *testing.T) {
	f := newFixture(t)
	step, errs := f.compile(t, applied+`}`)
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	children := lookup.Objects{configmaps: manifests(t, replaced(ours, "owner-uid: u-1", "owner-uid: u-0"))}
	e := f.beginWith(t, watched, unsyncedOwners{children})
	if err := step.Evaluate(e); !errors.Is(err, lookup.ErrNotSynced) || len(e.Wishes) > 0 {
		t.Errorf("want nothing but an error that says that it is not synced, have %v and %v", e.Wishes, err)
	}
}
