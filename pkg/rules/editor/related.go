package editor

// related is an entry of with: a resource, and one way to say which of its objects
// are meant.
func related() node {
	out := object(
		required("resource", "A name under resources.", notBlank()),
		optional("namespace", `Default: that of the watched object. "*" means every namespace that the declaration under resources selects.`, notBlank()),
		optional("name", "The object of this name, or nil if there is none. Nothing is read where the name is nil or empty.", notBlank()),
		optional("names", "A list, by names; those that are nil or empty are skipped.",
			with(templated("array"), "items", node{"type": []string{"string", "null"}})),
		optional("matchLabels", "A list, by labels that are equal.", labels()),
		optional("selector", "A list, by a whole LabelSelector. An empty one is an error.",
			reference("selector")),
		optional("matchFields", "A list, by fields that equal a string, a number or a boolean, such as spec.nodeName.",
			filled(with(templated("object"), "additionalProperties", node{"type": []string{"string", "number", "boolean"}}))),
		optional("ownedBy", "A list, by the controller reference: the bare name of an object or a list of them: object, or a name of with or let.",
			matching(namePattern, "a bare name, without ${ }")),
		optional("all", "true: a list of all that the declaration under resources selects.", constant(true)),
	)
	return oneOf(out, "name", "names", "matchLabels", "selector", "matchFields", "ownedBy", "all")
}

func labels() node {
	return filled(with(templated("object"), "additionalProperties", text()))
}

// selector is a LabelSelector of Kubernetes.
func selector() node {
	requirement := object(
		optional("key", "The label.", text()),
		optional("operator", "In, NotIn, Exists or DoesNotExist.", wordOrTemplate("In", "NotIn", "Exists", "DoesNotExist")),
		optional("values", "The values, of In and NotIn.", with(templated("array"), "items", text())),
	)
	return filled(orTemplate(object(
		optional("matchLabels", "Labels that are equal.", with(templated("object"), "additionalProperties", text())),
		optional("matchExpressions", "Conditions on labels, all of which must hold.",
			with(templated("array"), "items", orTemplate(requirement))),
	)))
}
