package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// maxDepth is how many schemas within each other are read. What is deeper is open. A
// component begins anew, wherever it is referred to.
const maxDepth = 100

// Reader makes types of schemas, as package json of apimachinery decodes them. It
// is not safe for concurrent use; the types are.
type Reader struct {
	custom     bool                  // The schemas are those of custom resources.
	components func(name string) any // nil for structural schemas
	named      map[string]*schema.Type
	plain      map[plain]*schema.Type
	depth      int
	// What is done in the end: to read the components that were referred to, and then, when their types are
	// complete, to copy those of which more is said, and to set defaults.
	unread []component
	later  []func()
}

// component is a schema with a name, and the type that is to be made of it.
type component struct {
	of    map[string]any
	named *schema.Type
}

// plain is a type without parts and limits. There is one of each.
type plain struct {
	kinds  value.Kind
	format string
}

// NewReader returns a reader of schemas of API servers, which refer to others by "#/components/schemas/NAME". Where components is nil
// for a name, nothing is known of what is referred to. Where there are no components, it reads the structural schemas of
// CustomResourceDefinitions: a map of which nothing is said is empty there, and not open.
func NewReader(components func(name string) any) *Reader {
	return &Reader{
		custom:     components == nil,
		components: components,
		named:      map[string]*schema.Type{},
		plain:      map[plain]*schema.Type{},
	}
}

// Type returns the type that a schema describes. A schema that is none is open.
func (r *Reader) Type(from any) *schema.Type {
	t := r.read(from)
	r.finish()
	return t
}

// Component returns the type of a component, nil if there is none of the name.
func (r *Reader) Component(name string) *schema.Type {
	t := r.component(name)
	r.finish()
	return t
}

// finish completes the types. A component that is read may refer to others. One that is but another
// name of a component is open.
func (r *Reader) finish() {
	for len(r.unread) > 0 {
		last := len(r.unread) - 1
		next := r.unread[last]
		r.unread = r.unread[:last]
		if _, refers := reference(next.of); refers {
			*next.named = *schema.Open()
			continue
		}
		*next.named = *r.written(next.of)
	}
	for _, complete := range r.later {
		complete()
	}
	r.later = nil
}

// Object returns the type of whole objects of a schema, as that of a
// CustomResourceDefinition: they have apiVersion, kind and metadata whatever it says.
func (r *Reader) Object(from any) *schema.Type {
	t := r.Type(from)
	if t.Map == nil || !t.Known() {
		t = &schema.Type{Kinds: value.Map, Map: &schema.Map{Open: true}}
	}
	whole, fields := *t, *t.Map
	whole.Kinds, whole.Object, whole.Map = value.Map, true, &fields
	fields.Fields = maps.Clone(fields.Fields)
	identify(&fields, schema.Metadata())
	return &whole
}

func (r *Reader) read(from any) *schema.Type {
	s, ok := from.(map[string]any)
	if !ok || r.depth >= maxDepth {
		return schema.Open()
	}
	r.depth++
	defer func() { r.depth-- }()
	name, refers := reference(s)
	if !refers {
		return r.written(s)
	}
	t := r.component(name)
	if t == nil {
		return schema.Open()
	}
	return r.refined(t, s)
}

// refined returns the type of a place that refers to a component, a copy of its type where the place says how its map is merged.
func (r *Reader) refined(base *schema.Type, by map[string]any) *schema.Type {
	kind := by["x-kubernetes-map-type"]
	if kind == nil {
		return base
	}
	t := &schema.Type{}
	r.later = append(r.later, func() {
		*t = *base
		if t.Map != nil {
			fields := *t.Map
			fields.Atomic = kind == "atomic"
			t.Map = &fields
		}
	})
	return t
}

// reference returns the name of what a schema refers to. As siblings of $ref mean
// nothing, Kubernetes puts it into an allOf of its own where there are any.
func reference(s map[string]any) (name string, refers bool) {
	ref, refers := s["$ref"].(string)
	if !refers {
		all, _ := s["allOf"].([]any)
		if len(all) != 1 {
			return "", false
		}
		only, _ := all[0].(map[string]any)
		ref, refers = only["$ref"].(string)
	}
	return strings.TrimPrefix(ref, "#/components/schemas/"), refers
}

func (r *Reader) component(name string) *schema.Type {
	if t := wellKnown(name); t != nil {
		return t
	}
	if t := r.named[name]; t != nil {
		return t
	}
	if r.components == nil {
		return nil
	}
	s, ok := r.components(name).(map[string]any)
	if !ok {
		return nil
	}
	t := &schema.Type{}
	r.named[name] = t
	r.unread = append(r.unread, component{of: s, named: t})
	return t
}

