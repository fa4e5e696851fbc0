package engine

import (
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

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
			want:      []any{"rules", texts{"s/a"}, "changes", texts{"spec.x", "spec.y"}},
		},
		"TwoRules": {
			reason:    "Each change has its rule.",
			operation: plan.Operation{Rules: []plan.Rule{a, b}, Changes: []plan.Change{change(a, "x"), change(b, "y")}},
			want:      []any{"rules", texts{"s/a", "s/b"}, "changes", texts{"s/a: spec.x", "s/b: spec.y"}},
		},
		"Deletion": {
			reason:    "It changes no fields.",
			operation: plan.Operation{Rules: []plan.Rule{a}},
			want:      []any{"rules", texts{"s/a"}},
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

// TestTexts: a list is logged as slog logs a []string.
func TestTexts(t *testing.T) {
	for _, list := range [][]string{nil, {"a"}, {"set/a: spec.x", `b "c"`, "[d]"}} {
		for name, handler := range map[string]func(io.Writer) slog.Handler{
			"text": func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
			"json": func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
		} {
			lines := make([]string, 2)
			for i, value := range []any{list, texts(list)} {
				var line strings.Builder
				record := slog.NewRecord(time.Time{}, slog.LevelInfo, "wrote", 0)
				record.Add("rules", value)
				if err := handler(&line).Handle(t.Context(), record); err != nil {
					t.Fatal(err)
				}
				lines[i] = line.String()
			}
			if lines[0] != lines[1] {
				t.Errorf("%s: got %q, want %q", name, lines[1], lines[0])
			}
		}
	}
}
