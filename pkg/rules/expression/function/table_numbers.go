package function

import "github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"

var numberRows = []Function{
	{
		Name: "div", call: div, Params: []Param{takes("a", anInteger), takes("b", anInteger)}, Result: value.Int,
		Doc:     "The integer quotient, cut off toward zero; the operator / gives a float.",
		Example: Example{"div(7, 2)", "3"},
	},
	{
		Name: "abs", call: abs, types: typeAbs, Params: []Param{takes("x", aNumber)}, Result: value.Number,
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
		Name: "min", call: minimum, types: typeExtreme, Params: []Param{several("numbers", aMeasure|aList)}, Result: aMeasure | value.Nil,
		Doc:     "The smallest of the numbers, quantities, versions, durations or times, which may come in lists; nil if there is none.",
		Example: Example{"min(3, [1, 2])", "1"},
	},
	{
		Name: "max", call: maximum, types: typeExtreme, Params: []Param{several("numbers", aMeasure|aList)}, Result: aMeasure | value.Nil,
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
		Name: "jitter", call: jitter, types: typeJitter, Result: value.Int | value.Duration,
		Params: []Param{takes("key", aText), takes("low", aDuration), takes("high", aDuration)},
		Doc: "A number that looks random and is always the same for a key, from low to high, both included: " +
			"an integer between integers, else a duration.",
		Example: Example{`jitter("basic", 1, 100)`, "99"},
	},
}
