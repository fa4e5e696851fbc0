package typing

import (
	"cmp"
	"maps"
	"math/bits"
	"reflect"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// Type is what a value can be: any of several parts of objects, a map or a list of
// types, one of several constants, or anything of some kinds. It is immutable and
// safe for concurrent use. The zero Type is no value at all, such as an element of
// an empty list.
type Type struct {
	unknown bool
	// kinds is all that it can be, and free is those of them that are no map, no list
	// and of which nothing more is known.
	kinds, free value.Kind
	parts       []part
	// constants are scalars, and hold no nil.
	constants []any
	// fields are the entries of a map that an expression builds, nil if it can be
	// none, and values those whose keys are not known, nil if there can be none.
	fields map[string]Type
	values *Type
	// items is any element of a list that an expression builds.
	items *Type
	// size counts the types that it is made of.
	size int
}

// maxSize keeps the work on one type small. Expressions that people write stay far
// below.
const maxSize = 200

// anyKind is what an unknown value can be.
const anyKind = value.Any | value.Computed | value.Stamped | value.Omission

var unknown = Type{unknown: true, kinds: anyKind, size: 1}

// Unknown returns the type of what can be anything.
func Unknown() Type { return unknown }

// Of returns the type of all values of some kinds. If these are all that a cluster
// can hold, it is unknown.
func Of(kinds value.Kind) Type {
	if kinds.Has(value.Any &^ value.Nil) {
		return unknown
	}
	t := Type{kinds: kinds, free: kinds &^ (value.Nil | value.Map | value.List)}
	if kinds&value.Map != 0 {
		t.fields, t.values = map[string]Type{}, &unknown
	}
	if kinds&value.List != 0 {
		t.items = &unknown
	}
	return t.measured()
}

// Constant returns the type of one known value. Of a large map or list it knows no more than that it is one.
func Constant(v any) Type {
	left := maxSize
	return constant(v, &left)
}

// constant makes the type of at most so many values that are left.
func constant(v any, left *int) Type {
	*left--
	switch v := v.(type) {
	case map[string]any:
		if len(v) > *left {
			return Of(value.Map)
		}
		fields := make(map[string]Type, len(v))
		for key, field := range v {
			fields[key] = constant(field, left)
		}
		return Map(fields)
	case []any:
		if len(v) > *left {
			return Of(value.List)
		}
		var items Type
		for _, item := range v {
			items = items.or(constant(item, left))
		}
		return List(items)
	}
	kind := value.KindOf(v)
	if kind == value.Nil || kind&value.Any == 0 {
		return Of(kind)
	}
	return Type{kinds: kind, constants: []any{v}, size: 1}
}

// Object returns the type of a whole object of a cluster, unknown where there is no
// schema. Its spec, status and labels and annotations, read by a path, are never
// nil, nor is what every stored object has.
func Object(t *schema.Type) Type { return fromSchema(t, inObject) }

// From returns the type of a field as it is found in a map of its schema. It can be
// nil unless the schema requires the field or always stores it.
func From(f schema.Field) Type {
	t := fromSchema(f.Type, inPart)
	if f.Required || f.Always {
		return t
	}
	return t.Nilable()
}

// List returns the type of lists with such elements.
func List(items Type) Type {
	return Type{kinds: value.List, items: &items}.measured()
}

// Map returns the type of maps with these entries and, under keys that are not
// known, any of these values. Without values there are no other keys.
func Map(fields map[string]Type, values ...Type) Type {
	t := Type{kinds: value.Map, fields: fields}
	if fields == nil {
		t.fields = map[string]Type{}
	}
	if len(values) > 0 {
		union := Union(values...)
		t.values = &union
	}
	return t.measured()
}

// NonNil returns the type where the value is not nil.
func (t Type) NonNil() Type { return t.withKinds(t.kinds &^ value.Nil) }

// Nilable returns the type where the value can also be nil.
func (t Type) Nilable() Type { return t.withKinds(t.kinds | value.Nil) }

func (t Type) withKinds(kinds value.Kind) Type {
	if !t.unknown {
		t.kinds = kinds
		t = t.measured()
	}
	return t
}

// measured returns t with its size, or what is left of it if it is too large.
func (t Type) measured() Type {
	if t.unknown {
		return unknown
	}
	t.size = bits.OnesCount32(uint32(t.kinds)) + len(t.parts) + len(t.constants)
	for _, field := range t.fields {
		t.size += 1 + field.size
	}
	if t.values != nil {
		t.size += 1 + t.values.size
	}
	if t.items != nil {
		t.size += 1 + t.items.size
	}
	if t.size <= maxSize {
		return t
	}
	return Of(t.kinds)
}

// Equal reports whether two types say the same.
func (t Type) Equal(u Type) bool {
	return t.unknown == u.unknown && t.kinds == u.kinds && t.free == u.free && t.size == u.size &&
		slices.EqualFunc(t.parts, u.parts, part.equal) && slices.EqualFunc(t.constants, u.constants, sameConstant) &&
		(t.fields == nil) == (u.fields == nil) && maps.EqualFunc(t.fields, u.fields, Type.Equal) &&
		equalTypes(t.values, u.values) && equalTypes(t.items, u.items)
}

func equalTypes(t, u *Type) bool {
	return t == u || t != nil && u != nil && t.Equal(*u)
}

// Union returns the type of what is one of several.
func Union(types ...Type) Type {
	var union Type
	for _, t := range types {
		union = union.or(t)
	}
	return union
}

func (t Type) or(u Type) Type {
	switch {
	case t.unknown || u.kinds == 0:
		return t
	case u.unknown || t.kinds == 0:
		return u
	case t.Equal(u):
		return t
	}
	both := Type{
		kinds: t.kinds | u.kinds, free: t.free | u.free,
		parts: joinParts(t.parts, u.parts), values: either(t.values, u.values), items: either(t.items, u.items),
	}
	both.fields = joinFields(t, u, both.values)
	both.constants = joinConstants(both.free, t.constants, u.constants)
	if len(both.constants) > maxSize/2 {
		for _, v := range both.constants {
			both.free |= value.KindOf(v)
		}
		both.constants = nil
	}
	return both.measured()
}

func either(t, u *Type) *Type {
	if t == nil || u == nil || t == u {
		return cmp.Or(t, u)
	}
	both := t.or(*u)
	return &both
}

// joinFields keeps the entries of maps apart, but for those of which no more is known
// than of any other. What only one map has can be absent.
func joinFields(t, u Type, values *Type) map[string]Type {
	switch {
	case t.fields == nil:
		return u.fields
	case u.fields == nil:
		return t.fields
	}
	joined := make(map[string]Type, len(t.fields)+len(u.fields))
	for _, fields := range [...]map[string]Type{t.fields, u.fields} {
		for key := range fields {
			if _, done := joined[key]; !done {
				one, _ := t.entry(key)
				other, _ := u.entry(key)
				joined[key] = one.or(other)
			}
		}
	}
	if values != nil && values.unknown {
		maps.DeleteFunc(joined, func(_ string, field Type) bool { return field.unknown })
	}
	return joined
}

func joinParts(a, b []part) []part {
	joined := slices.Clip(a)
	for _, p := range b {
		i := slices.IndexFunc(joined, p.samePlace)
		if i < 0 {
			joined = append(joined, p)
			continue
		}
		if common := joined[i].present.common(p.present); common != joined[i].present {
			joined = slices.Clone(joined)
			joined[i].present = common
		}
	}
	return joined
}

// joinConstants leaves out those that are of a free kind, and thus say nothing.
func joinConstants(free value.Kind, lists ...[]any) []any {
	var joined []any
	for _, v := range slices.Concat(lists...) {
		same := func(other any) bool { return sameConstant(v, other) }
		if value.KindOf(v)&free == 0 && !slices.ContainsFunc(joined, same) {
			joined = append(joined, v)
		}
	}
	return joined
}

// sameConstant tells integers and floats apart.
func sameConstant(a, b any) bool { return reflect.DeepEqual(a, b) }
