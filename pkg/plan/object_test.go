package plan

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestObject(t *testing.T) {
	tests := map[string]struct {
		reason         string
		object         Object
		text, resource string
		secret         bool
	}{
		"Namespaced": {
			reason: "As users read it.",
			object: target, text: "tidbclusters tidb/basic", resource: "tidbclusters.v1alpha1.pingcap.com",
		},
		"ClusterScoped": {
			reason: "Without a namespace there is no slash.",
			object: Object{GVR: schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, Name: "one"},
			text:   "nodes one", resource: "nodes.v1",
		},
		"Secret": {
			reason: "The values of a Secret are not shown.",
			object: Object{GVR: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, Namespace: "ns", Name: "s"},
			text:   "secrets ns/s", resource: "secrets.v1", secret: true,
		},
		"OtherSecret": {
			reason: "What is only called so may be.",
			object: Object{GVR: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "secrets"}, Name: "s"},
			text:   "secrets s", resource: "secrets.v1.example.com",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.object.String(); got != tc.text {
				t.Errorf("%s String: got %q", tc.reason, got)
			}
			if got := ResourceName(tc.object.GVR); got != tc.resource {
				t.Errorf("%s ResourceName: got %q", tc.reason, got)
			}
			if got := tc.object.IsSecret(); got != tc.secret {
				t.Errorf("%s IsSecret: got %v", tc.reason, got)
			}
			if got := (Read{From: []Selection{{GVR: tc.object.GVR}}}).IsSecret(); got != tc.secret {
				t.Errorf("%s IsSecret of the answer: got %v", tc.reason, got)
			}
		})
	}
	if (Read{}).IsSecret() {
		t.Error("a question about nothing has no secrets")
	}
}

func TestLookupPointer(t *testing.T) {
	object := decode[map[string]any](t, `{spec: {list: [{a/b: 1}]}}`)
	tests := map[string]struct {
		reason, pointer string
		want            any
	}{
		"There":       {"Keys, indexes and escapes.", "/spec/list/0/a~1b", int64(1)},
		"NotThere":    {"Nothing is nil.", "/spec/list/1", nil},
		"NotAPointer": {"So is what leads nowhere.", "spec", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := LookupPointer(object, tc.pointer); got != tc.want {
				t.Errorf("%s got %v", tc.reason, got)
			}
		})
	}
}

func TestTroubled(t *testing.T) {
	for outcome, want := range map[Outcome]bool{
		Matched: false, Unmatched: false, Waiting: false, Skipped: false, Withheld: true, Refused: true, Failed: true,
	} {
		if got := outcome.Troubled(); got != want {
			t.Errorf("%s: got %v, although the rule could act, or could not, or did not want to", outcome, got)
		}
	}
}
