package expression

import (
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
)

func TestLimits(t *testing.T) {
	scope := NewScope("a")
	repeat := strings.Repeat
	tests := map[string]struct {
		reason string
		source string
		want   string // Part of the message, or "" where it must compile.
	}{
		"longest":       {"the limit itself is allowed", "a" + repeat(" ", syntax.MaxSource-1), ""},
		"too long":      {"one byte more is not", "a" + repeat(" ", syntax.MaxSource), "longer than 16384 bytes"},
		"deepest":       {"the limit itself is allowed", repeat("[", syntax.MaxNesting) + repeat("]", syntax.MaxNesting), ""},
		"too deep":      {"brackets recurse in the parser", repeat("[", syntax.MaxNesting+1) + repeat("]", syntax.MaxNesting+1), "nests deeper"},
		"parentheses":   {"they leave no node", repeat("(", 8000) + "a" + repeat(")", 8000), "nests deeper"},
		"negations":     {"prefixes recurse in the parser too", repeat("!", syntax.MaxNodes+1) + "a", "more than 2000 parts"},
		"side by side":  {"prefixes of one operand end with it", "!a" + repeat(" && !a", 150), ""},
		"calls":         {"brackets beside each other do not add up", "[" + repeat("len([]), ", 150) + "1]", ""},
		"ternaries":     {"they bind to the right, and are no brackets", repeat("a ? 1 : ", 200) + "2", ""},
		"many lets":     {"a person may well write twenty", letChain(20), ""},
		"many terms":    {"the tree is deep but not nested", "1" + repeat(" + 1", 900), ""},
		"long pattern":  {"matching takes time for each byte of it", `a matches "` + repeat("a", maxPattern+1) + `"`, "longer than 256 bytes"},
		"too many":      {"nodes are counted", "1" + repeat(" + 1", 1100), "more than 2000 parts"},
		"long path":     {"so are accesses", "a" + repeat(".b", 2100), "more than 2000 parts"},
		"shared chains": {"a chained comparison is compiled twice", repeat("1 < (", 40) + "1" + repeat(") < 1", 40), "more than 2000 parts"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(tt.source, scope)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("%s: %v", tt.reason, err)
			case tt.want != "":
				if got, _ := place(t, tt.source, err); !strings.Contains(got.Message, tt.want) {
					t.Errorf("%s: message %q, want one with %q", tt.reason, got.Message, tt.want)
				}
			}
		})
	}
}

func letChain(n int) string {
	var source strings.Builder
	for i := range n {
		source.WriteString("let v" + strings.Repeat("x", i) + " = 1; ")
	}
	return source.String() + "1"
}

// TestErrorsInEveryPlace puts a mistake wherever the language takes an expression
// and makes sure that it is found, and found there.
func TestErrorsInEveryPlace(t *testing.T) {
	for _, source := range []string{
		"wrong", "(wrong)", "-wrong", "!wrong", "wrong + 1", "1 + wrong", "wrong ?? 1", "1 ?? wrong", "wrong.x ?? 1", "wrong in []",
		"1 in [wrong]", "1..wrong", `wrong matches "a"`, "wrong contains \"a\"", "wrong ? 1 : 2", "true ? wrong : 2", "true ? 1 : wrong",
		"(true ? wrong : 2) ?? 1", "if wrong {1} else {2}", "if true {wrong} else {2}", "if true {1} else {wrong}", "[wrong]", "[1, wrong]",
		"{a: wrong}", "{(wrong): 1}", "wrong.a", "wrong?.a", "wrong[0]", "xs[wrong]", "xs[wrong].a", "xs[wrong:]", "xs[:wrong]", "xs?.[wrong]",
		"let x = wrong; x", "let x = 1; wrong", "len(wrong)", "take(xs, wrong)", "map(wrong, #)", "map(xs, wrong)", "map(xs, {let x = wrong; x})",
		"reduce(xs, #, wrong)", "sortBy(xs, wrong)", "sortBy(xs, [#, wrong])", "sortBy(xs, desc(wrong))", "sortBy(xs, #, wrong)",
		"wrong | len()", "xs | map(wrong)", "1 < wrong < 2", "1 < 2 < wrong", "wrong(1)", "count(xs, wrong)", "sum(xs, #.a[wrong])",
		"true && wrong", "wrong || true", "(let x = 1; wrong) && true",
	} {
		for _, prefix := range []string{"", "/* größe */ "} {
			_, err := Compile(prefix+source, NewScope("xs"))
			located, at := place(t, prefix+source, err)
			if !strings.Contains(located.Message, `"wrong"`) || at != "wrong" {
				t.Errorf("%s: %q at %q", source, located.Message, at)
			}
		}
	}
}
