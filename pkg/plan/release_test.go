package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func TestRelease(t *testing.T) {
	// OURS, SET and RULE stand for what the rule puts on objects.
	expand := strings.NewReplacer("OURS", rule("a").FieldManager(), "OTHER", rule("b").FieldManager(), "SET", rule("a").SetID())
	const marks = `dyncontroller.dev/set: SET, dyncontroller.dev/rule: a, dyncontroller.dev/owner-uid: u-owner`
	tests := map[string]struct {
		reason  string
		owner   types.UID
		current string
		whole   string // the object as the API server has it, where the current one is of a cache
		want    string // the steps, empty for none
		after   string // the object after them
	}{
		"Nothing": {
			reason:  "Where nothing is held there is nothing to give up.",
			owner:   "u-owner",
			current: `{metadata: {name: x, managedFields: [{manager: kubectl, operation: Apply}], labels: {app: web}}}`,
		},
		"Absent": {reason: "So it is of an object that is not there.", owner: "u-owner", current: `null`},
		"Fields": {
			reason: "Our entries go, whatever the subresource, from the last one, so that indexes stay true.",
			current: `{metadata: {managedFields: [{manager: OURS, operation: Apply, subresource: status}, {manager: kubectl, operation: Update}, ` +
				`{manager: OURS, operation: Apply}, {manager: OURS, operation: Update}, {manager: OTHER, operation: Apply}]}}`,
			want: `[{op: test, path: /metadata/managedFields/2/manager, value: OURS}, {op: test, path: /metadata/managedFields/2/operation, value: Apply},` +
				`{op: remove, path: /metadata/managedFields/2},` +
				`{op: test, path: /metadata/managedFields/0/manager, value: OURS}, {op: test, path: /metadata/managedFields/0/operation, value: Apply},` +
				`{op: remove, path: /metadata/managedFields/0}]`,
			after: `{metadata: {managedFields: [{manager: kubectl, operation: Update}, ` +
				`{manager: OURS, operation: Update}, {manager: OTHER, operation: Apply}]}}`,
		},
		"OnlyFields": {
			reason:  "An empty list would leave those of a custom resource alone; one empty entry resets them.",
			current: `{metadata: {managedFields: [{manager: OURS, operation: Apply, fieldsV1: {"f:spec": {}}}]}, spec: {a: 1}}`,
			want: `[{op: test, path: /metadata/managedFields/0/manager, value: OURS}, {op: test, path: /metadata/managedFields/0/operation, value: Apply},` +
				`{op: remove, path: /metadata/managedFields/0}, {op: test, path: /metadata/managedFields, value: []},` +
				`{op: replace, path: /metadata/managedFields, value: [{}]}]`,
			after: `{metadata: {managedFields: [{}]}, spec: {a: 1}}`,
		},
		"OnlyFieldsAsText": {
			reason:  "A cache keeps fieldsV1 as text, and the API server does not.",
			current: `{metadata: {managedFields: [{manager: OURS, operation: Apply, fieldsV1: '{"f:spec":{}}'}]}, spec: {a: 1}}`,
			whole:   `{metadata: {managedFields: [{manager: OURS, operation: Apply, fieldsV1: {"f:spec": {}}}]}, spec: {a: 1}}`,
			want: `[{op: test, path: /metadata/managedFields/0/manager, value: OURS}, {op: test, path: /metadata/managedFields/0/operation, value: Apply},` +
				`{op: remove, path: /metadata/managedFields/0}, {op: test, path: /metadata/managedFields, value: []},` +
				`{op: replace, path: /metadata/managedFields, value: [{}]}]`,
			after: `{metadata: {managedFields: [{}]}, spec: {a: 1}}`,
		},
		"Child": {
			reason: "A child loses its controller and our marks, and keeps all else.",
			owner:  "u-owner",
			current: `{metadata: {labels: {app: web, ` + marks + `}, annotations: {dyncontroller.dev/adopted: "true", note: keep},` +
				`ownerReferences: [{uid: u-node}, {uid: u-owner, controller: true}]}, spec: {a: 1}}`,
			want: `[{op: test, path: /metadata/ownerReferences/1/uid, value: u-owner}, {op: remove, path: /metadata/ownerReferences/1},` +
				`{op: remove, path: /metadata/annotations/dyncontroller.dev~1adopted},` +
				`{op: remove, path: /metadata/labels/dyncontroller.dev~1owner-uid},` +
				`{op: remove, path: /metadata/labels/dyncontroller.dev~1rule},` +
				`{op: remove, path: /metadata/labels/dyncontroller.dev~1set}]`,
			after: `{metadata: {labels: {app: web}, annotations: {note: keep}, ownerReferences: [{uid: u-node}]}, spec: {a: 1}}`,
		},
		"Everything": {
			reason: "All of it goes in one patch, in an order that works.",
			owner:  "u-owner",
			current: `{metadata: {labels: {` + marks + `}, ownerReferences: [{uid: u-owner, controller: true}],` +
				`managedFields: [{manager: OURS, operation: Apply}, {manager: kubectl, operation: Update}]}}`,
			want: `[{op: test, path: /metadata/managedFields/0/manager, value: OURS}, {op: test, path: /metadata/managedFields/0/operation, value: Apply},` +
				`{op: remove, path: /metadata/managedFields/0},` +
				`{op: test, path: /metadata/ownerReferences/0/uid, value: u-owner}, {op: remove, path: /metadata/ownerReferences/0},` +
				`{op: remove, path: /metadata/labels/dyncontroller.dev~1owner-uid},` +
				`{op: remove, path: /metadata/labels/dyncontroller.dev~1rule},` +
				`{op: remove, path: /metadata/labels/dyncontroller.dev~1set}]`,
			after: `{metadata: {labels: {}, ownerReferences: [], managedFields: [{manager: kubectl, operation: Update}]}}`,
		},
		"OtherOwner": {
			reason:  "A child that we made for another object stays ours.",
			owner:   "u-other",
			current: `{metadata: {labels: {` + marks + `}, ownerReferences: [{uid: u-owner, controller: true}]}}`,
		},
		"OtherRule": {
			reason:  "Another rule's marks are its own.",
			owner:   "u-owner",
			current: `{metadata: {labels: {dyncontroller.dev/set: SET, dyncontroller.dev/rule: b}, annotations: {dyncontroller.dev/adopted: "true"}}}`,
		},
		"OtherSet": {
			reason:  "So are another set's, whatever its rule is called.",
			owner:   "u-owner",
			current: `{metadata: {labels: {dyncontroller.dev/set: s-00000000, dyncontroller.dev/rule: a}}}`,
		},
		"NoOwner": {
			reason:  "Without an owner no reference goes, and the marks of any.",
			current: `{metadata: {labels: {` + marks + `}, ownerReferences: [{uid: u-owner, controller: true}, {controller: true}]}}`,
			want: `[{op: remove, path: /metadata/labels/dyncontroller.dev~1owner-uid},` +
				`{op: remove, path: /metadata/labels/dyncontroller.dev~1rule},` +
				`{op: remove, path: /metadata/labels/dyncontroller.dev~1set}]`,
			after: `{metadata: {labels: {}, ownerReferences: [{uid: u-owner, controller: true}, {controller: true}]}}`,
		},
		"NotController": {
			reason:  "A reference that does not control is not one of ours.",
			owner:   "u-owner",
			current: `{metadata: {ownerReferences: [{uid: u-owner}]}}`,
		},
		"Odd": {
			reason:  "What is malformed is left as it is.",
			owner:   "u-owner",
			current: `{metadata: {managedFields: [x, 5], ownerReferences: {}, labels: [a], annotations: x}}`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			current := decode[map[string]any](t, expand.Replace(tc.current))
			steps := Release(rule("a"), tc.owner, current)
			if tc.want == "" {
				if steps != nil {
					t.Errorf("%s got %s", tc.reason, encode(t, steps))
				}
				return
			}
			if diff := cmp.Diff(decode[[]any](t, expand.Replace(tc.want)), steps); diff != "" {
				t.Fatalf("%s\nsteps (-want +got):\n%s", tc.reason, diff)
			}
			for _, object := range []string{tc.current, tc.whole} {
				if object == "" {
					continue
				}
				after, err := jsonPatched(decode[map[string]any](t, expand.Replace(object)), steps)
				if err != nil {
					t.Fatalf("the steps cannot be applied to %s: %v", object, err)
				}
				if diff := cmp.Diff(decode[map[string]any](t, expand.Replace(tc.after)), after); diff != "" {
					t.Errorf("%s\nafter (-want +got):\n%s", tc.reason, diff)
				}
			}
		})
	}
}

