package lint_test

import "testing"

// TestRecursion is about rules that watch all that they make, and about those of which that is not certain.
func TestRecursion(t *testing.T) {
	apply := func(more, name string) string {
		return "    actions: [{" + more + "apply: {resource: configmaps, manifest: {metadata: {name: " + name + "}}}}]\n"
	}
	said := []string{"warning spec.rules[0].actions[0].apply.manifest.metadata.name: " +
		"the rule makes another of configmaps for each that it watches, also for those that it has made, and never stops"}
	events := func(rest string) string {
		return "    events: {version: v1, resource: events}\n    later: {group: events.k8s.io, version: v1, resource: events}\n" +
			"    failures: {version: v1, resource: events, fieldSelector: reason=Failed}\n" + rest
	}
	const echo = "    actions: [{event: {reason: Echo, message: \"saw ${object.metadata.name}\"}}]\n"
	echoes := []string{"warning spec.rules[0].actions[0].event: the rule records an Event about each Event, also about those that it has recorded, and never stops"}
	maps := func(rest string) string { return oneRule("configmaps", rest) }
	testSaid(t, map[string]saidCase{
		"Suffix":    {"The name grows.", maps(apply("", `"${object.metadata.name}-copy"`)), said},
		"Prefix":    {"At the other end.", maps(apply("", `"copy-${object.metadata.name}"`)), said},
		"Sum":       {"By an operator.", maps(apply("", `"${object.metadata.name + '-copy'}"`)), said},
		"Let":       {"By a let.", maps("    let: {its: object.metadata.name}\n" + apply("", `"${its}-copy"`)), said},
		"Hash":      {"A hash is another name.", maps(apply("", `"${sha256(object.metadata.name)[:20]}"`)), said},
		"HashText":  {"With text around it.", maps(apply("", `"c-${sha256(object.metadata.name)[:20]}"`)), said},
		"UID":       {"So is the uid.", maps(apply("", `"c-${object.metadata.uid}"`)), said},
		"Always":    {"A condition that is none.", maps("    when: true\n" + apply("", `"${object.metadata.name}-copy"`)), said},
		"Constant":  {"There is one of that name.", maps(apply("", "one")), nil},
		"Field":     {"The copies may have the same.", maps(apply("", `"${object.metadata.labels.a ?? 'a'}-copy"`)), nil},
		"Trimmed":   {"It has an end.", maps(apply("", `"${trimSuffix(object.metadata.name, '-copy')}-copy"`)), nil},
		"When":      {"A condition may end it.", maps("    when: object.metadata.labels.copied != \"yes\"\n" + apply("", `"${object.metadata.name}-copy"`)), nil},
		"WhenStep":  {"That of the action, too.", maps(apply("when: object.metadata.labels.copied != 'yes', ", `"${object.metadata.name}-copy"`)), nil},
		"Loop":      {"The list may be empty.", maps(apply("forEach: {x: \"${keys(object.data)}\"}, ", `"${object.metadata.name}-copy"`)), nil},
		"Other":     {"It watches another resource.", oneRule("pods", apply("", `"${object.metadata.name}-copy"`)), nil},
		"Audited":   {"It writes nothing.", maps("    mode: Audit\n" + apply("", `"${object.metadata.name}-copy"`)), nil},
		"Suspended": {"It does nothing.", maps("    suspend: true\n" + apply("", `"${object.metadata.name}-copy"`)), nil},
		"Selected": {"It may not see what it makes.", "    some: {version: v1, resource: configmaps, labelSelector: copy!=yes}\n" +
			oneRule("some", apply("", `"${object.metadata.name}-copy"`)), nil},
		"Elsewhere": {"Nor in another namespace.", "    some: {version: v1, resource: configmaps, namespaces: [a]}\n" +
			oneRule("some", `    actions: [{apply: {resource: configmaps, owned: false, manifest: {metadata: {name: "${object.metadata.name}-copy", namespace: b}}}}]`+"\n"), nil},
		"Events":         {"An Event for each Event.", events(oneRule("events", echo)), echoes},
		"LaterEvents":    {"In the other group.", events(oneRule("later", echo)), echoes},
		"EventsSelected": {"They are not those that it records.", events(oneRule("failures", echo)), nil},
		"EventsWhen":     {"A condition may leave them out.", events(oneRule("events", "    when: object.reason == \"Failed\"\n"+echo)), nil},
		"EventsTarget": {"They are all the same.", events(oneRule("events",
			"    with: {it: {resource: configmaps, name: it}}\n    actions: [{event: {reason: Echo, message: a, target: it}}]\n")), nil},
	})
}
