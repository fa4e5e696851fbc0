package typing

import (
	"maps"
	"reflect"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

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
		kinds: t.kinds | u.kinds, free: t.free | u.free, below: min(t.below, u.below),
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
	switch {
	case t == nil:
		return u
	case u == nil || t == u:
		return t
	default:
		both := t.or(*u)
		return &both
	}
}

// joinFields keeps the entries of maps apart, but for those of which no more is known
// than of any other. What only one map has can be absent.
func joinFields(t, u Type, values *Type) map[string]Type {
	if t.fields == nil || u.fields == nil {
		if t.fields == nil {
			return u.fields
		}
		return t.fields
	}
	joined := make(map[string]Type, len(t.fields)+len(u.fields))
	for key, field := range t.fields {
		other, _ := u.entry(key)
		joined[key] = field.or(other)
	}
	for key, field := range u.fields {
		if _, both := t.fields[key]; !both {
			other, _ := t.entry(key)
			joined[key] = field.or(other)
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
	for _, list := range lists {
		for _, v := range list {
			same := func(other any) bool { return sameConstant(v, other) }
			if value.KindOf(v)&free == 0 && !slices.ContainsFunc(joined, same) {
				joined = append(joined, v)
			}
		}
	}
	return joined
}

// sameConstant tells integers and floats apart.
func sameConstant(a, b any) bool { return reflect.DeepEqual(a, b) }
