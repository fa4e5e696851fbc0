package editor

import (
	"maps"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// object is what is written to an object: these fields beside the metadata, or a template. Of a type that is nil nothing is known.
func object(of *schema.Type, fields node) node {
	out := with(templated("object"), "properties", with(fields, "metadata", reference("objectMetadata")))
	if of != nil && !of.Map.Open && of.Map.Values == nil {
		closed(out)
	}
	return out
}

// metadataFields are those that rules may write.
var metadataFields = map[string]string{
	"labels":          "null removes a label, and a template may be a key too.",
	"annotations":     "null removes an annotation, and a template may be a key too.",
	"finalizers":      "What must be done before the object goes.",
	"ownerReferences": "The owners, for a manifest with owned: false; controllerRef(object) gives one.",
	"name":            "The name of the object.",
	"namespace":       "Default: that of the watched object.",
	"generateName":    "What the API server adds random letters to, in place of a name.",
}

// metadata is the metadata that rules may write.
func (b *bodies) metadata() node {
	properties := node{}
	for _, name := range slices.Sorted(maps.Keys(metadataFields)) {
		f, _ := schema.EmbeddedMetadata().Field(name)
		properties[name] = with(b.describe(f.Type, name), "description", metadataFields[name])
	}
	out := with(templated("object"), "properties", properties)
	closed(out)
	return out
}

// known is what is written to a resource: references to definitions.
type known struct {
	manifest node
	patch    node // what follows for a patch
}

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
	if r.Subresources["status"] != nil && fields["status"] != nil {
		fields["status"] = node{"not": node{}, "doNotSuggest": true, "description": "Written with subresource: status."}
	}
	fields["apiVersion"], fields["kind"] = wordOrTemplate(r.GroupVersion().String()), wordOrTemplate(r.Kind)
	out := &known{manifest: reference(b.define(name, object(r.Type, fields)))}
	out.patch = reference(b.define(name+"-patch", b.patchOf(r, name, out.manifest)))
	return out
}

// patchOf says what the bodies of a patch are, which depends on the subresource.
func (b *bodies) patchOf(r *schema.Resource, name string, whole node) node {
	written := func(body node) node { return node{"properties": node{"merge": body, "apply": body}} }
	conditions := []any{conditional(absent("subresource"), written(whole))}
	names := slices.Sorted(maps.Keys(r.Subresources))
	for _, subresource := range names {
		t := r.Subresources[subresource]
		if !t.Known() || t.Map == nil {
			continue
		}
		fields := b.fields(t)
		maps.DeleteFunc(fields, func(name string, _ any) bool { return subresource == "status" && name != "status" })
		body := reference(b.define(name+"-"+subresource, object(t, fields)))
		conditions = append(conditions, conditional(present("subresource", constant(subresource)), written(body)))
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
	for _, name := range t.Names() {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) {
			out[name] = b.value(t.Map.Fields[name].Type, name)
		}
	}
	return out
}
