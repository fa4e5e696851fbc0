package editor

import (
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// action is exactly one of the kinds, when it is done, and for each of what.
func action() node {
	out := object(
		optional("when", "A condition of this action alone. With forEach, it is judged for each element.", condition()),
		optional("forEach", "{name: list}: the action is done for each element, called by that name; index counts from 0.",
			with(filled(mapOf(name(), with(templated("array"), "items", node{}))), "maxProperties", 1)),
		optional("patch", "Changes an object that exists.", reference("patch")),
		optional("apply", "Makes an object of a certain name be so, by server-side apply.", reference("apply")),
		optional("create", "Makes a new object, which is never updated.", reference("create")),
		optional("delete", "Deletes an object.", reference("delete")),
		optional("event", "Records a Kubernetes Event about an object, once the writes of the rule have succeeded.", reference("event")),
	)
	return oneOf(out, "patch", "apply", "create", "delete", "event")
}

// patch has exactly one of three bodies.
func patch() node {
	out := object(
		optional(string(plan.Merge), "A JSON merge patch (RFC 7386): maps are merged, everything else is replaced, null removes.", reference("body")),
		optional(string(plan.JSON), "A JSON patch (RFC 6902): a list of {op, path, value}.",
			with(with(templated("array"), "items", reference("operation")), "minItems", 1)),
		optional(string(plan.Apply), "Server-side apply of just these fields; keys with null are left out.", reference("body")),
		optional("subresource", "Writes to a subresource of the object, such as status.", label()),
		target(),
		optional("force", "Of apply only: takes fields over from other managers. false (default): a field that another manager owns is an error.", boolean()),
		optional("release", "Of apply only: what becomes of fields that the rule gives up. Orphan (default): the values stay; Remove: they go, unless another manager owns them too.",
			choice(plan.OrphanFields, plan.RemoveFields)),
	)
	out = oneOf(out, string(plan.Merge), string(plan.JSON), string(plan.Apply))
	ofApply := node{"properties": node{"force": constant(false), "release": false}}
	out["allOf"] = []any{node{"dependencies": node{string(plan.Merge): ofApply, string(plan.JSON): ofApply}}}
	return out
}

// operation is one of a JSON patch. What templates among its keys give is not
// known.
func operation() node {
	out := orTemplate(object(
		optional("op", "add, remove, replace, move, copy or test.", wordOrTemplate("add", "remove", "replace", "move", "copy", "test")),
		optional("path", "A JSON pointer, such as /spec/replicas; /- is the end of a list.", pointer()),
		optional("from", "Of move and copy: a JSON pointer.", pointer()),
		optional("value", "Of add, replace and test: any value.", node{}),
	))
	given := node{"type": "object", "propertyNames": node{"not": node{"pattern": hole}}}
	out["allOf"] = []any{
		conditional(given, node{"required": []string{"op", "path"}}),
		conditional(all(given, present("op", node{"enum": []string{"add", "replace", "test"}})), node{"required": []string{"value"}}),
		conditional(all(given, present("op", node{"enum": []string{"move", "copy"}})), node{"required": []string{"from"}}),
	}
	return out
}

func pointer() node { return matching("^/|"+hole, "a JSON pointer such as /spec/replicas") }

func apply() node {
	out := object(
		required("resource", "A name under resources. It gives apiVersion and kind.", notBlank()),
		required("manifest", "The object, or one template that gives it. What is nil in it counts as absent.", reference("applied")),
		owned(),
		optional("prune", "true: delete what the rule applied before and no longer wants. All apply actions of a rule on one resource agree on it.", boolean()),
		optional("existing", "Update (default), or Keep: create it if it is absent, and leave whatever is there alone.", choice("Update", "Keep")),
		optional("adopt", "true: take over an object that the set did not make. It is released later, and never deleted.", boolean()),
	)
	out["allOf"] = []any{conditional(present("existing", constant("Keep")), having("adopt", constant(false)))}
	return out
}

func create() node {
	return object(
		required("in", "The list of with in which the object will appear; not one that is looked up by name.", notBlank()),
		required("manifest", "The object, with name or generateName, or one template that gives it. What is nil in it counts as absent.", reference("created")),
		owned(),
	)
}

func owned() property {
	return optional("owned", "true (default): the watched object becomes the owner. Where Kubernetes forbids such an owner, write false.",
		boolean())
}

func deletion() node {
	return object(
		target(),
		optional("gracePeriodSeconds", "Without it, or with nil, the object's own.", with(templated("integer"), "minimum", 0)),
		optional("propagationPolicy", "What becomes of objects that it owns: Background (default): they go after it; Foreground: before it; Orphan: they stay.",
			choice("Background", "Foreground", "Orphan")),
	)
}

func event() node {
	return object(
		required("reason", "One CamelCase word, at most 128 letters and digits.", word()),
		required("message", "What happened. Leave out what changes all the time: an event is recorded once for each episode.", notBlank()),
		optional("type", "Normal (default) or Warning.", wordOrTemplate("Normal", "Warning")),
		optional("action", "What was done, one CamelCase word.", word()),
		target(),
	)
}
