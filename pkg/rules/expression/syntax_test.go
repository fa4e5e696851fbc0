package expression

import (
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
)

// TestCompileErrors is what users read who write something else than the
// language: each message points at the place and says what to write.
func TestCompileErrors(t *testing.T) {
	scope := NewScope("object", "params", "pods", "replicas", "list", "text").WithHints(map[string]string{"least": "write params.least"})
	tests := map[string]struct {
		source  string
		at      string
		message string
		hint    string
	}{
		"a name with a hint":      {"object.a > least", "least", `unknown name "least"`, "write params.least"},
		"the index of others":     {"idx > 1", "idx", `unknown name "idx"`, "only an action with forEach has an index, and a predicate #index"},
		"isEmpty":                 {"isEmpty(list)", "isEmpty", `unknown function "isEmpty"`, "write len(x) == 0"},
		"parseInt":                {"parseInt(text)", "parseInt", `unknown function "parseInt"`, "write int(x)"},
		"printf":                  {`printf("%d", 1)`, "printf", `unknown function "printf"`, `write "a " + string(x), or a template: "a ${x}"`},
		"a pattern as a function": {`regex_match("a", text)`, "regex_match", `unknown function "regex_match"`, `write text matches "^a+$"`},
		"lookup of Helm":          {`lookup("v1")`, "lookup", `unknown function "lookup"`, "other objects are read by with, as in with: {config: {resource: configmaps, name: ...}}"},
		"?? behind a comparison in parentheses": {
			"(replicas > 1) ?? true", "??", "?? has > to its left, which is never nil", "write x > (y ?? z), or (x ?? z) > y",
		},
		"a field of the element that is a function": {
			`any(pods, type == "Ready")`, "type", "type is a function", "write type(...), or .type for that field of the element",
		},
		"a method that is an operator": {
			`object.metadata.name.contains("a")`, "contains", "values have no methods", "write x contains y",
		},
		"no": {
			"replicas == no", "no", `unknown name "no"`, "write false",
		},
		"request": {
			"request.object.spec", "request", `unknown name "request"`, "rules see objects as they are stored, and no requests: write object for what is there now",
		},
		"not before a comparison": {
			"not replicas > 3", "not", "not binds tighter than >", "write not (a > b)",
		},
		"! before in": {
			`!"a" in pods`, "!", "! binds tighter than in", "write ! (a in b)",
		},
		"a misspelt name": {
			"objcet.spec", "objcet", `unknown name "objcet"`, `did you mean "object"?`,
		},
		"a misspelt variable": {
			"let threshold = 1; treshold > 0", "treshold", `unknown name "treshold"`, `did you mean "threshold"?`,
		},
		"a name like nothing else": {
			"production", "production", `unknown name "production"`, `a text needs quotes of its own; a key with - or / is written ["..."]`,
		},
		"a name that is almost a function": {
			"lenn", "lenn", `unknown name "lenn"`, "did you mean the function len(...)?",
		},
		"a misspelt function": {
			"fliter(pods, true)", "fliter", `unknown function "fliter"`, "did you mean filter(...)?",
		},
		"an unknown function": {
			"kubernetes(pods)", "kubernetes", `unknown function "kubernetes"`, "",
		},
		"a value as a function": {
			"replicas(1)", "replicas", "replicas is a value and cannot be called", "",
		},
		"a later function as a variable": {
			"let stamp = 1; stamp", "stamp", `"stamp" is reserved: it is the function stamp()`, "choose another name",
		},
		"a keyword as a variable": {
			"let true = 1; true", "true", `"true" is reserved: it is a word of the language`, "choose another name",
		},
		"a variable that hides a name": {
			"let replicas = 1; replicas", "replicas", `"replicas" is already defined`, "choose another name",
		},
		"a variable that hides a variable": {
			"let x = 1; let x = 2; x", "x", `"x" is already defined`, "choose another name",
		},
		"too many arguments": {
			"upper(1, 2)", "upper", "upper takes 1 argument, have 2", "write upper(text)",
		},
		"arguments out of a range": {
			"split(1)", "split", "split takes 2 to 3 arguments, have 1", "write split(text, separator, [limit])",
		},
		"no arguments": {
			"max()", "max", "max takes at least 1 argument, have 0", "write max(numbers...)",
		},
		// Structure.
		"a duplicate key": {`{a: 1, "a": 2}`, `"a"`, `the key "a" is already there`, ""},
		// Literals.
		// Patterns.
		"an invalid pattern": {
			`"a" matches "("`, `"("`, "the pattern is not a regular expression: missing closing ): `(`", "",
		},
		"a long pattern": {
			`"a" matches "` + strings.Repeat("a", 257) + `"`, `"` + strings.Repeat("a", 257) + `"`, "the pattern is longer than 256 bytes", "",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(tt.source, scope)
			got, at := place(t, tt.source, err)
			if got.Message != tt.message || got.Hint != tt.hint || at != tt.at {
				t.Errorf("%s:\n got %q at %q, hint %q\nwant %q at %q, hint %q",
					tt.source, got.Message, at, got.Hint, tt.message, tt.at, tt.hint)
			}
		})
	}
}

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
