package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// fields compares the entries of a map with its type.
func (c *validation) fields(t *Type, m map[string]any, merged bool) {
	_, more := m[SomeKeys].(Unknown)
	known, possible := 0, 0
	for _, key := range slices.Sorted(maps.Keys(m)) {
		v := m[key]
		if key == SomeKeys && more {
			continue
		}
		f, has := t.Field(key)
		surely, maybe := c.stored(f, v)
		known, possible = known+surely, possible+maybe
		c.within(key, func() { c.field(t, key, f, has, v, merged) })
	}
	if !merged && !more {
		c.required(t, m)
	}
	if limit := t.Limit; limit != nil {
		c.least(limit.MinProperties, possible, merged || more, "entries")
		c.most(limit.MaxProperties, known, "entries")
	}
}

// stored says of how many entries one certainly is, and of how many it may be.
func (c *validation) stored(f Field, v any) (surely, maybe int) {
	_, unknown := v.(Unknown)
	switch {
	case v == nil && !f.Type.nullable():
		return 0, 0
	case unknown, v == nil && c.how != Whole:
		return 0, 1
	default:
		return 1, 1
	}
}

// field compares one entry.
func (c *validation) field(t *Type, key string, f Field, possible bool, v any, merged bool) {
	switch {
	case c.full():
	case !possible:
		c.unknownField(t, key)
	case v == nil && merged && c.how == Merged && f.Required && f.Default == nil:
		c.report(document.CodeMissingField, fmt.Sprintf("the field %q has to be there, and null removes it", key), "leave it out to keep what it is")
	case v == nil && (c.how != Whole || !f.Type.nullable()):
		// The API server takes it for absent.
	default:
		c.value(f.Type, v, merged)
	}
}

func (c *validation) unknownField(t *Type, key string) {
	if !t.Map.has(key, t.Object) {
		hint, near := t.closest(key)
		c.add(Violation{Code: document.CodeUnknownField, Message: fmt.Sprintf("unknown field %q", value.Excerpt(key)), Hint: hint, Field: near})
	}
}

// has reports whether a field that is none of the schema is none of its business: an
// object has what tells which it is, and of its place others say that it has none.
func (m *Map) has(key string, isObject bool) bool {
	switch key {
	case "apiVersion", "kind", "metadata":
		return isObject
	case "namespace":
		return m.NoNamespace
	default:
		return false
	}
}

// required reports the fields that are missing.
func (c *validation) required(t *Type, m map[string]any) {
	for _, name := range t.Names() {
		f := t.Map.Fields[name]
		if c.full() {
			return
		}
		if !f.Required || f.Default != nil {
			continue
		}
		v, there := m[name]
		if !there || v == nil && !f.Type.nullable() {
			c.add(Violation{Code: document.CodeMissingField, Message: fmt.Sprintf("the field %q is missing", name), Hint: "add " + name + ": ...", Field: name})
		}
	}
}

// nullable reports whether null is stored.
func (t *Type) nullable() bool { return t == nil || t.Kinds == 0 || t.Kinds&value.Nil != 0 }

// closest is a hint which field was meant, and the field where one here is close.
func (t *Type) closest(key string) (hint, near string) {
	const few = 12
	names := t.Names()
	if near := document.Suggest(key, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near), near
	}
	below := t.below(key)
	switch {
	case below != "":
		return "did you mean " + below + "." + key + "?", ""
	case len(names) == 1:
		return "the only field here is " + names[0], ""
	case len(names) == 0 || len(names) > few:
		return "", ""
	default:
		return "the fields here are " + strings.Join(names, ", "), ""
	}
}

// below is the only field that has one of this name in it, or "". Of many fields only
// the first are looked into.
func (t *Type) below(key string) string {
	const most = 100
	found, names := "", t.Names()
	for _, name := range names[:min(len(names), most)] {
		below := t.Map.Fields[name].Type
		if below == nil || below.Map == nil {
			continue
		}
		if _, has := below.Map.Fields[key]; !has {
			continue
		}
		if found != "" {
			return ""
		}
		found = name
	}
	return found
}
