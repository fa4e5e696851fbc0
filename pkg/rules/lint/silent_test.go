package lint_test

import "testing"

// TestReplacedList is about patches that replace a list whose elements have keys, and about
// those that surely lose nothing, or are meant to.
func TestReplacedList(t *testing.T) {
	warning := func(field string) []string {
		return []string{"warning spec.rules[0].actions[0].patch.merge." + field + ": merge replaces the whole list " + field + ": the elements that are not written here are lost"}
	}
	const containers = "spec.template.spec.containers"
	deployment := func(before, value, more string) string {
		return oneRule("deployments", before+"    actions: [{"+more+"patch: {merge: {spec: {template: {spec: {containers: "+value+"}}}}}}]\n")
	}
	secrets := func(before, value string) string {
		return oneRule("pods", before+"    actions: [{patch: {merge: {spec: {imagePullSecrets: "+value+"}}}}]\n")
	}
	testSaid(t, map[string]saidCase{
		"Written":    {"The other containers are lost.", deployment("", "[{name: main, image: a}]", ""), warning(containers)},
		"Params":     {"A list from elsewhere.", deployment("", "'${params.containers}'", ""), warning(containers)},
		"Let":        {"By a let.", deployment("    let: {some: '[{name: \"main\", image: object.metadata.name}]'}\n", "'${some}'", ""), warning(containers)},
		"Finalizers": {"Finalizers are others', too.", oneRule("deployments", "    actions: [{patch: {merge: {metadata: {finalizers: [example.com/a]}}}}]\n"), warning("metadata.finalizers")},
		"Custom":     {"A list with keys of a custom resource.", oneRule("gateways", "    actions: [{patch: {merge: {spec: {listeners: [{port: 80, name: a}]}}}}]\n"), warning("spec.listeners")},
		"Target":     {"Of a related object.", oneRule("gateways", "    with: {d: {resource: deployments, name: a}}\n    actions: [{patch: {target: d, merge: {spec: {template: {spec: {containers: [{name: main, image: a}]}}}}}}]\n"), warning(containers)},
		"When":       {"That one is missing says nothing of the others.", secrets("    when: none(object.spec.imagePullSecrets, .name == 'a')\n", "[{name: a}]"), warning("spec.imagePullSecrets")},

		"Mapped":      {"It is made of what is there.", deployment("", "'${map(object.spec.template.spec.containers, merge(#, {imagePullPolicy: \"Always\"}))}'", ""), nil},
		"MappedLet":   {"By lets.", deployment("    let: {spec: object.spec.template.spec, some: 'concat(spec.containers, [{name: \"side\", image: \"b\"}])'}\n", "'${some}'", ""), nil},
		"Element":     {"An element is.", deployment("", "['${merge(object.spec.template.spec.containers[0], {image: \"b\"})}']", ""), nil},
		"OtherObject": {"It is copied as a whole.", oneRule("gateways", "    with: {d: {resource: deployments, name: a}, e: {resource: deployments, name: b}}\n    when: e != nil\n    actions: [{patch: {target: d, merge: {spec: {template: {spec: {containers: '${e.spec.template.spec.containers}'}}}}}}]\n"), nil},
		"Apply":       {"Applied, it is merged.", oneRule("deployments", "    actions: [{patch: {apply: {spec: {template: {spec: {containers: [{name: main, image: a}]}}}}}}]\n"), nil},
		"Own":         {"The watched object may be named.", oneRule("pods", "    when: object.spec.imagePullSecrets == nil\n    actions: [{patch: {target: object, merge: {spec: {imagePullSecrets: [{name: a}]}}}}]\n"), nil},
		"JSON":        {"A JSON patch says that all of it is meant.", oneRule("deployments", "    actions: [{patch: {json: [{op: add, path: /spec/template/spec/containers, value: [{name: main, image: a}]}]}}]\n"), nil},
		"Emptied":     {"Whoever empties a list means it.", secrets("", "[]"), nil},
		"Removed":     {"Or removes it.", secrets("", "'${nil}'"), nil},
		"Absent":      {"There is nothing to lose.", secrets("    when: len(object.spec.imagePullSecrets) == 0\n", "[{name: a}]"), nil},
		"AbsentNil":   {"However that is asked.", secrets("    let: {none_yet: object.spec.imagePullSecrets == nil}\n    when: none_yet && object.spec.nodeName == nil\n", "[{name: a}]"), nil},
		"AbsentStep":  {"By the action.", oneRule("pods", "    actions: [{when: 'object.spec?.imagePullSecrets == nil', patch: {merge: {spec: {imagePullSecrets: [{name: a}]}}}}]\n"), nil},
		"AbsentAbove": {"There is nothing around it.", oneRule("deployments", "    when: object.spec.template.spec.resources == nil && object.spec.replicas > 1\n    actions: [{patch: {merge: {spec: {template: {spec: {resources: {claims: [{name: a}]}}}}}}}]\n"), nil},
		"AbsentKey":   {"Nor is its key.", oneRule("gateways", "    when: '!(\"listeners\" in object.spec)'\n    actions: [{patch: {merge: {spec: {listeners: [{port: 80, name: a}]}}}}]\n"), nil},
		"Plain":       {"A list without keys is always written whole.", oneRule("pods", "    actions: [{patch: {merge: {spec: {tolerations: [{key: a, operator: Exists}]}}}}]\n"), nil},
		"Unknown":     {"Nothing is known of it.", oneRule("things", "    actions: [{patch: {merge: {spec: {containers: [{name: a}]}}}}]\n"), nil},
	})
}

