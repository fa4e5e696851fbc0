package openapi

import (
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// What our own documents say of the fields of a map, as the Go types of built-in
// kinds have it.
const (
	alwaysExtension = "x-dyncontroller-always"
	zeroExtension   = "x-dyncontroller-zero-is-absent"
)

func (r *Reader) mapOf(s map[string]any) *schema.Map {
	properties, _ := s["properties"].(map[string]any)
	m := &schema.Map{
		Open:   flag(s["x-kubernetes-preserve-unknown-fields"]),
		Atomic: s["x-kubernetes-map-type"] == "atomic",
	}
	switch values := s["additionalProperties"].(type) {
	case map[string]any:
		m.Values = r.read(values)
	case bool:
		if values {
			m.Values = schema.Open()
		}
	default:
		m.Open = m.Open || r.components != nil && len(properties) == 0
	}
	if len(properties) == 0 {
		return m
	}
	m.Fields = make(map[string]schema.Field, len(properties))
	required, always, zero := sets.New(texts(s, "required")...), sets.New(texts(s, alwaysExtension)...), sets.New(texts(s, zeroExtension)...)
	for name, property := range properties {
		f := r.field(m, name, property)
		f.Required, f.Always, f.ZeroIsAbsent = required.Has(name), always.Has(name), zero.Has(name)
		m.Fields[name] = f
	}
	m.Sort()
	return m
}

// field reads a field that m will have. Its default is set in the end, unless its type turns out to be of
// another kind: documents of API servers say {} for whatever is a struct in Go, times too.
func (r *Reader) field(m *schema.Map, name string, property any) schema.Field {
	field := schema.Field{Type: r.read(property)}
	s, _ := property.(map[string]any)
	if written, defaulted := s["default"]; defaulted {
		r.later = append(r.later, func() {
			if f := m.Fields[name]; f.Type == field.Type && f.Type.Kinds.Has(value.KindOf(written)) {
				f.Always, f.Default = true, written
				m.Fields[name] = f
			}
		})
	}
	return field
}

// complete adds what is not written in the schema of a whole object, and reports
// whether it is one.
func complete(m *schema.Map, s map[string]any) bool {
	if flag(s["x-kubernetes-embedded-resource"]) {
		m.Fields = maps.Clone(m.Fields)
		identify(m, schema.EmbeddedMetadata())
		return true
	}
	_, kinds := s["x-kubernetes-group-version-kind"]
	if !kinds || m.Fields["metadata"].Type != schema.EmbeddedMetadata() {
		return false
	}
	identify(m, schema.Metadata())
	return true
}

// identify adds apiVersion, kind and metadata to the fields of a whole object. They
// are not required: whoever writes an object for a resource has them from it.
func identify(m *schema.Map, metadata *schema.Type) {
	if m.Fields == nil {
		m.Fields = map[string]schema.Field{}
	}
	stored := metadata == schema.Metadata()
	text := &schema.Type{Kinds: value.String}
	m.Fields["apiVersion"] = schema.Field{Type: text, Always: stored}
	m.Fields["kind"] = schema.Field{Type: text, Always: stored}
	m.Fields["metadata"] = schema.Field{Type: metadata, Always: stored}
	m.Sort()
}

// texts returns the texts of a list.
func texts(s map[string]any, key string) []string {
	list, _, _ := unstructured.NestedStringSlice(s, key) // A list with anything else says nothing.
	return list
}

// wellKnown returns the types of components that API servers read and write in ways
// that their schemas do not tell.
func wellKnown(name string) *schema.Type {
	name, ours := strings.CutPrefix(name, "io.k8s.apimachinery.pkg.")
	if !ours {
		return nil
	}
	return machinery[strings.TrimSuffix(name, "_v2")]
}

var machinery = map[string]*schema.Type{
	"api.resource.Quantity":   {Kinds: value.Number | value.String, Format: schema.Quantity},
	"util.intstr.IntOrString": {Kinds: value.Int | value.String, Format: "int-or-string"},
	"apis.meta.v1.Time":       {Kinds: value.String, Format: schema.Time},
	"apis.meta.v1.MicroTime":  {Kinds: value.String, Format: schema.MicroTime},
	"apis.meta.v1.ObjectMeta": schema.EmbeddedMetadata(),
	"apis.meta.v1.FieldsV1":   {Kinds: value.Map, Map: &schema.Map{Open: true}},
	"runtime.RawExtension":    {Kinds: value.Map, Map: &schema.Map{Open: true}},
}
