package expression

import "testing"

// TestPitfalls is what users read who know other languages.
func TestPitfalls(t *testing.T) {
	scope := NewScope("object", "list", "text").WithHints(map[string]string{"least": "write params.least"})
	element := ", with # for the element"
	tests := map[string]struct {
		source, at, message, hint string
	}{
		"SQL is unequal":               {"text <> 1", "<>", "<> is no operator", "write !="},
		"less, then greater":           {"text < > 1", ">", "a value is missing before >", ""},
		"JavaScript is unequal":        {"text !== 1", "!==", "!== is no operator", "write !="},
		"an arrow":                     {"any(list, x => x > 1)", "=>", "=> is no operator", "write the condition with # for the element, as in any(list, # > 1)"},
		"an = apart from another":      {"text == = 1", "=", "= compares nothing", "write == to compare, or let x = 1; to name a value"},
		"a pattern as in Perl":         {`text =~ "a"`, "~", "the character '~' means nothing here", `write x matches "^a+$"`},
		"capital letters":              {"text == 1 AND text == 2", "AND", "AND is no operator", "write and"},
		"JSONPath":                     {"$.spec", "$", "there is no $", "write object, as in object.spec"},
		"a star as an index":           {"list[*].name", "*", "* is no index", "write map(list, .name) for a field of every element"},
		"a template of Helm":           {"{{ .Values }}", "{{", "there are no {{ }} here", "write what is in them alone, as in object.spec.replicas"},
		"an operator as a function":    {`contains(text, "a")`, "contains", "contains is an operator and no function", "write x contains y"},
		"a variable as in CEL":         {"all(list, x, x > 1)", "x", "all has too many arguments", "write all(list, condition)" + element},
		"an argument too many":         {"sum(list, list, list)", "list", "sum has too many arguments", "write sum(list, [number])" + element},
		"too few arguments":            {"any(list)", ")", "arguments are missing here", "write any(list, condition)"},
		"a pattern of Perl":            {`text matches "a(?=b)"`, `"a(?=b)"`, "the pattern has (?=, which RE2 does not know", "patterns have no look-around and no back-references"},
		"# in a misspelt function":     {"filtre(list, # > 1)", "filtre", `unknown function "filtre"`, "did you mean filter(...)?"},
		".x in a misspelt function":    {"filtre(list, .x > 1)", "filtre", `unknown function "filtre"`, "did you mean filter(...)?"},
		"# in brackets of one":         {"filtre([1], len([#]) > 1)", "#", "# is the element of a list and means nothing here", "use it inside a predicate, as in filter(list, # > 1)"},
		"# in a function of CEL":       {"exists(list, # > 1)", "exists", `there is no function "exists"`, "write any(list, condition)"},
		"# in a method":                {"list.filter(# > 1)", "filter", "values have no methods", "write filter(list, condition)" + element},
		"# in no predicate":            {"len(#)", "#", "# is the element of a list and means nothing here", "use it inside a predicate, as in filter(list, # > 1)"},
		"a predicate as a method":      {"list.filter(1)", "filter", "values have no methods", "write filter(list, condition)" + element},
		"a quantity without quotes":    {"text > 5Gi && true", "5Gi", `"5Gi" is not a number`, `write quantity("5Gi") for a quantity, duration("5m") for a duration`},
		"a function's name as a name":  {"size > 1", "size", `unknown name "size"`, `a text needs quotes of its own; a key with - or / is written ["..."]`},
		"a name with a hint":           {"object.a > least", "least", `unknown name "least"`, "write params.least"},
		"the kind without the object":  {`kind == "Pod"`, "kind", `unknown name "kind"`, "write object.kind"},
		"a name without the object":    {`name == "a"`, "name", `unknown name "name"`, "write object.metadata.name"},
		"a key with a slash":           {`object.a.io/name == "a"`, "name", `unknown name "name"`, `a key with - or / in it is written as in object.metadata.labels["a.b/c-d"]`},
		"a key with a hyphen":          {`object.my-app == "a"`, "app", `unknown name "app"`, `a key with - or / in it is written as in object.metadata.labels["a.b/c-d"]`},
		"a difference":                 {`object.a - b`, "b", `unknown name "b"`, `a text needs quotes of its own; a key with - or / is written ["..."]`},
		"the index of others":          {"idx > 1", "idx", `unknown name "idx"`, "only an action with forEach has an index, and a predicate #index"},
		"an operator in another case":  {`text startswith "a"`, "startswith", "an operator is missing between text and startswith", "did you mean startsWith?"},
		"an operator of Go":            {`text hasPrefix "a"`, "hasPrefix", "an operator is missing between text and hasPrefix", "write startsWith"},
		"an operator of SQL":           {`text like "a"`, "like", "an operator is missing between text and like", `write x matches "^a+$"`},
		"an operator as a name":        {`text is "a"`, "is", "an operator is missing between text and is", "write =="},
		"an operator of lists":         {`list has "a"`, "has", "an operator is missing between list and has", "write x in list, or text contains part"},
		"an operator of Go at the end": {`text has_suffix "a"`, "has_suffix", "an operator is missing between text and has_suffix", "write endsWith"},
		"a name beside a name":         {"text list", "list", "an operator is missing between text and list", ""},
		"half of ?: in parentheses":    {"(object.a ? 1)", ")", ") cannot stand here", "?: needs both branches: a > 1 ? x : y; a condition alone is joined with &&"},
		"an empty index":               {"list[]", "]", "an index is missing before ]", "write map(list, .name) for a field of every element, or list[0] for the first"},
		"an empty index on the way":    {"list[].name", "]", "an index is missing before ]", "write map(list, .name) for a field of every element, or list[0] for the first"},
		"a filter of JMESPath":         {`list[?name == "a"]`, "?", "there are no filters in brackets", `write filter(list, .name == "x")`},
		"optional as in CEL":           {"object.?spec.x", "?", "a field name is missing after the dot", "the question mark comes first: write ?. as in object.spec?.x"},
		"a percentage":                 {"object.a == 50%", "50%", "50% is no number", `put it in quotes if it is text: "50%"`},
		"a percentage on the left":     {"50% == object.a", "50%", "50% is no number", `put it in quotes if it is text: "50%"`},
		"a remainder of nothing":       {"object.a % == 1", "==", "a value is missing before ==", ""},
		"isEmpty":                      {"isEmpty(list)", "isEmpty", `there is no function "isEmpty"`, "write len(x) == 0"},
		"parseInt":                     {"parseInt(text)", "parseInt", `there is no function "parseInt"`, "write int(x)"},
		"printf":                       {`printf("%d", 1)`, "printf", `there is no function "printf"`, `write "a " + string(x), or a template: "a ${x}"`},
		"a pattern as a function":      {`regex_match("a", text)`, "regex_match", `there is no function "regex_match"`, `write text matches "^a+$"`},
		"lookup of Helm":               {`lookup("v1")`, "lookup", `there is no function "lookup"`, "other objects are read by with, as in with: {config: {resource: configmaps, name: ...}}"},
		"an index outside":             {"index > 1", "index", `unknown name "index"`, "only an action with forEach has an index, and a predicate #index"},
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

// TestHintsOfScopes holds that hints outlive an extension, and that a name that is
// there needs none.
func TestHintsOfScopes(t *testing.T) {
	scope := NewScope("object").WithHints(map[string]string{"least": "write params.least"}).Extend("more")
	if _, err := Compile("least", scope); err == nil || err.Error() != `unknown name "least"; write params.least` {
		t.Errorf("the hint is lost: %v", err)
	}
	if _, err := Compile("least + more", scope.Extend("least")); err != nil {
		t.Errorf("the name is there: %v", err)
	}
}

// TestVariablesOfShells holds that a script in a body gets told how to stay one.
func TestVariablesOfShells(t *testing.T) {
	const hint = "write $${ for a literal ${"
	for text, wanted := range map[string]bool{
		"${HOME}": true, "a ${HOME:-/root} b": true, "${PATH:+x}": true, "${A=b}": true,
		"${home}": false, "${1 +}": false, "${Home}": false,
	} {
		_, err := CompileTemplate(text, NewScope("object"))
		got, _ := place(t, text, err)
		if (got.Hint == hint) != wanted {
			t.Errorf("%s: hint %q", text, got.Hint)
		}
	}
}
