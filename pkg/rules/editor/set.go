package editor

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

func set() node {
	return object(
		optional("description", "What the set is for; for readers.", text()),
		optional("serviceAccountName", "The set reads and writes as this ServiceAccount, which for a RuleSet is in its own namespace.", subdomain()),
		optional("serviceAccountNamespace", "The namespace of the ServiceAccount of a ClusterRuleSet.", label()),
		mode("Enforce (default): the rules act. Audit: they are evaluated and reported, but write nothing and record no events."),
		optional("params", "Constants of any shape, which rules read as params.NAME. --param SET.NAME=VALUE replaces one.",
			mapOf(matching(`^[^.]*$`, "the name of a parameter has no dot"), node{})),
		optional("let", "Expressions with names, for all rules of the set; each is evaluated at most once for an object, and only if something uses it.", reference("let")),
		required("resources", "Everything that the rules of the set watch, read or make, each under a name.",
			filled(mapOf(matching(`^[^\s,]+$`, "no commas and no spaces"), reference("resource")))),
		required("rules", "The rules, the first of which has its way where they disagree.", listOf(reference("rule"))),
	)
}

func mode(description string) property {
	return optional("mode", description, choice(spec.Enforce, spec.Audit))
}

func resource() node {
	return object(
		optional("group", "The API group; leave it out for core resources such as pods.",
			matching(subdomainPattern+"|^$", "the group alone, such as apps or cert-manager.io; the version has a field of its own")),
		required("version", "The version of the API, such as v1.", label()),
		required("resource", "The plural, lower-case name, as in kubectl api-resources.",
			matching(labelPattern, "the plural, lower-case name, such as pods")),
		optional("namespaces", "Only these namespaces. A RuleSet cannot have it: it acts in its own.", listOf(label())),
		optional("labelSelector", "As in kubectl get -l. What it leaves out does not exist for the rules.", text()),
		optional("fieldSelector", "As in kubectl get --field-selector. What it leaves out does not exist for the rules.", text()),
	)
}

func rule() node {
	out := object(
		required("name", "Unique in the set, a DNS label.", label()),
		optional("description", "What the rule is for; for readers.", text()),
		required("watch", "A name under resources, or several with commas; the rule is evaluated for each object, one at a time.",
			matching(`^\s*[^\s,]+\s*(,\s*[^\s,]+\s*)*$`, "a name under resources, or several with commas")),
		optional("with", "Other objects that the rule reads. Where they change, the rule is evaluated again.",
			filled(mapOf(name(), reference("related")))),
		optional("let", "Expressions with names; each is evaluated at most once for an object, and only if something uses it.", reference("let")),
		optional("when", "A condition; without it the rule always matches.", condition()),
		optional("for", "A duration such as 5m, or an expression: the rule acts once when has held for that long without a break.",
			holdTime()),
		optional("actions", "What to do, in the order written. Required, unless there is onDelete.", reference("actions")),
		optional("onDelete", "What to do while the object is being deleted. Ordinary actions do not run then.", reference("onDelete")),
		optional("suspend", "true: the rule stays listed and decides nothing.", boolean()),
		mode("Goes before the mode of the set. Audit: the rule is evaluated and reported, but writes nothing and records no events."),
		optional("limits", "A blast radius: for how many of the watched objects the rule may write within a sliding window. Past it, the rule pauses.", reference("limits")),
	)
	out["anyOf"] = someOf("actions", "onDelete")
	return out
}

func onDelete() node {
	out := object(
		optional("actions", "As those of a rule; apply without prune. Required, unless there is done.", reference("actions")),
		optional("done", "A condition: the object may go. Without it, once the actions have succeeded.", condition()),
		optional("hold", "true (default): keep the object until done, by a finalizer. false: only react, where something else delays the deletion.",
			boolean()),
	)
	out["anyOf"] = someOf("actions", "done")
	out["allOf"] = []any{
		having("actions", node{"items": having("apply", having("prune", constant(false)))}),
	}
	out["dependencies"] = node{"done": having("hold", constant(true))}
	return out
}

func limits() node {
	return object(
		required("maxObjects", "A number from 1, or a percentage of the objects that the rule watches, of which at least one. 100% is no limit, but says that somebody thought of it.",
			node{
				"type": []string{"integer", "string"}, "minimum": 1,
				"pattern": percentPattern, "patternErrorMessage": "a number such as 5, or a percentage such as 10%",
			}),
		optional("per", "The window; default 10m.", duration()),
	)
}
