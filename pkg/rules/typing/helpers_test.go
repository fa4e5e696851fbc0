package typing_test

import (
	"fmt"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// written describes a type: "?" after what can be nil, "any" for what is not known,
// "none" for what never is.
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
			all = append(all, fmt.Sprint(c))
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
		all = append(all, "{"+strings.Join(entries(t), ", ")+"}")
	}
	return all
}

func entries(t typing.Type) (fields []string) {
	for _, key := range t.Names() {
		fields = append(fields, key+" "+written(t.At(key)))
	}
	if others, result := t.Field("~"); result != typing.Lacking {
		fields = append(fields, "* "+written(others))
	}
	return fields
}

// The types that most tests are about.
var (
	integer = typing.Of(value.Int)
	text    = typing.Of(value.String)
	boolean = typing.Of(value.Bool)
	nothing = typing.Of(value.Nil)
	anyType = typing.Unknown()
	none    typing.Type
)

func constant(v any) typing.Type { return typing.Constant(v) }

func list(items ...typing.Type) typing.Type { return typing.List(typing.Union(items...)) }

func mapping(key string, of typing.Type) typing.Type {
	return typing.Map(map[string]typing.Type{key: of})
}

// The schemas that most tests are about.
var (
	textSchema    = &schema.Type{Kinds: value.String}
	integerSchema = &schema.Type{Kinds: value.Int}
)

func required(t *schema.Type) schema.Field { return schema.Field{Type: t, Required: true} }

func optional(t *schema.Type) schema.Field { return schema.Field{Type: t} }

func mapOf(fields map[string]schema.Field) *schema.Type {
	return &schema.Type{Kinds: value.Map, Map: &schema.Map{Fields: fields}}
}

func listOf(items *schema.Type) *schema.Type {
	return &schema.Type{Kinds: value.List, List: &schema.List{Items: items}}
}

func enum(values ...any) *schema.Type {
	return &schema.Type{Kinds: value.String, Limit: &schema.Limits{Enum: values}}
}

var statusSchema = mapOf(map[string]schema.Field{
	"phase":   required(enum("Ready", "Failed")),
	"message": optional(textSchema),
	"observed": optional(mapOf(map[string]schema.Field{
		"generation": required(integerSchema),
	})),
})

var containerSchema = mapOf(map[string]schema.Field{
	"name":  required(textSchema),
	"image": optional(textSchema),
	"limit": optional(mapOf(map[string]schema.Field{"memory": required(textSchema)})),
})

var specSchema = mapOf(map[string]schema.Field{
	"replicas":   {Type: integerSchema, Always: true, Default: int64(1)},
	"name":       required(textSchema),
	"nickname":   optional(textSchema),
	"nullable":   required(&schema.Type{Kinds: value.String | value.Nil}),
	"port":       optional(&schema.Type{Kinds: value.Int | value.String}),
	"containers": required(listOf(containerSchema)),
	"selector":   optional(&schema.Type{Kinds: value.Map, Map: &schema.Map{Values: textSchema}}),
	"since":      optional(&schema.Type{Kinds: value.String, Format: schema.DateTime}),
	"open":       optional(&schema.Type{Kinds: value.Map, Map: &schema.Map{Open: true, Fields: map[string]schema.Field{"a": required(textSchema)}}}),
	"free":       optional(schema.Open()),
	"template": optional(&schema.Type{Kinds: value.Map, Object: true, Map: &schema.Map{Fields: map[string]schema.Field{
		"spec": optional(mapOf(map[string]schema.Field{"a": required(textSchema)})),
	}}}),
})

// whole is the schema of an object, with or without more that it requires.
func whole(mustHave ...string) *schema.Type {
	s := mapOf(map[string]schema.Field{"spec": optional(specSchema), "status": optional(statusSchema)})
	s.Object = true
	for _, key := range mustHave {
		s.Map.Fields[key] = required(s.Map.Fields[key].Type)
	}
	return s
}

var object = typing.Object(whole())

// read follows a path, and stops where a field is not found.
func read(t typing.Type, path string) (typing.Type, typing.FieldResult) {
	result, above := typing.Found, typing.Unknown()
	keys := strings.Split(path, ".")
	for i, key := range keys {
		was := t
		switch {
		case result != typing.Found:
			return t, result
		case key == "[]":
			t = t.Items()
		case key == "spec" || key == "status":
			t, result = t.FieldOf(t, key)
		case i > 0 && keys[i-1] == "metadata" && (key == "labels" || key == "annotations"):
			t, result = t.FieldOf(above, key)
		default:
			t, result = t.Field(key)
		}
		above = was
	}
	return t, result
}
