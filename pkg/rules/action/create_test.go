package action_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

func TestCreate(t *testing.T) {
	tests := map[string]scenario{
		"Generated": {
			reason: "The API server may choose the name; the whole object is sent.",
			action: `create: {in: pods, manifest: {metadata: {generateName: "${object.metadata.name}-", labels: {app: db}}, spec: {a: 1}}}`,
			want:   `create pods tidb/ {"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"basic-","labels":{"app":"db","ours":true},"namespace":"tidb","ownerReferences":"basic"},"spec":{"a":1}}`,
		},
		"ByOwner": {
			reason: "The owner that is written counts where the list asks for it.",
			action: `create: {in: members, manifest: {metadata: {generateName: p-, labels: {app: db}}}}`,
			want:   `create pods tidb/ {"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"p-","labels":{"app":"db","ours":true},"namespace":"tidb","ownerReferences":"basic"}}`,
		},
		"ByOwnerNotOwned": {
			reason: "Without it the object would not be seen.",
			action: `create: {in: members, owned: false, manifest: {metadata: {generateName: p-, labels: {app: db}}}}`,
			want:   `refused`,
			err:    `a.yaml:1:14: create.in: the new object would not appear in members, and would be created again and again; give it the namespace, labels, fields or owner that the list asks for`,
		},
		"NotSelected": {
			reason: "Nor would one without the labels of the list be.",
			action: `create: {in: pods, manifest: {metadata: {generateName: p-, labels: {app: web}}}}`,
			want:   `refused`,
			err:    `a.yaml:1:14: create.in: the new object would not appear in pods, and would be created again and again; give it the namespace, labels, fields or owner that the list asks for`,
		},
		"NotDeclared": {
			reason: "Nor one that the declaration leaves out.",
			action: `create: {in: members, manifest: {metadata: {generateName: p-}}}`,
			want:   `refused`,
			err:    `a.yaml:1:14: create.in: the new object would not appear in members, and would be created again and again; give it the namespace, labels, fields or owner that the list asks for`,
		},
		"OtherNamespace": {
			reason: "Nor one in another namespace than the list's.",
			action: `create: {in: pods, owned: false, manifest: {metadata: {generateName: p-, namespace: other, labels: {app: db}}}}`,
			want:   `refused`,
			err:    `a.yaml:1:14: create.in: the new object would not appear in pods, and would be created again and again; give it the namespace, labels, fields or owner that the list asks for`,
		},
		"SelectsNothing": {
			reason: "A list that selects nothing has no place for it.",
			action: `create: {in: chosen, manifest: {metadata: {generateName: p-, labels: {app: db}}}}`,
			want:   `refused`,
			err:    `a.yaml:1:14: create.in: chosen selects nothing now, so the new object would not appear in it; guard the action with a when`,
		},
		"BadQuestion": {
			reason:  "What is wrong with the list is said there.",
			action:  `create: {in: chosen, manifest: {metadata: {generateName: p-, labels: {app: db}}}}`,
			watched: replaced(watched, "replicas: 2", "selector: {}"),
			err:     `a.yaml:4:36: chosen.selector: selector is empty; write all: true if every object is meant`,
		},
		"Existing": {
			reason: "It is not compared with what is there.",
			action: `create: {in: pods, manifest: {metadata: {name: p-0, labels: {app: db}}}}`,
			others: twoPods,
			want:   `create pods tidb/p-0 {"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"app":"db","ours":true},"name":"p-0","namespace":"tidb","ownerReferences":"basic"}}`,
		},
		"Stamped": {
			reason: "It is stamped now.",
			action: `create: {in: pods, manifest: {metadata: {name: p-0, labels: {app: db}}, spec: {at: "${stamp()}"}}}`,
			others: twoPods,
			want:   `create pods tidb/p-0 {"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"app":"db","ours":true},"name":"p-0","namespace":"tidb","ownerReferences":"basic"},"spec":{"at":"2026-01-02T03:04:05Z"}}`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if e := tc.run(t); len(e.Children) > 0 {
				t.Errorf("what is created once is not to be kept: %v", e.Children)
			}
		})
	}
}

// TestCreateReads holds that the list counts as read, so that the rule is
// evaluated again when the object has appeared in it.
func TestCreateReads(t *testing.T) {
	f := newFixture(t)
	step, errs := f.compile(t, `create: {in: pods, manifest: {metadata: {generateName: p-, labels: {app: db}}}}`)
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	e := f.begin(t, watched, "")
	if err := step.Evaluate(e); err != nil {
		t.Fatal(err)
	}
	want := []plan.Read{{From: declared[2].Selections, Namespace: "tidb", By: plan.ByLabels, Labels: "app=db"}}
	if diff := cmp.Diff(want, e.Related.Reads()); diff != "" {
		t.Errorf("reads (-want +got):\n%s", diff)
	}
}

// TestCreatePays holds that a list that only in reads is paid for, too.
func TestCreatePays(t *testing.T) {
	f := newFixture(t)
	step, errs := f.compile(t, `create: {in: pods, manifest: {metadata: {generateName: p-, labels: {app: db}}}}`)
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	e := f.beginWith(t, watched, lookup.Objects{pods: slices.Repeat(manifests(t, twoPods), 100)})
	budget := e.Expressions.Budget
	for rest := *budget; rest.Steps(1000) == nil; rest = *budget {
		_ = budget.Steps(500) // Some are left for all but the list.
	}
	err := step.Evaluate(e)
	const want = "a.yaml:1:14: create.in: "
	if err == nil || !strings.HasPrefix(err.Error(), want) || len(e.Wishes) > 0 {
		t.Errorf("want an error that begins with %s, have %v", want, err)
	}
}
