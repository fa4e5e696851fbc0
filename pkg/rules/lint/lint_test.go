package lint_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestWarnUnlimited(t *testing.T) {
	const warning = `warning spec.rules[0].actions[0].delete: the rule "rule" deletes, and has no limits: a mistake in it may delete everything`
	testSaid(t, map[string]saidCase{
		"Unlimited": {"A rule that deletes.", oneRule("pods", "    actions: [{delete: {}}]\n"), []string{warning}},
		"Limited":   {"Within limits.", oneRule("pods", "    limits: {maxObjects: 10%}\n    actions: [{delete: {}}]\n"), nil},
		"Consent":   {"With consent to all.", oneRule("pods", "    limits: {maxObjects: 100%}\n    actions: [{delete: {}}]\n"), nil},
		"Audited":   {"That only tells.", oneRule("pods", "    mode: Audit\n    actions: [{delete: {}}]\n"), nil},
		"Suspended": {"That is stopped.", oneRule("pods", "    suspend: true\n    actions: [{delete: {}}]\n"), nil},
		"OnDelete":  {"That deletes with the object.", oneRule("gateways", "    with: {p: {resource: pods, ownedBy: object}}\n    onDelete: {actions: [{delete: {target: p}}]}\n"), nil},
		"Twice": {
			"Each action is told of.", oneRule("pods", "    actions: [{delete: {}}, {when: object.spec.nodeName == 'a', delete: {}}]\n"),
			[]string{warning, strings.Replace(warning, "actions[0]", "actions[1]", 1)},
		},
	})
}

func TestWarnPruneLoop(t *testing.T) {
	const warning = `the rule prunes what its own when depends on: "found" of with may find the very configmaps that this action makes`
	rule := func(with, when, manifest, more string) string {
		return oneRule("gateways", "    with: {found: "+with+"}\n    when: "+when+"\n    actions: [{apply: {resource: configmaps, prune: true, manifest: "+manifest+"}"+more+"}]\n")
	}
	testSaid(t, map[string]saidCase{
		"Name":      {"By its name.", rule(`{resource: configmaps, name: a}`, `found == nil`, `{metadata: {name: a}}`, ""), []string{"warning spec.rules[0].actions[0].apply.prune: " + warning}},
		"Other":     {"Another name.", rule(`{resource: configmaps, name: b}`, `found == nil`, `{metadata: {name: a}}`, ""), nil},
		"Resource":  {"Another resource.", rule(`{resource: pods, name: a}`, `found == nil`, `{metadata: {name: a}}`, ""), nil},
		"Unasked":   {"Nobody asks.", rule(`{resource: configmaps, name: a}`, `object.spec.enabled`, `{metadata: {name: a}, data: {x: "${found?.data?.x}"}}`, ""), nil},
		"ByAction":  {"The action asks.", rule(`{resource: configmaps, name: a}`, `object.spec.enabled`, `{metadata: {name: a}}`, ", when: found != nil"), []string{"warning spec.rules[0].actions[0].apply.prune: " + warning}},
		"Owned":     {"By its owner.", rule(`{resource: configmaps, ownedBy: object}`, `len(found) < 3`, `{metadata: {name: a}}`, ""), []string{"warning spec.rules[0].actions[0].apply.prune: " + warning}},
		"NotPruned": {"It is not pruned.", oneRule("gateways", "    with: {found: {resource: configmaps, name: a}}\n    when: found == nil\n    actions: [{apply: {resource: configmaps, manifest: {metadata: {name: a}}}}]\n"), nil},
		"ByLets": {
			"By a let that uses another.",
			oneRule("gateways", "    with: {found: {resource: configmaps, name: a}}\n    let: {gone: found == nil, wanted: gone && object.spec.enabled}\n    when: wanted\n"+
				"    actions: [{apply: {resource: configmaps, prune: true, manifest: {metadata: {name: a}}}}]\n"),
			[]string{"warning spec.rules[0].actions[0].apply.prune: " + warning},
		},
		"ByWith": {
			"By what is asked by what it found.",
			oneRule("gateways", "    with: {found: {resource: configmaps, name: a}, pod: {resource: pods, name: '${found?.data?.pod}'}}\n    when: pod == nil\n"+
				"    actions: [{apply: {resource: configmaps, prune: true, manifest: {metadata: {name: a}}}}]\n"),
			[]string{"warning spec.rules[0].actions[0].apply.prune: " + warning},
		},
	})
}

