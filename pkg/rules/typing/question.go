package typing

import (
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// Known reports whether anything is certain of the value. Of an unknown one, and of
// one that never comes to be, there is nothing to complain about.
func (t Type) Known() bool { return !t.unknown && t.kinds != 0 }

// None reports whether there is no such value.
func (t Type) None() bool { return t.kinds == 0 }

// Kinds returns what the value can be, [value.Nil] included where it can be absent.
// It is all there is for an unknown type, and nothing for [Type.None].
func (t Type) Kinds() value.Kind { return t.kinds }

// CanBeNil reports whether the value is known to be nil or absent sometimes.
func (t Type) CanBeNil() bool { return !t.unknown && t.kinds&value.Nil != 0 }

// Constants returns all that the value can be beside nil and omit(), if these are
// known.
func (t Type) Constants() ([]any, bool) {
	if !t.Known() || t.free&^value.Omission != 0 || t.fields != nil || t.items != nil {
		return nil, false
	}
	all := slices.Clip(t.constants)
	for _, p := range t.parts {
		if p.schema.Limit == nil || len(p.schema.Limit.Enum) == 0 {
			return nil, false
		}
		for _, v := range p.schema.Limit.Enum {
			if v != nil {
				all = append(all, v)
			}
		}
	}
	return all, t.free == 0 || len(all) > 0
}

// Literals returns the constants among what the value can be that stand in the rules,
// and not only in the enum of a schema. It is read only.
func (t Type) Literals() []any { return t.constants }

// Schema returns what a schema says of the value, nil where it can also be something
// else, or is nothing but what an expression built.
func (t Type) Schema() *schema.Type {
	p, single := t.part()
	if !single {
		return nil
	}
	return p.schema
}

// Built returns the entries of a map that an expression builds, where the value is
// nothing else, nil aside. It is read only. closed says that there are no others.
func (t Type) Built() (fields map[string]Type, closed, built bool) {
	if t.unknown || t.fields == nil || t.items != nil || t.free != 0 || len(t.parts)+len(t.constants) > 0 {
		return nil, false, false
	}
	return t.fields, t.values == nil, true
}

// Whole reports whether the value, where it is not nil, is a whole object of a
// cluster as [Object] gives it.
func (t Type) Whole() bool {
	p, single := t.part()
	return single && p.place == inObject
}

// part returns the only part that the value can be.
func (t Type) part() (p part, single bool) {
	if len(t.parts) != 1 || t.free != 0 || len(t.constants) > 0 || t.fields != nil || t.items != nil {
		return part{}, false
	}
	return t.parts[0], true
}

// IsQuantity reports whether the value can be a text that a schema takes for a quantity.
func (t Type) IsQuantity() bool {
	quantity := func(p part) bool { return p.schema.Format == schema.Quantity && p.schema.Kinds&value.String != 0 }
	return t.kinds&value.String != 0 && slices.ContainsFunc(t.parts, quantity)
}

// IsTime reports whether the value can be a text that a schema takes for a time.
func (t Type) IsTime() bool {
	instant := func(p part) bool {
		return p.schema.Format == schema.DateTime || p.schema.Format == schema.Time || p.schema.Format == schema.MicroTime
	}
	return t.kinds&value.String != 0 && slices.ContainsFunc(t.parts, instant)
}

// String names the type for a message, as "a string" or "a list of maps". Like
// [value.Kind.String] it leaves nil out beside other kinds.
func (t Type) String() string {
	switch {
	case t.kinds == 0:
		return "no value"
	case t.unknown:
		return "a value"
	case t.kinds&^value.Nil != value.List:
		return t.kinds.String()
	}
	items := t.Items()
	if !items.Known() {
		return "a list"
	}
	_, noun, _ := strings.Cut(items.kinds.String(), " ")
	switch {
	case noun == "" || strings.Contains(noun, " "):
		return "a list"
	case strings.HasSuffix(noun, "y"):
		return "a list of " + strings.TrimSuffix(noun, "y") + "ies"
	default:
		return "a list of " + noun + "s"
	}
}

// Only returns the type where the value is of one of these kinds.
func (t Type) Only(kinds value.Kind) Type {
	if t.unknown {
		return Of(kinds & anyKind)
	}
	only := Type{kinds: t.kinds & kinds, free: t.free & kinds}
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
