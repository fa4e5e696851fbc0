package action_test

import (
	"errors"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

func TestForEachAndWhen(t *testing.T) {
	tests := map[string]scenario{
		"WhenFalse": {
			reason: "An action whose when is false is not done.",
			action: "when: object.spec.replicas > 2\ndelete: {}",
		},
		"WhenTrue": {
			reason: "One whose when is true is.",
			action: "when: object.spec.replicas == 2\ndelete: {}",
			want:   `delete tidbclusters tidb/basic u-1@7 Background`,
		},
		"WhenConstant": {
			reason: "A constant is a condition, too.",
			action: "when: false\ndelete: {}",
		},
		"WhenNotBoolean": {
			reason: "Anything but a boolean is an error.",
			action: "when: object.spec.replicas\ndelete: {}",
			err:    `a.yaml:1:7: when: a condition wants a boolean, and object.spec.replicas is an integer; write (object.spec.replicas ?? 0) != 0`,
		},
		"WhenPerElement": {
			reason: "It is judged for each element, whatever the order of the fields.",
			action: "patch: {target: pod, merge: {spec: {at: '${index}'}}}\nwhen: pod.status.phase == 'Running'\nforEach: {pod: '${pods}'}",
			others: twoPods,
			want:   `merge pods tidb/p-1 p1@11 {"spec":{"at":1}}`,
		},
		"Index": {
			reason: "index counts from 0; names of the rule stay known.",
			action: "forEach: {part: '${names}'}\nevent: {reason: Seen, message: '${index} ${part} of ${object.metadata.name} and ${len(names)}'}",
			want: `
event tidbclusters tidb/basic Normal Seen Reconcile: 0 a of basic and 2
event tidbclusters tidb/basic Normal Seen Reconcile: 1 b of basic and 2
`,
		},
		"Constant": {
			reason: "A list may be written out.",
			action: "forEach: {part: [a, '${three}']}\nevent: {reason: Seen, message: '${part}'}",
			want: `
event tidbclusters tidb/basic Normal Seen Reconcile: a
event tidbclusters tidb/basic Normal Seen Reconcile: 3
`,
		},
		"Omitted": {
			reason: "Elements may be omitted.",
			action: "forEach: {part: [a, '${omit()}']}\nevent: {reason: Seen, message: '${part}'}",
			want:   `event tidbclusters tidb/basic Normal Seen Reconcile: a`,
		},
		"Nil": {
			reason: "Nil is an empty list.",
			action: "forEach: {part: '${object.spec.none}'}\nevent: {reason: Seen, message: '${part}'}",
		},
		"NotAList": {
			reason: "A map is none.",
			action: "forEach: {part: '${object.metadata.labels}'}\nevent: {reason: Seen, message: '${part}'}",
			err:    `a.yaml:1:17: forEach.part: forEach wants a list, have a map; write a list, such as "${pods}" or "${keys(object.metadata.labels)}"`,
		},
		"Fails": {
			reason: "The list fails at its place.",
			action: "forEach: {part: '${1 + nil}'}\ndelete: {}",
			err:    `a.yaml:1:24: forEach.part: this is absent, and + wants a number; ?? gives a default: (x ?? 0)`,
		},
		"StopsAtFirst": {
			reason: "What comes after an element that failed is not done.",
			action: "forEach: {part: '${[1, nil, 3]}'}\nevent: {reason: Seen, message: '${part}'}",
			want:   `event tidbclusters tidb/basic Normal Seen Reconcile: 1`,
			err:    `a.yaml:2:32: event.message: message must be a text, have nil; ?? gives a default, and toJSON(...) writes a list or a map`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.run(t) })
	}
}

// TestForEachPays holds that the elements of a long list cost steps even where
// the action does not.
func TestForEachPays(t *testing.T) {
	f := newFixture(t)
	step, errs := f.compile(t, "forEach: {part: '${object.spec.list}'}\nwhen: false\ndelete: {}")
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	e := f.begin(t, watched, "")
	e.Expressions.Budget = value.NewBudget(0)
	spec, _ := e.Current["spec"].(map[string]any)
	spec["list"] = make([]any, 1<<20)
	err := step.Evaluate(e)
	if _, located := errors.AsType[*document.Error](err); !located {
		t.Errorf("A million elements cost nothing: %v", err)
	}
}

// TestForEachRestoresNames holds that the names of an action end with it.
func TestForEachRestoresNames(t *testing.T) {
	f := newFixture(t)
	step, errs := f.compile(t, "forEach: {part: '${[1, nil]}'}\nevent: {reason: Seen, message: '${part}'}")
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	e := f.begin(t, watched, "")
	if err := step.Evaluate(e); err == nil {
		t.Fatal("nil is no message")
	}
	if e.Expressions.Names != expression.Names(f) {
		t.Error("the names of forEach are still there")
	}
}
