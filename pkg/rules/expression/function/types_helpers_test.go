package function_test

import (
	"fmt"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// written describes a type: "?" after what can be nil, "any" for what is not known.
func written(t typing.Type) string {
	if !t.Known() {
		return map[bool]string{true: "none", false: "any"}[t.None()]
	}
	text := strings.Join(alternatives(t), "|")
	if t.CanBeNil() {
		text += "?"
	}
	return text
}

func alternatives(t typing.Type) (all []string) {
	if constants, known := t.Constants(); known {
		for _, c := range constants {
			all = append(all, fmt.Sprintf("%#v", c))
		}
		return all
	}
	scalars := t.Kinds() &^ (value.Nil | value.Map | value.List)
	if scalars != 0 {
		all = append(all, strings.NewReplacer("a ", "", "an ", "").Replace(scalars.String()))
	}
	if t.Kinds()&value.List != 0 {
		all = append(all, "["+written(t.Items())+"]")
	}
	if t.Kinds()&value.Map != 0 {
		var fields []string
		for _, key := range t.Names() {
			fields = append(fields, key+" "+written(t.At(key)))
		}
		if others, result := t.Field("~"); result != typing.Lacking {
			fields = append(fields, "* "+written(others))
		}
		all = append(all, "{"+strings.Join(fields, ", ")+"}")
	}
	return all
}

var (
	integer = typing.Of(value.Int)
	text    = typing.Of(value.String)
	nothing = typing.Of(value.Nil)
	anyType = typing.Unknown()

	textSchema = &schema.Type{Kinds: value.String}
	// thing is an object with an optional limit and required conditions in its status.
	thing = typing.Object(&schema.Type{Kinds: value.Map, Object: true, Map: &schema.Map{Fields: map[string]schema.Field{
		"spec": {Type: &schema.Type{Kinds: value.Map, Map: &schema.Map{Fields: map[string]schema.Field{
			"limit": {Type: &schema.Type{Kinds: value.Int}},
			"name":  {Type: textSchema, Required: true},
		}}}},
		"status": {Type: &schema.Type{Kinds: value.Map, Map: &schema.Map{Fields: map[string]schema.Field{
			"conditions": {Type: &schema.Type{Kinds: value.List, List: &schema.List{Items: &schema.Type{Kinds: value.Map, Map: &schema.Map{
				Fields: map[string]schema.Field{
					"type":    {Type: textSchema, Required: true},
					"status":  {Type: textSchema, Required: true},
					"message": {Type: textSchema},
				},
			}}}}},
		}}}},
	}}})
	spec, _ = thing.FieldOf(thing, "spec")
)

func listOf(items ...typing.Type) typing.Type { return typing.List(typing.Union(items...)) }

func mapping(key string, of typing.Type) typing.Type {
	return typing.Map(map[string]typing.Type{key: of})
}
