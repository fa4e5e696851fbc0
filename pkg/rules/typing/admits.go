package typing

import (
	"maps"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Admits reports whether a value is of the type. Of the limits of a schema only
// enumerations count.
func (t Type) Admits(v any) bool {
	kind := value.KindOf(v)
	switch {
	case t.unknown:
		return true
	case t.kinds&kind == 0:
		return false
	case kind == value.Nil || t.free&kind != 0:
		return true
	case slices.ContainsFunc(t.constants, func(c any) bool { return sameConstant(c, v) }):
		return true
	case slices.ContainsFunc(t.parts, func(p part) bool { return p.admits(v) }):
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		return t.fields != nil && t.admitsEntries(v)
	case []any:
		return t.items != nil && !slices.ContainsFunc(v, func(element any) bool { return !t.items.Admits(element) })
	default:
		return false
	}
}

func (t Type) admitsEntries(m map[string]any) bool {
	for key, field := range t.fields {
		if !field.orNil().Admits(m[key]) {
			return false
		}
	}
	for key, v := range m {
		if _, known := t.fields[key]; !known && (t.values == nil || !t.values.Admits(v)) {
			return false
		}
	}
	return true
}

func (p part) admits(v any) bool {
	if p.schema.Kinds&value.KindOf(v) == 0 {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		return p.admitsFields(v)
	case []any:
		items := fromSchema(p.schema.Items(), inPart)
		return !slices.ContainsFunc(v, func(element any) bool { return !items.Admits(element) })
	default:
		same := func(c any) bool { return sameConstant(c, v) }
		return p.schema.Limit == nil || len(p.schema.Limit.Enum) == 0 || slices.ContainsFunc(p.schema.Limit.Enum, same)
	}
}

func (p part) admitsFields(m map[string]any) bool {
	if p.schema.Map == nil {
		return false
	}
	for key, v := range m {
		if field, possible := p.field(key); !possible || v != nil && !field.Admits(v) {
			return false
		}
	}
	// What is not nil by a path alone may be absent.
	missing := func(key string) bool {
		field, _ := p.field(key)
		maybe := p.readsEmpty(key) && p.present.child(key).empty()
		return m[key] == nil && !field.unknown && !field.CanBeNil() && !maybe
	}
	return !slices.ContainsFunc(p.names(), missing)
}

// names are the fields that the map may have to have.
func (p part) names() []string {
	names := p.schema.Names()
	if p.present != nil {
		names = slices.AppendSeq(names, maps.Keys(p.present.below))
	}
	if p.whole() {
		names = append(names, "apiVersion", "kind")
	}
	if p.place == inObject {
		names = append(names, "metadata")
	}
	return names
}
