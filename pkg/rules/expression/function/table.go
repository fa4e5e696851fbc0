package function

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// What parameters take, by the short names that keep the rows readable. A list
// or a map may be absent, as Kubernetes does not tell that from an empty one.
const (
	aList     = value.List | value.Nil
	aMap      = value.Map | value.Nil
	aText     = value.String
	anInteger = value.Int
	aNumber   = value.Number
	aSummand  = value.Number | value.Quantity | value.Duration
	aMeasure  = value.Number | value.Computed
	anything  = value.Any | value.Computed
	present   = anything &^ value.Nil
	ordinal   = value.Bool | value.Number | value.String | value.Computed
	// result is what a predicate may give that nothing looks at.
	result = anything | value.Omission | value.Stamped
)

func takes(name string, kinds value.Kind) Param { return Param{Name: name, Kinds: kinds} }

func optional(name string, kinds value.Kind) Param {
	return Param{Name: name, Kinds: kinds, Optional: true}
}

func several(name string, kinds value.Kind) Param {
	return Param{Name: name, Kinds: kinds, Variadic: true}
}

func predicate(name string, kinds value.Kind) Param {
	return Param{Name: name, Kinds: kinds, Predicate: true}
}

// elements are the parameters of what looks for elements.
var elements = []Param{takes("list", aList), predicate("condition", value.Bool)}

// table is the rows of all subjects in the order of the reference. It is never
// changed; [All] copies it.
var table = slices.Concat(
	predicateRows, listRows, mapRows, kubernetesRows, textRows, numberRows, timeRows, computedRows,
	conversionRows, networkRows, absenceRows,
)

