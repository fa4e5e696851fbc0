package action_test

import (
	"errors"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
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
			err:    `a.yaml:1:7: when: a condition wants a boolean, and object.spec.replicas is an integer`,
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
			err:    `a.yaml:1:24: forEach.part: + wants a number, have nil; ?? gives a default, as in (x ?? 0)`,
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

func TestStepMistakes(t *testing.T) {
	mistakes{
		"NoKind": {
			reason: "An action does something.",
			action: `when: true`,
			want:   `a.yaml:1:1: an action without a kind; write one of apply, create, delete, event, patch`,
		},
		"Nothing": {
			reason: "It is a map.",
			action: `[]`,
			want:   `a.yaml:1:1: want a map, have a list; write lines of key: value, or {key: value}`,
		},
		"Unknown": {
			reason: "A kind is misspelt.",
			action: `patsh: {merge: {a: 1}}`,
			want:   `a.yaml:1:1: patsh: unknown field "patsh"; did you mean "patch"?`,
		},
		"Two": {
			reason: "It is one thing.",
			action: "event: {reason: Seen, message: m}\ndelete: {}",
			want:   `a.yaml:1:1: an action is one thing, have event and delete; write each as an element of its own`,
		},
		"When": {
			reason: "A condition is no number.",
			action: "when: 3\ndelete: {}",
			want:   `a.yaml:1:7: when: a condition is true or false, have an integer; write a condition, such as object.spec.replicas > 1`,
		},
		"EmptyWhen": {
			reason: "Nor nothing.",
			action: "when:\ndelete: {}",
			want:   `a.yaml:1:1: when: the expression is empty; write an expression, or leave the field out`,
		},
		"WhenMap": {
			reason: "Nor a map.",
			action: "when: {a: b}\ndelete: {}",
			want:   `a.yaml:1:7: when: want an expression, have a map; write the expression as a string`,
		},
		"WhenElsewhere": {
			reason: "The names of forEach are known only with it.",
			action: "when: pod.x\ndelete: {}",
			want:   `a.yaml:1:7: when: unknown name "pod"; did you mean "pods"?`,
		},
		"WhenCut": {
			reason: "A comment does not cut it.",
			action: "when: any(pods, # > 1)\ndelete: {}",
			want:   `a.yaml:1:17: when: the value ends before " #", which starts a comment; put the value in quotes if "#" belongs to it, or else the comment on a line of its own`,
		},
		"EachText": {
			reason: "forEach names its list.",
			action: "forEach: '${pods}'\ndelete: {}",
			want:   `a.yaml:1:10: forEach: forEach names what it repeats, have a string; write forEach: {pod: "${pods}"}`,
		},
		"EachTwo": {
			reason: "One list.",
			action: "forEach: {a: '${pods}', b: '${pods}'}\ndelete: {}",
			want:   `a.yaml:1:10: forEach: forEach names one list, have 2; write forEach: {pod: "${pods}"}; to nest, build the list with flatten(map(...))`,
		},
		"EachEmpty": {
			reason: "Not none.",
			action: "forEach: {}\ndelete: {}",
			want:   `a.yaml:1:10: forEach: forEach names one list, have 0; write forEach: {pod: "${pods}"}; to nest, build the list with flatten(map(...))`,
		},
		"EachTaken": {
			reason: "A name is new.",
			action: "forEach: {pods: '${pods}'}\ndelete: {}",
			want:   `a.yaml:1:11: forEach.pods: "pods" is a name already; choose another name`,
		},
		"EachReserved": {
			reason: "And not reserved.",
			action: "forEach: {index: '${pods}'}\ndelete: {}",
			want:   `a.yaml:1:11: forEach.index: "index" is reserved: every rule has a value of this name; choose another name`,
		},
		"EachName": {
			reason: "And a name.",
			action: "forEach: {a-b: '${pods}'}\ndelete: {}",
			want:   `a.yaml:1:11: forEach.a-b: "a-b" cannot be a name; use letters, digits and _, and no digit first`,
		},
		"EachConstant": {
			reason: "A constant that is no list never is one.",
			action: "forEach: {a: 3}\ndelete: {}",
			want:   `a.yaml:1:14: forEach.a: forEach wants a list, have an integer; write a list, such as "${pods}" or "${keys(object.metadata.labels)}"`,
		},
		"EachItself": {
			reason: "The list does not know its elements.",
			action: "forEach: {pod: '${[pod]}'}\ndelete: {}",
			want:   `a.yaml:1:20: forEach.pod: unknown name "pod"; did you mean "pods"?`,
		},
		"EachMistake": {
			reason: "An expression is correct.",
			action: "forEach: {pod: '${1 +}'}\ndelete: {target: pod}",
			want:   `a.yaml:1:22: forEach.pod: the expression ends too early, after +`,
		},
	}.run(t)
}

func TestKind(t *testing.T) {
	f := newFixture(t)
	for text, want := range map[string]string{
		`patch: {merge: {a: 1}}`:                              "patch",
		applied + `}`:                                         "apply",
		`delete: {}`:                                          "delete",
		`event: {reason: Seen, message: m}`:                   "event",
		"when: true\ndelete: {target: failed}":                "delete",
		`create: {in: pods, manifest: {metadata: {name: x}}}`: "create",
	} {
		step, errs := f.compile(t, text)
		if len(errs) > 0 {
			t.Fatal(errs.Render())
		}
		if step.Kind() != want {
			t.Errorf("%s is of kind %s", text, step.Kind())
		}
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
	e.Expressions.Budget = expression.NewBudget(0)
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
