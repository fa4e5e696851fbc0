package differential

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// object reads YAML.
func object(text string) map[string]any { return mustRead(text).(map[string]any) }

func TestNormal(t *testing.T) {
	tests := map[string]struct{ reason, first, second, want string }{
		"SameVersion": {
			"A write that changed nothing shows.",
			`{kind: X, metadata: {uid: first-one, resourceVersion: "812"}}`, `{kind: X, metadata: {uid: first-one, resourceVersion: "812"}}`,
			`{kind: X, metadata: {uid: <uid 1>, resourceVersion: <version 1>}}`,
		},
		"AnotherVersion": {
			"So does one that changed something.",
			`{kind: X, metadata: {uid: first-one, resourceVersion: "812"}}`, `{kind: X, metadata: {uid: other-one, resourceVersion: "814"}}`,
			`{kind: X, metadata: {uid: <uid 2>, resourceVersion: <version 2>}}`,
		},
		"Message": {
			"Versions and uids are told in messages, too, and other numbers are left.",
			`{kind: X, metadata: {uid: abc, resourceVersion: "812"}}`, `{kind: Status, message: "abc at 812, not 813"}`,
			`{kind: Status, message: "<uid 1> at <version 1>, not 813"}`,
		},
		"Numbers": {
			"A number in an object is no version.",
			`{kind: X, metadata: {resourceVersion: "812"}}`, `{kind: X, spec: {a: "812"}}`,
			`{kind: X, spec: {a: "812"}}`,
		},
		"Times": {
			"That there is a time shows, and which is the API server's.",
			`{}`, `{kind: X, metadata: {creationTimestamp: "2026-01-01T00:00:00Z", managedFields: [{manager: b, time: "2026-01-01T00:00:00Z"}, {manager: a}]}, spec: {at: "2026-01-01T00:00:00Z"}}`,
			`{kind: X, metadata: {creationTimestamp: <time>, managedFields: [{manager: a}, {manager: b, time: <time>}]}, spec: {at: "2026-01-01T00:00:00Z"}}`,
		},
		"Causes": {
			"What is found in a map is found in any order.",
			`{}`, `{kind: Status, message: "X is invalid: [b: 2, a: 1]", details: {causes: [{field: b}, {field: a}]}}`,
			`{kind: Status, message: "X is invalid: [a: 1, b: 2]", details: {causes: [{field: a}, {field: b}]}}`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			known := newIdentities()
			known.normal(object(tc.first))
			if diff := cmp.Diff(any(object(tc.want)), known.normal(object(tc.second))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDiffers(t *testing.T) {
	tests := map[string]struct {
		reason string
		a, b   answer
		want   string
	}{
		"Same":  {"There is nothing to tell.", answer{200, object(`{a: [1]}`)}, answer{200, object(`{a: [1]}`)}, ""},
		"Code":  {"Codes are compared.", answer{Code: 200}, answer{Code: 404}, "     code: real 200, simulated 404\n"},
		"Place": {"The place is named.", answer{Body: object(`{a: [{b: 1}]}`)}, answer{Body: object(`{a: [{b: 2}]}`)}, "     .a[0].b\n       real      1\n       simulated 2\n"},
		"Null":  {"Null is something.", answer{Body: object(`{a: null}`)}, answer{Body: object(`{}`)}, "     .a\n       real      null\n       simulated nothing\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := differs(tc.a, tc.b); got != tc.want {
				t.Errorf("%s got:\n%s\nwant:\n%s", tc.reason, got, tc.want)
			}
		})
	}
}
