package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// Document is what an API server says of one group and version. It makes types when
// they are asked for. It is safe for concurrent use.
type Document struct {
	resources map[apischema.GroupVersionResource]*served
	names     []schema.Name

	mu      sync.Mutex // guards what is below
	schemas map[string]json.RawMessage
	byKind  map[apischema.GroupVersionKind]string // nil until it is needed
	made    map[apischema.GroupVersionResource]*schema.Resource
	reader  *Reader
}

// outline is what Parse reads of a document.
type outline struct {
	Paths      map[string]endpoint `json:"paths"`
	Components struct {
		Schemas map[string]json.RawMessage `json:"schemas"`
	} `json:"components"`
}

// Parse reads an OpenAPI v3 document in JSON.
func Parse(data []byte) (*Document, error) {
	var o outline
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, fmt.Errorf("reading an OpenAPI document: %w", err)
	}
	d := &Document{
		resources: servedBy(o.Paths),
		schemas:   o.Components.Schemas,
		made:      map[apischema.GroupVersionResource]*schema.Resource{},
	}
	d.reader = NewReader(Go, d.component)
	for gvr, s := range d.resources {
		d.names = append(d.names, schema.Name{GroupVersionResource: gvr, Kind: s.gvk.Kind})
		d.reader.custom = schema.Custom(gvr.Group) // The document is of one group.
	}
	slices.SortFunc(d.names, schema.CompareNames)
	return d, nil
}

// component decodes a schema. One that cannot be decoded says nothing.
func (d *Document) component(name string) any {
	raw, found := d.schemas[name]
	if !found {
		return nil
	}
	var s any
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil
	}
	return s
}

// Resources lists the resources of the document in order.
func (d *Document) Resources() []schema.Name { return slices.Clone(d.names) }

// Resource returns a resource with its types, nil if the document does not have it.
func (d *Document) Resource(gvr apischema.GroupVersionResource) *schema.Resource {
	found := d.resources[gvr]
	if found == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.made[gvr] == nil {
		d.made[gvr] = d.resource(gvr, found)
	}
	return d.made[gvr]
}

// Type returns the type of a component, nil if there is none of the name.
func (d *Document) Type(name string) *schema.Type {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reader.Component(name)
}

func (d *Document) resource(gvr apischema.GroupVersionResource, s *served) *schema.Resource {
	r := &schema.Resource{
		GroupVersionResource: gvr,
		Kind:                 s.gvk.Kind,
		Namespaced:           s.namespaced,
		Verbs:                slices.Sorted(maps.Keys(s.verbs)),
		Subresources:         make(map[string]*schema.Type, len(s.subresources)),
		SubresourcesKnown:    true,
	}
	scoped := map[*schema.Type]*schema.Type{} // Most subresources are of the type of the object.
	body := func(s *served) *schema.Type {
		t := d.body(s.body, s.gvk)
		if scoped[t] == nil {
			scoped[t] = t.Scoped(r.Namespaced)
		}
		return scoped[t]
	}
	r.Type = body(s)
	for name, sub := range s.subresources {
		r.Subresources[name] = body(sub)
	}
	return r
}

// body returns the type of a component, or of the kind where none is named: some
// resources can only be read.
func (d *Document) body(name string, gvk apischema.GroupVersionKind) *schema.Type {
	if name == "" {
		name = d.named(gvk)
	}
	if t := d.reader.Component(name); t != nil {
		return t
	}
	return schema.Open()
}

// named returns the component of a kind, "" if there is none.
func (d *Document) named(gvk apischema.GroupVersionKind) string {
	if d.byKind == nil {
		d.byKind = kindsOfSchemas(d.schemas)
	}
	return d.byKind[gvk]
}

// kindsOfSchemas finds the component of each kind. What belongs to several kinds,
// such as the options of a delete, is the body of none.
func kindsOfSchemas(schemas map[string]json.RawMessage) map[apischema.GroupVersionKind]string {
	found := map[apischema.GroupVersionKind]string{}
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		var s struct {
			Kinds []apischema.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
		}
		if err := json.Unmarshal(schemas[name], &s); err != nil || len(s.Kinds) != 1 {
			continue // It has another shape, and so is not that of a kind.
		}
		if found[s.Kinds[0]] == "" {
			found[s.Kinds[0]] = name
		}
	}
	return found
}
