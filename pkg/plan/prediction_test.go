package plan

import "testing"

// TestEmptyMetadataCameTrue holds that what the API server leaves out is no
// surprise, be it the last label or the last owner.
func TestEmptyMetadataCameTrue(t *testing.T) {
	tests := map[string]struct {
		reason    string
		predicted string
		answer    string
		want      bool
	}{
		"LastLabel":     {"No labels are none.", `{metadata: {labels: {}}}`, `{metadata: {}}`, true},
		"LastOwner":     {"No owners are none.", `{metadata: {ownerReferences: []}}`, `{metadata: {}}`, true},
		"LabelAppeared": {"A label is one.", `{metadata: {labels: {}}}`, `{metadata: {labels: {x: "1"}}}`, false},
		"LastOfSpec":    {"Elsewhere an empty map is a value.", `{metadata: {}, spec: {emptyDir: {}}}`, `{metadata: {}, spec: {}}`, false},
		"NoName":        {"So is an empty text.", `{metadata: {name: ""}}`, `{metadata: {}}`, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := Operation{Type: Merge, Predicted: decode[map[string]any](t, tc.predicted)}
			if got := o.CameTrue(decode[map[string]any](t, tc.answer)); got != tc.want {
				t.Errorf("%s got %v", tc.reason, got)
			}
		})
	}
}