// TestReleaseHitsNobodyElse holds that the patch fails on an object whose lists
// are not those that it was made for.
func TestReleaseHitsNobodyElse(t *testing.T) {
	ours := `{manager: ` + rule("a").FieldManager() + `, operation: Apply}`
	tests := map[string]struct{ reason, planned, live string }{
		"EntryInFront": {
			"Somebody else's entry is where ours was.",
			`{metadata: {managedFields: [` + ours + `, {manager: kubectl, operation: Apply}]}}`,
			`{metadata: {managedFields: [{manager: kubectl, operation: Apply}, ` + ours + `]}}`,
		},
		"OnlyOurs": {
			"A cache that keeps only our entries must not make us reset those of others.",
			`{metadata: {managedFields: [` + ours + `]}}`,
			`{metadata: {managedFields: [` + ours + `, {manager: kubectl, operation: Apply}]}}`,
		},
		"OwnerInFront": {
			"Another owner is where the controller was.",
			`{metadata: {ownerReferences: [{uid: u-owner, controller: true}]}}`,
			`{metadata: {ownerReferences: [{uid: u-other}, {uid: u-owner, controller: true}]}}`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			steps := Release(rule("a"), "u-owner", decode[map[string]any](t, tc.planned))
			if after, err := jsonPatched(decode[map[string]any](t, tc.live), steps); err == nil {
				t.Errorf("%s it became %s", tc.reason, encode(t, after))
			}
		})
	}
}

