package function_test

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// expressionOf is a predicate as a function of values, and as one of types. It has no
// value where its ok is false.
type expressionOf struct {
	name  string
	value func(element, accumulator any) (v any, ok bool)
	of    func(element, accumulator typing.Type) typing.Type
	// narrowed is the element where a condition holds.
	narrowed func(element typing.Type) typing.Type
}

var conditions = []expressionOf{
	{
		"# != nil",
		func(element, _ any) (any, bool) { return element != nil, true },
		func(_, _ typing.Type) typing.Type { return typing.Of(value.Bool) },
		typing.Type.NonNil,
	},
	{
		"#.a != nil",
		func(element, _ any) (any, bool) {
			m, ok := element.(map[string]any)
			return m["a"] != nil, ok
		},
		func(_, _ typing.Type) typing.Type { return typing.Of(value.Bool) },
		func(element typing.Type) typing.Type { return element.Present([]string{"a"}) },
	},
	{
		`type(#) == "int"`,
		func(element, _ any) (any, bool) { return value.KindOf(element) == value.Int, true },
		func(_, _ typing.Type) typing.Type { return typing.Of(value.Bool) },
		nil,
	},
}

var results = []expressionOf{
	{
		"#",
		func(element, _ any) (any, bool) { return element, true },
		func(element, _ typing.Type) typing.Type { return element }, nil,
	},
	{
		"#.a",
		func(element, _ any) (any, bool) {
			m, ok := element.(map[string]any)
			return m["a"], ok
		},
		func(element, _ typing.Type) typing.Type { return element.At("a") }, nil,
	},
	{
		`"a"`,
		func(_, _ any) (any, bool) { return "a", true },
		func(_, _ typing.Type) typing.Type { return typing.Constant("a") }, nil,
	},
	{
		"{n: #}",
		func(element, _ any) (any, bool) { return map[string]any{"n": element}, true },
		func(element, _ typing.Type) typing.Type {
			return typing.Map(map[string]typing.Type{"n": element})
		}, nil,
	},
	{
		"omit()",
		func(_, _ any) (any, bool) { return value.Omitted{}, true },
		func(_, _ typing.Type) typing.Type { return typing.Of(value.Omission) }, nil,
	},
	{
		"#acc",
		func(_, accumulator any) (any, bool) { return accumulator, true },
		func(_, accumulator typing.Type) typing.Type { return accumulator }, nil,
	},
	{
		"[#acc, #]",
		func(element, accumulator any) (any, bool) { return []any{accumulator, element}, true },
		func(element, accumulator typing.Type) typing.Type {
			return typing.List(typing.Union(accumulator, element))
		}, nil,
	},
	{
		"{a: #acc, b: #}",
		func(element, accumulator any) (any, bool) {
			return map[string]any{"a": accumulator, "b": element}, true
		},
		func(element, accumulator typing.Type) typing.Type {
			return typing.Map(map[string]typing.Type{"a": accumulator, "b": element})
		}, nil,
	},
}
