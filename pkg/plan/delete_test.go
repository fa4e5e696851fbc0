package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDelete(t *testing.T) {
	const (
		living = `{metadata: {name: x}, spec: {a: 1}}`
		dying  = `{metadata: {name: x, deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 30, finalizers: [f]}, spec: {a: 1}}`
	)
	tests := map[string]struct {
		reason    string
		objects   cluster
		wishes    []string
		separate  bool
		want      []string
		decisions []string
	}{
		"Living": {
			reason:  "What lives is deleted as asked.",
			objects: cluster{"x": living}, wishes: []string{"a delete x grace=5 policy=Foreground"},
			want: []string{`delete x a {"gracePeriodSeconds":5,"propagationPolicy":"Foreground"}`},
		},
		"Dying": {
			reason:  "What is being deleted is not deleted again.",
			objects: cluster{"x": dying}, wishes: []string{"a delete x"},
		},
		"DyingShorter": {
			reason:  "A shorter grace is a change.",
			objects: cluster{"x": dying}, wishes: []string{"a delete x grace=0"},
			want: []string{`delete x a {"gracePeriodSeconds":0}`},
		},
		"DyingUnknownGrace": {
			reason:  "Where the grace is not known, nothing says that the one asked for is shorter.",
			objects: cluster{"x": `{metadata: {deletionTimestamp: t}}`}, wishes: []string{"a delete x grace=0"},
		},
		"TwoRules": {
			reason:  "Rules that want the same object gone share a request: the shorter grace, the policy of the first.",
			objects: cluster{"x": living}, wishes: []string{"a delete x grace=9 policy=Orphan", "b delete x grace=3 policy=Foreground", "c delete x"},
			want: []string{`delete x a+b+c {"gracePeriodSeconds":3,"propagationPolicy":"Orphan"}`},
		},
		"TwoRulesOneHurries": {
			reason:  "Who only agrees with what happens anyway is not named as a cause.",
			objects: cluster{"x": dying}, wishes: []string{"a delete x policy=Orphan", "b delete x grace=3"},
			want: []string{`delete x b {"gracePeriodSeconds":3}`},
		},
		"TwoRulesSeparate": {
			reason:  "Two deletions are the same request, so sending them one by one tells nothing.",
			objects: cluster{"x": living}, wishes: []string{"a delete x", "b delete x"}, separate: true,
			want: []string{`delete x a+b {}`},
		},
		"TwiceInOrder": {
			reason:  "A rule that does something else first does not delete again what the earlier rule has deleted.",
			objects: cluster{"x": living, "y": living},
			wishes:  []string{"a delete x", "b merge y {spec: {a: 2}}", "b delete x"},
			want:    []string{`delete x a {}`, `merge y b {"spec":{"a":2}}`},
		},
		"HurryInOrder": {
			reason:  "It may still hurry it.",
			objects: cluster{"x": living, "y": living},
			wishes:  []string{"a delete x grace=30", "b merge y {spec: {a: 2}}", "b delete x grace=1"},
			want:    []string{`delete x a {"gracePeriodSeconds":30}`, `merge y b {"spec":{"a":2}}`, `delete x b {"gracePeriodSeconds":1}`},
		},
		"LaterWriterWithheld": {
			reason:    "What the first rule deletes, no later rule writes.",
			objects:   cluster{"x": living},
			wishes:    []string{"a delete x", "b merge x {spec: {a: 2}}", "c apply x {spec: {b: 1}}", "d finalizer x +held"},
			want:      []string{`merge x d {"metadata":{"finalizers":["held"]}}`, `delete x a {}`}, // It is there for the deletion.
			decisions: withheldBy("pods ns/x is deleted by rule guardrails/a, which comes first", "b", "c"),
		},
		"LaterStatusWithheld": {
			reason:    "A deletion is of all subresources.",
			objects:   cluster{"x": living},
			wishes:    []string{"a delete x", "b merge x/status {status: {seen: true}}"},
			want:      []string{`delete x a {}`},
			decisions: withheldBy("pods ns/x is deleted by rule guardrails/a, which comes first", "b"),
		},
		"DeletionBehindASatisfiedRule": {
			reason:  "A rule that keeps objects in shape does not keep them for ever.",
			objects: cluster{"x": living},
			wishes:  []string{"a merge x {spec: {a: 1}}", "b delete x"},
			want:    []string{`delete x b {}`},
		},
		"LaterDeletionWithheld": {
			reason:    "What the first rule writes, no later rule deletes.",
			objects:   cluster{"x": living},
			wishes:    []string{"a merge x {spec: {a: 2}}", "b delete x"},
			want:      []string{`merge x a {"spec":{"a":2}}`},
			decisions: withheldBy("pods ns/x is written by rule guardrails/a, which comes first", "b"),
		},
		"LoserClaimsNothing": {
			reason:    "A withheld deletion does not keep others from writing.",
			objects:   cluster{"x": living},
			wishes:    []string{"a merge x {spec: {a: 2}}", "b delete x", "c merge x {spec: {b: 1}}"},
			want:      []string{`merge x a+c {"spec":{"a":2,"b":1}}`},
			decisions: withheldBy("pods ns/x is written by rule guardrails/a, which comes first", "b"),
		},
		"OwnOrder": {
			reason:  "A rule may write to an object before it deletes it.",
			objects: cluster{"x": living}, wishes: []string{"a merge x {spec: {a: 2}}", "a delete x", "b delete x"},
			want: []string{`merge x a {"spec":{"a":2}}`, `delete x a+b {}`},
		},
		"OwnLaterWrites": {
			reason:  "What it wants of the object afterwards waits for the next snapshot; the rest goes on.",
			objects: cluster{"x": living, "y": living},
			wishes:  []string{"a delete x", "a merge x {spec: {a: 2}}", "a merge y {spec: {a: 2}}"},
			want:    []string{`delete x a {}`, `merge y a {"spec":{"a":2}}`},
		},
		"DyingMayBeWritten": {
			reason:  "What is being deleted may be waiting for this very write.",
			objects: cluster{"x": dying},
			wishes:  []string{"a delete x grace=1", "b finalizer x -f", "c merge x {spec: {a: 2}}"},
			want:    []string{`delete x a {"gracePeriodSeconds":1}`, `merge x c+b {"metadata":{"finalizers":null},"spec":{"a":2}}`},
		},
		"HeldMayBeDeleted": {
			reason:  "A finalizer of an earlier rule is there for the deletion, and is put on before it.",
			objects: cluster{"x": living}, wishes: []string{"a finalizer x +held", "b delete x"},
			want: []string{`merge x a {"metadata":{"finalizers":["held"]}}`, `delete x b {}`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			built := Build(tc.objects.wishes(t, tc.wishes...), Options{Separate: tc.separate})
			if diff := cmp.Diff(tc.want, written(t, built.Operations)); diff != "" {
				t.Errorf("%s\noperations (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.decisions, decided(built.Decisions)); diff != "" {
				t.Errorf("%s\ndecisions (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func withheldBy(why string, rules ...string) []string {
	var out []string
	for _, name := range rules {
		out = append(out, name+" withheld: "+why)
	}
	return out
}

func TestDeleteOperation(t *testing.T) {
	objects := cluster{"x": `{metadata: {name: x, resourceVersion: "7"}}`}
	built := Build(objects.wishes(t, "a delete x grace=0"), Options{})
	o := built.Operations[0]
	if o.Manager != "" || o.Predicted != nil || o.Changes != nil {
		t.Errorf("a deletion owns, leaves and changes no fields: %+v", o)
	}
	for name, answer := range map[string]string{
		"Gone": `{}`, "LastVersion": `{metadata: {resourceVersion: "7"}}`, "Dying": `{metadata: {deletionTimestamp: t, resourceVersion: "8"}}`,
	} {
		object := decode[map[string]any](t, answer)
		if marks, _ := o.Ineffective(object); len(marks) > 0 || !o.CameTrue(object) {
			t.Errorf("%s: an accepted deletion has an effect and came true, whatever is answered", name)
		}
	}
	again := Build(objects.wishes(t, "a delete x grace=0"), Options{Ineffective: o.All()})
	if len(again.Operations) != 0 || len(again.Suppressed) != 1 {
		t.Errorf("a dry run would repeat %v", written(t, again.Operations))
	}
	if other := Build(objects.wishes(t, "a delete x grace=1"), Options{Ineffective: o.All()}); len(other.Operations) != 1 {
		t.Error("another grace is another deletion")
	}
}