// TestIdleStamp is about rules that wait until a time is old, and never renew it.
func TestIdleStamp(t *testing.T) {
	const at = "example.com/at"
	warning := func(body string) []string {
		return []string{"warning spec.rules[0].actions[0].patch." + body + ": stamp() keeps the time that is there, as nothing else in the map changes: once metadata.annotations[\"" + at + "\"] is old, the rule matches for ever and writes nothing"}
	}
	rule := func(when, annotations string) string {
		return oneRule("gateways", "    let: {annotations: object.metadata.annotations, seen: 'annotations[\""+at+"\"]'}\n    when: "+when+
			"\n    actions: [{patch: {merge: {metadata: {annotations: {"+annotations+"}}}}}]\n")
	}
	const alone = `example.com/at: "${stamp()}"`
	const old = `'seen == nil || olderThan(seen, "1h")'`
	testSaid(t, map[string]saidCase{
		"Old":    {"It is never new again.", rule(old, alone), warning(`merge.metadata.annotations["example.com/at"]`)},
		"After":  {"Nor is what has passed.", rule(`'seen != nil && after(seen)'`, alone), warning(`merge.metadata.annotations["example.com/at"]`)},
		"Stamps": {"Another stamp changes as little.", rule(old, alone+`, example.com/b: "${stamp()}"`), warning(`merge.metadata.annotations["example.com/at"]`)},
		"JSON": {
			"In a JSON patch, too.",
			oneRule("gateways", `    when: 'olderThan(object.metadata.annotations["example.com/at"] ?? "2026-01-01T00:00:00Z", "1h")'
    actions: [{patch: {json: [{op: add, path: /metadata/annotations/example.com~1at, value: "${stamp()}"}]}}]
`), warning("json[0].value"),
		},

		"Beside":   {"Something beside it changes.", rule(old, alone+`, example.com/size: "${string(object.spec.replicas)}"`), nil},
		"Constant": {"Somebody may change what is beside it.", rule(old, alone+`, example.com/state: checked`), nil},
		"Once":     {"It is written once.", rule(`'seen == nil'`, alone), nil},
		"Other":    {"Another time is asked for.", rule(`'olderThan(object.metadata.creationTimestamp, "1h")'`, alone), nil},
		"Absent":   {"It is written where there is none.", rule(`'seen == nil && olderThan(object.metadata.creationTimestamp, "1h")'`, alone), nil},
		"Window":   {"A window changes.", rule(`'annotations["example.com/hour"] != window("0 * * * *", "1h", "UTC")?.start'`, alone+`, example.com/hour: '${window("0 * * * *", "1h", "UTC")?.start}'`), nil},
	})
}