// TestClonesArePruned holds that a rule which copies an object is not suspected of finding
// its own copies, where what is written tells that it does not.
func TestClonesArePruned(t *testing.T) {
	rule := func(watch, with, when, action string) string {
		return "    namespaces: {version: v1, resource: namespaces}\n" + oneRule(watch, "    with: {found: "+with+"}\n    when: "+when+"\n    actions: [{apply: {prune: true, owned: false, "+action+"}}]\n")
	}
	warning := []string{`warning spec.rules[0].actions[0].apply.prune: the rule prunes what its own when depends on: "found" of with may find the very configmaps that this action makes`}
	const copied = `resource: configmaps, manifest: {metadata: {name: ca, namespace: "${object.metadata.name}"}}`
	testSaid(t, map[string]saidCase{
		"OtherNamespace": {
			"Into each namespace, from one.",
			rule("namespaces", `{resource: configmaps, name: ca, namespace: platform}`, `found != nil`, copied), nil,
		},
		"SameNamespace": {
			"What is asked for is the copy.",
			rule("namespaces", `{resource: configmaps, name: ca, namespace: "${ object.metadata.name }"}`, `found == nil`, copied), warning,
		},
		"Foreign": {
			"Own children are left out.",
			rule("gateways", `{resource: configmaps, matchLabels: {app: web}}`, `len(filter(found, controllerOf(#)?.uid != object.metadata.uid)) == 0`,
				`resource: configmaps, manifest: {metadata: {name: b, labels: {app: web}}}`), nil,
		},
		"Own": {
			"Or asked for.",
			rule("gateways", `{resource: configmaps, name: b}`, `found == nil || controllerOf(found)?.uid == object.metadata.uid`,
				`resource: configmaps, manifest: {metadata: {name: b}}`), nil,
		},
		"OwnByLabel": {
			"By their labels too.",
			rule("gateways", `{resource: configmaps, name: b}`, `found == nil || found.metadata.labels["dyncontroller.dev/owner-uid"] == object.metadata.uid`,
				`resource: configmaps, manifest: {metadata: {name: b}}`), nil,
		},
		"Opposite": {
			"What the copies are given is the opposite of what the sources have.",
			rule("gateways", `{resource: configmaps, all: true}`, `any(found, .metadata.labels.role == "source")`,
				`resource: configmaps, manifest: {metadata: {name: b, labels: {role: copy}}}`), nil,
		},
	})
}

