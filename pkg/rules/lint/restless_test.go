package lint_test

import (
	"strings"
	"testing"
)

// TestRestless is about rules that never come to rest, and about those of which that is not certain.
func TestRestless(t *testing.T) {
	const field = "the rule changes spec.replicas each time that it is evaluated, and never stops"
	merge := func(value string) string {
		return "    actions: [{patch: {merge: {spec: {replicas: " + value + "}}}}]\n"
	}
	said := func(at, message string) []string {
		return []string{"warning spec.rules[0].actions[" + at + ": " + message}
	}
	replicas := func(at string) []string { return said(at+"].patch.merge.spec.replicas", field) }
	const list = "the rule adds an element to spec.hosts each time that it is evaluated, and never stops"
	add := func(more string) string {
		return "    actions: [{" + more + "patch: {json: [{op: add, path: /spec/hosts/-, value: a}]}}]\n"
	}
	gateway := func(rest string) string { return oneRule("gateways", rest) }
	testSaid(t, map[string]saidCase{
		"Added":      {"One more each time.", gateway(merge(`"${object.spec.replicas + 1}"`)), replicas("0")},
		"First":      {"The constant may stand first.", gateway(merge(`"${2 + object.spec.replicas}"`)), replicas("0")},
		"Less":       {"One less.", gateway(merge(`"${object.spec.replicas - 1}"`)), replicas("0")},
		"Default":    {"With a default.", gateway(merge(`"${(object.spec.replicas ?? 0) + 1}"`)), replicas("0")},
		"Let":        {"By lets.", gateway("    let: {have: object.spec.replicas, next: have + 1}\n" + merge(`"${next}"`)), replicas("0")},
		"True":       {"A condition that is none.", gateway("    when: true\n" + merge(`"${object.spec.replicas + 1}"`)), replicas("0")},
		"Apply":      {"Applied.", gateway(`    actions: [{patch: {apply: {spec: {replicas: "${object.spec.replicas + 1}"}}}}]` + "\n"), said("0].patch.apply.spec.replicas", field)},
		"JSON":       {"By a JSON patch.", gateway(`    actions: [{patch: {json: [{op: replace, path: /spec/replicas, value: "${object.spec.replicas + 1}"}]}}]` + "\n"), said("0].patch.json[0].value", field)},
		"Beside":     {"With other actions.", gateway(`    actions: [{event: {reason: A, message: a}}, {patch: {merge: {spec: {step: 5, replicas: "${object.spec.replicas + 1}"}}}}]` + "\n"), replicas("1")},
		"Not":        {"A flag that is turned.", gateway(`    actions: [{patch: {merge: {spec: {enabled: "${!object.spec.enabled}"}}}}]` + "\n"), said("0].patch.merge.spec.enabled", "the rule changes spec.enabled each time that it is evaluated, and never stops")},
		"Text":       {"A text that grows.", gateway(`    actions: [{patch: {merge: {spec: {host: "${object.spec.host ?? 'a'}-x"}}}}]` + "\n"), said("0].patch.merge.spec.host", "the rule changes spec.host each time that it is evaluated, and never stops")},
		"Joined":     {"So it is as an expression.", gateway(`    actions: [{patch: {merge: {spec: {host: "${(object.spec.host ?? '') + 'x'}"}}}}]` + "\n"), said("0].patch.merge.spec.host", "the rule changes spec.host each time that it is evaluated, and never stops")},
		"Counter":    {"A number in an annotation.", gateway(`    actions: [{patch: {merge: {metadata: {annotations: {count: "${string(int(object.metadata.annotations.count ?? '0') + 1)}"}}}}}]` + "\n"), said("0].patch.merge.metadata.annotations.count", "the rule changes metadata.annotations.count each time that it is evaluated, and never stops")},
		"List":       {"One more element.", gateway(add("")), said("0].patch.json[0].path", list)},
		"ListTyped":  {"An element that is computed.", gateway(`    actions: [{patch: {json: [{op: add, path: /spec/hosts/-, value: "${object.metadata.name}"}]}}]` + "\n"), said("0].patch.json[0].path", list)},
		"When":       {"A condition may end it.", gateway("    when: object.spec.replicas < 3\n" + merge(`"${object.spec.replicas + 1}"`)), nil},
		"WhenAction": {"That of the action, too.", gateway(`    actions: [{when: object.spec.replicas < 3, patch: {merge: {spec: {replicas: "${object.spec.replicas + 1}"}}}}]` + "\n"), nil},
		"Other":      {"It hangs on another field.", gateway(merge(`"${(object.spec.step ?? 0) + 1}"`)), nil},
		"Bounded":    {"It is bounded.", gateway(merge(`"${min(object.spec.replicas + 1, 5)}"`)), nil},
		"Nothing":    {"Nothing is added.", gateway(merge(`"${object.spec.replicas + 0}"`)), nil},
		"Computed":   {"What is added may be nothing.", gateway(merge(`"${object.spec.replicas + (object.spec.step ?? 0)}"`)), nil},
		"Halved":     {"It settles.", gateway(merge(`"${div(object.spec.replicas, 2)}"`)), nil},
		"Times":      {"Nothing stays nothing.", gateway(merge(`"${object.spec.replicas * 2}"`)), nil},
		"From":       {"It settles at one value.", gateway(merge(`"${4 - object.spec.replicas}"`)), nil},
		"Same":       {"It is as it was.", gateway(merge(`"${object.spec.replicas}"`)), nil},
		"Audited":    {"It writes nothing.", gateway("    mode: Audit\n" + merge(`"${object.spec.replicas + 1}"`)), nil},
		"Suspended":  {"It does nothing.", gateway("    suspend: true\n" + merge(`"${object.spec.replicas + 1}"`)), nil},
		"Loop":       {"The list may be empty.", gateway(`    actions: [{forEach: {x: "${object.spec.hosts}"}, patch: {merge: {metadata: {labels: {"${x}": "${object.metadata.labels.a ?? ''}x"}}}}}]` + "\n"), nil},
		"Target":     {"There may be none.", gateway(`    with: {f: {resource: configmaps, name: a}}` + "\n" + `    actions: [{patch: {target: f, merge: {data: {a: "${object.metadata.labels.a ?? ''}x"}}}}]` + "\n"), nil},
		"Twice":      {"Another action sets it, too.", gateway(`    actions: [{patch: {merge: {spec: {replicas: "${object.spec.replicas + 1}"}}}}, {patch: {merge: {spec: {replicas: 3}}}}]` + "\n"), nil},
		"Deleted":    {"The object goes.", gateway(`    limits: {maxObjects: 100%}` + "\n" + `    actions: [{patch: {merge: {spec: {replicas: "${object.spec.replicas + 1}"}}}}, {delete: {}}]` + "\n"), nil},
		"ListWhen":   {"A condition may end it.", gateway("    when: '!(\"a\" in object.spec.hosts)'\n" + add("")), nil},
		"ListStep":   {"That of the action, too.", gateway(add(`when: len(object.spec.hosts) < 3, `)), nil},
		"ListTwo":    {"Of two operations the other may take it away.", gateway(`    actions: [{patch: {json: [{op: remove, path: /spec/hosts/0}, {op: add, path: /spec/hosts/-, value: a}]}}]` + "\n"), nil},
		"ListOmit":   {"It may be left out.", gateway(`    actions: [{patch: {json: [{op: add, path: /spec/hosts/-, value: "${object.spec.enabled ? 'a' : omit()}"}]}}]` + "\n"), nil},
		"ListAt":     {"An element is put first.", gateway(`    actions: [{patch: {json: [{op: replace, path: /spec/hosts/0, value: a}]}}]` + "\n"), nil},
		"Rule": {
			"Another rule takes it away.",
			"  rules:\n  - {name: rule, watch: gateways, " + `actions: [{patch: {json: [{op: add, path: /spec/hosts/-, value: a}]}}]}` + "\n" +
				"  - {name: other, watch: gateways, when: len(object.spec.hosts) > 3, actions: [{patch: {json: [{op: remove, path: /spec/hosts/0}]}}]}\n",
			nil,
		},
		"Selector": {
			"The object leaves what is watched.",
			"    few: {version: v1, resource: pods, labelSelector: count=}\n" + oneRule("few", `    actions: [{patch: {merge: {metadata: {labels: {count: "${object.metadata.labels.count ?? ''}x"}}}}}]`+"\n"), nil,
		},
		"OtherSelector": {
			"It does not, by another field.",
			"    few: {version: v1, resource: pods, labelSelector: count=}\n" + oneRule("few", `    actions: [{patch: {merge: {metadata: {annotations: {count: "${object.metadata.annotations.count ?? ''}x"}}}}}]`+"\n"),
			said("0].patch.merge.metadata.annotations.count", "the rule changes metadata.annotations.count each time that it is evaluated, and never stops"),
		},
	})
}

