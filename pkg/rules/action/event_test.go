package action_test

import "testing"

func TestEvent(t *testing.T) {
	tests := map[string]scenario{
		"Default": {
			reason: "An Event is a normal one about the watched object.",
			action: `event: {reason: EvenPD, message: "PD had ${object.spec.replicas} members"}`,
			want:   `event tidbclusters tidb/basic Normal EvenPD Reconcile: PD had 2 members`,
		},
		"All": {
			reason: "All fields are templates.",
			action: `event: {type: "${'Warning'}", reason: "Even${'PD'}", action: "${'Count'}", message: "${three}"}`,
			want:   `event tidbclusters tidb/basic Warning EvenPD Count: 3`,
		},
		"Targets": {
			reason: "One for each object.",
			action: `event: {target: pods, reason: Seen, message: "${true}"}`,
			others: twoPods,
			want: `
event pods tidb/p-0 Normal Seen Reconcile: true
event pods tidb/p-1 Normal Seen Reconcile: true
`,
		},
		"None": {
			reason: "None for nil, of which nothing is evaluated.",
			action: `event: {target: none, reason: Seen, message: "${1 + nil}"}`,
		},
		"ForEach": {
			reason: "Elements have names.",
			action: "forEach: {pod: '${pods}'}\nevent: {target: pod, reason: Seen, message: '${index}: ${pod.metadata.name}'}",
			others: twoPods,
			want: `
event pods tidb/p-0 Normal Seen Reconcile: 0: p-0
event pods tidb/p-1 Normal Seen Reconcile: 1: p-1
`,
		},
		"NilMessage": {
			reason: "A message says something.",
			action: `event: {reason: Seen, message: "${object.spec.none}"}`,
			err:    `a.yaml:1:32: event.message: message must be a text, have nil; ?? gives a default, and toJSON(...) writes a list or a map`,
		},
		"List": {
			reason: "A list is no message.",
			action: `event: {reason: Seen, message: "${names}"}`,
			err:    `a.yaml:1:32: event.message: message must be a text, have a list; ?? gives a default, and toJSON(...) writes a list or a map`,
		},
		"Blank": {
			reason: "Nor are blanks.",
			action: `event: {reason: Seen, message: "${' '}"}`,
			err:    `a.yaml:1:32: event.message: the message of an event is empty`,
		},
		"Reason": {
			reason: "A reason is one word.",
			action: `event: {reason: "${'two words'}", message: m}`,
			err:    `a.yaml:1:17: event.reason: want one word such as EvenPD, at most 128 letters and digits, have "two words"`,
		},
		"Type": {
			reason: "A type is one of two.",
			action: `event: {type: "${'Error'}", reason: Seen, message: m}`,
			err:    `a.yaml:1:15: event.type: the type of an event is Normal or Warning, have "Error"`,
		},
		"Fails": {
			reason: "An expression fails at its place.",
			action: `event: {reason: Seen, message: "n ${1 + nil}"}`,
			err:    `a.yaml:1:41: event.message: + wants a number, have nil; ?? gives a default, as in (x ?? 0)`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.run(t) })
	}
}

func TestEventMistakes(t *testing.T) {
	mistakes{
		"Empty": {
			reason: "What is required is missing.",
			action: `event: {}`,
			want: `
a.yaml:1:8: event: the field "message" is missing; add message: ...
a.yaml:1:8: event: the field "reason" is missing; add reason: ...
`,
		},
		"Unknown": {
			reason: "A field is misspelt.",
			action: `event: {reason: Seen, message: m, typ: Warning}`,
			want:   `a.yaml:1:35: event.typ: unknown field "typ"; did you mean "type"?`,
		},
		"Type": {
			reason: "A type is one of two.",
			action: `event: {reason: Seen, message: m, type: Error}`,
			want:   `a.yaml:1:41: event.type: the type of an event is Normal or Warning, have "Error"`,
		},
		"Reason": {
			reason: "A reason is a word.",
			action: `event: {reason: even pd, message: m}`,
			want:   `a.yaml:1:17: event.reason: want one word such as EvenPD, at most 128 letters and digits, have "even pd"`,
		},
		"Action": {
			reason: "So is an action.",
			action: `event: {reason: Seen, message: m, action: "a-b"}`,
			want:   `a.yaml:1:43: event.action: want one word such as EvenPD, at most 128 letters and digits, have "a-b"`,
		},
		"Message": {
			reason: "A message says something.",
			action: `event: {reason: Seen, message: " "}`,
			want:   `a.yaml:1:32: event.message: the message of an event is empty`,
		},
		"Number": {
			reason: "And is a string.",
			action: `event: {reason: Seen, message: 3}`,
			want:   `a.yaml:1:32: event.message: want a string, have an integer; put it in quotes: "3"`,
		},
		"Target": {
			reason: "A target is a name.",
			action: `event: {reason: Seen, message: m, target: poods}`,
			want:   `a.yaml:1:43: event.target: there is no object "poods" to be a target; did you mean "pods"?`,
		},
		"Invalid": {
			reason: "An expression is correct.",
			action: `event: {reason: Seen, message: "${"}`,
			want:   `a.yaml:1:33: event.message: the ${ that starts here is not closed; end it with }, or write $${ for a literal ${`,
		},
	}.run(t)
}
