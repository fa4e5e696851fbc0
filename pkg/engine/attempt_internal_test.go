package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestAttrsOf holds what the log says of an operation.
func TestAttrsOf(t *testing.T) {
	a, b := plan.Rule{Set: "s", Name: "a"}, plan.Rule{Set: "s", Name: "b"}
	change := func(rule plan.Rule, field string) plan.Change {
		return plan.Change{Rule: rule, Path: plan.Path{"spec", field}}
	}
	tests := map[string]struct {
		reason    string
		operation plan.Operation
		want      []any
	}{
		"OneRule": {
			reason:    "It is named once.",
			operation: plan.Operation{Rules: []plan.Rule{a}, Changes: []plan.Change{change(a, "x"), change(a, "y")}},
			want:      []any{"rules", []string{"s/a"}, "changes", []string{"spec.x", "spec.y"}},
		},
		"TwoRules": {
			reason:    "Each change has its rule.",
			operation: plan.Operation{Rules: []plan.Rule{a, b}, Changes: []plan.Change{change(a, "x"), change(b, "y")}},
			want:      []any{"rules", []string{"s/a", "s/b"}, "changes", []string{"s/a: spec.x", "s/b: spec.y"}},
		},
		"Deletion": {
			reason:    "It changes no fields.",
			operation: plan.Operation{Rules: []plan.Rule{a}},
			want:      []any{"rules", []string{"s/a"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, attrsOf(tc.operation)); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
