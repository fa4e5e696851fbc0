package editor

import (
	"maps"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// known is what is written to a resource: references to definitions.
type known struct {
	applied, created node // manifests
	patch            node // what follows for a patch
}

// statusField is written through the subresource of its name, where there is one.
const statusField = "status"

// of returns nil where of the resource nothing is known.
func (b *bodies) of(r *schema.Resource) *known {
	if r == nil || !r.Type.Known() || r.Type.Map == nil {
		return nil
	}
	name := r.Resource + "." + r.Version
	if r.Group != "" {
		name += "." + r.Group
	}
	fields := b.fields(r.Type)
	if r.Subresources[statusField] != nil && fields[statusField] != nil {
		fields[statusField] = node{"not": node{}, "doNotSuggest": true, "description": "Written with subresource: status."}
	}
	manifest := maps.Clone(fields)
	manifest["apiVersion"] = wordOrTemplate(r.GroupVersion().String())
	manifest["kind"] = wordOrTemplate(r.Kind)
	return &known{
		patch:   reference(b.define(name+"-patch", b.patchOf(r, name, fields))),
		applied: reference(b.define(name+"-applied", whole(r.Type, manifest, "appliedMetadata"))),
		created: reference(b.define(name+"-created", whole(r.Type, manifest, "createdMetadata"))),
	}
}

// patchOf says what the bodies of a patch are, which depends on the subresource.
func (b *bodies) patchOf(r *schema.Resource, name string, fields node) node {
	bodies := func(body node) node {
		described := reference(b.define(name+"-patched", body))
		return node{"properties": node{"merge": described, "apply": described}}
	}
	conditions := []any{conditional(absent("subresource"), bodies(whole(r.Type, fields, "patchedMetadata")))}
	names := slices.Sorted(maps.Keys(r.Subresources))
	for _, subresource := range names {
		t := r.Subresources[subresource]
		if !t.Known() || t.Map == nil {
			continue
		}
		below := b.fields(t)
		if status, there := below[statusField]; there && subresource == statusField {
			below = node{statusField: status}
		}
		conditions = append(conditions, conditional(present("subresource", constant(subresource)), bodies(whole(t, below, "patchedMetadata"))))
	}
	out := all(conditions...)
	switch {
	case !r.SubresourcesKnown:
	case len(names) == 0:
		out["properties"] = node{"subresource": false}
	default:
		out["properties"] = node{"subresource": node{"enum": names}}
	}
	return out
}

// fields describes those of an object, but what identifies it.
func (b *bodies) fields(t *schema.Type) node {
	out := node{}
	for _, field := range t.Names() {
		switch field {
		case "apiVersion", "kind", "metadata":
		default:
			out[field] = b.value(t.Map.Fields[field].Type, field)
		}
	}
	return out
}

// whole is a body: a map with some fields of an object, or a template.
func whole(t *schema.Type, fields node, metadata string) node {
	properties := maps.Clone(fields)
	properties["metadata"] = reference(metadata)
	out := with(templated("object"), "properties", properties)
	if !t.Map.Open && t.Map.Values == nil {
		closed(out)
	}
	return out
}
