package typing

import "github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"

// Only returns the type where the value is of one of these kinds.
func (t Type) Only(kinds value.Kind) Type {
	if t.unknown {
		return Of(kinds & anyKind)
	}
	only := Type{kinds: t.kinds & kinds, free: t.free & kinds, below: t.below}
	if only.kinds&value.Map != 0 {
		only.fields, only.values = t.fields, t.values
	}
	if only.kinds&value.List != 0 {
		only.items = t.items
	}
	for _, p := range t.parts {
		if p.schema.Kinds&only.kinds&^value.Nil != 0 {
			only.parts = append(only.parts, p)
		}
	}
	for _, v := range t.constants {
		if value.KindOf(v)&only.kinds != 0 {
			only.constants = append(only.constants, v)
		}
	}
	return only.measured()
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
