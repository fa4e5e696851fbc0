package syntax_test

import (
	"errors"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
)

// TestMistakes is what users read who write something else than the language: each message points at the place and says what to
// write. More of them, with their carets, are in pkg/rules/testdata/wrong.
func TestMistakes(t *testing.T) {
	element := ", with # for the element"
	tests := map[string]struct{ source, at, message, hint string }{
		"a call of a call": {
			"len(pods)(1)", "(", "only a function can be called, by its name", "write name(...)",
		},
		"a predicate with several values": {
			"filter(pods, .a; .b)", ";", "a predicate with ; needs braces", "write filter(list, {let x = .a; x > 1})",
		},
		"nothing":            {"", "", "the expression is empty", ""},
		"a missing operand":  {"1 +", "", "the expression ends too early, after +", ""},
		"a missing branch":   {"true ? 1", "", "the expression ends too early, after 1", "?: needs both branches: a > 1 ? x : y; a condition alone is joined with &&"},
		"a missing operator": {"replicas 3", "3", "an operator is missing between replicas and 3", ""},
		"two operators":      {"replicas * / 3", "/", "a value is missing before /", ""},
		"an operator at the end of a list": {
			"[1, +]", "]", "a value is missing before ]", "",
		},
		"a misplaced comma": {"1, 2", ",", ", cannot stand here", ""},
		"a missing field":   {"object.", "", "the expression ends too early, after .", ""},
		"an operator as a key": {
			"{in: 1}", "in", "a map key cannot start with in",
			`write a name, a string in quotes, or an expression in parentheses, as in {a: 1, "b-c": 2, (x): 3}`,
		},
		"an open string":               {`object.metadata.name == "a`, `"`, "the string that starts here has no closing quote", `close it on its line; write a line break as \n, and as \\n within double quotes of YAML`},
		"a number with a unit":         {"replicas > 5m", "5m", `"5m" is not a number`, `write quantity("5Gi") for a quantity, duration("5m") for a duration`},
		"an empty hex number":          {"0x", "0x", "0x does not fit a 64-bit number", ""},
		"too large an integer":         {"1 + 9223372036854775808", "9223372036854775808", "9223372036854775808 does not fit a 64-bit number", ""},
		"too large a float":            {"1e999 > 1", "1e999", "1e999 does not fit a 64-bit number", ""},
		"an unknown character":         {"replicas @ 3", "@", "the character '@' means nothing here", ""},
		"invalid UTF-8":                {"\"\xff\"", "\"\xff\"", "the expression is not valid UTF-8", ""},
		"less, then greater":           {"text < > 1", ">", "a value is missing before >", ""},
		"JavaScript is unequal":        {"text !== 1", "=", "!== is no operator", "write !="},
		"a variable as in CEL":         {"all(list, x, x > 1)", "x", "x cannot stand here", "write all(list, condition)" + element},
		"an argument too many":         {"sum(list, list, list)", "list", "list cannot stand here", "write sum(list, [number])" + element},
		"an operator in another case":  {`text startswith "a"`, "startswith", "an operator is missing between text and startswith", "did you mean startsWith?"},
		"an operator of Go":            {`text hasPrefix "a"`, "hasPrefix", "an operator is missing between text and hasPrefix", "write x startsWith y"},
		"an operator of SQL":           {`text like "a"`, "like", "an operator is missing between text and like", `write text matches "^a+$"`},
		"an operator as a name":        {`text is "a"`, "is", "an operator is missing between text and is", "write =="},
		"an operator of lists":         {`list has "a"`, "has", "an operator is missing between list and has", "write x != nil for a field, x in list, or text contains part"},
		"an operator of Go at the end": {`text has_suffix "a"`, "has_suffix", "an operator is missing between text and has_suffix", "write x endsWith y"},
		"a name beside a name":         {"text list", "list", "an operator is missing between text and list", ""},
		"half of ?: in parentheses":    {"(object.a ? 1)", ")", ") cannot stand here", "?: needs both branches: a > 1 ? x : y; a condition alone is joined with &&"},
		"an empty index":               {"list[]", "]", "an index is missing before ]", "write map(list, .name) for a field of every element, or list[0] for the first"},
		"an empty index on the way":    {"list[].name", "]", "an index is missing before ]", "write map(list, .name) for a field of every element, or list[0] for the first"},
		"a filter of JMESPath":         {`list[?name == "a"]`, "?", "there are no filters in brackets", `write filter(list, .name == "x")`},
		"an open comment":              {"1 /* 2", "/*", "the comment that starts here is not closed", "end it with */"},
		"a regular expression of Perl": {"a =~ b", "~", "the character '~' means nothing here", `write x matches "^a+$"`},
		"half of a character":          {`text == "a\\\ud83d\ude00"`, `\ud83d`, `\ud83d is half of a character`, `write the character itself, or all of it as in \U0001F600`},
		"half of a character in full":  {`text == "\U0000DFFF"`, `\U0000DFFF`, `\U0000DFFF is half of a character`, `write the character itself, or all of it as in \U0001F600`},
		"half of a character in {}":    {`text == '\u{d800}'`, `\u{d800}`, `\u{d800} is half of a character`, `write the character itself, or all of it as in \U0001F600`},
		"a byte string":                {`b"a"`, `b"a"`, "there are no byte strings", "write the text without b"},
		"an octal number":              {"a == 010", "010", "a number cannot start with 0", "write it without, or 0o10 for an octal number"},
		"a namespace":                  {"a::b(1)", "::", ":: is no operator", "write the function's name alone"},
		"the wrong bracket":            {"(a]", "]", "the ( is closed by a ]", "the ( at position 1 wants a )"},
		"an open bracket":              {"len(a", "(", "the ( that starts here is not closed", ""},
		"a bracket too many":           {"a)", ")", "the ) closes nothing", ""},
		"a pipe to nothing":            {"a | b", "|", "| must lead to a function call", "write || for or, and list | len() to pass a value on"},
		"?? beside another operator":   {"a ?? b + c", "+", "?? beside another operator needs parentheses", "write (x ?? y) + z or x ?? (y + z)"},
		"templates of Helm":            {"{{ a }}", "{{", "there are no {{ }} here", "write what is in them alone, as in object.spec.replicas"},
		"a question mark behind a dot": {"a.?b", "?", "a field name is missing after the dot", `write .name or ["any text"], and ?. for what may be absent`},
		"an element of no list":        {"# > 1", "#", "# is the element of a list and means nothing here", "use it inside a predicate, as in filter(list, # > 1)"},
		"a field of no element":        {".a > 1", ".", "an expression cannot start with a dot here", "write object.spec...; .name alone is a field of the element inside filter(list, .name == 1)"},
		"a misspelt function":          {"fliter(a, #)", "fliter", `unknown function "fliter"`, "did you mean filter(...)?"},
		"a function of CEL":            {"exists(a, # > 1)", "exists", `unknown function "exists"`, "write any(list, condition)"},
		"a method":                     {"a.filter(# > 1)", "filter", "values have no methods", "write filter(list, condition), with # for the element"},
		"a percentage on the left":     {"50% == object.a", "==", "a value is missing before ==", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parse(tt.source)
			got, is := errors.AsType[*syntax.Error](err)
			if !is {
				t.Fatalf("%s: %v", tt.source, err)
			}
			if at := tt.source[got.Offset : got.Offset+got.Length]; got.Message != tt.message || got.Hint != tt.hint || at != tt.at {
				t.Errorf("%s:\n got %q at %q, hint %q\nwant %q at %q, hint %q", tt.source, got.Message, at, got.Hint, tt.message, tt.at, tt.hint)
			}
		})
	}
}
