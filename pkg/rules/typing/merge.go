package typing

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// maxMerged is how deep maps in maps are merged. Schemas may nest without end.
const maxMerged = 2

// Merge returns the type of a map with all entries of two, of which the second wins:
// maps among the values are merged too. What is no map counts as an empty one.
func Merge(base, over Type) Type { return merged(base.orEmptyMap(), over.orEmptyMap(), maxMerged) }

// orEmptyMap is what can be a map, or an empty one in the place of nil.
func (t Type) orEmptyMap() Type {
	m := t.Only(value.Map)
	if t.CanBeNil() || m.None() {
		return m.or(Map(nil))
	}
	return m
}

// merged is Merge for types that are maps alone.
func merged(base, over Type, depth int) Type {
	switch {
	case base.isEmpty():
		return over
	case over.isEmpty(), base.Equal(over):
		return base
	case depth == 0, base.width()+over.width() > maxSize:
		return Of(value.Map)
	}
	fields := map[string]Type{}
	for _, key := range slices.Concat(base.Names(), over.Names()) {
		if _, done := fields[key]; !done {
			fields[key] = under(base.named(key), over.named(key), depth)
		}
	}
	if others := under(base.others().or(absent), over.others().or(absent), depth).present(); !others.None() {
		return Map(fields, others)
	}
	return Map(fields)
}

// under is what the merged map has under a key where o is what the map has that wins. What may be absent is [value.Omission].
func under(b, o Type, depth int) Type {
	field := covered(b.present(), o.present(), depth)
	if b.absent() {
		field = field.or(o.present())
	}
	if o.absent() {
		field = field.or(b.present())
	}
	if b.absent() && o.absent() {
		field = field.or(absent)
	}
	return field
}

var absent = Of(value.Omission)

func (t Type) absent() bool { return t.kinds&value.Omission != 0 }

// covered is what the merged map has where both have a value.
func covered(base, over Type, depth int) Type {
	switch {
	case base.kinds == 0 || over.kinds == 0:
		return Type{}
	case base.unknown && over.kinds&value.Map != 0:
		return over.Only(^value.Map).or(Of(value.Map))
	case base.kinds&over.kinds&value.Map == 0:
		return over
	}
	result := over
	if base.kinds == value.Map {
		result = over.Only(^value.Map)
	}
	return result.or(merged(base.Only(value.Map), over.Only(value.Map), depth-1))
}

// width is how many fields are known by name, one that several maps have for each.
func (t Type) width() int {
	n := len(t.fields)
	for _, p := range t.parts {
		if p.schema.Map != nil {
			n += len(p.schema.Map.Fields)
		}
	}
	return n
}

func (t Type) isEmpty() bool { return t.width() == 0 && t.others().None() }

// others is what a map has under keys that are not known by name.
func (t Type) others() (values Type) {
	if t.values != nil {
		values = t.values.present()
	}
	for _, p := range t.parts {
		switch below := p.schema.Map; {
		case below == nil:
		case below.Open:
			return unknown
		case below.Values != nil:
			values = values.or(fromSchema(below.Values, inPart))
		}
	}
	return values
}

// named is what a map has under a key, which can be nil where an expression or a schema says so, and be absent.
func (t Type) named(key string) (all Type) {
	for _, p := range t.parts {
		field, _ := p.field(key)
		f, _ := p.declared(key)
		if field.CanBeNil() {
			if !f.Type.Known() || f.Type.Kinds&value.Nil == 0 {
				field = field.NonNil()
			}
			field = field.or(absent)
		}
		all = all.or(field)
	}
	written, is := t.fields[key]
	switch {
	case is && written.CanBeNil():
		return all.or(written).or(absent)
	case is:
		return all.or(written)
	case t.values != nil:
		return all.or(t.values.present()).or(absent)
	case t.fields != nil:
		return all.or(absent)
	default:
		return all
	}
}
