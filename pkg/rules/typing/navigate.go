package typing

import (
	"maps"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// FieldResult is what is known of a field.
type FieldResult uint8

// What is known of a field.
const (
	// Unsure is for values that are no map, or of which nothing is known.
	Unsure FieldResult = iota
	// Found is a field that can be there.
	Found
	// Lacking is a field that no such map has.
	Lacking
)

// Field returns what a path reads under a key, and whether there can be anything.
// Only the maps among what the value can be count: that it can be nil, or something
// else, is for the caller to see. A field that is not found has an unknown type.
func (t Type) Field(key string) (Type, FieldResult) {
	field, result := t.stored(key)
	if how := t.alwaysMap(key); how != never {
		field, result = t.orEmpty(field, result, how)
	}
	if result != Found || field.unknown {
		return unknown, result
	}
	field.below = never
	if key == "metadata" {
		field.below = t.isObject()
	}
	return field, result
}

// stored is what a map holds under a key.
func (t Type) stored(key string) (Type, FieldResult) {
	switch {
	case t.kinds == value.Nil:
		return t.Apart(), Unsure
	case t.unknown || t.kinds&value.Map == 0:
		return unknown, Unsure
	}
	var all reading
	for _, p := range t.parts {
		if p.schema.Map != nil {
			all.add(p.field(key))
		}
	}
	if t.fields != nil {
		field, possible := t.entry(key)
		all.add(field.orNil(), possible)
	}
	return all.result()
}

// reading is a field of any of several maps.
type reading struct {
	field           Type
	possible, lacks bool
}

func (r *reading) add(field Type, possible bool) {
	r.field = r.field.or(field)
	r.possible, r.lacks = r.possible || possible, r.lacks || !possible
}

// result is what is read, nil where a map lacks it.
func (r *reading) result() (Type, FieldResult) {
	switch {
	case r.possible && r.field.unknown:
		return unknown, Unsure
	case r.possible:
		return r.field, Found
	case r.lacks:
		return Of(value.Nil), Lacking
	default:
		return unknown, Unsure
	}
}

// entry is what a map that an expression builds has under a key, if it can have it.
func (t Type) entry(key string) (Type, bool) {
	if field, known := t.fields[key]; known {
		return field, true
	}
	if t.values != nil {
		return t.values.Nilable(), true
	}
	return Of(value.Nil), false
}

// present is a value where it is not left out: of what is omitted there is nothing to read.
func (t Type) present() Type {
	if t.unknown || t.kinds&value.Omission == 0 {
		return t
	}
	return t.Only(^value.Omission)
}

// orNil is what is read where a value may be left out.
func (t Type) orNil() Type {
	if t.unknown || t.kinds&value.Omission == 0 {
		return t
	}
	return t.present().Nilable()
}

// Names lists the fields that are known by name, in order.
func (t Type) Names() []string {
	if p, single := t.part(); single {
		return p.schema.Names() // They may be many.
	}
	names := slices.Collect(maps.Keys(t.fields))
	for _, p := range t.parts {
		names = append(names, p.schema.Names()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// At returns what is at a key or an index, a string or an int64, as get() and [...]
// read it; it is unknown where the key is not known and thus nil. A list has an
// element at every index. A key that no such map has gives nil.
func (t Type) At(key any) Type {
	switch key := key.(type) {
	case string:
		field, _ := t.stored(key)
		return field.Apart()
	case int64:
		return t.Items()
	default:
		return unknown
	}
}

// Items returns the type of any element of a list.
func (t Type) Items() Type {
	if t.unknown {
		return unknown
	}
	var items Type
	for _, p := range t.parts {
		if below := p.schema.Items(); below != nil {
			items = items.or(fromSchema(below, inPart))
		}
	}
	if t.items != nil {
		items = items.or(t.items.present())
	}
	return items.Apart()
}

// Values returns the type of any value in a map.
func (t Type) Values() Type {
	if t.unknown {
		return unknown
	}
	var values Type
	for _, p := range t.parts {
		values = values.or(p.values())
	}
	for _, key := range slices.Sorted(maps.Keys(t.fields)) {
		values = values.or(t.fields[key].present())
	}
	if t.values != nil {
		values = values.or(t.values.present())
	}
	return values.Apart()
}
