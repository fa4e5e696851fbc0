package function

import "github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"

var absenceRows = []Function{
	{
		Name: "default", call: orDefault, flow: flowChoice, types: typeDefault, Result: result,
		Params:  []Param{takes("x", anything), takes("y", result)},
		Doc:     `The first argument, or the second where that is nil, "" or an empty list or map.`,
		Example: Example{`default("", "none")`, `"none"`},
	},
	{
		Name: "omit", call: omit, flow: flowNothing, Result: value.Omission,
		Doc:     "Drops the key or element that it becomes the value of.",
		Example: Example{"{a: 1, b: true ? omit() : 2}", `{"a":1}`},
	},
}
