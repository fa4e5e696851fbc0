package action_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

// applied is an action that most tests of apply share, but for what comes after.
const applied = `apply: {resource: configmaps, manifest: {metadata: {name: "${object.metadata.name}-x"}, data: {size: "1"}}`

// ours is what that action finds when it has been carried out before.
const ours = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: basic-x
  namespace: tidb
  uid: c-1
  resourceVersion: "3"
  labels: {dyncontroller.dev/set: guard-SET, dyncontroller.dev/rule: quorum, dyncontroller.dev/owner-uid: u-1}
data: {size: "0"}
`

const foreign = `
apiVersion: v1
kind: ConfigMap
metadata: {name: basic-x, namespace: tidb, uid: c-1, resourceVersion: "3", labels: {app: x}}
`

const clusterScoped = `
apiVersion: v1
kind: Node
metadata: {name: node-1, uid: u-1, resourceVersion: "7"}
`

func TestApply(t *testing.T) {
	tests := map[string]scenario{
		"New": {
			reason: "An absent object is made, with the marks of the set and its owner.",
			action: applied + `}`,
			want:   `apply configmaps tidb/basic-x force {"data":{"size":"1"},"metadata":{"labels":{"ours":true},"ownerReferences":"basic"}}`,
		},
		"NotOwned": {
			reason: "Without an owner it stays when the watched object goes.",
			action: applied + `, owned: false}`,
			want:   `apply configmaps tidb/basic-x force {"data":{"size":"1"},"metadata":{"labels":{"ours":true}}}`,
		},
		"WrongKind": {
			reason: "The kind of a resource is known when it is evaluated.",
			action: `apply: {resource: configmaps, manifest: {kind: Secret, metadata: {name: x}}}`,
			err:    `a.yaml:1:48: apply.manifest.kind: the kind of the resource is "ConfigMap", not "Secret"; leave it out, it comes from resource`,
		},
		"Nil": {
			reason: "A nil leaf counts as absent, in elements of lists too; an element that is nil stays.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: x, labels: "${labels}"}, data: {a: "${nil}", b: {c: null}, l: [{d: null, e: 1}, null, [{f: null}]]}}}`,
			want:   `apply configmaps tidb/x force {"data":{"b":{},"l":[{"e":1},null,[{}]]},"metadata":{"labels":{"ours":true,"x":"y"},"ownerReferences":"basic"}}`,
		},
		"Omitted": {
			reason: "A manifest that is omitted or nil wants nothing.",
			action: `apply: {resource: configmaps, manifest: "${none}"}`,
		},
		"NotAMap": {
			reason: "A manifest is a map.",
			action: `apply: {resource: configmaps, manifest: "${names}"}`,
			err:    `a.yaml:1:41: apply.manifest: a manifest must be a map, have a list`,
		},
		"Templated": {
			reason: "A manifest may be built by an expression.",
			action: `apply: {resource: configmaps, manifest: "${ {'metadata': {'name': 'x'}, 'data': {'a': omit()}} }"}`,
			want:   `apply configmaps tidb/x force {"data":{},"metadata":{"labels":{"ours":true},"ownerReferences":"basic"}}`,
		},
		"NilName": {
			reason: "A name that turns out to be nil is missing.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: "${object.spec.name}"}}}`,
			err:    `a.yaml:1:59: apply.manifest.metadata.name: the object has no name; write metadata: {name: ...}`,
		},
		"Forbidden": {
			reason: "What belongs to the API server is refused where an expression writes it, too.",
			action: `apply: {resource: configmaps, manifest: {metadata: "${ {'name': 'x', 'uid': 'u'} }"}}`,
			err:    `a.yaml:1:52: apply.manifest.metadata: a rule may not write metadata.uid; leave it out, the API server gives it`,
		},
		"Marks": {
			reason: "So are the marks of the engine.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: x, labels: "${ {'dyncontroller.dev/set': 'mine'} }"}}}`,
			err:    `a.yaml:1:70: apply.manifest.metadata.labels: dyncontroller.dev/set is for dyncontroller to write; leave it out`,
		},
		"OwnOwners": {
			reason: "With owned: false they are the rule's to write.",
			action: `apply: {resource: configmaps, owned: false, manifest: {metadata: {name: x, ownerReferences: [{uid: u-9}]}}}`,
			want:   `apply configmaps tidb/x force {"metadata":{"labels":{"ours":true},"ownerReferences":[{"uid":"u-9"}]}}`,
		},
		"AnotherNamespace": {
			reason: "Another namespace is fine where the owner is not written.",
			action: `apply: {resource: configmaps, owned: false, manifest: {metadata: {name: x, namespace: other}}}`,
			want:   `apply configmaps other/x force {"metadata":{"labels":{"ours":true}}}`,
		},
		"OwnedFromElsewhere": {
			reason: "Kubernetes would delete what is owned from another namespace.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: x, namespace: other}}}`,
			err:    `a.yaml:1:73: apply.manifest.metadata.namespace: configmaps cannot be owned by the watched object: they are in another namespace or in none, and it has a namespace; write owned: false`,
		},
		"ClusterScoped": {
			reason: "An object without a namespace has none.",
			action: `apply: {resource: nodes, owned: false, manifest: {metadata: {name: x}}}`,
			want:   `apply nodes x force {"metadata":{"labels":{"ours":true}}}`,
		},
		"NoNamespace": {
			reason:  "A watched object without a namespace does not say in which one to make others.",
			action:  applied + `}`,
			watched: clusterScoped,
			err:     `a.yaml:1:52: apply.manifest.metadata: the watched object is cluster-scoped, so it must be said in which namespace the configmaps are; add namespace: ...`,
		},
		"OwnedByClusterScoped": {
			reason:  "It can own what is in a namespace.",
			action:  `apply: {resource: configmaps, manifest: {metadata: {name: x, namespace: tidb}}}`,
			watched: clusterScoped,
			want:    `apply configmaps tidb/x force {"metadata":{"labels":{"ours":true},"ownerReferences":[{"apiVersion":"v1","blockOwnerDeletion":true,"controller":true,"kind":"Node","name":"node-1","uid":"u-1"}]}}`,
		},
		"EmptyNamespace": {
			reason: "A namespace that turns out to be empty is not taken for the object's own.",
			action: `apply: {resource: configmaps, manifest: {metadata: {name: x, namespace: "${''}"}}}`,
			err:    `a.yaml:1:73: apply.manifest.metadata.namespace: want at least 1 character, have 0; give it a text, as by string(...), or omit() it`,
		},
		"RuleSet": {
			reason: "The objects of a RuleSet are in its namespace.",
			action: `apply: {resource: here, manifest: {metadata: {name: x}}}`,
			want:   `apply configmaps tidb/x force {"metadata":{"labels":{"ours":true},"ownerReferences":"basic"}}`,
		},
		"RuleSetClusterScoped": {
			reason: "Least of all outside all namespaces.",
			action: `apply: {resource: homeNodes, owned: false, manifest: {metadata: {name: x}}}`,
			err:    `a.yaml:1:19: apply.resource: nodes are cluster-scoped, and a RuleSet acts in its own namespace only; make it a ClusterRuleSet`,
		},
		"UnknownKind": {
			reason: "Of a resource that the cluster has not, nothing can be made.",
			action: `apply: {resource: widgets, manifest: {metadata: {name: x}}}`,
			err:    `a.yaml:1:19: apply.resource: the kind of the resource widgets.v1.example.com is not known; see whether the cluster has it, in the version that resources names`,
		},
		"NotSelected": {
			reason: "What the declaration does not select would look absent for ever.",
			action: `apply: {resource: pods, manifest: {metadata: {name: x, labels: {app: web}}}}`,
			err:    `a.yaml:1:35: apply.manifest: pods tidb/x would not be among what resources.pods selects, so no rule would see it; give it the labels and fields that the selectors there want, or widen them`,
		},
		"Selected": {
			reason: "What it selects is seen.",
			action: `apply: {resource: pods, manifest: {metadata: {name: x, labels: {app: db}}}}`,
			want: `apply pods tidb/x force unseen (event tidbclusters tidb/basic Warning NotOurs Apply: pods tidb/x is there already, and is not among what resources.pods selects; write another name, or widen what is selected)` +
				` {"metadata":{"labels":{"app":"db","ours":true},"ownerReferences":"basic"}}`,
		},
		"Itself": {
			reason: "A rule does not own what it watches.",
			action: `apply: {resource: tidbclusters, adopt: true, manifest: {metadata: {name: basic}}}`,
			err:    `a.yaml:1:74: apply.manifest.metadata.name: a rule cannot make the object that it watches; use patch`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.run(t) })
	}
}

