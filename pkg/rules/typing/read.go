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

// Field returns what a map holds under a key, and whether there can be anything. Only the maps among what the value can be
// count: that it can be nil, or something else, is for the caller to see. A field that is not there is nil.
func (t Type) Field(key string) (Type, FieldResult) {
	switch {
	case t.kinds == value.Nil:
		return t, Unsure
	case t.unknown || t.kinds&value.Map == 0:
		return unknown, Unsure
	}
	var field Type
	found, lacks := false, false
	add := func(one Type, possible bool) {
		field = field.or(one)
		found, lacks = found || possible, lacks || !possible
	}
	for _, p := range t.parts {
		if p.schema.Map != nil {
			add(p.field(key))
		}
	}
	if t.fields != nil {
		one, possible := t.entry(key)
		if one.absent() && !one.unknown {
			one = one.present().Nilable()
		}
		add(one, possible)
	}
	switch {
	case found && !field.unknown:
		return field, Found
	case lacks && !found:
		return field, Lacking
	default:
		return unknown, Unsure
	}
}

// FieldOf is [Type.Field] as a path reads the spec, the status, the labels and the annotations of an object: as an empty map
// where one with apiVersion and kind lacks it. What a schema requires of the map it has even then, but for the status, of
// which [part.field] knows.
func (t Type) FieldOf(object Type, key string) (Type, FieldResult) {
	field, result := t.Field(key)
	perhaps := false // an object
	for _, key := range [...]string{"apiVersion", "kind"} {
		name, has := object.Field(key)
		if has == Lacking {
			return field, result
		}
		perhaps = perhaps || has == Unsure || name.CanBeNil()
	}
	built := t.fields != nil
	switch {
	case result == Lacking && built && perhaps:
		return unknown, Unsure
	case result == Lacking && built:
		return Of(value.Map), Found
	case result != Found || !field.CanBeNil():
		return field, result
	case perhaps:
		return field.or(Map(nil)), Found
	case built || field.kinds&value.Map == 0:
		return field.NonNil().or(Map(nil)), Found
	default:
		return field.NonNil(), Found
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

// present is a value where it is not left out by omit().
func (t Type) present() Type {
	if t.unknown || t.kinds&value.Omission == 0 {
		return t
	}
	return t.Only(^value.Omission)
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
		field, _ := t.Field(key)
		return field
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
	return items
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
	return values
}

// Slice returns the type of a slice of a list or a text.
func (t Type) Slice() Type {
	if !t.Known() {
		return t
	}
	slice := Of(t.kinds & value.String)
	if t.kinds&(value.List|value.Nil) != 0 {
		slice = slice.or(List(t.Items()))
	}
	return slice
}

// maxNesting is how deep lists in lists are followed.
const maxNesting = 8

// Flat returns the type of any element of a list in which the lists, at any depth,
// are replaced by their elements. What is nil is taken for a list without any.
func (t Type) Flat() Type {
	var flat Type
	lists := t
	for range maxNesting {
		items := lists.Items()
		if items.unknown {
			return unknown
		}
		flat = flat.or(items.Only(^(value.List | value.Nil)))
		if lists = items.Only(value.List); lists.None() {
			return flat
		}
	}
	return unknown
}
