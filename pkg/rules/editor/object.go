package editor

import (
	"maps"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// body is what a patch writes to an object of which nothing is known.
func body() node {
	return with(with(templated("object"), "properties", node{"metadata": reference("patchedMetadata"), "apiVersion": false, "kind": false}), "minProperties", 1)
}

// manifest is an object of which nothing is known.
func manifest(metadata string) node {
	return with(templated("object"), "properties", node{"metadata": reference(metadata), "apiVersion": text(), "kind": text()})
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

// metadata is the metadata that rules may write, without some fields.
func (b *bodies) metadata(without ...string) node {
	properties := node{}
	for _, name := range slices.Sorted(maps.Keys(metadataFields)) {
		f, _ := schema.EmbeddedMetadata().Field(name)
		properties[name] = with(b.describe(f.Type, name), "description", metadataFields[name])
	}
	for _, name := range without {
		delete(properties, name)
	}
	out := with(templated("object"), "properties", properties)
	closed(out)
	return out
}
