package typing

import (
	"maps"
	"math/bits"
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
	// below says that it is what a path has read under metadata.
	below certainty
	parts []part
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

// Apart returns the type of a value that has left the path by which it was read.
// Only a path that names them together, as object.metadata.labels, reads labels and
// annotations that are absent as empty maps.
func (t Type) Apart() Type {
	t.below = never
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
	return t.unknown == u.unknown && t.kinds == u.kinds && t.free == u.free && t.size == u.size && t.below == u.below &&
		slices.EqualFunc(t.parts, u.parts, part.equal) && slices.EqualFunc(t.constants, u.constants, sameConstant) &&
		(t.fields == nil) == (u.fields == nil) && maps.EqualFunc(t.fields, u.fields, Type.Equal) &&
		equalTypes(t.values, u.values) && equalTypes(t.items, u.items)
}

func equalTypes(t, u *Type) bool {
	return t == u || t != nil && u != nil && t.Equal(*u)
}
