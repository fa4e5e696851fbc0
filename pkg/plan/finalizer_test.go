package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHasFinalizers(t *testing.T) {
	for want, finalizers := range map[bool]any{true: []any{"a"}, false: []any{}} {
		object := map[string]any{"metadata": map[string]any{"finalizers": finalizers}}
		if HasFinalizers(object) != want || HasFinalizers(nil) {
			t.Errorf("%v: %t", finalizers, !want)
		}
	}
}

func TestFinalizer(t *testing.T) {
	const decidedByA = "guardrails/a, which comes first"
	tests := map[string]struct {
		reason    string
		current   string
		wishes    []string
		separate  bool
		want      []string
		decisions []string
	}{
		"Made": {
			reason: "Without finalizers, or metadata, a list is made.", current: `{}`,
			wishes: []string{"a finalizer x +held"}, want: []string{`merge x a {"metadata":{"finalizers":["held"]}}`},
		},
		"Appended": {
			reason: "The others keep their order.", current: `{metadata: {finalizers: [z, w]}}`,
			wishes: []string{"a finalizer x +held"}, want: []string{`merge x a {"metadata":{"finalizers":["z","w","held"]}}`},
		},
		"Removed": {
			reason: "So they do when one goes.", current: `{metadata: {finalizers: [z, held, w]}}`,
			wishes: []string{"a finalizer x -held"}, want: []string{`merge x a {"metadata":{"finalizers":["z","w"]}}`},
		},
		"RemovedLast": {
			reason: "No finalizers are no list, as the API server stores them.", current: `{metadata: {name: x, finalizers: [held]}}`,
			wishes: []string{"a finalizer x -held"}, want: []string{`merge x a {"metadata":{"finalizers":null}}`},
		},
		"Twice": {
			reason: "A name that is there twice goes as a whole.", current: `{metadata: {finalizers: [held, z, held]}}`,
			wishes: []string{"a finalizer x -held"}, want: []string{`merge x a {"metadata":{"finalizers":["z"]}}`},
		},
		"Held":    {reason: "It is there already.", current: `{metadata: {finalizers: [held]}}`, wishes: []string{"a finalizer x +held"}},
		"NotHeld": {reason: "It is gone already.", current: `{metadata: {finalizers: [z]}}`, wishes: []string{"a finalizer x -held"}},
		"NoList":  {reason: "Without a list there is nothing to remove.", current: `{}`, wishes: []string{"a finalizer x -held"}},
		"TwoRules": {
			reason: "Each rule has its own, in one request.", current: `{metadata: {finalizers: [b]}}`,
			wishes: []string{"a finalizer x +a", "b finalizer x -b", "c finalizer x +c"},
			want:   []string{`merge x a+c+b {"metadata":{"finalizers":["a","c"]}}`},
		},
		"TwoRulesSeparate": {
			reason: "Sent one by one, the second starts from the first.", current: `{}`, separate: true,
			wishes: []string{"a finalizer x +a", "b finalizer x +b"},
			want:   []string{`merge x a {"metadata":{"finalizers":["a"]}}`, `merge x b {"metadata":{"finalizers":["a","b"]}}`},
		},
		"WithMerge": {
			reason: "A finalizer travels with the fields of a merge patch.", current: `{spec: {a: 1}}`,
			wishes: []string{"a finalizer x +held", "a merge x {spec: {a: 2}}", "b merge x {spec: {b: 1}}"},
			want:   []string{`merge x a+b {"metadata":{"finalizers":["held"]},"spec":{"a":2,"b":1}}`},
		},
		"WithJSON": {
			reason: "In a JSON patch it becomes the first step.", current: `{metadata: {finalizers: [z]}, spec: {a: 1}}`,
			wishes: []string{`a json x [{op: replace, path: /spec/a, value: 2}]`, "b finalizer x +held"},
			want: []string{`json x b+a [{"op":"add","path":"/metadata/finalizers","value":["z","held"]},` +
				`{"op":"replace","path":"/spec/a","value":2}]`},
		},
		"RemovedWithJSON": {
			reason: "The last one is removed with its list.", current: `{metadata: {finalizers: [held]}, spec: {a: 1}}`,
			wishes: []string{"b finalizer x -held", `b json x [{op: replace, path: /spec/a, value: 2}]`},
			want:   []string{`json x b [{"op":"remove","path":"/metadata/finalizers"},{"op":"replace","path":"/spec/a","value":2}]`},
		},
		"InOrder": {
			reason: "One that goes does not overtake what its rule asked for before it.", current: `{metadata: {name: x, finalizers: [held]}}`,
			wishes: []string{"a merge x {spec: {a: 2}}", "a merge x/status {status: {b: 1}}", "a finalizer x -held"},
			want: []string{
				`merge x a {"spec":{"a":2}}`, `merge x a {"status":{"b":1}}`, `merge x a {"metadata":{"finalizers":null}}`,
			},
		},
		"First": {
			reason: "One that comes overtakes all, and takes along only what may overtake too.", current: `{}`,
			wishes: []string{"a merge x/status {status: {b: 1}}", "a merge x {spec: {a: 2}}", "c finalizer x +held"},
			want: []string{
				`merge x c {"metadata":{"finalizers":["held"]}}`, `merge x a {"status":{"b":1}}`, `merge x a {"spec":{"a":2}}`,
			},
		},
		"LastOfAll": {
			reason: "What lets the object go comes after what other rules do, as that may be its end.", current: `{metadata: {name: x, deletionTimestamp: t, finalizers: [held]}}`,
			wishes: []string{"a finalizer x -held", "b merge x/status {status: {b: 1}}"},
			want:   []string{`merge x b {"status":{"b":1}}`, `merge x a {"metadata":{"finalizers":null}}`},
		},
		"AloneWhereSeparate": {
			reason: "Nothing that may be refused goes with it, and nothing overtakes that of another rule.", current: `{}`, separate: true,
			wishes: []string{"a finalizer x +a", "a merge x {spec: {a: 2}}", "b finalizer x +b"},
			want: []string{
				`merge x a {"metadata":{"finalizers":["a"]}}`, `merge x b {"metadata":{"finalizers":["a","b"]}}`, `merge x a {"spec":{"a":2}}`,
			},
		},
		"Withheld": {
			reason: "A rule that may not have the rest holds the object all the same.", current: `{}`,
			wishes:    []string{"a merge x {spec: {a: 1}}", "b finalizer x +held", "b merge x {spec: {a: 2}}"},
			want:      []string{`merge x b+a {"metadata":{"finalizers":["held"]},"spec":{"a":1}}`},
			decisions: withheldBy("spec.a is decided by rule "+decidedByA, "b"),
		},
		"Deleted": {
			reason: "So does one that comes after a rule that deletes it: an object on its way out takes no finalizer any more.", current: `{}`,
			wishes:    []string{"a delete x", "b finalizer x +held", "b merge x {spec: {a: 2}}"},
			want:      []string{`merge x b {"metadata":{"finalizers":["held"]}}`, `delete x a {}`},
			decisions: withheldBy("pods ns/x is deleted by rule "+decidedByA, "b"),
		},
		"NotWithApply": {
			reason: "What is applied is owned, and a request of its own.", current: `{}`,
			wishes: []string{"a apply x {spec: {a: 2}}", "a finalizer x +held"},
			want:   []string{`merge x a {"metadata":{"finalizers":["held"]}}`, `apply x a {"spec":{"a":2}}`},
		},
		"Contradiction": {
			reason: "One wants it there, the other wants it gone.", current: `{}`,
			wishes:    []string{"a finalizer x +held", "b finalizer x -held"},
			want:      []string{`merge x a {"metadata":{"finalizers":["held"]}}`},
			decisions: withheldBy("metadata.finalizers.held is decided by rule "+decidedByA, "b"),
		},
		"Agreement": {
			reason: "Both want it there, and both are carried by the request.", current: `{}`,
			wishes: []string{"a finalizer x +held", "b finalizer x +held"},
			want:   []string{`merge x a+b {"metadata":{"finalizers":["held"]}}`},
		},
		"OwnMind": {
			reason: "A rule may change its own.", current: `{metadata: {name: x}}`,
			wishes: []string{"a finalizer x +held", "a finalizer x -held"},
		},
		"ListWithout": {
			reason: "A list that a rule writes as a whole leaves no room for another's name.", current: `{}`,
			wishes:    []string{"a merge x {metadata: {finalizers: [z]}}", "b finalizer x +held"},
			want:      []string{`merge x a {"metadata":{"finalizers":["z"]}}`},
			decisions: withheldBy("metadata.finalizers.held is decided by rule "+decidedByA, "b"),
		},
		"ListWith": {
			reason: "It does for a name that is in it.", current: `{}`,
			wishes: []string{"a merge x {metadata: {finalizers: [z, held]}}", "b finalizer x +held", "c finalizer x -other"},
			want:   []string{`merge x b+a {"metadata":{"finalizers":["z","held"]}}`},
		},
		"ListAfter": {
			reason: "The same holds the other way round.", current: `{metadata: {finalizers: [held]}}`,
			wishes:    []string{"a finalizer x +held", "b merge x {metadata: {finalizers: [z]}}", "c merge x {metadata: {finalizers: [held, z]}}"},
			want:      []string{`merge x c {"metadata":{"finalizers":["held","z"]}}`},
			decisions: withheldBy("metadata.finalizers.held is decided by rule "+decidedByA, "b"),
		},
		"NoListAtAll": {
			reason:    "A rule that wants no finalizers contradicts one that wants one, and agrees with one that does not.",
			current:   `{metadata: {finalizers: [held]}}`,
			wishes:    []string{"a merge x {metadata: {finalizers: null}}", "b finalizer x +held", "c finalizer x -held"},
			want:      []string{`merge x a+c {"metadata":{"finalizers":null}}`},
			decisions: withheldBy("metadata.finalizers.held is decided by rule "+decidedByA, "b"),
		},
		"EmptyList": {
			reason:    "A rule that wants none contradicts one that wants one also where there is none yet: finalizers are put on before, so the list would take it off.",
			current:   `{metadata: {name: x}}`,
			wishes:    []string{"a merge x {metadata: {finalizers: []}}", "b finalizer x +held", "c finalizer x -other"},
			decisions: withheldBy("metadata.finalizers.held is decided by rule "+decidedByA, "b"),
		},
		"EmptyListAfter": {
			reason: "The same holds the other way round, and for a JSON patch.", current: `{}`,
			wishes:    []string{"a finalizer x +held", "b json x [{op: add, path: /metadata/finalizers, value: []}]"},
			want:      []string{`merge x a {"metadata":{"finalizers":["held"]}}`},
			decisions: withheldBy("metadata.finalizers.held is decided by rule "+decidedByA, "b"),
		},
		"WholeMetadata": {
			reason: "A list inside a parent that is written as a whole counts like one written alone.", current: `{}`,
			wishes: []string{
				`a json x [{op: add, path: /metadata, value: {finalizers: [held]}}]`, "b finalizer x +held", "c finalizer x +other",
			},
			want:      []string{`merge x b+a {"metadata":{"finalizers":["held"]}}`},
			decisions: withheldBy("metadata.finalizers.other is decided by rule "+decidedByA, "c"),
		},
		"Counted": {
			reason:    "A rule that counts the elements cannot be joined with one that moves them.",
			current:   `{metadata: {finalizers: [held, z]}}`,
			wishes:    []string{"a finalizer x -held", `b json x [{op: replace, path: /metadata/finalizers/1, value: w}]`},
			want:      []string{`merge x a {"metadata":{"finalizers":["z"]}}`},
			decisions: withheldBy("metadata.finalizers.held is decided by rule "+decidedByA, "b"),
		},
		"CountedBefore": {
			reason: "Nor the other way round.", current: `{metadata: {finalizers: [held, z]}}`,
			wishes:    []string{`a json x [{op: replace, path: /metadata/finalizers/1, value: w}]`, "b finalizer x -held"},
			want:      []string{`json x a [{"op":"replace","path":"/metadata/finalizers/1","value":"w"}]`},
			decisions: withheldBy("metadata.finalizers.held is decided by rule "+decidedByA, "b"),
		},
		"NumberAsName": {
			reason: "A name that looks like an index is a name.", current: `{metadata: {finalizers: [z]}}`,
			wishes:    []string{"a finalizer x +0", `b json x [{op: replace, path: /metadata/finalizers/0, value: "0"}]`},
			want:      []string{`merge x a {"metadata":{"finalizers":["z","0"]}}`},
			decisions: withheldBy("metadata.finalizers[0] is decided by rule "+decidedByA, "b"),
		},
		"Moved": {
			reason: "A step that moves the elements decides the list.", current: `{metadata: {finalizers: [z]}}`,
			wishes:    []string{`a json x [{op: remove, path: /metadata/finalizers/0}]`, "b finalizer x +held"},
			want:      []string{`json x a [{"op":"remove","path":"/metadata/finalizers/0"}]`},
			decisions: withheldBy("metadata.finalizers.held is decided by rule "+decidedByA, "b"),
		},
		"AppliedSet": {
			reason: "Applied finalizers are a set to the API server: it keeps the names of others.", current: `{}`,
			wishes:    []string{"a apply x {metadata: {finalizers: [z]}}", "b finalizer x +held", "c finalizer x -z"},
			want:      []string{`merge x b {"metadata":{"finalizers":["held"]}}`, `apply x a {"metadata":{"finalizers":["z"]}}`},
			decisions: withheldBy("metadata.finalizers.z is decided by rule "+decidedByA, "c"),
		},
		"AppliedSetAfter": {
			reason: "Whichever comes first.", current: `{}`,
			wishes:    []string{"a finalizer x +held", "a finalizer x -z", "b apply x {metadata: {finalizers: [other]}}", "c apply x {metadata: {finalizers: [z]}}"},
			want:      []string{`merge x a {"metadata":{"finalizers":["held"]}}`, `apply x b {"metadata":{"finalizers":["other"]}}`},
			decisions: withheldBy("metadata.finalizers.z is decided by rule "+decidedByA, "c"),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			wishes := cluster{"x": tc.current}.wishes(t, tc.wishes...)
			built := Build(wishes, Options{Separate: tc.separate})
			if diff := cmp.Diff(tc.want, written(t, built.Operations)); diff != "" {
				t.Errorf("%s\noperations (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.decisions, decided(built.Decisions)); diff != "" {
				t.Errorf("%s\ndecisions (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(decode[map[string]any](t, tc.current), wishes[0].Current); diff != "" {
				t.Errorf("the snapshot was changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestFinalizerIneffective holds that a finalizer that admission takes off
// again is not put on for ever, and that another one is.
func TestFinalizerIneffective(t *testing.T) {
	objects := cluster{"x": `{metadata: {finalizers: [z]}}`}
	first := Build(objects.wishes(t, "a finalizer x +held", "b merge x {spec: {a: 1}}"), Options{}).Operations[0]
	known, unchanged := first.Ineffective(decode[map[string]any](t, `{metadata: {finalizers: [z]}, spec: {a: 1}}`))
	if len(known) != 1 || len(unchanged) != 1 || unchanged[0].Path.String() != "metadata.finalizers" {
		t.Fatalf("the finalizer had no effect, the field had: %v", unchanged)
	}
	again := Build(objects.wishes(t, "a finalizer x +held", "b merge x {spec: {a: 1}}"), Options{Ineffective: known})
	if got := encode(t, again.Operations[0].Body); got != `{"spec":{"a":1}}` {
		t.Errorf("only what has an effect is repeated, not %s", got)
	}
	other := Build(objects.wishes(t, "a finalizer x +other"), Options{Ineffective: known})
	if len(other.Operations) != 1 {
		t.Error("another name is another attempt")
	}
}
