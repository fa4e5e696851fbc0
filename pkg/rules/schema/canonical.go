package schema

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Canonical returns an object as the API server stores it, as far as its schema
// tells; see [Type.Canonical]. Of a resource that is not known it is the object.
func (c *Catalog) Canonical(gvr schema.GroupVersionResource, object map[string]any) map[string]any {
	found := c.Resource(gvr)
	if found == nil || object == nil {
		return object
	}
	out, _ := found.Type.Canonical(object).(map[string]any)
	return out
}

// Canonical returns a value as the API server stores it, as far as the type tells:
// without the nulls and zeroes that it drops, with the defaults that it adds to what
// is there, and with texts as it writes them. Two values that become the same are the
// same to it.
//
// Fields that the type lacks stay. The API server refuses them where they are written
// strictly, and where it has another schema by now it stores them: to call them
// nothing would keep such a write from ever being tried.
//
// The result shares what does not change with the value and with the type, so it
// is read only; where nothing changes it is the value. What is of another kind than
// the type wants stays as it is.
func (t *Type) Canonical(v any) any {
	c := canonical{room: mostNested}
	out, changed := c.value(t, v)
	if !changed || c.room < 0 {
		return v
	}
	return out
}

// mostNested bounds the defaults within defaults: a type that contains itself could
// go on for ever. Where they are more the value stays as it is.
const mostNested = 10_000

// canonical is one walk over a value. It says of everything whether it changes, so
// that nothing is copied that does not.
type canonical struct {
	room   int // for defaults within defaults
	within int // defaults
}

func (c *canonical) value(t *Type, v any) (out any, changed bool) {
	if t == nil || t == open || c.room < 0 {
		return v, false
	}
	switch v.(type) {
	case map[string]any:
		if t.Map != nil {
			return c.fields(t, v)
		}
	case []any:
		if t.List != nil {
			return c.list(t.List.Items, v)
		}
	case string, int64, float64:
		return t.scalar(v)
	}
	return v, false
}

func (c *canonical) list(items *Type, v any) (out any, changed bool) {
	list, _ := v.([]any)
	var after []any // a copy, from the first change on
	for i, element := range list {
		next, changed := c.value(items, element)
		if !changed {
			continue
		}
		if after == nil {
			after = slices.Clone(list)
		}
		after[i] = next
	}
	if after == nil {
		return v, false
	}
	return after, true
}

func (c *canonical) fields(t *Type, v any) (out any, changed bool) {
	before, _ := v.(map[string]any)
	after := before // until the first change
	change := func() map[string]any {
		if !changed {
			after, changed = maps.Clone(before), true
		}
		return after
	}
	for key, old := range before {
		next, stored, differs := c.field(t, key, old)
		switch {
		case !stored:
			delete(change(), key)
		case differs:
			change()[key] = next
		}
	}
	for name, f := range t.Map.Fields {
		if f.Default == nil || f.ZeroIsAbsent && isZero(f.Default) {
			continue
		}
		if _, there := after[name]; there {
			continue
		}
		if added, ok := c.added(f); ok {
			change()[name] = added
		}
	}
	if !changed {
		return v, false
	}
	return after, true
}

// field returns what is stored of an entry, which may be nothing.
func (c *canonical) field(t *Type, key string, old any) (next any, stored, changed bool) {
	f, possible := t.Field(key)
	switch {
	case !possible:
		return old, true, false
	case old == nil:
		return nil, f.Type.nullable(), false
	}
	next, changed = c.value(f.Type, old)
	return next, !f.ZeroIsAbsent || !isZero(next), changed
}

// added is the default of a field, with the defaults within it.
func (c *canonical) added(f Field) (v any, ok bool) {
	if c.within > 0 {
		c.room--
	}
	if c.room < 0 {
		return nil, false
	}
	c.within++
	v, _ = c.value(f.Type, f.Default)
	c.within--
	return v, true
}

// isZero reports whether a value is what a Go type is without one.
func isZero(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case int64:
		return v == 0
	case float64:
		return v == 0
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	default:
		return false
	}
}
