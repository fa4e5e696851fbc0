package corpus

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// Comparison is what a reader of schemas made of one, held against what is written.
type Comparison struct {
	Nodes       int      // schemas within schemas
	Open        int      // those of which nothing is known, since nothing is said of them
	Differences []string // PATH: what is lost or wrong
}

// Compare goes through the schema of a CRD and the type that was made of it side by side. It reads what is written in its
// own, plain way.
func Compare(written map[string]any, t *schema.Type) *Comparison {
	c := &Comparison{}
	c.node("", written, t)
	return c
}

func (c *Comparison) different(path, format string, args ...any) {
	c.Differences = append(c.Differences, strings.TrimPrefix(path, ".")+": "+fmt.Sprintf(format, args...))
}

func (c *Comparison) node(path string, s map[string]any, t *schema.Type) {
	c.Nodes++
	if t == nil {
		c.different(path, "there is no type")
		return
	}
	want := kindsWritten(s)
	if want == value.Any {
		c.Open++
		if t.Known() {
			c.different(path, "nothing is said of it, and it is known to be %s", t.Kinds)
		}
		return
	}
	if t.Kinds != want {
		c.different(path, "want %s (%b), have %s (%b)", want, want, t.Kinds, t.Kinds)
		return
	}
	c.limits(path, s, t)
	if want&value.Map != 0 {
		c.fields(path, s, t)
	}
	if want&value.List != 0 {
		c.elements(path, s, t)
	}
}

// says reports whether a schema has a flag.
func says(s map[string]any, keyword string) bool {
	said, _ := s[keyword].(bool)
	return said
}

// kindsWritten are the kinds of values of a schema by its type.
func kindsWritten(s map[string]any) value.Kind {
	kinds := map[any]value.Kind{
		"object": value.Map, "array": value.List, "string": value.String, "integer": value.Int, "number": value.Number, "boolean": value.Bool,
	}[s["type"]]
	switch {
	case says(s, "x-kubernetes-int-or-string"):
		kinds = value.Int | value.String
	case kinds == 0:
		return value.Any
	}
	if says(s, "nullable") {
		kinds |= value.Nil
	}
	return kinds
}

// limits reports limits that are written and were lost.
func (c *Comparison) limits(path string, s map[string]any, t *schema.Type) {
	l := limits(t)
	kept := map[string]bool{
		"enum": len(l.Enum) > 0, "pattern": l.Pattern != "", "minLength": l.MinLength != nil, "maxLength": l.MaxLength != nil,
		"minimum": l.Minimum != nil, "maximum": l.Maximum != nil, "multipleOf": l.MultipleOf != nil,
		"minItems": l.MinItems != nil, "maxItems": l.MaxItems != nil, "minProperties": l.MinProperties != nil,
		"maxProperties": l.MaxProperties != nil, "format": t.Format != "",
	}
	for _, keyword := range sortedKeys(kept) {
		if _, said := s[keyword]; said && !kept[keyword] {
			c.different(path, "%s is lost", keyword)
		}
	}
	for keyword, kept := range map[string]bool{"exclusiveMaximum": l.ExclusiveMaximum, "exclusiveMinimum": l.ExclusiveMinimum, "uniqueItems": l.UniqueItems} {
		if says(s, keyword) && !kept {
			c.different(path, "%s is lost", keyword)
		}
	}
}

func (c *Comparison) fields(path string, s map[string]any, t *schema.Type) {
	m := t.Map
	if m == nil {
		c.different(path, "it is a map of which nothing is known")
		return
	}
	if keeps := says(s, "x-kubernetes-preserve-unknown-fields"); keeps != m.Open {
		c.different(path, "open is %t, want %t", m.Open, keeps)
	}
	if atomic := s["x-kubernetes-map-type"] == "atomic"; atomic != m.Atomic {
		c.different(path, "atomic is %t, want %t", m.Atomic, atomic)
	}
	if says(s, "x-kubernetes-embedded-resource") && !t.Object {
		c.different(path, "it is no whole object")
	}
	values, _ := s["additionalProperties"].(map[string]any)
	switch {
	case values != nil:
		c.node(path+".*", values, m.Values)
	case !says(s, "additionalProperties") && m.Values != nil:
		c.different(path, "it takes keys beyond its fields")
	}
	properties, _ := s["properties"].(map[string]any)
	for _, name := range names(m, t, properties) {
		c.field(path+"."+name, name, s, properties, m)
	}
}

func (c *Comparison) field(path, name string, s, properties map[string]any, m *schema.Map) {
	field, found := m.Fields[name]
	written, isWritten := properties[name].(map[string]any)
	if !found || !isWritten {
		c.different(path, "it is written: %t, known: %t", isWritten, found)
		return
	}
	required, _ := s["required"].([]any)
	if want := slices.Contains(required, any(name)); want != field.Required {
		c.different(path, "required is %t, want %t", field.Required, want)
	}
	if _, defaulted := written["default"]; defaulted != field.Always {
		c.different(path, "always is %t, want %t", field.Always, defaulted)
	}
	c.node(path, written, field.Type)
}

// names are the fields that are written and those that are known, but for those that every object has.
func names(m *schema.Map, t *schema.Type, properties map[string]any) []string {
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(sortedKeys(properties), sortedKeys(m.Fields)))))
	return slices.DeleteFunc(all, func(name string) bool { return t.Object && metaField(name) })
}

func (c *Comparison) elements(path string, s map[string]any, t *schema.Type) {
	if t.List == nil {
		c.different(path, "it is a list of which nothing is known")
		return
	}
	want := map[any]schema.ListKind{"set": schema.Set, "map": schema.Keyed}[s["x-kubernetes-list-type"]]
	if t.List.Kind != want {
		c.different(path, "as a list it is of kind %d, want %d", t.List.Kind, want)
	}
	keys, _ := s["x-kubernetes-list-map-keys"].([]any)
	if len(keys) != len(t.List.Keys) {
		c.different(path, "its keys are %q, want %q", t.List.Keys, keys)
	}
	if items, said := s["items"].(map[string]any); said {
		c.node(path+"[]", items, t.List.Items)
	}
}
