package function

import "github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"

// What parameters take, by the short names that keep the rows readable. A list
// or a map may be absent, as Kubernetes does not tell that from an empty one.
const (
	aList     = value.List | value.Nil
	aMap      = value.Map | value.Nil
	aText     = value.String
	anInteger = value.Int
	aNumber   = value.Number
	present   = value.Any &^ value.Nil
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

// table is never changed; [All] copies it.
var table = []Function{
	{
		Name: "all", iterate: all, Result: value.Bool,
		Params:  []Param{takes("list", aList), predicate("condition", value.Bool)},
		Doc:     "Whether the condition holds for every element; true for an empty list.",
		Example: Example{"all([2, 4], # % 2 == 0)", "true"},
	},
	{
		Name: "any", iterate: anyOf, Result: value.Bool,
		Params:  []Param{takes("list", aList), predicate("condition", value.Bool)},
		Doc:     "Whether the condition holds for some element; false for an empty list.",
		Example: Example{`any(["a", "b"], # == "b")`, "true"},
	},
	{
		Name: "none", iterate: none, Result: value.Bool,
		Params:  []Param{takes("list", aList), predicate("condition", value.Bool)},
		Doc:     "Whether the condition holds for no element; true for an empty list.",
		Example: Example{"none([1, 3], # > 3)", "true"},
	},
	{
		Name: "one", iterate: one, Result: value.Bool,
		Params:  []Param{takes("list", aList), predicate("condition", value.Bool)},
		Doc:     "Whether the condition holds for exactly one element.",
		Example: Example{"one([1, 2, 3], # > 2)", "true"},
	},
	{
		Name: "filter", iterate: filter, Result: value.List,
		Params:  []Param{takes("list", aList), predicate("condition", value.Bool)},
		Doc:     "The elements for which the condition holds, in their order.",
		Example: Example{"filter([1, 2, 3], # > 1)", "[2,3]"},
	},
	{
		Name: "map", iterate: mapEach, Result: value.List,
		Params:  []Param{takes("list", aList), predicate("result", value.Any|value.Omission)},
		Doc:     "The result for each element. A map as the result needs braces of its own inside those of the predicate.",
		Example: Example{`map(["a", "b"], {{name: #}})`, `[{"name":"a"},{"name":"b"}]`},
	},
	{
		Name: "find", iterate: find, Result: value.Any,
		Params:  []Param{takes("list", aList), predicate("condition", value.Bool)},
		Doc:     "The first element for which the condition holds, or nil.",
		Example: Example{"find([1, 2, 3], # > 1)", "2"},
	},
	{
		Name: "findIndex", iterate: findIndex, Result: value.Int,
		Params:  []Param{takes("list", aList), predicate("condition", value.Bool)},
		Doc:     "The index of the first element for which the condition holds, or nil.",
		Example: Example{"findIndex([1, 2, 3], # > 1)", "1"},
	},
	{
		Name: "findLast", iterate: findLast, Result: value.Any,
		Params:  []Param{takes("list", aList), predicate("condition", value.Bool)},
		Doc:     "The last element for which the condition holds, or nil.",
		Example: Example{"findLast([1, 2, 3], # < 3)", "2"},
	},
	{
		Name: "findLastIndex", iterate: findLastIndex, Result: value.Int,
		Params:  []Param{takes("list", aList), predicate("condition", value.Bool)},
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
		Name: "sum", iterate: sum, Result: value.Number,
		Params:  []Param{takes("list", aList), {Name: "number", Kinds: aNumber, Predicate: true, Optional: true}},
		Doc:     "The sum of the results, or of the elements themselves; 0 for an empty list. Integers stay exact.",
		Example: Example{"sum([{n: 1}, {n: 2}], .n)", "3"},
	},
	{
		Name: "groupBy", iterate: groupBy, Result: value.Map,
		Params:  []Param{takes("list", aList), predicate("key", aText)},
		Doc:     "The elements by the string that the key gives for each, in their order.",
		Example: Example{`groupBy(["ant", "bee", "ape"], #[:1])`, `{"a":["ant","ape"],"b":["bee"]}`},
	},
	{
		Name: "sortBy", iterate: sortBy, Result: value.List,
		Params: []Param{takes("list", aList), predicate("key", value.Any), optional("order", aText)},
		Doc: "The elements ordered by the key, or by several as [k1, desc(k2)], which are numbers, strings or booleans. " +
			`Equal ones keep their order, nil comes first; order is "asc" or "desc".`,
		Example: Example{`sortBy([{n: 1, s: "b"}, {n: 2, s: "b"}, {n: 2, s: "a"}], [desc(.n), .s]) | map(.s)`, `["a","b","b"]`},
	},
	{
		Name: "desc", Params: []Param{takes("key", present)}, Result: value.Any,
		Doc:     "A key of sortBy in descending order; it has no meaning elsewhere.",
		Example: Example{"sortBy([1, 3, 2], desc(#))", "[3,2,1]"},
	},
	{
		Name: "reduce", iterate: reduce, Result: value.Any,
		Params: []Param{takes("list", aList), predicate("result", value.Any|value.Omission), optional("initial", value.Any)},
		Doc: "The last result, where each sees the element as # and the result before it as #acc, " +
			"which is at first the initial value or else the first element.",
		Example: Example{"reduce([1, 2, 3], #acc + #, 10)", "16"},
	},
	{
		Name: "len", call: length, Params: []Param{takes("of", aList|aMap|aText)}, Result: value.Int,
		Doc:     "The number of elements of a list, entries of a map or characters of a string; 0 for what is absent.",
		Example: Example{`len("größe")`, "5"},
	},
	{
		Name: "first", call: first, Params: []Param{takes("list", aList)}, Result: value.Any,
		Doc:     "The first element, or nil.",
		Example: Example{"first([1, 2])", "1"},
	},
	{
		Name: "last", call: last, Params: []Param{takes("list", aList)}, Result: value.Any,
		Doc:     "The last element, or nil.",
		Example: Example{"last([1, 2])", "2"},
	},
	{
		Name: "take", call: take, Params: []Param{takes("list", aList), takes("n", anInteger)}, Result: value.List,
		Doc:     "The first n elements, or as many as there are; none if n is negative.",
		Example: Example{"take([1, 2, 3], 2)", "[1,2]"},
	},
	{
		Name: "get", call: get, Result: value.Any,
		Params:  []Param{takes("from", aList|aMap), takes("key", aText|anInteger)},
		Doc:     "The element at an index, or the value of a key; nil if there is none.",
		Example: Example{`get({a: 1}, "b") ?? 0`, "0"},
	},
	{
		Name: "concat", call: concat, Params: []Param{several("lists", aList)}, Result: value.List,
		Doc:     "The elements of all lists, one after the other.",
		Example: Example{"concat([1], nil, [2])", "[1,2]"},
	},
	{
		Name: "flatten", call: flatten, Params: []Param{takes("list", aList)}, Result: value.List,
		Doc:     "The elements with every list among them, at any depth, replaced by its own.",
		Example: Example{"flatten([1, [2, [3]]])", "[1,2,3]"},
	},
	{
		Name: "uniq", call: uniq, Params: []Param{takes("list", aList)}, Result: value.List,
		Doc:     "The elements without those that equal an earlier one.",
		Example: Example{"uniq([1, 2, 1.0])", "[1,2]"},
	},
	{
		Name: "sort", call: sortList, Result: value.List,
		Params:  []Param{takes("list", aList), optional("order", aText)},
		Doc:     `The elements in order, which is "asc" or "desc"; nil comes first.`,
		Example: Example{`sort([3, 1, 2], "desc")`, "[3,2,1]"},
	},
	{
		Name: "reverse", call: reverse, Params: []Param{takes("list", aList)}, Result: value.List,
		Doc:     "The elements from last to first.",
		Example: Example{"reverse([1, 2])", "[2,1]"},
	},
	{
		Name: "join", call: join, Result: value.String,
		Params:  []Param{takes("list", aList), optional("separator", aText)},
		Doc:     "The strings of the list in one, with the separator between them.",
		Example: Example{`join(["a", "b"], "-")`, `"a-b"`},
	},
	{
		Name: "keys", call: keys, Params: []Param{takes("map", aMap)}, Result: value.List,
		Doc:     "The keys in alphabetical order.",
		Example: Example{"keys({b: 1, a: 2})", `["a","b"]`},
	},
	{
		Name: "values", call: values, Params: []Param{takes("map", aMap)}, Result: value.List,
		Doc:     "The values in the alphabetical order of their keys.",
		Example: Example{"values({b: 1, a: 2})", "[2,1]"},
	},
	{
		Name: "toPairs", call: toPairs, Params: []Param{takes("map", aMap)}, Result: value.List,
		Doc:     "The entries as lists of key and value, in the alphabetical order of the keys.",
		Example: Example{"toPairs({b: 1, a: 2})", `[["a",2],["b",1]]`},
	},
	{
		Name: "fromPairs", call: fromPairs, Params: []Param{takes("pairs", aList)}, Result: value.Map,
		Doc:     "The map of entries that are lists of key and value; of equal keys the last counts.",
		Example: Example{`fromPairs([["a", 1]])`, `{"a":1}`},
	},
	{
		Name: "merge", call: merge, Params: []Param{several("maps", aMap)}, Result: value.Map,
		Doc:     "The entries of all maps, later ones winning; maps among the values are merged too, lists are replaced, null is a value.",
		Example: Example{"merge({a: {x: 1, y: 1}}, {a: {y: 2}})", `{"a":{"x":1,"y":2}}`},
	},
	{
		Name: "condition", call: condition, Result: value.Map,
		Params:  []Param{takes("object", aMap), takes("type", aText)},
		Doc:     "The condition of that type in the object's status, or nil.",
		Example: Example{`condition({status: {conditions: [{type: "Ready", status: "True"}]}}, "Ready")?.status`, `"True"`},
	},
	{
		Name: "split", call: split, Result: value.List,
		Params:  []Param{takes("text", aText), takes("separator", aText), optional("limit", anInteger)},
		Doc:     "The parts between separators, at most limit of them.",
		Example: Example{`split("a,b,c", ",", 2)`, `["a","b,c"]`},
	},
	{
		Name: "splitAfter", call: splitAfter, Result: value.List,
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
	{
		Name: "div", call: div, Params: []Param{takes("a", anInteger), takes("b", anInteger)}, Result: value.Int,
		Doc:     "The integer quotient, cut off toward zero; the operator / gives a float.",
		Example: Example{"div(7, 2)", "3"},
	},
	{
		Name: "abs", call: abs, Params: []Param{takes("x", aNumber)}, Result: value.Number,
		Doc:     "The number without its sign.",
		Example: Example{"abs(-2)", "2"},
	},
	{
		Name: "ceil", call: ceil, Params: []Param{takes("x", aNumber)}, Result: value.Int,
		Doc:     "The next integer that is not smaller.",
		Example: Example{"ceil(7 / 2)", "4"},
	},
	{
		Name: "floor", call: floor, Params: []Param{takes("x", aNumber)}, Result: value.Int,
		Doc:     "The next integer that is not larger.",
		Example: Example{"floor(7 / 2)", "3"},
	},
	{
		Name: "round", call: round, Params: []Param{takes("x", aNumber)}, Result: value.Int,
		Doc:     "The nearest integer; halves go away from zero.",
		Example: Example{"round(2.5)", "3"},
	},
	{
		Name: "min", call: minimum, Params: []Param{several("numbers", aNumber|aList)}, Result: value.Number,
		Doc:     "The smallest of the numbers, which may come in lists; nil if there is none.",
		Example: Example{"min(3, [1, 2])", "1"},
	},
	{
		Name: "max", call: maximum, Params: []Param{several("numbers", aNumber|aList)}, Result: value.Number,
		Doc:     "The largest of the numbers, which may come in lists; nil if there is none.",
		Example: Example{"max(3, [1, 2])", "3"},
	},
	{
		Name: "mean", call: mean, Params: []Param{several("numbers", aNumber|aList)}, Result: value.Float,
		Doc:     "The average of the numbers, which may come in lists; nil if there is none.",
		Example: Example{"mean([1, 2])", "1.5"},
	},
	{
		Name: "median", call: median, Params: []Param{several("numbers", aNumber|aList)}, Result: value.Float,
		Doc:     "The number in the middle, or the average of the two; nil if there is none.",
		Example: Example{"median([1, 2, 10])", "2"},
	},
	{
		Name: "int", call: toInt, Params: []Param{takes("x", aNumber|aText)}, Result: value.Int,
		Doc:     "The integer that a text writes, or a number without its fraction.",
		Example: Example{`int("42")`, "42"},
	},
	{
		Name: "float", call: toFloat, Params: []Param{takes("x", aNumber|aText)}, Result: value.Float,
		Doc:     "The number that a text writes, as a float.",
		Example: Example{`float("1.5")`, "1.5"},
	},
	{
		Name: "string", call: toString, Params: []Param{takes("x", aNumber|aText|value.Bool)}, Result: value.String,
		Doc:     "The text of a string, number or boolean.",
		Example: Example{"string(42)", `"42"`},
	},
	{
		Name: "type", call: typeOf, Params: []Param{takes("x", value.Any)}, Result: value.String,
		Doc:     `The kind of value: "nil", "bool", "int", "float", "string", "array" or "map".`,
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
		Name: "toBase64", call: toBase64, Params: []Param{takes("text", aText)}, Result: value.String,
		Doc:     "The text in base64.",
		Example: Example{`toBase64("ab")`, `"YWI="`},
	},
	{
		Name: "fromBase64", call: fromBase64, Params: []Param{takes("text", aText)}, Result: value.String,
		Doc:     "The text that base64 holds; an error if it is not UTF-8.",
		Example: Example{`fromBase64("YWI=")`, `"ab"`},
	},
	{
		Name: "default", call: orDefault, Result: value.Any,
		Params:  []Param{takes("x", value.Any), takes("y", value.Any|value.Omission)},
		Doc:     `The first argument, or the second where that is nil, "" or an empty list or map.`,
		Example: Example{`default("", "none")`, `"none"`},
	},
	{
		Name: "omit", call: omit, Result: value.Any,
		Doc:     "Drops the key or element that it becomes the value of.",
		Example: Example{"{a: 1, b: true ? omit() : 2}", `{"a":1}`},
	},
}
