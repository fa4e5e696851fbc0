package function

import "github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"

var predicateRows = []Function{
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
		Name: "filter", iterate: filter, flow: flowElements, types: typeKept, Result: value.List,
		Params:  []Param{takes("list", aList), predicate("condition", value.Bool)},
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
		Name: "find", iterate: find, flow: flowElement, types: typeFound, Result: result,
		Params:  []Param{takes("list", aList), predicate("condition", value.Bool)},
		Doc:     "The first element for which the condition holds, or nil.",
		Example: Example{"find([1, 2, 3], # > 1)", "2"},
	},
	{
		Name: "findIndex", iterate: findIndex, Result: value.Int | value.Nil,
		Params:  []Param{takes("list", aList), predicate("condition", value.Bool)},
		Doc:     "The index of the first element for which the condition holds, or nil.",
		Example: Example{"findIndex([1, 2, 3], # > 1)", "1"},
	},
	{
		Name: "findLast", iterate: findLast, flow: flowElement, types: typeFound, Result: result,
		Params:  []Param{takes("list", aList), predicate("condition", value.Bool)},
		Doc:     "The last element for which the condition holds, or nil.",
		Example: Example{"findLast([1, 2, 3], # < 3)", "2"},
	},
	{
		Name: "findLastIndex", iterate: findLastIndex, Result: value.Int | value.Nil,
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