// written returns the type of a schema that refers to no other as a whole.
func (r *Reader) written(s map[string]any) *schema.Type {
	kinds := kindsOf(s)
	if kinds == 0 || kinds == value.Any {
		return schema.Open()
	}
	if flag(s["nullable"]) {
		kinds |= value.Nil
	}
	t := schema.Type{Kinds: kinds, Format: r.formatOf(s), Limit: limitsOf(s)}
	if kinds.Has(value.Map) {
		t.Map = r.mapOf(s)
		t.Object = complete(t.Map, s)
	}
	if kinds.Has(value.List) {
		t.List = r.listOf(s)
	}
	if t.Map != nil || t.List != nil || t.Limit != nil {
		return &t
	}
	key := plain{kinds: t.Kinds, format: t.Format}
	if r.plain[key] == nil {
		r.plain[key] = &t
	}
	return r.plain[key]
}

func (r *Reader) listOf(s map[string]any) *schema.List {
	list := &schema.List{Items: schema.Open(), Kind: schema.Atomic}
	if items, said := s["items"]; said {
		list.Items = r.read(items)
	}
	keys, kind := texts(s, "x-kubernetes-list-map-keys"), s["x-kubernetes-list-type"]
	switch {
	case kind == "map" && len(keys) > 0:
		list.Kind, list.Keys, list.Unique = schema.Keyed, keys, r.custom
	case kind == "set":
		list.Kind, list.Unique = schema.Set, r.custom
	}
	return list
}

// Document is how an API server describes the types of one group and version. It makes types
// when they are asked for. It is safe for concurrent use.
type Document struct {
	schemas map[string]json.RawMessage
	byKind  map[string]string // the component of each kind
	known   *Document         // what is known of the same types, nil for nothing

	mu     sync.Mutex // guards what is below
	reader *Reader
}

// Parse reads an OpenAPI v3 document in JSON. Of the types in it more may be known than an API server says, which is nil for
// nothing: then the document only adds what is newer, which are fields and values.
func Parse(data []byte, of apischema.GroupVersion, known *Document) (*Document, error) {
	var described struct {
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(data, &described); err != nil {
		return nil, fmt.Errorf("reading an OpenAPI document: %w", err)
	}
	d := &Document{schemas: described.Components.Schemas, byKind: map[string]string{}, known: known}
	if known != nil {
		maps.Copy(d.byKind, known.byKind)
	}
	d.reader = NewReader(d.component)
	d.reader.custom = plan.Custom(of.Group)
	for _, name := range slices.Sorted(maps.Keys(d.schemas)) {
		var s struct {
			Kinds []apischema.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
		}
		if err := json.Unmarshal(d.schemas[name], &s); err != nil || len(s.Kinds) != 1 {
			continue // It is that of no kind, or of several, such as the options of a delete.
		}
		if kind := s.Kinds[0]; d.byKind[kind.Kind] == "" || kind.GroupVersion() == of {
			d.byKind[kind.Kind] = name
		}
	}
	return d, nil
}

// component decodes a schema. One that cannot be decoded says nothing.
func (d *Document) component(name string) any {
	var s any
	if err := kjson.Unmarshal(d.schemas[name], &s); err != nil {
		s = nil
	}
	if d.known != nil {
		return widened(d.known.component(name), s)
	}
	return s
}

// widened is a schema with the fields and the values of another one besides its own.
func widened(known, served any) any {
	s, _ := known.(map[string]any)
	other, _ := served.(map[string]any)
	switch {
	case s == nil:
		return served
	case other == nil:
		return known
	}
	for _, part := range []string{"items", "additionalProperties"} {
		if s[part] != nil {
			s[part] = widened(s[part], other[part])
		}
	}
	if fields, has := s["properties"].(map[string]any); has {
		more, _ := other["properties"].(map[string]any)
		for name, field := range more {
			fields[name] = widened(fields[name], field)
		}
	}
	if values, has := s["enum"].([]any); has {
		more, _ := other["enum"].([]any)
		s["enum"] = append(values, slices.DeleteFunc(more, func(v any) bool { return slices.Contains(values, v) })...)
	}
	return s
}

// Resource returns a resource that discovery lists, with its subresources. Of what the document does
// not describe the types are open, as are all where there is none.
func (d *Document) Resource(of metav1.APIResource, subresources []metav1.APIResource) *schema.Resource {
	out := &schema.Resource{
		GroupVersionResource: apischema.GroupVersionResource{Group: of.Group, Version: of.Version, Resource: of.Name},
		Kind:                 of.Kind,
		Namespaced:           of.Namespaced,
		Verbs:                of.Verbs,
		Subresources:         make(map[string]*schema.Type, len(subresources)),
		SubresourcesKnown:    true,
		Type:                 d.kind(of.Kind).Scoped(of.Namespaced),
	}
	for _, sub := range subresources {
		t := out.Type
		if sub.Kind != of.Kind {
			t = d.kind(sub.Kind).Scoped(of.Namespaced)
		}
		out.Subresources[strings.TrimPrefix(sub.Name, of.Name+"/")] = t
	}
	return out
}

// kind returns the type of a kind.
func (d *Document) kind(name string) *schema.Type {
	if d == nil {
		return schema.Open()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.reader.Component(d.byKind[name]); t != nil {
		return t
	}
	return schema.Open()
}
