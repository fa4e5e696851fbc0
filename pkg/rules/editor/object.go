package editor

// body is what a patch writes to an object of which nothing is known.
func body() node {
	return with(with(templated("object"), "properties", node{"metadata": reference("patchedMetadata"), "apiVersion": false, "kind": false}), "minProperties", 1)
}

// manifest is an object of which nothing is known.
func manifest(metadata string) node {
	return with(templated("object"), "properties", node{"metadata": reference(metadata), "apiVersion": text(), "kind": text()})
}

// metadataOf is the metadata that rules may write, with more fields where they say
// which object it is.
func metadataOf(identity ...string) node {
	texts := with(optionally("object"), "additionalProperties", node{"type": []string{"string", "null"}})
	properties := node{
		"labels":          with(texts, "description", "null removes a label, and a template may be a key too."),
		"annotations":     with(texts, "description", "null removes an annotation, and a template may be a key too."),
		"finalizers":      with(with(optionally("array"), "items", text()), "description", "What must be done before the object goes."),
		"ownerReferences": with(with(optionally("array"), "items", ownerReference()), "description", "The owners, for a manifest with owned: false; controllerRef(object) gives one."),
	}
	for _, field := range identity {
		properties[field] = with(text(), "description", identityFields[field])
	}
	out := with(templated("object"), "properties", properties)
	closed(out)
	return out
}

// identityFields say which object a manifest is.
var identityFields = map[string]string{
	"name":         "The name of the object.",
	"namespace":    "Default: that of the watched object.",
	"generateName": "What the API server adds random letters to, in place of a name.",
}

// optionally is templated for what null removes.
func optionally(kind string) node {
	return with(templated(kind), "type", []string{kind, "string", "null"})
}

func ownerReference() node {
	out := templated("object")
	out["properties"] = node{
		"apiVersion": text(), "kind": text(), "name": text(), "uid": text(),
		"controller": templated("boolean"), "blockOwnerDeletion": templated("boolean"),
	}
	closed(out)
	return out
}
