package scenario

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
)

func TestPeriod(t *testing.T) {
	of := func(words string) []move {
		var out []move
		for word := range strings.FieldsSeq(words) { // by:fields=values
			by, rest, _ := strings.Cut(word, ":")
			fields, _, _ := strings.Cut(rest, "=")
			out = append(out, move{by: by, fields: fields, what: rest})
		}
		return out
	}
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
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var have []string
			for _, m := range period(of(test.moves)) {
				have = append(have, m.by+":"+m.what)
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
	hidden := &mask{redact.New(redact.Fingerprint)}
	hidden.learn(map[string]any{"stringData": map[string]any{"long": long, "number": "12345678"}})
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
		"cut":      {"long values are cut", "configmaps", nil, strings.Repeat("x", 100), `: nothing -> "` + strings.Repeat("x", 59) + "..."},
		"runes":    {"and no character is", "configmaps", nil, strings.Repeat("é", 100), `: nothing -> "` + strings.Repeat("é", 29) + "..."},
		"a Secret": {"of which only the field is shown", "secrets", "a", "b", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			step := moveOf(plan.Operation{
				Target:  plan.Object{GVR: schema.GroupVersionResource{Version: "v1", Resource: test.resource}, Namespace: "a", Name: "n"},
				Type:    plan.Merge,
				Changes: []plan.Change{{Path: plan.Path{"data"}, Before: test.before, After: test.after}},
			})
			if diff := cmp.Diff("merge "+test.resource+" a/n: data"+test.want, step.shown(hidden)); diff != "" {
				t.Errorf("%s (-want +have):\n%s", test.reason, diff)
			}
		})
	}
}

// TestLongValuesDiffer says that writes are compared by all that they write.
func TestLongValuesDiffer(t *testing.T) {
	of := func(value string) move {
		return moveOf(plan.Operation{Changes: []plan.Change{{Path: plan.Path{"data"}, After: strings.Repeat("x", 100) + value}}})
	}
	if of("1").equals(of("2")) || !of("1").equals(of("1")) || !of("1").repeats(of("2")) {
		t.Error("what is cut in a path is not compared")
	}
}