// TestUndone is about changes for a while that end by themselves.
func TestUndone(t *testing.T) {
	const message = "the rule changes spec.replicas for a while, and its condition is false then: it changes the field and restores it in turn, and never stops"
	rule := func(when, patch string) string {
		return oneRule("gateways", "    when: "+when+"\n    actions: [{patch: {"+patch+", restore: true}}]\n")
	}
	const zero = "merge: {spec: {replicas: 0}}"
	half := func(value string) string { return `merge: {spec: {replicas: "` + value + `"}}` }
	further := []string{"warning spec.rules[0].actions[0].patch.merge.spec.replicas: the rule changes spec.replicas for a while, and computes the value from that field: each evaluation changes it further"}
	said := func(at string) []string {
		return []string{"warning spec.rules[0].actions[0].patch." + at + ": " + message}
	}
	testSaid(t, map[string]saidCase{
		"Above": {"The obvious way to write a night.", rule("object.spec.replicas > 0", zero), said("merge.spec.replicas")},
		"Let":   {"By a let, and beside the time.", rule("inWindow(\"0 20 * * *\", \"10h\", \"UTC\") && some", zero) + "    let: {some: object.spec.replicas != 0}\n", said("merge.spec.replicas")},
		"JSON":  {"By a JSON patch.", rule("object.spec.replicas >= 1", "json: [{op: replace, path: /spec/replicas, value: 0}]"), said("json[0].value")},
		"Removed": {
			"Or removed.", rule("object.metadata.labels.x != nil", `merge: {metadata: {labels: {x: "${nil}"}}}`),
			[]string{strings.ReplaceAll(said("merge.metadata.labels.x")[0], "spec.replicas", "metadata.labels.x")},
		},
		"Default": {"The API server may have a default.", rule("object.spec.replicas == 3", `merge: {spec: {replicas: "${nil}"}}`), nil},
		"Again": {
			"The last operation counts.",
			rule("object.spec.replicas > 0", "json: [{op: add, path: /spec/replicas, value: 0}, {op: add, path: /spec/replicas, value: 5}]"), nil,
		},
		"Later": {
			"And the last action.",
			oneRule("gateways", "    when: object.spec.replicas > 0\n    actions: [{patch: {"+zero+", restore: true}}, {patch: {merge: {spec: {replicas: 2}}, restore: true}}]\n"), nil,
		},
		"Around": {
			"Or what is written around it.",
			oneRule("gateways", "    when: object.metadata.labels.x == 'a'\n    actions: [{patch: {merge: {metadata: {labels: {x: b}}}, restore: true}}, {patch: {json: [{op: replace, path: /metadata/labels, value: {x: a}}], restore: true}}]\n"), nil,
		},
		"Param": {"Or what a parameter says.", rule("object.spec.replicas != params.least", `merge: {spec: {replicas: "${params.least}"}}`), said("merge.spec.replicas")},
		"Action": {
			"The condition of the action counts.",
			oneRule("gateways", "    actions: [{when: object.spec.replicas > 0, patch: {"+zero+", restore: true}}]\n"), said("merge.spec.replicas"),
		},
		"Half":   {"Half of it, and then half of that.", rule("object.spec.enabled", half("${div(object.spec.replicas ?? 1, 2)}")), further},
		"Times":  {"With an operator.", rule("object.spec.enabled", half("${2 * (object.spec.replicas ?? 1)}")), further},
		"Less":   {"One less each time.", rule("object.spec.enabled", half("${object.spec.replicas - 1}")), further},
		"Once":   {"Times one is the same.", rule("object.spec.enabled", half("${int(object.spec.replicas * 1.0)}")), nil},
		"Always": {"One warning is enough.", strings.Replace(rule("x", half("${object.spec.replicas - 1}")), "    when: x\n", "", 1), further},
		"AtMost": {"At most one stays one.", rule("object.spec.enabled", half("${min(object.spec.replicas ?? 1, 1)}")), nil},
		"Of":     {"It is computed from another field.", rule("object.spec.enabled", half("${2 * (object.spec.step ?? 1)}")), nil},
		"Holds":  {"It holds all the same.", rule("object.spec.replicas < 3", zero), nil},
		"Or":     {"Something else may make it true.", rule("object.spec.replicas > 0 || object.spec.enabled", zero), nil},
		"Other":  {"It asks for another field.", rule("object.spec.enabled", zero), nil},
		"ForAll": {"A rule that does not restore has done what it is for.", strings.Replace(rule("object.spec.replicas > 0", zero), ", restore: true", "", 1), nil},
	})
}
