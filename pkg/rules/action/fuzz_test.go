package action_test

import (
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// everything is actions that together do all there is to do.
var everything = []string{
	`patch: {target: pods, merge: {spec: {a: "${object.spec.replicas}", at: "${stamp()}"}}}`,
	`patch: {json: [{op: add, path: /spec/a, value: "${stamp()}"}]}`,
	`patch: {apply: {spec: {a: {b: null, c: ["${labels}"]}}}, force: true, release: Remove}`,
	`patch: {merge: "${ {'metadata': {'uid': 'x'}} }"}`,
	applied + `, adopt: true}`,
	applied + `, existing: Keep, prune: true}`,
	`apply: {resource: nodes, owned: false, manifest: {metadata: {name: "${names[0]}", annotations: {a: b}}}}`,
	`apply: {resource: pods, manifest: "${merge(first, {'metadata': {'name': 'x'}})}"}`,
	`create: {in: pods, manifest: {metadata: {generateName: "${rule}-", labels: {app: db}}, data: "${labels}"}}`,
	`create: {in: members, owned: false, manifest: {metadata: {name: x, ownerReferences: [{uid: u-1, controller: true}]}}}`,
	`delete: {target: mixed, gracePeriodSeconds: "${three}", propagationPolicy: Orphan}`,
	"forEach: {pod: '${failed}'}\nwhen: pod.status.phase == 'Failed'\ndelete: {target: pod}",
	"forEach: {part: [a, '${omit()}', '${nil}']}\nevent: {reason: Seen, message: 'x ${part} ${index}', target: config}",
}

// cluster is what the rule has applied and found before.
func cluster() string { return twoPods + "\n---\n" + replaced(ours) + "\n---\n" + made("gone") }

// TestPure holds that an evaluation changes nothing that it was given, and that
// the same snapshot gives the same wishes, in any number of goroutines.
func TestPure(t *testing.T) {
	before := manifests(t, cluster())
	for _, text := range everything {
		f := newFixture(t)
		step, errs := f.compile(t, text)
		if len(errs) > 0 {
			t.Fatal(errs.Render())
		}
		first := f.begin(t, watched, cluster())
		want := outcome(t, first, step.Evaluate(first))
		if diff := cmp.Diff(manifests(t, watched)[0], first.Current); diff != "" {
			t.Errorf("%s changed the watched object:\n%s", text, diff)
		}
		for _, object := range before {
			found, err := first.Related.Source.Read(plan.Read{
				From: []plan.Selection{{GVR: resourceOf(t, object)}}, By: plan.ByName, Names: []string{nameOf(object)},
			})
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			if diff := cmp.Diff(object, found[0]); diff != "" {
				t.Errorf("%s changed an object:\n%s", text, diff)
			}
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				f := newFixture(t)
				e := f.begin(t, watched, cluster())
				if got := outcome(t, e, step.Evaluate(e)); got != want {
					t.Errorf("%s\n got:\n%s\nwant:\n%s", text, got, want)
				}
			})
		}
		all.Wait()
	}
}

func nameOf(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	return name
}

// FuzzAction holds that no action panics, and that what it wants is well formed.
func FuzzAction(f *testing.F) {
	for _, text := range everything {
		f.Add(text)
	}
	rules := newFixture(f)
	f.Fuzz(func(t *testing.T, text string) {
		roots, reported := document.Parse(document.File{Name: "a.yaml", Data: []byte(text)})
		for _, root := range roots {
			step, errs := action.Compile(root, rules.env())
			if len(reported)+len(errs) > 0 {
				continue
			}
			e := rules.begin(t, watched, cluster())
			err := step.Evaluate(e)
			if _, located := errors.AsType[*document.Error](err); err != nil && !located {
				t.Errorf("an error without a place: %v", err)
			}
			checkWishes(t, e)
		}
	})
}

func checkWishes(t *testing.T, e *action.Evaluation) {
	t.Helper()
	for _, wish := range e.Wishes {
		if wish.Target.Name == "" && wish.Type != plan.Create {
			t.Errorf("a wish about no object: %+v", wish)
		}
		if wish.Type != plan.Create && wish.Type != plan.Delete && plan.ForbiddenField(wish.Type, wish.Body) != nil {
			t.Errorf("a wish for what no rule may write: %+v", wish)
		}
		if (wish.Target.UID == "") != (wish.Current == nil) {
			t.Errorf("a wish about an object that is neither there nor absent: %+v", wish)
		}
		if _, err := json.Marshal(wish.Body); err != nil {
			t.Errorf("a body that cannot be sent: %v", err)
		}
	}
}
