package function

import "github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"

var mapRows = []Function{
	{
		Name: "keys", call: keys, flow: flowLength, types: typeTexts, Params: []Param{takes("map", aMap)}, Result: value.List,
		Doc:     "The keys in alphabetical order.",
		Example: Example{"keys({b: 1, a: 2})", `["a","b"]`},
	},
	{
		Name: "values", call: values, flow: flowValues, types: typeValues, Params: []Param{takes("map", aMap)}, Result: value.List,
		Doc:     "The values in the alphabetical order of their keys.",
		Example: Example{"values({b: 1, a: 2})", "[2,1]"},
	},
	{
		Name: "toPairs", call: toPairs, flow: flowPairs, types: typePairs, Params: []Param{takes("map", aMap)}, Result: value.List,
		Doc:     "The entries as lists of key and value, in the alphabetical order of the keys.",
		Example: Example{"toPairs({b: 1, a: 2})", `[["a",2],["b",1]]`},
	},
	{
		Name: "fromPairs", call: fromPairs, flow: flowFromPairs, types: typeFromPairs, Params: []Param{takes("pairs", aList)}, Result: value.Map,
		Doc:     "The map of entries that are lists of key and value; of equal keys the last counts.",
		Example: Example{`fromPairs([["a", 1]])`, `{"a":1}`},
	},
	{
		Name: "merge", call: merge, flow: flowMerge, types: typeMerge, Params: []Param{several("maps", aMap)}, Result: value.Map,
		Doc:     "The entries of all maps, later ones winning; maps among the values are merged too, lists are replaced, null is a value.",
		Example: Example{"merge({a: {x: 1, y: 1}}, {a: {y: 2}})", `{"a":{"x":1,"y":2}}`},
	},
}
