package typing_test

import (
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
	"github.com/dyncontroller/dyncontroller/test/generate"
)

// drawer draws values, and types that admit them.
type drawer struct{ *rapid.T }

func (d drawer) below(n int) int { return generate.Evenly(d.T, n) }

func (d drawer) chance(percent int) bool { return generate.Chance(d.T, percent) }

func (d drawer) scalar() any {
	return rapid.SampledFrom([]any{nil, true, false, int64(0), int64(1), 1.5, "", "a", "b"}).Draw(d.T, "scalar")
}

var someKeys = []string{"a", "b", "c", "spec", "status", "metadata", "labels", "annotations", "apiVersion", "kind", "name"}

func (d drawer) key() string { return rapid.SampledFrom(someKeys).Draw(d.T, "key") }

func (d drawer) value(depth int) any {
	switch {
	case depth <= 0 || d.chance(30):
		return d.scalar()
	case d.chance(35):
		list := make([]any, d.below(4))
		for i := range list {
			list[i] = d.value(depth - 1)
		}
		return list
	default:
		return d.mapping(depth)
	}
}

func (d drawer) mapping(depth int) map[string]any {
	m := map[string]any{}
	for range d.below(5) {
		m[d.key()] = d.value(depth - 1)
	}
	if d.chance(25) {
		m["apiVersion"], m["kind"] = "v1", "Thing"
	}
	return m
}

// typeOf returns some type that a value has.
func (d drawer) typeOf(v any) typing.Type {
	switch d.below(10) {
	case 0:
		return typing.Constant(v)
	case 1:
		return typing.Of(value.KindOf(v) | rapid.SampledFrom([]value.Kind{value.Nil, value.Int, value.Map, value.List, value.Quantity}).Draw(d.T, "kind"))
	case 2:
		return d.typeOf(v).Nilable()
	case 3:
		return typing.Union(d.typeOf(v), d.typeOf(d.value(2)))
	case 4:
		return typing.Union(d.typeOf(d.value(2)), d.typeOf(v))
	case 5, 6, 7:
		return typing.From(schema.Field{Type: d.schema(v), Required: d.chance(50)})
	default:
		return d.built(v)
	}
}

// built is the type of what an expression builds.
func (d drawer) built(v any) typing.Type {
	switch v := v.(type) {
	case map[string]any:
		fields, values := map[string]typing.Type{}, []typing.Type{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if d.chance(70) {
				fields[key] = d.typeOf(v[key])
			} else {
				values = append(values, d.typeOf(v[key]))
			}
		}
		if d.chance(20) {
			key := d.key()
			if _, is := v[key]; !is {
				fields[key] = d.typeOf(nil)
			}
		}
		return typing.Map(fields, values...)
	case []any:
		var items typing.Type
		for _, element := range v {
			items = typing.Union(items, d.typeOf(element))
		}
		return typing.List(items)
	default:
		return typing.Constant(v)
	}
}

// schema returns some schema that allows a value.
func (d drawer) schema(v any) *schema.Type {
	if d.chance(5) {
		return schema.Open()
	}
	s := &schema.Type{Kinds: value.KindOf(v)}
	if d.chance(20) {
		s.Kinds |= value.Nil | value.String
	}
	switch v := v.(type) {
	case map[string]any:
		s.Map = d.schemaOfMap(v)
		s.Object = v["apiVersion"] == "v1" && v["kind"] == "Thing" && d.chance(70)
	case []any:
		items := schema.Open()
		if len(v) == 1 || len(v) > 1 && allScalars(v) {
			items = d.schema(v[0])
			for _, element := range v {
				items.Kinds |= value.KindOf(element)
				items.Limit = nil
			}
		}
		s.List = &schema.List{Items: items}
	default:
		if d.chance(30) {
			s.Kinds &^= value.Map | value.List
			s.Limit = &schema.Limits{Enum: []any{v, "x", nil}}
		}
	}
	return s
}

func allScalars(list []any) bool {
	return !slices.ContainsFunc(list, func(v any) bool { return value.KindOf(v)&(value.Map|value.List) != 0 })
}

func (d drawer) schemaOfMap(v map[string]any) *schema.Map {
	m := &schema.Map{Fields: map[string]schema.Field{}}
	for _, key := range slices.Sorted(maps.Keys(v)) {
		if d.chance(15) {
			m.Open = true
			continue
		}
		present := v[key] != nil
		m.Fields[key] = schema.Field{Type: d.schema(v[key]), Required: present && d.chance(50), Always: present && d.chance(20)}
	}
	if key := d.key(); v[key] == nil && d.chance(30) {
		m.Fields[key] = schema.Field{Type: d.schema(d.value(1))}
	}
	if d.chance(10) && !m.Open {
		m.Values = d.schema(d.scalar())
	}
	return m
}
