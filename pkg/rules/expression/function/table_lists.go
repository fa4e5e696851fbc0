package function

import "github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"

var listRows = []Function{
	{
		Name: "len", call: length, flow: flowLength, Params: []Param{takes("of", aList|aMap|aText)}, Result: value.Int,
		Doc:     "The number of elements of a list, entries of a map or characters of a string; 0 for what is absent.",
		Example: Example{`len("größe")`, "5"},
	},
	{
		Name: "first", call: first, flow: flowElement, types: typeElement, Params: []Param{takes("list", aList)}, Result: result,
		Doc:     "The first element, or nil.",
		Example: Example{"first([1, 2])", "1"},
	},
	{
		Name: "last", call: last, flow: flowElement, types: typeElement, Params: []Param{takes("list", aList)}, Result: result,
		Doc:     "The last element, or nil.",
		Example: Example{"last([1, 2])", "2"},
	},
	{
		Name: "take", call: take, flow: flowElements, types: typeElements, Params: []Param{takes("list", aList), takes("n", anInteger)}, Result: value.List,
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
		Name: "flatten", call: flatten, flow: flowFlatten, types: typeFlatten, Params: []Param{takes("list", aList)}, Result: value.List,
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
