package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
)

func TestPeriod(t *testing.T) {
	of := func(words string) []plan.Operation {
		var out []plan.Operation
		for word := range strings.FieldsSeq(words) { // by:field=value
			by, rest, _ := strings.Cut(word, ":")
			field, value, _ := strings.Cut(rest, "=")
			out = append(out, plan.Operation{Rules: []plan.Rule{{Name: by}}, Changes: []plan.Change{{Path: plan.Path{field}, After: value}}})
		}
		return out
	}
	long := strings.Repeat("x", 1000)
	tests := map[string]struct{ reason, moves, want string }{
		"none":    {"nothing was written", "", ""},
		"once":    {"one write is no round", "a:x=1", ""},
		"no end":  {"different writes are none either", "a:x=1 b:y=1 c:z=1", ""},
		"same":    {"the same again and again", "a:x=1 a:x=1", "a:x=1"},
		"two":     {"two rules take turns", "z:z=0 a:x=1 b:x=2 a:x=1 b:x=2", "a:x=1 b:x=2"},
		"flips":   {"one rule takes turns with itself: values tell more than fields", "a:x=1 a:x=2 a:x=1 a:x=2", "a:x=1 a:x=2"},
		"grows":   {"what grows has other values each time", "a:x=1 a:x=2 a:x=3", "a:x=3"},
		"another": {"two grow in turn", "a:x=1 b:y=1 a:x=2 b:y=2", "a:x=2 b:y=2"},
		"rules":   {"the rules count", "a:x=1 b:x=1", ""},
		"long":    {"values are compared as a whole", "a:x=" + long + "1 a:x=" + long + "2 a:x=" + long + "1 a:x=" + long + "2", "a:x=" + long + "1 a:x=" + long + "2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var have []string
			for _, m := range period(of(test.moves)) {
				have = append(have, fmt.Sprintf("%s:%s=%s", m.Rules[0].Name, m.Changes[0].Path, m.Changes[0].After))
			}
			if strings.Join(have, " ") != test.want {
				t.Errorf("%s: want %q, have %q", test.reason, test.want, have)
			}
		})
	}
}

// TestShownMoves says how a step of a path shows what a write changes. A value is looked
// for in all of what is written, before that is cut.
func TestShownMoves(t *testing.T) {
	long := strings.Repeat("secret-", 20)
	hidden := redact.New(redact.Fingerprint)
	hidden.Learn(map[string]any{"stringData": map[string]any{"long": long, "number": "12345678"}})
	masked := `"` + redact.Fingerprint(long) + `"`
	tests := map[string]struct {
		reason, resource string
		before, after    any
		want             string
	}{
		"plain":    {"values are JSON", "configmaps", nil, "1", `: nothing -> "1"`},
		"lines":    {"a step is one line", "configmaps", "a\nb", map[string]any{"<c>": []any{1.0, true}}, `: "a\nb" -> {"<c>":[1,true]}`},
		"secret":   {"a value that is cut is no less secret", "configmaps", long, nil, ": " + masked + " -> nothing"},
		"within":   {"deep down too", "configmaps", nil, map[string]any{"a": long}, `: nothing -> {"a":` + masked + "}"},
		"number":   {"and where it is no text", "configmaps", nil, int64(12345678), ": nothing -> " + redact.Fingerprint("12345678")},
		"a Secret": {"of which only the field is shown", "secrets", "a", "b", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			step := described(hidden, plan.Operation{
				Target:  plan.Object{GVR: schema.GroupVersionResource{Version: "v1", Resource: test.resource}, Namespace: "a", Name: "n"},
				Type:    plan.Merge,
				Changes: []plan.Change{{Path: plan.Path{"data"}, Before: test.before, After: test.after}},
			})
			if diff := cmp.Diff("merge "+test.resource+" a/n: data"+test.want, step); diff != "" {
				t.Errorf("%s (-want +have):\n%s", test.reason, diff)
			}
		})
	}
}
