package plan

import "testing"

// TestLanded holds what a live read tells of a write whose answer was lost.
func TestLanded(t *testing.T) {
	const entry = `managedFields: [{manager: ours, operation: Update, fieldsV1: {"f:spec": {"f:size": {}}}}]`
	was := Object{Name: "a", UID: "u", ResourceVersion: "1"}
	grow := Operation{
		Type: Merge, Target: was, Manager: "ours",
		Changes:   []Change{{Path: Path{"spec", "size"}, Before: int64(1), After: int64(3)}},
		Predicted: map[string]any{"kind": "Widget"},
	}
	shrink := grow
	shrink.Changes = []Change{{Path: Path{"spec", "size"}, Before: int64(1)}}
	own := grow
	own.Type, own.Changes = Apply, nil
	create := grow
	create.Type, create.Target = Create, Object{Name: "a"}
	scale := grow
	scale.Subresource, scale.Predicted = "scale", map[string]any{"kind": "Scale"}
	remove := Operation{Type: Delete, Target: was}
	tests := map[string]struct {
		reason    string
		operation Operation
		live      string
		want      bool
	}{
		"Written":    {"All is as it was to be, and is ours.", grow, `{kind: Widget, metadata: {uid: u, resourceVersion: "2", ` + entry + `}, spec: {size: 3}}`, true},
		"More":       {"What somebody else did elsewhere is their own.", grow, `{kind: Widget, metadata: {uid: u, resourceVersion: "3", ` + entry + `}, spec: {size: 3, x: 1}}`, true},
		"Same":       {"It has not been written since.", grow, `{kind: Widget, metadata: {uid: u, resourceVersion: "1", ` + entry + `}, spec: {size: 3}}`, false},
		"Theirs":     {"Somebody else has done the same.", grow, `{kind: Widget, metadata: {uid: u, resourceVersion: "2"}, spec: {size: 3}}`, false},
		"Other":      {"It is something else by now.", grow, `{kind: Widget, metadata: {uid: u, resourceVersion: "2", ` + entry + `}, spec: {size: 2}}`, false},
		"Replaced":   {"Another object has the name.", grow, `{kind: Widget, metadata: {uid: v, resourceVersion: "2", ` + entry + `}, spec: {size: 3}}`, false},
		"Gone":       {"There is nothing that could be written.", grow, `null`, false},
		"Scale":      {"The paths are those of a scale, which was not read.", scale, `{kind: Widget, metadata: {uid: u, resourceVersion: "2", ` + entry + `}, spec: {size: 3}}`, false},
		"Removed":    {"What is absent has no manager.", shrink, `{kind: Widget, metadata: {uid: u, resourceVersion: "2"}, spec: {}}`, true},
		"NotRemoved": {"The field is there still.", shrink, `{kind: Widget, metadata: {uid: u, resourceVersion: "2", ` + entry + `}, spec: {size: 1}}`, false},
		"Owned":      {"All that an apply changes may be who owns it.", own, `{kind: Widget, metadata: {uid: u, resourceVersion: "2", ` + entry + `}}`, true},
		"NotOwned":   {"It does not.", own, `{kind: Widget, metadata: {uid: u, resourceVersion: "2"}}`, false},
		"Created":    {"There was none.", create, `{kind: Widget, metadata: {uid: u, resourceVersion: "1", ` + entry + `}, spec: {size: 3}}`, true},
		"NotCreated": {"There is none still.", create, `null`, false},
		"Deleted":    {"It is gone.", remove, `null`, true},
		"Deleting":   {"A finalizer holds it.", remove, `{metadata: {uid: u, resourceVersion: "2", deletionTimestamp: "2026-01-01T00:00:00Z"}}`, true},
		"Succeeded":  {"Another object has the name.", remove, `{metadata: {uid: v, resourceVersion: "2"}}`, true},
		"NotDeleted": {"It is there still.", remove, `{metadata: {uid: u, resourceVersion: "2"}}`, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.operation.Landed(decode[map[string]any](t, tc.live)); got != tc.want {
				t.Errorf("%s got %v", tc.reason, got)
			}
		})
	}
}