// TestApplyMarks spells out what the other tests abbreviate.
func TestApplyMarks(t *testing.T) {
	e := scenario{action: applied + `}`, want: `apply configmaps tidb/basic-x force ` +
		`{"data":{"size":"1"},"metadata":{"labels":{"ours":true},"ownerReferences":"basic"}}`}.run(t)
	want := map[string]any{
		"data": map[string]any{"size": "1"},
		"metadata": map[string]any{
			"labels": map[string]any{
				"dyncontroller.dev/set":       rule.SetID(),
				"dyncontroller.dev/rule":      "quorum",
				"dyncontroller.dev/owner-uid": "u-1",
			},
			"ownerReferences": []any{map[string]any{
				"apiVersion": "pingcap.com/v1alpha1", "kind": "TidbCluster", "name": "basic", "uid": "u-1",
				"controller": true, "blockOwnerDeletion": true,
			}},
		},
	}
	if diff := cmp.Diff(want, e.Wishes[0].Body); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	target := plan.Object{GVR: configmaps, Kind: "ConfigMap", Namespace: "tidb", Name: "basic-x"}
	if diff := cmp.Diff(target, e.Wishes[0].Target); diff != "" {
		t.Errorf("target (-want +got):\n%s", diff)
	}
}

// TestApplyChildren holds that whatever is named counts as wanted and as read,
// even if it is not written.
func TestApplyChildren(t *testing.T) {
	f := newFixture(t)
	question := []plan.Read{{From: declared[1].Selections, Namespace: "tidb", By: plan.ByName, Names: []string{"basic-x"}}}
	child := map[plan.Object]bool{{GVR: configmaps, Namespace: "tidb", Name: "basic-x"}: true}
	for name, tc := range map[string]struct{ action, others string }{
		"New":     {action: applied + `}`},
		"Ours":    {action: applied + `}`, others: replaced(ours)},
		"Refused": {action: applied + `}`, others: foreign},
		"Kept":    {action: applied + `, existing: Keep}`, others: foreign},
		"Going":   {action: applied + `}`, others: replaced(ours, "uid: c-1", "uid: c-1\n  deletionTimestamp: x")},
	} {
		t.Run(name, func(t *testing.T) {
			step, errs := f.compile(t, tc.action)
			if len(errs) > 0 {
				t.Fatal(errs.Render())
			}
			e := f.begin(t, watched, tc.others)
			if err := step.Evaluate(e); err != nil && name != "Refused" {
				t.Fatal(err)
			}
			if diff := cmp.Diff(child, e.Children); diff != "" {
				t.Errorf("children (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(question, e.Related.Reads()); diff != "" {
				t.Errorf("reads (-want +got):\n%s", diff)
			}
		})
	}
}

// TestApplyConfirms holds what is looked at again before an adoption.
func TestApplyConfirms(t *testing.T) {
	e := scenario{
		action: applied + `, adopt: true}`, others: foreign,
		want: `apply configmaps tidb/basic-x c-1@3 force confirm ` +
			`{"data":{"size":"1"},"metadata":{"annotations":{"dyncontroller.dev/adopted":"true"},"labels":{"ours":true},"ownerReferences":"basic"}}`,
	}.run(t)
	want := []plan.Read{{From: declared[1].Selections, Namespace: "tidb", By: plan.ByName, Names: []string{"basic-x"}}}
	if diff := cmp.Diff(want, e.Wishes[0].Confirm); diff != "" {
		t.Errorf("confirm (-want +got):\n%s", diff)
	}
}

// broken is a source whose caches are not complete.
type broken struct{}

func (broken) Read(plan.Read) ([]map[string]any, error) { return nil, lookup.ErrNotSynced }

func TestNotSynced(t *testing.T) {
	f := newFixture(t)
	for _, text := range []string{
		applied + `}`,
		`create: {in: pods, manifest: {metadata: {name: x, labels: {app: db}}}}`,
		`delete: {target: pods}`,
	} {
		step, errs := f.compile(t, text)
		if len(errs) > 0 {
			t.Fatal(errs.Render())
		}
		e := f.beginWith(t, watched, broken{})
		if err := step.Evaluate(e); !errors.Is(err, lookup.ErrNotSynced) {
			t.Errorf("%s: want an error that says that it is not synced, have %v", text, err)
		}
		if len(e.Wishes) > 0 {
			t.Errorf("%s: something is wanted although not everything is known", text)
		}
	}
}
