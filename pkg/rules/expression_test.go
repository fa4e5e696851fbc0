package rules

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
)

func TestEvaluateExpression(t *testing.T) {
	t.Parallel()
	object := map[string]any{
		"kind":     "Pod",
		"metadata": map[string]any{"name": "a"},
		"spec":     map[string]any{"replicas": int64(3), "list": []any{"x", "y"}},
	}
	before := map[string]any{"name": "a"}
	cases := map[string]struct {
		reason string
		text   string
		want   any
	}{
		"typed":         {reason: "An integer stays an integer.", text: "object.spec.replicas + 1", want: int64(4)},
		"a list":        {reason: "So does a list.", text: "object.spec.list", want: []any{"x", "y"}},
		"absent":        {reason: "What is absent is nil.", text: "object.spec.nothing", want: nil},
		"always maps":   {reason: "The object looks as it does to a rule.", text: "object.metadata.labels.app ?? 'none'", want: "none"},
		"a moment":      {reason: "It is shown as it would be written.", text: "stamp()", want: "1970-01-01T00:00:00Z"},
		"omitted":       {reason: "There is nothing to show.", text: "omit()", want: nil},
		"omitted in it": {reason: "What omit() leaves out is not shown.", text: "{'a': 1, 'b': omit()}", want: map[string]any{"a": int64(1)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := EvaluateExpression(tc.text, object, time.Unix(0, 0))
			if err != nil {
				t.Fatalf("%s\n%v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, object["metadata"]); diff != "" {
				t.Errorf("the object is not changed\n-want +got:\n%s", diff)
			}
		})
	}
}

func TestEvaluateExpressionErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"objct.spec":           "object",
		"object.spec.x > 3":    "absent",
		"rule.name":            "rule",
		"map(1..9999999, [#])": "",
	} {
		_, err := EvaluateExpression(text, map[string]any{"spec": map[string]any{}}, time.Unix(0, 0))
		var located *expression.Error
		if !errors.As(err, &located) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want an error with %q, got %v", text, want, err)
		}
	}
}
