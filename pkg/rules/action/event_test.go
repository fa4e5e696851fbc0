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
		"None": {
			reason: "None for nil, of which nothing is evaluated.",
			action: `event: {target: none, reason: Seen, message: "${1 + nil}"}`,
		},
		"NilMessage": {
			reason: "A message says something.",
			action: `event: {reason: Seen, message: "${object.spec.none}"}`,
			err:    `a.yaml:1:32: event.message: message must be a text, have nil; ?? gives a default, and toJSON(...) writes a list or a map`,
		},
		"Blank": {
			reason: "Nor are blanks.",
			action: `event: {reason: Seen, message: "${' '}"}`,
			err:    `a.yaml:1:32: event.message: want a text that is not blank, have " "`,
		},
		"Reason": {
			reason: "A reason is one word.",
			action: `event: {reason: "${'two words'}", message: m}`,
			err:    `a.yaml:1:17: event.reason: want one CamelCase word such as EvenPD, at most 128 letters and digits, have "two words"`,
		},
		"TypeOfTemplate": {
			reason: "A type is one of two.",
			action: `event: {type: "${'Error'}", reason: Seen, message: m}`,
			err:    `a.yaml:1:15: event.type: "Error" is not known here; write one of Normal, Warning`,
		},
		"Fails": {
			reason: "An expression fails at its place.",
			action: `event: {reason: Seen, message: "n ${1 + nil}"}`,
			err:    `a.yaml:1:41: event.message: this is absent, and + wants a number; ?? gives a default: (x ?? 0)`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.run(t) })
	}
}
