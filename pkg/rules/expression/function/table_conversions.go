package function

import "github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"

// aCount is what stands for a number.
const aCount = aNumber | aText | value.Quantity | value.Duration | value.Time

var conversionRows = []Function{
	{
		Name: "int", call: toInt, Params: []Param{takes("x", aCount)}, Result: value.Int,
		Doc:     "The integer that a text writes, or a number or quantity without its fraction; of a duration or time the seconds, since 1970.",
		Example: Example{`int("42")`, "42"},
	},
	{
		Name: "float", call: toFloat, Params: []Param{takes("x", aCount)}, Result: value.Float,
		Doc:     "The number that a text writes, a number or a quantity as a float; of a duration or time the seconds, since 1970.",
		Example: Example{`float("1.5")`, "1.5"},
	},
	{
		Name: "string", call: toString, Params: []Param{takes("x", aNumber|aText|value.Bool|value.Computed)}, Result: value.String,
		Doc:     "The text of a string, number or boolean, and the canonical form of a quantity, version, duration or time.",
		Example: Example{"string(42)", `"42"`},
	},
	{
		Name: "type", call: typeOf, flow: flowKind, types: typeType, Params: []Param{takes("x", anything)}, Result: value.String,
		Doc:     `The kind of value: "nil", "bool", "int", "float", "string", "array", "map", "quantity", "semver", "duration" or "time".`,
		Example: Example{"type(1.5)", `"float"`},
	},
	{
		Name: "toJSON", call: toJSON, Params: []Param{takes("x", present)}, Result: value.String,
		Doc:     "The value as compact JSON with sorted keys.",
		Example: Example{"toJSON({b: 1, a: [true]})", `"{\"a\":[true],\"b\":1}"`},
	},
	{
		Name: "fromJSON", call: fromJSON, Params: []Param{takes("text", aText)}, Result: value.Any,
		Doc:     "The value that JSON text holds; integers stay integers.",
		Example: Example{`fromJSON("[1, 2.5]")`, "[1,2.5]"},
	},
	{
		Name: "toYAML", call: toYAML, Params: []Param{takes("x", present)}, Result: value.String,
		Doc:     "The value as YAML with sorted keys, laid out as kubectl does, with quotes around whatever some reader could take for no text.",
		Example: Example{`toYAML({b: ["x", "yes"], a: 1})`, `"a: 1\nb:\n- x\n- \"yes\"\n"`},
	},
	{
		Name: "fromYAML", call: fromYAML, Params: []Param{takes("text", aText)}, Result: value.Any,
		Doc: "The value that a YAML document holds, nil if it is empty; integers stay integers, times are strings. Duplicate keys, tags, " +
			"merge keys and what readers understand differently, like an unquoted yes or 012, are errors.",
		Example: Example{`fromYAML("a: [1, x]")`, `{"a":[1,"x"]}`},
	},
	{
		Name: "sha256", call: sha256Hex, Params: []Param{takes("text", aText)}, Result: value.String,
		Doc:     "The SHA-256 digest of the text, in hexadecimal digits.",
		Example: Example{`sha256("ab")[:8]`, `"fb8e20fc"`},
	},
	{
		Name: "toBase64", call: toBase64, Params: []Param{takes("text", aText)}, Result: value.String,
		Doc:     "The text in base64.",
		Example: Example{`toBase64("ab")`, `"YWI="`},
	},
	{
		Name: "fromBase64", call: fromBase64, Params: []Param{takes("text", aText)}, Result: value.String,
		Doc:     "The text that base64 holds; an error if it is not UTF-8.",
		Example: Example{`fromBase64("YWI=")`, `"ab"`},
	},
}
