package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestCreate(t *testing.T) {
	tests := map[string]struct {
		reason    string
		objects   cluster
		wishes    []string
		separate  bool
		want      []string
		decisions []string
	}{
		"Named": {
			reason: "A new object is sent whole.",
			wishes: []string{`a create n {metadata: {name: new, labels: {x: "1"}}, spec: {}}`},
			want:   []string{`create n a {"metadata":{"labels":{"x":"1"},"name":"new"},"spec":{}}`},
		},
		"Generated": {
			reason: "Of two objects without names nobody can say that they are one.",
			wishes: []string{"a create - {spec: {a: 1}}", "a create - {spec: {a: 1}}", "b create - {spec: {a: 2}}"},
			want:   []string{`create - a {"spec":{"a":1}}`, `create - a {"spec":{"a":1}}`, `create - b {"spec":{"a":2}}`},
		},
		"SameName": {
			reason:    "Two rules that want another object of the same name contradict each other.",
			wishes:    []string{"a create n {spec: {a: 1}}", "b create n {spec: {a: 2}}"},
			want:      []string{`create n a {"spec":{"a":1}}`},
			decisions: withheldBy("spec.a is decided by rule guardrails/a, which comes first", "b"),
		},
		"SameNameElsewhere": {
			reason: "The name alone is not the object.",
			wishes: []string{"a create n {spec: {a: 1}}", "b create m {spec: {a: 2}}"},
			want:   []string{`create n a {"spec":{"a":1}}`, `create m b {"spec":{"a":2}}`},
		},
		"NeverJoined": {
			reason: "One request creates one object, even where the two agree: the second says that it exists.",
			wishes: []string{"a create n {spec: {a: 1}}", "a create n {spec: {a: 1}}"},
			want:   []string{`create n a {"spec":{"a":1}}`, `create n a {"spec":{"a":1}}`},
		},
		"AppliedAnew": {
			reason: "What is applied where nothing is, is created, one request for each rule.",
			wishes: []string{"a apply n {spec: {a: 1}}", "a apply n {spec: {b: 1}}", "b apply n {spec: {c: 1}}"},
			want:   []string{`apply n a {"spec":{"a":1,"b":1}}`, `apply n b {"spec":{"c":1}}`},
		},
		"AppliedAndCreated": {
			reason:    "To apply and to create an object are two ways to the same place.",
			wishes:    []string{"a apply n {spec: {a: 1}}", "b create n {spec: {a: 2}}"},
			want:      []string{`apply n a {"spec":{"a":1}}`},
			decisions: withheldBy("spec.a is decided by rule guardrails/a, which comes first", "b"),
		},
		"Order": {
			reason:  "A create keeps its place among what its rule wants.",
			objects: cluster{"x": `{spec: {a: 1}}`},
			wishes:  []string{"a merge x {spec: {a: 2}}", "a create n {spec: {}}", "a merge x {spec: {b: 1}}", "b merge x {spec: {c: 1}}"},
			want: []string{
				`merge x a {"spec":{"a":2}}`, `create n a {"spec":{}}`, `merge x a+b {"spec":{"b":1,"c":1}}`,
			},
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

// TestNew holds what is the same for the two ways to make an object.
func TestNew(t *testing.T) {
	for manager, line := range map[string]string{
		FieldManager:             `a create n {metadata: {labels: {x: "1"}}, spec: {size: 2, tags: [t]}}`,
		rule("a").FieldManager(): `a apply n {metadata: {labels: {x: "1"}}, spec: {size: 2, tags: [t]}}`,
	} {
		wishes := cluster{}.wishes(t, line)
		o := Build(wishes, Options{}).Operations[0]
		if o.Manager != manager {
			t.Errorf("%s: the manager is %q, want %q", o.Type, o.Manager, manager)
		}
		if diff := cmp.Diff(wishes[0].Body, any(o.Predicted)); diff != "" {
			t.Errorf("%s: the object will be what is asked for (-want +got):\n%s", o.Type, diff)
		}
		var fields []string
		for _, c := range o.Changes {
			fields = append(fields, c.String()+" "+encode(t, c.Before)+" -> "+encode(t, c.After))
		}
		want := []string{
			`guardrails/a: metadata.labels.x null -> "1"`,
			`guardrails/a: spec.size null -> 2`,
			`guardrails/a: spec.tags null -> ["t"]`,
		}
		if diff := cmp.Diff(want, fields); diff != "" {
			t.Errorf("%s: the changes are its leaves (-want +got):\n%s", o.Type, diff)
		}
		answer := decode[map[string]any](t, `{metadata: {uid: u, resourceVersion: "8", labels: {x: "1"}}, spec: {size: 2, tags: [t]}}`)
		if marks, _ := o.Ineffective(answer); len(marks) > 0 {
			t.Errorf("%s: what is new is an effect", o.Type)
		}
		if again := Build(wishes, Options{Ineffective: o.All()}); len(again.Operations) != 0 || len(again.Suppressed) != 1 {
			t.Errorf("%s: a dry run would repeat %v", o.Type, written(t, again.Operations))
		}
		wishes[0].Target.Name = "m"
		if again := Build(wishes, Options{Ineffective: o.All()}); len(again.Operations) != 1 {
			t.Errorf("%s: another name is another object", o.Type)
		}
	}
}

// TestNewCameTrue holds that what the API server adds to a new object is no
// surprise, and that what it takes away or changes is.
func TestNewCameTrue(t *testing.T) {
	const asked = `{metadata: {labels: {x: "1"}, annotations: {}}, spec: {size: 2, off: null, items: [{name: a}], none: []}}`
	tests := map[string]struct {
		reason string
		answer string
		want   bool
	}{
		"Defaulted": {
			reason: "Defaults, names and times are filled in.",
			answer: `{kind: Pod, metadata: {name: new, uid: u, labels: {x: "1", y: "2"}}, spec: {size: 2, d: 1, items: [{name: a, port: 80}]}, status: {}}`,
			want:   true,
		},
		"Empty": {
			reason: "What is empty may be kept as it is.",
			answer: `{metadata: {labels: {x: "1"}, annotations: {}}, spec: {size: 2, off: null, items: [{name: a}], none: []}}`,
			want:   true,
		},
		"OtherValue":   {reason: "Admission changed a value.", answer: `{metadata: {labels: {x: "1"}}, spec: {size: 3, items: [{name: a}]}}`},
		"Missing":      {reason: "A field was pruned.", answer: `{metadata: {labels: {x: "1"}}, spec: {items: [{name: a}]}}`},
		"OtherElement": {reason: "An element is another.", answer: `{metadata: {labels: {x: "1"}}, spec: {size: 2, items: [{name: b}]}}`},
		"MoreElements": {
			reason: "An element was added: a list is read as a whole, be it by its length.",
			answer: `{metadata: {labels: {x: "1"}}, spec: {size: 2, items: [{name: a}, {name: b}]}}`,
		},
		"NotAMap":     {reason: "A map became something else.", answer: `{metadata: {labels: {x: "1"}, annotations: 5}, spec: {size: 2, items: [{name: a}]}}`},
		"Null":        {reason: "What is to be null is not.", answer: `{metadata: {labels: {x: "1"}}, spec: {size: 2, off: 1, items: [{name: a}]}}`},
		"LabelsGone":  {reason: "A whole parent is missing.", answer: `{metadata: {}, spec: {size: 2, items: [{name: a}]}}`},
		"NotAList":    {reason: "A list became something else.", answer: `{metadata: {labels: {x: "1"}}, spec: {size: 2, items: {name: a}}}`},
		"NothingBack": {reason: "Without an answer nothing is known.", answer: `{}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []Type{Create, Apply} {
				o := Operation{Type: kind, Predicted: decode[map[string]any](t, asked)}
				if got := o.CameTrue(decode[map[string]any](t, tc.answer)); got != tc.want {
					t.Errorf("%s: %s got %v", kind, tc.reason, got)
				}
			}
		})
	}
	existing := Operation{Type: Apply, Target: Object{UID: "u"}, Predicted: decode[map[string]any](t, `{spec: {a: 1}}`)}
	if existing.CameTrue(decode[map[string]any](t, `{spec: {a: 1, b: 1}}`)) || existing.CameTrue(nil) {
		t.Error("of what exists everything is known, so a field more, or no answer, is a surprise")
	}
}

func TestForbiddenFieldOfCreate(t *testing.T) {
	tests := map[string]struct{ reason, body, want string }{
		"Identity":   {"A new object says what it is.", `{apiVersion: v1, kind: Pod, metadata: {name: new, namespace: ns, generateName: new-}}`, ""},
		"UID":        {"The API server gives the uid.", `{metadata: {uid: u}}`, "metadata.uid"},
		"Deleted":    {"Nothing is born dead.", `{metadata: {deletionTimestamp: t}}`, "metadata.deletionTimestamp"},
		"NoMetadata": {"A null in its place is no metadata.", `{metadata: null}`, "metadata.uid"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := ForbiddenField(Create, decode[any](t, tc.body)).String(); got != tc.want {
				t.Errorf("%s got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestConfirm(t *testing.T) {
	byName := func(names ...string) Read {
		pods := Selection{GVR: schema.GroupVersionResource{Version: "v1", Resource: "pods"}}
		return Read{From: []Selection{pods}, By: ByName, Names: names}
	}
	wishes := cluster{"x": `{}`}.wishes(t, "a delete x", "b delete x", "c delete x", "c create n {spec: {}}")
	wishes[0].Confirm = []Read{byName("a"), byName("b")}
	wishes[1].Confirm = []Read{byName("b"), byName("c")}
	wishes[3].Confirm = []Read{byName("n")}
	operations := Build(wishes, Options{}).Operations
	want := [][]Read{{byName("a"), byName("b"), byName("c")}, {byName("n")}}
	if diff := cmp.Diff(want, [][]Read{operations[0].Confirm, operations[1].Confirm}); diff != "" {
		t.Errorf("an operation confirms what led to any of its wishes, each once (-want +got):\n%s", diff)
	}
}