var absenceRows = []Function{
	{
		Name: "default", call: orDefault, flow: flowChoice, types: typeDefault, Result: result,
		Params:  []Param{takes("x", anything), takes("y", result)},
		Doc:     `The first argument, or the second where that is nil, "" or an empty list or map.`,
		Example: Example{`default("", "none")`, `"none"`},
	},
	{
		Name: "omit", call: func(call) any { return value.Omitted{} }, flow: flowNothing, Result: value.Omission,
		Doc:     "Leaves out the key or element that it would be the value of, as if that were not written.",
		Example: Example{"{a: 1, b: true ? omit() : 2}", `{"a":1}`},
	},
}

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
		Name: "type", call: func(c call) any { return value.KindOf(c.args[0]).Name() }, flow: flowKind, types: typeType, Params: []Param{takes("x", anything)}, Result: value.String,
		Doc:     `The kind of value: "nil", "bool", "int", "float", "string", "array", "map", "quantity", "semver", "duration" or "time".`,
		Example: Example{"type(1.5)", `"float"`},
	},
	{
		Name: "toJSON", call: toJSON, Params: []Param{takes("x", present), optional("indent", anInteger)}, Result: value.String,
		Doc:     "The value as JSON with sorted keys: compact, or in lines that are indented by so many spaces.",
		Example: Example{"toJSON({b: 1, a: [true]})", `"{\"a\":[true],\"b\":1}"`},
	},
	{
		Name: "fromJSON", call: func(c call) any { return value.Got(value.ParseJSON(arg[string](c, 0), c.b)) }, Params: []Param{takes("text", aText)}, Result: value.Any,
		Doc:     "The value that JSON text holds; integers stay integers.",
		Example: Example{`fromJSON("[1, 2.5]")`, "[1,2.5]"},
	},
	{
		Name: "toYAML", call: func(c call) any { return value.Got(value.YAML(c.args[0], c.b)) }, Params: []Param{takes("x", present)}, Result: value.String,
		Doc:     "The value as YAML with sorted keys, laid out as kubectl does, with quotes around whatever some reader could take for no text.",
		Example: Example{`toYAML({b: ["x", "yes"], a: 1})`, `"a: 1\nb:\n- x\n- \"yes\"\n"`},
	},
	{
		Name: "fromYAML", call: func(c call) any { return value.Got(value.ParseYAML(arg[string](c, 0), c.b)) }, Params: []Param{takes("text", aText)}, Result: value.Any,
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

var numberRows = []Function{
	{
		Name: "div", call: func(c call) any { return value.Got(value.Quotient(arg[int64](c, 0), arg[int64](c, 1))) }, Params: []Param{takes("a", anInteger), takes("b", anInteger)}, Result: value.Int,
		Doc:     "The integer quotient, cut off toward zero; the operator / gives a float.",
		Example: Example{"div(7, 2)", "3"},
	},
	{
		Name: "abs", call: abs, Params: []Param{takes("x", aNumber)}, Result: value.Number,
		Doc:     "The number without its sign.",
		Example: Example{"abs(-2)", "2"},
	},
	{
		Name: "ceil", call: whole(math.Ceil), Params: []Param{takes("x", aNumber)}, Result: value.Int,
		Doc:     "The next integer that is not smaller.",
		Example: Example{"ceil(7 / 2)", "4"},
	},
	{
		Name: "floor", call: whole(math.Floor), Params: []Param{takes("x", aNumber)}, Result: value.Int,
		Doc:     "The next integer that is not larger.",
		Example: Example{"floor(7 / 2)", "3"},
	},
	{
		Name: "round", call: whole(math.Round), Params: []Param{takes("x", aNumber)}, Result: value.Int,
		Doc:     "The nearest integer; halves go away from zero.",
		Example: Example{"round(2.5)", "3"},
	},
	{
		Name: "min", call: extreme(-1), types: typeExtreme, Params: []Param{several("numbers", aMeasure|aList)}, Result: aMeasure | value.Nil,
		Doc:     "The smallest of the numbers, quantities, versions, durations or times, which may come in lists; nil if there is none.",
		Example: Example{"min(3, [1, 2])", "1"},
	},
	{
		Name: "max", call: extreme(1), types: typeExtreme, Params: []Param{several("numbers", aMeasure|aList)}, Result: aMeasure | value.Nil,
		Doc:     "The largest of the numbers, quantities, versions, durations or times, which may come in lists; nil if there is none.",
		Example: Example{"max(3, [1, 2])", "3"},
	},
	{
		Name: "mean", call: mean, types: typeMiddle, Params: []Param{several("numbers", aNumber|aList)}, Result: value.Float | value.Nil,
		Doc:     "The average of the numbers, which may come in lists; nil if there is none.",
		Example: Example{"mean([1, 2])", "1.5"},
	},
	{
		Name: "median", call: median, types: typeMiddle, Params: []Param{several("numbers", aNumber|aList)}, Result: value.Float | value.Nil,
		Doc:     "The number in the middle, or the average of the two; nil if there is none.",
		Example: Example{"median([1, 2, 10])", "2"},
	},
	{
		Name: "jitter", call: jitter, Result: value.Int | value.Duration,
		Params: []Param{takes("key", aText), takes("low", aDuration), takes("high", aDuration)},
		Doc: "A number that looks random and is always the same for a key, from low to high, both included: " +
			"an integer between integers, else a duration.",
		Example: Example{`jitter("basic", 1, 100)`, "99"},
	},
}

// computedRows give the values that a body holds as strings. A constant is read
// once, so that a mistake in it is found before anything runs.
var computedRows = []Function{
	{
		Name: "quantity", call: func(c call) any { return c.args[0] }, Result: value.Quantity,
		Params: []Param{{Name: "x", Kinds: aNumber | aText | value.Quantity, Parse: parser((*value.Budget).Conversion, value.ParseAmount)}},
		Doc: "The quantity, as of memory or of processors, that a text or a number writes. Quantities compare, add and subtract, " +
			"also with a text or a number on one side; a body holds them in their canonical form.",
		Example: Example{`quantity("1Gi") + "512Mi"`, `"1536Mi"`},
	},
	{
		Name: "semver", call: func(c call) any { return c.args[0] }, Result: value.Semver,
		Params: []Param{{Name: "x", Kinds: aText | value.Semver, Parse: parser((*value.Budget).Conversion, value.ParseVersion)}},
		Doc: "The semantic version that a text writes; a leading v and numbers missing at the end do no harm. Versions compare by " +
			"precedence, which ignores build metadata, also with a text on one side.",
		Example: Example{`semver("v1.10.0") > "1.9"`, "true"},
	},
	{
		Name: "duration", call: func(c call) any { return c.args[0] }, Result: value.Duration,
		Params: []Param{{Name: "x", Kinds: aDuration, Parse: parseDuration}},
		Doc: `The duration that a text such as "1w2d3h4m5s" or a number of seconds writes. Durations compare, add and subtract, also with ` +
			"a text or seconds on one side; multiplied or divided by an integer they are durations, by one another numbers.",
		Example: Example{`duration("1h") > "5m" ? 2 * duration("1d") : duration(0)`, `"48h0m0s"`},
	},
	{
		Name: "timestamp", call: func(c call) any { return c.args[0] }, Result: value.Time,
		Params: []Param{takesTime("x")},
		Doc: "The time that a text in RFC 3339 writes. Times compare, also with a text on one side; one less another is a duration, " +
			"and with a duration, its text or seconds added or subtracted it is a time in its zone.",
		Example: Example{`timestamp("2026-01-01T00:00:00Z") - "90m"`, `"2025-12-31T22:30:00Z"`},
	},
}

var textRows = []Function{
	{
		Name: "split", call: split(strings.SplitN), types: typeTexts, Result: value.List,
		Params:  []Param{takes("text", aText), takes("separator", aText), optional("limit", anInteger)},
		Doc:     "The parts between separators, at most limit of them.",
		Example: Example{`split("a,b,c", ",", 2)`, `["a","b,c"]`},
	},
	{
		Name: "splitAfter", call: split(strings.SplitAfterN), types: typeTexts, Result: value.List,
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
		Name: "trimPrefix", call: texts(strings.TrimPrefix), Result: value.String,
		Params:  []Param{takes("text", aText), takes("prefix", aText)},
		Doc:     "The text without the prefix, if it starts with it.",
		Example: Example{`trimPrefix("v1.2", "v")`, `"1.2"`},
	},
	{
		Name: "trimSuffix", call: texts(strings.TrimSuffix), Result: value.String,
		Params:  []Param{takes("text", aText), takes("suffix", aText)},
		Doc:     "The text without the suffix, if it ends with it.",
		Example: Example{`trimSuffix("a.yaml", ".yaml")`, `"a"`},
	},
	{
		Name: "upper", call: changeCase(strings.ToUpper), Params: []Param{takes("text", aText)}, Result: value.String,
		Doc:     "The text in upper case.",
		Example: Example{`upper("ab")`, `"AB"`},
	},
	{
		Name: "lower", call: changeCase(strings.ToLower), Params: []Param{takes("text", aText)}, Result: value.String,
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
		Name: "indexOf", call: position(strings.Index), Result: value.Int,
		Params:  []Param{takes("text", aText), takes("part", aText)},
		Doc:     "How many characters come before the first occurrence of the part, or -1.",
		Example: Example{`indexOf("a.b.c", ".")`, "1"},
	},
	{
		Name: "lastIndexOf", call: position(strings.LastIndex), Result: value.Int,
		Params:  []Param{takes("text", aText), takes("part", aText)},
		Doc:     "How many characters come before the last occurrence of the part, or -1.",
		Example: Example{`lastIndexOf("a.b.c", ".")`, "3"},
	},
	{
		Name: "hasPrefix", call: texts(strings.HasPrefix), Result: value.Bool,
		Params:  []Param{takes("text", aText), takes("prefix", aText)},
		Doc:     "Whether the text starts with the prefix, as the operator startsWith.",
		Example: Example{`hasPrefix("ab", "a")`, "true"},
	},
	{
		Name: "hasSuffix", call: texts(strings.HasSuffix), Result: value.Bool,
		Params:  []Param{takes("text", aText), takes("suffix", aText)},
		Doc:     "Whether the text ends with the suffix, as the operator endsWith.",
		Example: Example{`hasSuffix("ab", "b")`, "true"},
	},
}

var listRows = []Function{
	{
		Name: "len", call: length, flow: flowLength, Params: []Param{takes("of", aList|aMap|aText)}, Result: value.Int,
		Doc:     "The number of elements of a list, entries of a map or characters of a string; 0 for what is absent.",
		Example: Example{`len("größe")`, "5"},
	},
	{
		Name: "first", call: func(c call) any { return value.Element(arg[[]any](c, 0), 0) }, flow: flowElement, types: typeElement, Params: []Param{takes("list", aList)}, Result: result,
		Doc:     "The first element, or nil.",
		Example: Example{"first([1, 2])", "1"},
	},
	{
		Name: "last", call: func(c call) any { return value.Element(arg[[]any](c, 0), -1) }, flow: flowElement, types: typeElement, Params: []Param{takes("list", aList)}, Result: result,
		Doc:     "The last element, or nil.",
		Example: Example{"last([1, 2])", "2"},
	},
	{
		Name: "take", call: take, flow: flowElements, types: typeElements, Result: value.List,
		Params:  []Param{takes("list", aList), takes("n", anInteger)},
		Doc:     "The first n elements, or as many as there are; none if n is negative.",
		Example: Example{"take([1, 2, 3], 2)", "[1,2]"},
	},
	{
		Name: "get", call: get, flow: flowGet, types: typeGet, Result: result,
		Params:  []Param{takes("from", aList|aMap), takes("key", aText|anInteger)},
		Doc:     "The element at an index, or the value of a key; nil if there is none.",
		Example: Example{`get({a: 1}, "b") ?? 0`, "0"},
	},
	{
		Name: "concat", call: concat, flow: flowElements, types: typeConcat, Params: []Param{several("lists", aList)}, Result: value.List,
		Doc:     "The elements of all lists, one after the other.",
		Example: Example{"concat([1], nil, [2])", "[1,2]"},
	},
	{
		Name: "flatten", call: func(c call) any { return appendFlat([]any{}, arg[[]any](c, 0), c.b, 0) }, flow: flowFlatten, types: typeFlatten, Params: []Param{takes("list", aList)}, Result: value.List,
		Doc:     "The elements with every list among them, at any depth, replaced by its own; one that is absent has none.",
		Example: Example{"flatten([1, [2, nil, [3]]])", "[1,2,3]"},
	},
	{
		Name: "uniq", call: uniq, flow: flowOrdered, types: typeElements, Params: []Param{takes("list", aList)}, Result: value.List,
		Doc:     "The elements without those that equal an earlier one.",
		Example: Example{"uniq([1, 2, 1.0])", "[1,2]"},
	},
	{
		Name: "sort", call: sortList, flow: flowOrdered, types: typeElements, Result: value.List,
		Params:  []Param{takes("list", aList), optional("order", aText)},
		Doc:     `The elements, as keys of sortBy, in order, which is "asc" or "desc".`,
		Example: Example{`sort([3, 1, 2], "desc")`, "[3,2,1]"},
	},
	{
		Name: "reverse", call: reverse, flow: flowElements, types: typeElements, Params: []Param{takes("list", aList)}, Result: value.List,
		Doc:     "The elements from last to first.",
		Example: Example{"reverse([1, 2])", "[2,1]"},
	},
	{
		Name: "join", call: join, Result: value.String,
		Params:  []Param{takes("list", aList), optional("separator", aText)},
		Doc:     "The strings of the list in one, with the separator between them.",
		Example: Example{`join(["a", "b"], "-")`, `"a-b"`},
	},
}

var predicateRows = []Function{
	{
		Name: "all", iterate: all, Result: value.Bool, Params: elements,
		Doc:     "Whether the condition holds for every element; true for an empty list.",
		Example: Example{"all([2, 4], # % 2 == 0)", "true"},
	},
	{
		Name: "any", iterate: anyOf, Result: value.Bool, Params: elements,
		Doc:     "Whether the condition holds for some element; false for an empty list.",
		Example: Example{`any(["a", "b"], # == "b")`, "true"},
	},
	{
		Name: "none", iterate: none, Result: value.Bool, Params: elements,
		Doc:     "Whether the condition holds for no element; true for an empty list.",
		Example: Example{"none([1, 3], # > 3)", "true"},
	},
	{
		Name: "one", iterate: one, Result: value.Bool, Params: elements,
		Doc:     "Whether the condition holds for exactly one element.",
		Example: Example{"one([1, 2, 3], # > 2)", "true"},
	},
	{
		Name: "filter", iterate: filter, flow: flowElements, types: typeKept, Result: value.List, Params: elements,
		Doc:     "The elements for which the condition holds, in their order.",
		Example: Example{"filter([1, 2, 3], # > 1)", "[2,3]"},
	},
	{
		Name: "map", iterate: mapEach, flow: flowResults, types: typeResults, Result: value.List,
		Params:  []Param{takes("list", aList), predicate("result", result)},
		Doc:     "The result for each element. A map as the result needs braces of its own inside those of the predicate.",
		Example: Example{`map(["a", "b"], {{name: #}})`, `[{"name":"a"},{"name":"b"}]`},
	},
	{
		Name: "find", iterate: found((*Iteration).first), flow: flowElement, types: typeFound, Result: result, Params: elements,
		Doc:     "The first element for which the condition holds, or nil.",
		Example: Example{"find([1, 2, 3], # > 1)", "2"},
	},
	{
		Name: "findIndex", iterate: foundAt((*Iteration).first), Result: value.Int | value.Nil, Params: elements,
		Doc:     "The index of the first element for which the condition holds, or nil.",
		Example: Example{"findIndex([1, 2, 3], # > 1)", "1"},
	},
	{
		Name: "findLast", iterate: found((*Iteration).last), flow: flowElement, types: typeFound, Result: result, Params: elements,
		Doc:     "The last element for which the condition holds, or nil.",
		Example: Example{"findLast([1, 2, 3], # < 3)", "2"},
	},
	{
		Name: "findLastIndex", iterate: foundAt((*Iteration).last), Result: value.Int | value.Nil, Params: elements,
		Doc:     "The index of the last element for which the condition holds, or nil.",
		Example: Example{"findLastIndex([1, 2, 3], # < 3)", "1"},
	},
	{
		Name: "count", iterate: count, Result: value.Int,
		Params:  []Param{takes("list", aList), {Name: "condition", Kinds: value.Bool, Predicate: true, Optional: true}},
		Doc:     "How many elements the condition holds for; without one, how many are true.",
		Example: Example{"count([1, 2, 3], # > 1)", "2"},
	},
	{
		Name: "sum", iterate: sum, types: typeSum, Result: aSummand,
		Params: []Param{takes("list", aList), {Name: "number", Kinds: aSummand, Predicate: true, Optional: true}},
		Doc: "The sum of the results, or of the elements themselves; integers stay exact. " +
			"It is 0 for an empty list, so write quantity(sum(...)) or duration(sum(...)) where the results are such.",
		Example: Example{"sum([{n: 1}, {n: 2}], .n)", "3"},
	},
	{
		Name: "groupBy", iterate: groupBy, flow: flowGroups, types: typeGroupBy, Result: value.Map,
		Params:  []Param{takes("list", aList), predicate("key", aText)},
		Doc:     "The elements by the string that the key gives for each, in their order.",
		Example: Example{`groupBy(["ant", "bee", "ape"], #[:1])`, `{"a":["ant","ape"],"b":["bee"]}`},
	},
	{
		Name: "groups", iterate: groups, flow: flowByKey, types: typeGroups, Result: value.List,
		Params:  []Param{takes("list", aList), predicate("keys", anything)},
		Doc:     "The elements by what the keys give for each, which may be anything, as maps {key, items} in the order of their first elements.",
		Example: Example{"groups([1, 2, 3], # % 2)", `[{"items":[1,3],"key":1},{"items":[2],"key":0}]`},
	},
	{
		Name: "sortBy", iterate: sortBy, flow: flowElements, types: typeElements, Result: value.List,
		Params: []Param{takes("list", aList), predicate("key", anything), optional("order", aText)},
		Doc: "The elements ordered by the key, or by several as [k1, desc(k2)], which are numbers, strings, booleans, quantities, " +
			`versions, durations or times. Equal ones keep their order, nil comes first; order is "asc" or "desc".`,
		Example: Example{`sortBy([{n: 1, s: "b"}, {n: 2, s: "b"}, {n: 2, s: "a"}], [desc(.n), .s]) | map(.s)`, `["a","b","b"]`},
	},
	{
		Name: "desc", types: typeSame, Params: []Param{takes("key", present)}, Result: present,
		Doc:     "A key of sortBy in descending order; it has no meaning elsewhere.",
		Example: Example{"sortBy([1, 3, 2], desc(#))", "[3,2,1]"},
	},
	{
		Name: "reduce", iterate: reduce, flow: flowReduce, types: typeReduce, Result: result,
		Params: []Param{takes("list", aList), predicate("result", result), optional("initial", anything)},
		Doc: "The last result, where each sees the element as # and the result before it as #acc, " +
			"which is at first the initial value or else the first element.",
		Example: Example{"reduce([1, 2, 3], #acc + #, 10)", "16"},
	},
}

var mapRows = []Function{
	{
		Name: "keys", call: eachKey(func(key string, _ any) any { return key }), flow: flowLength, types: typeTexts, Params: []Param{takes("map", aMap)}, Result: value.List,
		Doc:     "The keys in alphabetical order.",
		Example: Example{"keys({b: 1, a: 2})", `["a","b"]`},
	},
	{
		Name: "values", call: eachKey(func(_ string, v any) any { return v }), flow: flowValues, types: typeValues, Params: []Param{takes("map", aMap)}, Result: value.List,
		Doc:     "The values in the alphabetical order of their keys.",
		Example: Example{"values({b: 1, a: 2})", "[2,1]"},
	},
	{
		Name: "toPairs", call: eachKey(func(key string, v any) any { return []any{key, v} }), flow: flowPairs, types: typePairs, Params: []Param{takes("map", aMap)}, Result: value.List,
		Doc:     "The entries as lists of key and value, in the alphabetical order of the keys.",
		Example: Example{"toPairs({b: 1, a: 2})", `[["a",2],["b",1]]`},
	},
	{
		Name: "fromPairs", call: fromPairs, flow: flowFromPairs, types: typeFromPairs, Params: []Param{takes("pairs", aList)}, Result: value.Map,
		Doc:     "The map of entries that are lists of key and value; of equal keys the last counts, and what has no value is left out.",
		Example: Example{`fromPairs([["a", 1]])`, `{"a":1}`},
	},
	{
		Name: "merge", call: merge, flow: flowMerge, types: typeMerge, Params: []Param{several("maps", aMap)}, Result: value.Map,
		Doc:     "The entries of all maps, later ones winning; maps among the values are merged too, lists are replaced, null is a value.",
		Example: Example{"merge({a: {x: 1, y: 1}}, {a: {y: 2}})", `{"a":{"x":1,"y":2}}`},
	},
	{
		Name: "pick", call: pick, flow: flowPick, types: typePick, Params: []Param{takes("map", aMap), several("keys", aText)}, Result: value.Map,
		Doc:     "The entries of the map under these keys. What a new version of Kubernetes adds to the map is left out.",
		Example: Example{`pick({a: 1, b: 2}, "a", "c")`, `{"a":1}`},
	},
}

var kubernetesRows = []Function{
	{
		Name: "condition", call: condition, flow: flowCondition, types: typeCondition, Result: value.Map | value.Nil,
		Params:  []Param{takes("object", aMap), takes("type", aText)},
		Doc:     "The condition of that type in the object's status, or nil.",
		Example: Example{`condition({status: {conditions: [{type: "Ready", status: "True"}]}}, "Ready")?.status`, `"True"`},
	},
	{
		Name: "labelsMatch", call: labelsMatch, flow: flowLabelsMatch, Result: value.Bool,
		Params: []Param{takes("object", aMap), takes("selector", aMap)},
		Doc: "Whether a label selector, of matchLabels and matchExpressions, selects the object. " +
			"None does where it is nil; an empty one, which would select everything, is an error.",
		Example: Example{`labelsMatch({metadata: {labels: {app: "tidb"}}}, {matchLabels: {app: "tidb"}})`, "true"},
	},
	{
		Name: "controllerOf", call: controllerOf, flow: flowControllerOf, types: typeControllerOf, Result: value.Map | value.Nil,
		Params:  []Param{takes("object", aMap)},
		Doc:     "The owner reference of the object that says controller, or nil.",
		Example: Example{`controllerOf({metadata: {ownerReferences: [{kind: "ReplicaSet", name: "web", controller: true}]}})?.name`, `"web"`},
	},
	{
		Name: "controllerRef", call: controllerRef, flow: flowControllerRef, types: typeControllerRef, Result: value.Map, Params: []Param{takes("object", aMap)},
		Doc: "An owner reference to the object as the controller of what holds it.",
		Example: Example{
			`controllerRef({apiVersion: "apps/v1", kind: "ReplicaSet", metadata: {name: "web", uid: "0-1"}})`,
			`{"apiVersion":"apps/v1","blockOwnerDeletion":true,"controller":true,"kind":"ReplicaSet","name":"web","uid":"0-1"}`,
		},
	},
}

var networkRows = []Function{
	{
		Name: "cidrContains", call: cidrContains, Result: value.Bool,
		Params:  []Param{{Name: "cidr", Kinds: aText, Parse: parser((*value.Budget).Conversion, parseBlock)}, {Name: "ip", Kinds: aText, Parse: parser((*value.Budget).Conversion, parseAddress)}},
		Doc:     "Whether the CIDR block, of IPv4 or IPv6, contains an address, or all of another block.",
		Example: Example{`cidrContains("10.0.0.0/8", "10.1.2.3")`, "true"},
	},
	{
		Name: "url", call: parseURL, types: typeURL, Result: value.Map, Params: []Param{takes("text", aText)},
		Doc: "The parts of a URL, which has to be whole: scheme, user (without a password), host, hostname, port (an integer, or nil), " +
			`path, query (a list of strings for each name) and fragment. What is missing is "".`,
		Example: Example{`url("https://example.org:8443/a?b=c&b=d").query.b`, `["c","d"]`},
	},
}

// Times and durations may be written as Kubernetes writes them.
const (
	aTime     = value.Time | value.String
	aDuration = value.Duration | value.String | value.Int
)

var parseDuration = parser(spends(10, 32), value.ParseDuration)

func takesTime(name string) Param {
	return Param{Name: name, Kinds: aTime, Parse: parser(spends(10, 32), value.ParseTime)}
}

// windowParams are those of the functions of windows.
var windowParams = []Param{
	{Name: "cron", Kinds: aText, Parse: parser(spends(1000, 16<<10), parseCron)},
	{Name: "duration", Kinds: aDuration, Parse: parser(spends(10, 32), windowLength)},
	{Name: "zone", Kinds: aText, Parse: parser(spends(500, 8<<10), parseZone), Optional: true},
}

var timeRows = []Function{
	{
		Name: "after", call: func(c call) any { return c.reached(arg[time.Time](c, 0)) }, Params: []Param{takesTime("time")}, Result: value.Bool,
		Doc:     "Whether the time has come, to the instant.",
		Example: Example{`after("2026-01-01T00:00:00Z")`, "true"},
	},
	{
		Name: "before", call: func(c call) any { return !c.reached(arg[time.Time](c, 0)) }, Params: []Param{takesTime("time")}, Result: value.Bool,
		Doc:     "Whether the time has yet to come.",
		Example: Example{`before("2026-01-01T09:00:00+01:00")`, "true"},
	},
	{
		Name: "olderThan", call: olderThan, Result: value.Bool,
		Params:  []Param{takesTime("time"), {Name: "duration", Kinds: aDuration, Parse: parseDuration}},
		Doc:     `Whether at least the duration has passed since the time. It is a text such as "1w2d3h4m5s", or a number of seconds.`,
		Example: Example{`olderThan("2025-12-25T00:00:00Z", "1w")`, "true"},
	},
	{
		Name: "inWindow", call: inWindow, Params: windowParams, Result: value.Bool,
		Doc: "Whether a window is open that begins whenever the cron schedule says (five fields, or a name such as @daily) and lasts " +
			"for the duration. The zone is a name of the IANA database, or else UTC: " +
			"where its clocks skip an hour, no window begins in it; where they repeat one, its windows begin twice.",
		Example: Example{`inWindow("0 22 * * 1-5", "8h", "Europe/Berlin")`, "true"},
	},
	{
		Name: "window", call: window, types: typeWindow, Params: windowParams, Result: value.Map | value.Nil,
		Doc:     "The window of inWindow that began last, as start and end in its zone, or nil where none is open.",
		Example: Example{`window("0 22 * * *", "8h", "Europe/Berlin")`, `{"end":"2026-01-01T06:00:00+01:00","start":"2025-12-31T22:00:00+01:00"}`},
	},
	{
		Name: "stamp", call: func(call) any { return value.Stamp{} }, Result: value.Stamped,
		Doc: "The time of writing, for a body alone: nothing can read it. What is there stays, unless something else in the " +
			"same map changes.",
		Example: Example{`{phase: "Ready", since: stamp()}`, `{"phase":"Ready","since":"2026-01-01T00:00:00Z"}`},
	},
	{
		Name: "setCondition", call: setCondition, flow: flowSetCondition, types: typeSetCondition, Result: value.List | value.Nil,
		Params: []Param{takes("list", aList), takes("condition", aMap)},
		Doc: "The list with the condition in place of the one of its type. Nothing of the old one stays but lastTransitionTime, " +
			"and that only while status is the same. A nil condition changes nothing.",
		Example: Example{
			`setCondition([], {type: "Ready", status: "True", reason: "Up"})`,
			`[{"lastTransitionTime":"2026-01-01T00:00:00Z","reason":"Up","status":"True","type":"Ready"}]`,
		},
	},
}
