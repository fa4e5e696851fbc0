package function

import "github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"

var textRows = []Function{
	{
		Name: "split", call: split, types: typeTexts, Result: value.List,
		Params:  []Param{takes("text", aText), takes("separator", aText), optional("limit", anInteger)},
		Doc:     "The parts between separators, at most limit of them.",
		Example: Example{`split("a,b,c", ",", 2)`, `["a","b,c"]`},
	},
	{
		Name: "splitAfter", call: splitAfter, types: typeTexts, Result: value.List,
		Params:  []Param{takes("text", aText), takes("separator", aText), optional("limit", anInteger)},
		Doc:     "As split, with the separator kept at the end of each part.",
		Example: Example{`splitAfter("a,b", ",")`, `["a,","b"]`},
	},
	{
		Name: "trim", call: trim, Result: value.String,
		Params:  []Param{takes("text", aText), optional("characters", aText)},
		Doc:     "The text without those characters, or without white space, at both ends.",
		Example: Example{`trim(" a ")`, `"a"`},
	},
	{
		Name: "trimPrefix", call: trimPrefix, Result: value.String,
		Params:  []Param{takes("text", aText), takes("prefix", aText)},
		Doc:     "The text without the prefix, if it starts with it.",
		Example: Example{`trimPrefix("v1.2", "v")`, `"1.2"`},
	},
	{
		Name: "trimSuffix", call: trimSuffix, Result: value.String,
		Params:  []Param{takes("text", aText), takes("suffix", aText)},
		Doc:     "The text without the suffix, if it ends with it.",
		Example: Example{`trimSuffix("a.yaml", ".yaml")`, `"a"`},
	},
	{
		Name: "upper", call: upper, Params: []Param{takes("text", aText)}, Result: value.String,
		Doc:     "The text in upper case.",
		Example: Example{`upper("ab")`, `"AB"`},
	},
	{
		Name: "lower", call: lower, Params: []Param{takes("text", aText)}, Result: value.String,
		Doc:     "The text in lower case.",
		Example: Example{`lower("AB")`, `"ab"`},
	},
	{
		Name: "replace", call: replace, Result: value.String,
		Params:  []Param{takes("text", aText), takes("old", aText), takes("new", aText), optional("limit", anInteger)},
		Doc:     "The text with old replaced by new, at most limit times.",
		Example: Example{`replace("a-b-c", "-", "_")`, `"a_b_c"`},
	},
	{
		Name: "repeat", call: repeat, Result: value.String,
		Params:  []Param{takes("text", aText), takes("n", anInteger)},
		Doc:     "The text n times.",
		Example: Example{`repeat("ab", 2)`, `"abab"`},
	},
	{
		Name: "indexOf", call: indexOf, Result: value.Int,
		Params:  []Param{takes("text", aText), takes("part", aText)},
		Doc:     "How many characters come before the first occurrence of the part, or -1.",
		Example: Example{`indexOf("a.b.c", ".")`, "1"},
	},
	{
		Name: "lastIndexOf", call: lastIndexOf, Result: value.Int,
		Params:  []Param{takes("text", aText), takes("part", aText)},
		Doc:     "How many characters come before the last occurrence of the part, or -1.",
		Example: Example{`lastIndexOf("a.b.c", ".")`, "3"},
	},
	{
		Name: "hasPrefix", call: hasPrefix, Result: value.Bool,
		Params:  []Param{takes("text", aText), takes("prefix", aText)},
		Doc:     "Whether the text starts with the prefix, as the operator startsWith.",
		Example: Example{`hasPrefix("ab", "a")`, "true"},
	},
	{
		Name: "hasSuffix", call: hasSuffix, Result: value.Bool,
		Params:  []Param{takes("text", aText), takes("suffix", aText)},
		Doc:     "Whether the text ends with the suffix, as the operator endsWith.",
		Example: Example{`hasSuffix("ab", "b")`, "true"},
	},
}