func TestWarnCycle(t *testing.T) {
	labelled := func(name, watch string) string {
		return fmt.Sprintf("  - {name: %s, watch: %s, actions: [{patch: {merge: {metadata: {labels: {%[1]s: \"1\"}}}}}]}\n", name, watch)
	}
	applied := func(name string) string {
		return fmt.Sprintf("  - {name: %s, watch: gateways, actions: [{apply: {resource: configmaps, manifest: {metadata: {name: %[1]s, labels: {%[1]s: x}}}}}]}\n", name)
	}
	rule := func(name, when, field string) string {
		return fmt.Sprintf("  - {name: %s, watch: gateways, when: %s, actions: [{patch: {merge: {spec: {%s: 5}}}}]}\n", name, when, field)
	}
	testSaid(t, map[string]saidCase{
		"Cycle": {
			"Each feeds the other.", "  rules:\n" + rule("a", "object.spec.replicas > 3", "step") + rule("b", "object.spec.step == 3", "replicas"),
			[]string{`note spec.rules[1].name: the rules "a" and "b" each read what the other writes: spec.step of gateways and spec.replicas of gateways`},
		},
		"Chain": {"One feeds the other.", "  rules:\n" + rule("a", "object.spec.replicas > 3", "step") + rule("b", "object.spec.step == 3", "weight"), []string{
			`spec.rules[1].actions[0].patch.merge.spec.weight: want less than 1, have 5`,
		}},
		"Alone": {"One that feeds itself settles by itself.", "  rules:\n" + rule("a", "object.spec.replicas > 3", "replicas"), nil},
		"Once": {
			"Of many that feed each other one is enough.",
			"  rules:\n" + rule("a", "object.spec.replicas > 3", "step") + rule("b", "object.spec.step == 3", "replicas") + rule("c", "object.spec.step == 5", "replicas"),
			[]string{
				`note spec.rules[1].name: the rules "a" and "b" each read what the other writes: spec.step of gateways and spec.replicas of gateways`,
				`note spec.rules[2].name: the rules "a" and "c" each read what the other writes: spec.step of gateways and spec.replicas of gateways`,
			},
		},
		"Field": {
			"Rules that look at what they write are compared by the values that they want.",
			"  rules:\n" + rule("a", "object.spec.step == 1", "step") + rule("b", "object.spec.step == 2", "step"), nil,
		},
		"Selector": {
			"Of the labels a selector reads its own.",
			"  rules:\n" + labelled("a", "web") + labelled("b", "web"), nil,
		},
		"Selected": {
			"What is written may bring the object into the selection of the other rule.",
			"  rules:\n" + labelled("b", "a_pods") + labelled("a", "b_pods"),
			[]string{`note spec.rules[1].name: the rules "b" and "a" each read what the other writes: metadata.labels.b of pods and metadata.labels.a of pods`},
		},
		"MatchLabels": {
			"So does a look-up.",
			"  rules:\n" + strings.Replace(labelled("a", "pods"), "actions", "with: {found: {resource: pods, matchLabels: {app: web}}}, when: len(found) > 1, actions", 1) +
				strings.Replace(labelled("b", "pods"), "actions", "with: {found: {resource: pods, matchLabels: {app: db}}}, when: len(found) > 1, actions", 1), nil,
		},
		"Applied": {
			"An apply looks whether the object is its own.",
			"  rules:\n" + applied("a") + applied("b"), nil,
		},
		"Everything": {
			"That a rule may read anything is no reason to suspect it.",
			"  rules:\n" + rule("a", "object.spec.replicas > 3", "step") + "  - {name: b, watch: gateways, actions: [{patch: {merge: {spec: {replicas: \"${len(toJSON(object))}\"}}}}]}\n", nil,
		},
	})
}

func TestWarnText(t *testing.T) {
	null := func(path string) string {
		return "warning " + path + ": null is lost when the rules are put into a cluster by kubectl apply"
	}
	text := func(path string) string {
		return "warning " + path + ": this is written as it is, and looks like an expression"
	}
	testSaid(t, map[string]saidCase{
		"Null":         {"A null in a patch.", oneRule("gateways", "    actions: [{patch: {merge: {spec: {host: null, selector: {a: ~}}}}}]\n"), []string{null("spec.rules[0].actions[0].patch.merge.spec.host"), null("spec.rules[0].actions[0].patch.merge.spec.selector.a")}},
		"NullList":     {"In a list.", oneRule("things", "    actions: [{patch: {merge: {a: [{b: null}]}}}]\n"), []string{null("spec.rules[0].actions[0].patch.merge.a[0].b")}},
		"NullOnDelete": {"In what is done on deletion.", oneRule("things", "    onDelete: {actions: [{patch: {merge: {a: null}}}]}\n"), []string{null("spec.rules[0].onDelete.actions[0].patch.merge.a")}},
		"NullApplied":  {"What is applied is nothing then.", oneRule("things", "    actions: [{patch: {apply: {a: null, b: 1}}}]\n"), nil},
		"NullMade":     {"So is what is made.", oneRule("gateways", "    actions: [{apply: {resource: configmaps, manifest: {metadata: {name: a, labels: null}}}}]\n"), nil},
		"Nil":          {"nil is meant.", oneRule("gateways", "    actions: [{patch: {merge: {spec: {host: '${nil}'}}}}]\n"), nil},
		"Text":         {"A forgotten template.", oneRule("things", "    actions: [{patch: {merge: {a: object.spec.b, c: [params.class]}}}]\n"), []string{text("spec.rules[0].actions[0].patch.merge.a"), text("spec.rules[0].actions[0].patch.merge.c[0]")}},
		"TextWith":     {"In with.", oneRule("things", "    with: {m: {resource: configmaps, name: object.spec.b}}\n"+noted), []string{text("spec.rules[0].with.m.name")}},
		"TextLabels":   {"In labels.", oneRule("things", "    with: {m: {resource: configmaps, matchLabels: {app: object.metadata.name}}}\n"+noted), []string{text("spec.rules[0].with.m.matchLabels.app")}},
		"TextLet":      {"Of a let of the rule.", oneRule("things", "    let: {l: object.spec}\n    actions: [{event: {reason: A, message: l.spec.b}}]\n"), []string{text("spec.rules[0].actions[0].event.message")}},
		"TextLoop":     {"Of forEach, in it.", oneRule("things", "    actions: [{forEach: {l: '${object.list}'}, event: {reason: A, message: l.metadata.b}}, {event: {reason: A, message: l.metadata.b}}]\n"), []string{text("spec.rules[0].actions[0].event.message")}},
		"Bare":         {"A bare name is one.", oneRule("things", "    with: {p: {resource: pods, ownedBy: object}}\n    actions: [{patch: {target: p, merge: {metadata: {labels: {a: b}}}}}]\n"), nil},
		"Condition":    {"A condition is an expression.", oneRule("things", "    actions: [{when: object.spec.a == 'b', event: {reason: A, message: a}}]\n"), nil},
		"Policy":       {"Expressions of others go to object, too.", oneRule("things", "    actions: [{patch: {merge: {expression: object.spec.a, messageExpression: params.class}}}]\n"), nil},
		"Sentence":     {"A sentence is none.", oneRule("things", "    actions: [{event: {reason: A, message: object.spec.a is set}}]\n"), nil},
	})
}

