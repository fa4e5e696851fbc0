package editor

import "github.com/dyncontroller/dyncontroller/pkg/plan"

// test is the spec of a RuleTest.
func test() node {
	return object(
		required("rules", "Files or directories of rules, relative to the test.", listOf(notBlank())),
		optional("crds", "Files or directories with CustomResourceDefinitions, relative to the test: what they say is checked, defaulted and pruned.",
			listOf(notBlank())),
		optional("now", "The instant at which a case begins, RFC 3339; default 2026-01-01T00:00:00Z.",
			with(text(), "format", "date-time")),
		optional("params", "Constants that replace those of the rules: NAME, or SET.NAME where several sets have it.", node{"type": "object"}),
		optional("wholeObjects", "Goldens have each changed object as a whole, and not what changed of it.", node{"type": "boolean"}),
		required("cases", "Each is a cluster of its own, in which the rules act until nothing changes any more.", listOf(reference("case"))),
	)
}

func testCase() node {
	return object(
		required("name", "One line, which names the golden too.", with(notBlank(), "maxLength", 120)),
		required("objects", "Files with one or more objects each, relative to the test: the cluster before, as it is stored.", listOf(notBlank())),
		optional("steps", "What happens then, in order. The rules settle after each.", listOf(reference("step"))),
		optional("golden", "Default: golden/<name of the case>.yaml beside the test, or none where the case expects something itself.", notBlank()),
		optional("expect", "What must have happened once the rules have settled, and what must not.", reference("expect")),
	)
}

// step is what happens to the cluster of a case from outside.
func step() node {
	return oneOf(object(
		optional("name", "What goldens and reports call the step; default: what it does.", with(notBlank(), "maxLength", 120)),
		optional("expect", "What must have happened since, and what must not.", reference("expect")),
		optional("advance", "How far the clock moves on.", duration()),
		optional("apply", "Files with objects that are created, or changed to be so, their status too.",
			node{"type": []string{"string", "array"}, "pattern": `\S`, "patternErrorMessage": "this is empty", "minItems": 1, "items": notBlank()}),
		optional("patch", "Changes an object.", reference("stepPatch")),
		optional("delete", "Deletes an object.", object(stepObject()...)),
	), "advance", "apply", "patch", "delete")
}

// expect is a part of what a golden would have.
func expect() node {
	lists := func() node {
		var all []property
		for _, list := range []string{"objects", "decisions", "writes", "audited", "events", "failures", "lookAgainAt"} {
			all = append(all, optional(list, "Parts of elements, as eval -o yaml shows them.", listOf(node{"type": "object", "minProperties": 1})))
		}
		return object(all...)
	}
	return object(
		optional("has", "What there must be, among other things; null stands for a field that must not be there.", lists()),
		optional("hasNot", "What nothing may be like.", lists()),
	)
}

// stepObject names the object that a step is about.
func stepObject() []property {
	return []property{
		required("resource", "A key of the resources of the rules, or a plural with its group, such as deployments.apps.", notBlank()),
		required("name", "The name of the object.", notBlank()),
		optional("namespace", "Default: that of the one object of the name.", label()),
	}
}

func stepPatch() node {
	fields := append(stepObject(),
		optional("subresource", "Such as status.", label()),
		optional(string(plan.Merge), "A merge patch, RFC 7386.", filled(node{"type": "object"})),
		optional(string(plan.JSON), "A JSON patch, RFC 6902.", listOf(reference("stepOperation"))),
		optional(string(plan.Apply), "Server-side apply of just these fields, by force.", filled(node{"type": "object"})),
	)
	return oneOf(object(fields...), string(plan.Merge), string(plan.JSON), string(plan.Apply))
}

// stepOperation is one of a JSON patch, without templates.
func stepOperation() node {
	out := object(
		required("op", "What is done.", choice("add", "remove", "replace", "move", "copy", "test")),
		required("path", "A JSON pointer, such as /spec/replicas; /- is the end of a list.", text()),
		optional("from", "Of move and copy: a JSON pointer.", text()),
		optional("value", "Of add, replace and test: any value.", node{}),
	)
	out["allOf"] = []any{
		conditional(present("op", node{"enum": []string{"add", "replace", "test"}}), node{"required": []string{"value"}}),
		conditional(present("op", node{"enum": []string{"move", "copy"}}), node{"required": []string{"from"}}),
	}
	return out
}
