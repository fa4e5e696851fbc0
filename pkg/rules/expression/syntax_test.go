package expression

import (
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
)

// TestCompileErrors is what users read who write something else than the
// language: each message points at the place and says what to write.
func TestCompileErrors(t *testing.T) {
	scope := NewScope("object", "params", "pods", "replicas")
	tests := map[string]struct {
		source  string
		at      string
		message string
		hint    string
	}{
		// The pitfalls.
		"?? beside another operator": {
			"replicas ?? 1 + 2", "+", "?? beside another operator needs parentheses",
			"write (x ?? y) + z or x ?? (y + z)",
		},
		"?? before a comparison": {
			"replicas ?? 1 > 2", ">", "?? beside another operator needs parentheses",
			"write (x ?? y) > z or x ?? (y > z)",
		},
		"?? behind a comparison": {
			"replicas == 1 ?? true", "??", "?? beside another operator needs parentheses",
			"write (x == y) ?? z or x == (y ?? z)",
		},
		"?? behind a negation": {
			"!object.spec.paused ?? true", "??", "?? beside another operator needs parentheses", "write !(x ?? y)",
		},
		"?? behind a comparison in parentheses": {
			"(replicas > 1) ?? true", "??", "?? has > to its left, which is never nil", "write x > (y ?? z), or (x ?? z) > y",
		},
		"a field of the element without its dot": {
			`any(pods, name == "x")`, "name", `unknown name "name"`, "write .name for that field of the element",
		},
		"a field of the element that is a function": {
			`any(pods, type == "Ready")`, "type", "type is a function", "write type(...), or .type for that field of the element",
		},
		"a map as the result of a predicate": {
			"map(pods, {name: .metadata.name})", "{", "these braces belong to the predicate, not to a map",
			"a map as the result needs its own: map(list, {{name: ...}})",
		},
		"a single =": {
			"replicas = 3", "=", "= compares nothing", "write == to compare, or let x = 1; to name a value",
		},
		"three =": {
			"replicas === 3", "===", "=== is no operator", "write ==",
		},
		"a method": {
			"object.metadata.name.trim()", "trim", "values have no methods", "write trim(x)",
		},
		"a method that is an operator": {
			`object.metadata.name.contains("a")`, "contains", "values have no methods", "write x contains y",
		},
		"a method of another language": {
			"pods.size()", "size", "values have no methods", "write len(x)",
		},
		"an unknown method": {
			"pods?.frobnicate()", "frobnicate", "values have no methods", "call a function with the value as its argument: f(x)",
		},
		"a method on a time": {
			"now().Year()", "Year", "values have no methods", "call a function with the value as its argument: f(x)",
		},
		"null": {
			"replicas == null", "null", `unknown name "null"`, "write nil",
		},
		"True": {
			"replicas == True", "True", `unknown name "True"`, "write true",
		},
		"no": {
			"replicas == no", "no", `unknown name "no"`, "write false",
		},
		"request": {
			"request.object.spec", "request", `unknown name "request"`, "rules see objects as they are stored, and no requests: write object for what is there now",
		},
		"self": {
			"self.spec", "self", `unknown name "self"`, "write object",
		},
		"the clock": {
			"now()", "now", "there is no now(), because the same objects must always give the same answer",
			"write after(t), before(t) or olderThan(t, d), which look again in time; stamp() writes the time",
		},
		"a leading dot": {
			".spec.replicas", ".", "an expression cannot start with a dot here",
			"write object.spec...; .name alone is a field of the element inside filter(list, .name == 1)",
		},
		"a leading dot later": {
			"1 + .Values.x", ".", "an expression cannot start with a dot here",
			"write object.spec...; .name alone is a field of the element inside filter(list, .name == 1)",
		},
		"${ } in an expression": {
			"${replicas} > 1", "$", "${ } belongs into templates; this is an expression already", "leave ${ and } out",
		},
		"not before a comparison": {
			"not replicas > 3", "not", "not binds tighter than >", "write not (a > b)",
		},
		"! before in": {
			`!"a" in pods`, "!", "! binds tighter than in", "write ! (a in b)",
		},
		"?: without a middle": {
			"replicas ?: 1", "replicas", "?: needs a value between ? and :",
			"write x ?? y for a default where x is nil, or default(x, y) where it is empty",
		},
		"a single &": {
			"true & false", "&", "& is no operator", "write && for and",
		},
		"a single |": {
			"true | false", "|", "| must lead to a function call", "write || for or, and list | len() to pass a value on",
		},
		"a leading zero": {
			"replicas == 012", "012", "a number cannot start with 0", "write 12, or 0o12 for an octal number",
		},
		"a pattern that is not literal": {
			"object.metadata.name matches params.pattern", "params.pattern", "the pattern of matches must be a string literal",
			`write x matches "^a+$"`,
		},
		// Names.
		"$env": {
			"$env.object", "$env", "there is no $env", "write the names themselves, as in object.metadata.name",
		},
		"a name with $": {
			"object.a$b", "a$b", "a name cannot contain $", `write x["a$b"] for such a field`,
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
		"a function as a value": {
			"len == 3", "len", "len is a function", "write len(...)",
		},
		"a missing function as a value": {
			"now", "now", "there is no now(), because the same objects must always give the same answer",
			"write after(t), before(t) or olderThan(t, d), which look again in time; stamp() writes the time",
		},
		"a value as a function": {
			"replicas(1)", "replicas", "replicas is a value and cannot be called", "",
		},
		"a function of expr that is missing": {
			"bitand(1, 2)", "bitand", `there is no function "bitand", because rules have no bit operations`, "",
		},
		"a function of expr about time": {
			`date("2026-01-01")`, "date", `there is no function "date", because times are RFC 3339 strings`, "write timestamp(text)",
		},
		"a function of CEL": {
			"has(object.spec)", "has", `there is no function "has"`, "compare with nil, as in object.spec.x != nil",
		},
		"a reserved variable": {
			"let index = 1; index", "index", `"index" is reserved: every rule has a value of this name`, "choose another name",
		},
		"a function as a variable": {
			"let len = 1; len", "len", `"len" is reserved: it is the function len(of)`, "choose another name",
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
		"a variable used before it is there": {
			"let x = x; x", "x", `unknown name "x"`, `a text needs quotes of its own; a key with - or / is written ["..."]`,
		},
		// Calls.
		"too few arguments": {
			"take(pods)", "take", "take takes 2 arguments, have 1", "write take(list, n)",
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
		"a missing predicate": {
			"filter(pods)", ")", "arguments are missing here", "write filter(list, condition)",
		},
		"a call of a call": {
			"len(pods)(1)", "(", "only a function can be called, by its name", "write name(...)",
		},
		"a predicate with ; and no braces": {
			"filter(pods, let x = 1; x; true)", "true", "only one value can follow",
			"; stands only between let x = 1 and what uses x",
		},
		"a predicate with several values": {
			"filter(pods, .a; .b)", ";", "a predicate with ; needs braces", "write filter(list, {let x = .a; x > 1})",
		},
		// Structure.
		"nothing":            {"", "", "the expression is empty", ""},
		"only a comment":     {"/* when */", "/* when */", "the expression is empty", ""},
		"a missing operand":  {"1 +", "", "the expression ends too early, after +", ""},
		"a missing branch":   {"true ? 1", "", "the expression ends too early, after 1", "?: needs both branches: a > 1 ? x : y; a condition alone is joined with &&"},
		"an if without else": {"if true { 1 }", "", "the expression ends too early, after }", "if needs both branches: if a > 1 { x } else { y }"},
		"a missing bracket":  {"len(pods", "(", "the ( that starts here is not closed", ""},
		"an extra bracket":   {"len(pods))", ")", "the ) closes nothing", ""},
		"the wrong bracket":  {"len(pods]", "]", "the ( is closed by a ]", "the ( at position 4 wants a )"},
		"a missing operator": {"replicas 3", "3", "an operator is missing between replicas and 3", ""},
		"two operators":      {"replicas * / 3", "/", "a value is missing before /", ""},
		"an operator at the end of a list": {
			"[1, +]", "]", "a value is missing before ]", "",
		},
		"a misplaced comma":   {"1, 2", ",", ", cannot stand here", ""},
		"a misplaced let":     {"1 + let x = 2; x", "let", "let cannot stand here", "write let x = 1; x + 1, in parentheses if need be"},
		"a misplaced #":       {"# > 1", "#", "# is the element of a list and means nothing here", "use it inside a predicate, as in filter(list, # > 1)"},
		"a missing field":     {"object.", "", "the expression ends too early, after .", ""},
		"a field as a number": {"object.[1]", "[", "a field name is missing after the dot", `write .name or ["any text"]`},
		"several values":      {"1; 2", "2", "only one value can follow", "; stands only between let x = 1 and what uses x"},
		"a duplicate key":     {`{a: 1, "a": 2}`, `"a"`, `the key "a" is already there`, ""},
		"an operator as a key": {
			"{in: 1}", "in", "a map key cannot start with in",
			`write a name, a string in quotes, or an expression in parentheses, as in {a: 1, "b-c": 2, (x): 3}`,
		},
		// Literals.
		"an open string":       {`object.metadata.name == "a`, `"`, "the string that starts here has no closing quote", ""},
		"an open raw string":   {"1 + `a", "`", "the string that starts here has no closing quote", ""},
		"an open comment":      {"1 /* a", "/*", "the comment that starts here is not closed", "end it with */"},
		"an unknown escape":    {`"\d"`, "d", `a string has an unknown \ escape`, `write \\ for a backslash, or put the text between backticks`},
		"a number with a unit": {"replicas > 5m", "5m", `"5m" is not a number`, `write quantity("5Gi") for a quantity, duration("5m") for a duration`},
		"an empty hex number":  {"0x", "0x", "0x does not fit a 64-bit number", ""},
		"too large an integer": {"1 + 9223372036854775808", "9223372036854775808", "9223372036854775808 does not fit a 64-bit number", ""},
		"the smallest integer": {"-9223372036854775808", "9223372036854775808", "9223372036854775808 does not fit a 64-bit number", "write -9223372036854775807 - 1"},
		"too large a float":    {"1e999 > 1", "1e999", "1e999 does not fit a 64-bit number", ""},
		"curly quotes":         {"replicas == “a”", "“", `the character '“' means nothing here`, `write straight quotes, " or '`},
		"an unknown character": {"replicas @ 3", "@", "the character '@' means nothing here", ""},
		"bytes":                {`b"abc"`, `b"abc"`, "there are no byte strings", "write the text without b"},
		"::":                   {"::len(pods)", "::", ":: is no operator", "write the function's name alone"},
		"invalid UTF-8":        {"\"\xff\"", "\"\xff\"", "the expression is not valid UTF-8", ""},
		// Patterns.
		"an invalid pattern": {
			`"a" matches "("`, `"("`, "the pattern is not a regular expression: missing closing ): `(`", "",
		},
		"a long pattern": {
			`"a" matches "` + strings.Repeat("a", 257) + `"`, `"` + strings.Repeat("a", 257) + `"`, "the pattern is longer than 256 bytes", "",
		},
		"a large pattern": {
			`"a" matches "(ab{30}){30}"`, `"(ab{30}){30}"`, "the pattern is too large", "repeat less: x{100} counts as a hundred x",
		},
		// Behind letters of several bytes.
		"after an umlaut": {
			`"größe" == objcet`, "objcet", `unknown name "objcet"`, `did you mean "object"?`,
		},
		"a syntax error after an umlaut": {
			`"größe" = 1`, "=", "= compares nothing", "write == to compare, or let x = 1; to name a value",
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
		"negations":     {"so do prefixes", repeat("!", 101) + "a", "nests deeper"},
		"minuses":       {"so do prefixes", repeat("-", 101) + "1", "nests deeper"},
		"nots":          {"so do prefixes", repeat("not ", 101) + "a", "nests deeper"},
		"side by side":  {"prefixes of one operand end with it", "!a" + repeat(" && !a", 150), ""},
		"calls":         {"brackets beside each other do not add up", "[" + repeat("len([]), ", 150) + "1]", ""},
		"ternaries":     {"they bind to the right", repeat("a ? 1 : ", 101) + "2", "nests deeper"},
		"else ifs":      {"they nest", repeat("if a { 1 } else ", 60) + "{ 2 }", "nests deeper"},
		"powers":        {"they bind to the right", repeat("1 ** ", 101) + "1", "nests deeper"},
		"lets":          {"each holds the rest", letChain(101), "nests deeper"},
		"many lets":     {"a person may well write twenty", letChain(20), ""},
		"mixed":         {"all kinds count together", repeat("-(", 51) + "1" + repeat(")", 51), "nests deeper"},
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