// TestGiveUp holds what a manager lets go of before it applies a body.
func TestGiveUp(t *testing.T) {
	const (
		ports = `"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}, "f:name": {}}, "k:{\"port\":81,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}`
		first = `{op: test, path: /metadata/managedFields/0/manager, value: ours}, {op: test, path: /metadata/managedFields/0/operation, value: Apply}, `
	)
	replaced := func(fields string) string {
		return `[` + first + `{op: replace, path: /metadata/managedFields/0/fieldsV1, value: ` + fields + `}]`
	}
	tests := map[string]struct {
		reason      string
		fields      string // of our entry
		subresource string // of the apply
		alone       bool   // nobody else has an entry
		body        string
		want        string // the steps, empty for none
	}{
		"Nothing":     {reason: "All is applied still.", fields: `{"f:spec": {"f:a": {}}}`, body: `{spec: {a: 2, b: 1}}`},
		"NoFields":    {reason: "An entry may have none.", fields: `{}`, body: `{}`},
		"Odd":         {reason: "What is malformed is left as it is.", fields: `[x]`, body: `{}`},
		"Subresource": {reason: "The entry is of another subresource.", fields: `{"f:spec": {"f:a": {}}}`, subresource: "status", body: `{}`},
		"Field": {
			reason: "A field goes, its neighbours stay ours.",
			fields: `{"f:spec": {".": {}, "f:a": {}, "f:b": {"f:c": {}}}, "f:metadata": {"f:labels": {"f:x": {}}}}`,
			body:   `{spec: {b: {c: 1}}}`,
			want:   replaced(`{"f:spec": {".": {}, "f:b": {"f:c": {}}}}`),
		},
		"Keyed": {
			reason: "An element goes, and a field of another.",
			fields: `{"f:spec": {"f:ports": {` + ports + `}}}`,
			body:   `{spec: {ports: [{port: 80}]}}`,
			want:   replaced(`{"f:spec": {"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}}}}`),
		},
		"KeyedAll": {
			reason: "The list itself stays ours as long as it is applied.",
			fields: `{"f:spec": {"f:ports": {` + ports + `}}}`,
			body:   `{spec: {ports: []}}`,
			want:   replaced(`{"f:spec": {"f:ports": {}}}`),
		},
		"Set": {
			reason: "A value goes.",
			fields: `{"f:metadata": {"f:finalizers": {".": {}, "v:\"x\"": {}, "v:\"y\"": {}}}}`,
			body:   `{metadata: {finalizers: ["y"]}}`,
			want:   replaced(`{"f:metadata": {"f:finalizers": {".": {}, "v:\"y\"": {}}}}`),
		},
		"OtherType": {
			reason: "What was a map is applied as a scalar.",
			fields: `{"f:spec": {"f:a": {"f:b": {}}}}`, body: `{spec: {a: 1}}`,
			want: replaced(`{"f:spec": {"f:a": {}}}`),
		},
		"Unreadable": {
			reason: "Names that are not understood are let go: the apply takes what it needs.",
			fields: `{"f:spec": {"f:l": {"k:{": {}, "v:{": {}, "i:0": {}, "odd": {}}}}`, body: `{spec: {l: [1]}}`,
			want: replaced(`{"f:spec": {"f:l": {}}}`),
		},
		"All": {
			reason: "An entry without fields is none.",
			fields: `{"f:spec": {"f:a": {}}}`, body: `{metadata: {labels: {x: "1"}}}`,
			want: `[` + first + `{op: remove, path: /metadata/managedFields/0}]`,
		},
		"AllAlone": {
			reason: "An empty list would leave those of a custom resource alone.",
			fields: `{"f:spec": {"f:a": {}}}`, alone: true, body: `{}`,
			want: `[` + first + `{op: remove, path: /metadata/managedFields/0}, {op: test, path: /metadata/managedFields, value: []}, ` +
				`{op: replace, path: /metadata/managedFields, value: [{}]}]`,
		},
		"LessAlone": {
			reason: "What is kept stays where it is.",
			fields: `{"f:spec": {"f:a": {}, "f:b": {}}}`, alone: true, body: `{spec: {b: 1}}`,
			want: replaced(`{"f:spec": {"f:b": {}}}`),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			entries := `{manager: ours, operation: Apply, fieldsV1: ` + tc.fields + `}`
			if !tc.alone {
				entries += `, {manager: ours, operation: Update, fieldsV1: {"f:a": {}}}, {manager: theirs, operation: Apply, fieldsV1: {"f:a": {}}}`
			}
			current := decode[map[string]any](t, `{metadata: {managedFields: [`+entries+`]}}`)
			before := encode(t, current)
			body := decode[map[string]any](t, tc.body)
			o := Operation{Type: Apply, Manager: "ours", Subresource: tc.subresource, Body: body}
			steps := o.GiveUp(current)
			if after := encode(t, current); after != before {
				t.Errorf("the object was changed from %s to %s", before, after)
			}
			if tc.want == "" {
				if steps != nil {
					t.Errorf("%s got %s", tc.reason, encode(t, steps))
				}
				return
			}
			if diff := cmp.Diff(decode[[]any](t, tc.want), steps); diff != "" {
				t.Fatalf("%s\nsteps (-want +got):\n%s", tc.reason, diff)
			}
			after, err := jsonPatched(current, steps)
			if err != nil {
				t.Fatalf("the steps cannot be applied: %v", err)
			}
			if again := o.GiveUp(after); again != nil {
				t.Errorf("%s there is more to give up: %s", tc.reason, encode(t, again))
			}
		})
	}
}