func TestWarnLoop(t *testing.T) {
	const warning = "warning spec.rules[0].actions[0].patch.merge.metadata.labels.a: each element of forEach sets metadata.labels.a of the same object, and only the last stays"
	rule := func(rest string) string {
		return oneRule("gateways", "    with: {found: {resource: configmaps, name: a}, all_pods: {resource: pods, all: true}}\n    actions: [{forEach: {x: '${object.spec.hosts}'}, "+rest+"}]\n")
	}
	testSaid(t, map[string]saidCase{
		"Object":   {"On the object.", rule("patch: {merge: {metadata: {labels: {a: '${x}'}}}}"), []string{warning}},
		"Index":    {"By the index.", rule("patch: {merge: {metadata: {labels: {a: '${string(index)}'}}}}"), []string{warning}},
		"Other":    {"On another one.", rule("patch: {target: found, merge: {metadata: {labels: {a: '${x}'}}}}"), []string{warning}},
		"Fields":   {"One of several fields is enough.", rule("patch: {merge: {metadata: {labels: {a: '${x}', b: '${x}'}}}}"), []string{warning}},
		"Element":  {"On the element.", oneRule("gateways", "    with: {all_pods: {resource: pods, all: true}}\n    actions: [{forEach: {x: '${all_pods}'}, patch: {target: x, merge: {metadata: {labels: {a: '${x.metadata.name}'}}}}}]\n"), nil},
		"Key":      {"Under a key of its own.", rule("patch: {merge: {metadata: {labels: {'${x}': '${x}'}}}}"), nil},
		"Constant": {"The same for all.", rule("patch: {merge: {metadata: {labels: {a: b}}}}"), nil},
		"Chosen":   {"One of them is chosen.", rule("when: x == 'b', patch: {merge: {metadata: {labels: {a: '${x}'}}}}"), nil},
		"Filtered": {
			"So is one of a list that is filtered.",
			oneRule("gateways", "    let: {some: 'filter(object.spec.hosts, # startsWith \"a\")'}\n    actions: [{forEach: {x: '${some}'}, patch: {merge: {metadata: {labels: {a: '${x}'}}}}}]\n"), nil,
		},
		"Taken":    {"Or of the first.", oneRule("gateways", "    actions: [{forEach: {x: '${take(object.spec.hosts, 1)}'}, patch: {merge: {metadata: {labels: {a: '${x}'}}}}}]\n"), nil},
		"NotAsked": {"A condition that asks for something else chooses none.", rule("when: object.spec.enabled, patch: {merge: {metadata: {labels: {a: '${x}'}}}}"), []string{warning}},
		"Applied":  {"A list that is merged.", rule("patch: {apply: {spec: {hosts: ['${x}']}}}"), nil},
		"Added":    {"An element that is added.", rule("patch: {json: [{op: add, path: /spec/hosts/-, value: '${x}'}]}"), nil},
		"Event":    {"An Event.", rule("event: {reason: A, message: '${x}'}"), nil},
	})
}
