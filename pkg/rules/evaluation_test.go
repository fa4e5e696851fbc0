package rules_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

const finalizer = "dyncontroller.dev/set.r-abfcec687e024703"

func TestEvaluate(t *testing.T) {
	hold := func(more string) string {
		return `
  rules:
  - name: r
    watch: tidbclusters
    when: object.spec.keep == true
    onDelete:
      actions: [{event: {reason: Bye, message: "last words"}}]` + more
	}
	tests := map[string]struct {
		reason string
		scene
		want string
	}{
		"a later action fails": {
			reason: "A rule that fails wants nothing, not half of what it says.",
			scene: scene{
				rules: `
  rules:
  - name: r
    watch: tidbclusters
    actions:
    - patch: {merge: {spec: {a: 1}}}
    - patch: {merge: {spec: {b: "${1 + object.spec.text}"}}}`,
				object: `{spec: {text: x}}`,
			},
			want: "r failed: rules.yaml:17:38: spec.rules[0].actions[1].patch.merge.spec.b: + has an integer on one side " +
				"and a string on the other; write string(x) to join texts, or int(x) to add",
		},
		"names in any order": {
			reason: "let and with are one graph: an API server sorts keys.",
			scene: scene{
				rules: `
  rules:
  - name: r
    watch: tidbclusters
    let: {a: "len(mine)", b: object.metadata.name}
    with: {every: {resource: pods, matchLabels: {app: "${b}"}}, mine: {resource: pods, ownedBy: deeper}, deeper: {resource: pods, ownedBy: object}}
    when: a == 0 && len(every) == 1
    actions: [{patch: {merge: {spec: {size: "${len(every)}"}}}}]`,
				object: `{}`,
				pods:   []string{`{metadata: {name: p, labels: {app: basic}}}`, `{metadata: {name: q, labels: {app: other}}}`},
			},
			want: "r matched\n" + `merge tidbclusters db/basic {"spec":{"size":1}}` + "\nread pods by owner \nread pods by labels app=basic",
		},
		"unused names are not read": {
			reason: "What no expression used cannot matter.",
			scene: scene{
				rules: `
  rules:
  - name: r
    watch: tidbclusters
    with: {every: {resource: pods, all: true}}
    when: object.spec.keep == true && len(every) > 0
    actions: [{patch: {merge: {spec: {size: 1}}}}]`,
				object: `{}`,
			},
			want: "r not matched: object.spec.keep == true is false; object.spec.keep is absent",
		},
		"conflict on a related object": {
			reason: "The first rule wins wherever the object is; the loser's other wishes go too.",
			scene: scene{
				rules: `
  rules:
  - name: a
    watch: tidbclusters
    with: {p: {resource: pods, name: p}}
    actions: [{patch: {target: p, merge: {metadata: {labels: {x: one}}}}}]
  - name: b
    watch: tidbclusters
    with: {every: {resource: pods, all: true}}
    actions: [{patch: {target: every, merge: {metadata: {labels: null}}}}, {patch: {merge: {spec: {size: 1}}}}]`,
				object: `{}`,
				pods:   []string{`{metadata: {name: p}}`},
			},
			want: "a matched\nb withheld: metadata.labels.x is decided by rule set/a, which comes first\n" +
				`merge pods db/p {"metadata":{"labels":{"x":"one"}}}` + "\nread pods by name p\nread pods by all ",
		},
		"two rules make one object": {
			reason: "The reason names what was written, not the labels that say whose child it is.",
			scene: scene{
				rules: `
  rules:
  - {name: a, watch: tidbclusters, actions: [{apply: {resource: configmaps, owned: false, manifest: {metadata: {name: c}}}}]}
  - {name: b, watch: tidbclusters, actions: [{apply: {resource: configmaps, owned: false, manifest: {metadata: {name: c}}}}]}`,
				object: `{metadata: {name: basic}}`,
			},
			want: "a matched\nb withheld: the object is made by rule set/a, which comes first\n" +
				`apply configmaps db/c {"metadata":{"labels":{"dyncontroller.dev/owner-uid":"u-basic","dyncontroller.dev/rule":"a","dyncontroller.dev/set":"set-6a1c41ee6bef8c55"}}}` +
				"\nread configmaps by name c",
		},
		"suspended": {
			reason: "It stays listed and writes nothing.",
			scene:  scene{rules: "\n  rules: [{name: r, watch: tidbclusters, suspend: true, actions: [{patch: {merge: {spec: {size: 1}}}}]}]", object: `{}`},
			want:   "r skipped: the rule is suspended",
		},
		"suspended set": {
			reason: "It suspends all its rules, whatever they say.",
			scene: scene{
				rules:  "\n  suspend: true\n  rules: [{name: r, watch: tidbclusters, suspend: false, actions: [{patch: {merge: {spec: {size: 1}}}}]}]",
				object: `{}`,
			},
			want: "r skipped: the rule is suspended",
		},
		"audit": {
			reason: "It decides and reports; a conflict with it holds nobody back, and its events are not recorded.",
			scene: scene{
				rules: `
  mode: Audit
  rules:
  - {name: a, watch: tidbclusters, actions: [{patch: {merge: {spec: {size: 1}}}}, {event: {reason: A, message: a}}]}
  - {name: b, watch: tidbclusters, mode: Enforce, actions: [{patch: {merge: {spec: {size: 2}}}}]}`,
				object: `{}`,
			},
			want: "a matched (audit)\nb matched\n" + `merge tidbclusters db/basic {"spec":{"size":2}}` + "\n" + `would merge tidbclusters db/basic {"spec":{"size":1}}`,
		},
		"for begins": {
			reason: "Nothing is known of before, so the clock starts now.",
			scene:  scene{rules: "\n  rules: [{name: r, watch: tidbclusters, for: 5m, actions: [{patch: {merge: {spec: {size: 1}}}}]}]", object: `{}`},
			want:   "r waiting: when holds since 2026-01-01T12:00:00Z, and must hold for 5m0s\nlook again after 5m0s",
		},
		"for goes on": {
			reason: "The engine is asked to look again at the very moment.",
			scene:  scene{rules: "\n  rules: [{name: r, watch: tidbclusters, for: \"object.spec.wait\", actions: [{patch: {merge: {spec: {size: 1}}}}]}]", object: `{spec: {wait: 1h}}`, held: 59 * time.Minute},
			want:   "r waiting: when holds since 2026-01-01T11:01:00Z, and must hold for 1h0m0s\nlook again after 1m0s",
		},
		"for is over": {
			reason: "The moment itself counts.",
			scene:  scene{rules: "\n  rules: [{name: r, watch: tidbclusters, for: 5m, actions: [{patch: {merge: {spec: {size: 1}}}}]}]", object: `{}`, held: 5 * time.Minute},
			want:   "r matched\n" + `merge tidbclusters db/basic {"spec":{"size":1}}`,
		},
		"for of no duration": {
			reason: "A wrong value is an error at its place, not no time.",
			scene:  scene{rules: "\n  rules: [{name: r, watch: tidbclusters, for: object.spec.wait, actions: [{patch: {merge: {spec: {size: 1}}}}]}]", object: `{spec: {wait: soon}}`},
			want:   `r failed: rules.yaml:12:47: spec.rules[0].for: for wants a duration, have "soon"; give a text such as "1h30m" or "2d", or a number of seconds`,
		},
		"hold begins": {
			reason: "The finalizer is put on before anything else, in the same request.",
			scene: scene{
				rules: hold("\n    actions: [{patch: {merge: {spec: {size: 1}}}}]"), object: `{spec: {keep: true}}`,
			},
			want: "r matched\n" + `merge tidbclusters db/basic {"metadata":{"finalizers":["` + finalizer + `"]},"spec":{"size":1}}`,
		},
		"hold ends": {
			reason: "A living object that no longer matches goes without us.",
			scene:  scene{rules: hold(""), object: `{metadata: {name: basic, finalizers: [x, ` + finalizer + `]}, spec: {keep: false}}`},
			want: "r not matched: object.spec.keep == true is false; object.spec.keep is false\n" +
				`merge tidbclusters db/basic {"metadata":{"finalizers":["x"]}}`,
		},
		"hold of a suspended rule": {
			reason: "A rule that does nothing must not keep objects.",
			scene:  scene{rules: hold("\n    suspend: true"), object: `{metadata: {name: basic, finalizers: [` + finalizer + `]}, spec: {keep: true}}`},
			want:   "r skipped: the rule is suspended\n" + `merge tidbclusters db/basic {"metadata":{"finalizers":null}}`,
		},
		"hold of an audited rule": {
			reason: "Nor one that writes nothing, even if it matches.",
			scene:  scene{rules: hold("\n    mode: Audit"), object: `{metadata: {name: basic, finalizers: [` + finalizer + `]}, spec: {keep: true}}`},
			want:   "r matched (audit)\n" + `merge tidbclusters db/basic {"metadata":{"finalizers":null}}`,
		},
		"hold of an object that left": {
			reason: "An object outside of the selection is none of the rule's.",
			scene:  scene{rules: hold(""), object: `{metadata: {name: basic, finalizers: [` + finalizer + `]}, spec: {keep: true}}`, left: true},
			want:   "r skipped: the rule does not select the object any more\n" + `merge tidbclusters db/basic {"metadata":{"finalizers":null}}`,
		},
		"being deleted": {
			reason: "The actions run where the finalizer is, whatever when says, and then it goes.",
			scene:  scene{rules: hold(""), object: `{metadata: {name: basic, deletionTimestamp: "2026-01-01T11:00:00Z", finalizers: [` + finalizer + `]}}`},
			want:   "r matched\n" + `merge tidbclusters db/basic {"metadata":{"finalizers":null}}` + "\nevent on tidbclusters db/basic: Bye last words",
		},
		"being deleted after it left": {
			reason: "The finalizer is a promise that a label which went meanwhile does not take back.",
			scene:  scene{rules: hold(""), object: `{metadata: {name: basic, deletionTimestamp: "2026-01-01T11:00:00Z", finalizers: [` + finalizer + `]}}`, left: true},
			want:   "r matched\n" + `merge tidbclusters db/basic {"metadata":{"finalizers":null}}` + "\nevent on tidbclusters db/basic: Bye last words",
		},
		"being deleted after it left, only watching": {
			reason: "What the rule neither selects nor holds is none of its business.",
			scene: scene{
				rules: hold("\n      hold: false"), object: `{metadata: {name: basic, deletionTimestamp: "2026-01-01T11:00:00Z"}, spec: {keep: true}}`, left: true,
			},
			want: "r skipped: the rule does not select the object any more",
		},
		"being deleted without us": {
			reason: "What the rule never held is none of its business.",
			scene:  scene{rules: hold(""), object: `{metadata: {name: basic, deletionTimestamp: "2026-01-01T11:00:00Z", finalizers: [x]}, spec: {keep: true}}`},
			want:   "r skipped: the object is being deleted, and the rule does not hold it",
		},
		"being deleted, not done": {
			reason: "The object is kept until done is true.",
			scene: scene{
				rules:  strings.Replace(hold(""), "onDelete:", "with: {mine: {resource: pods, ownedBy: object}}\n    onDelete:\n      done: len(mine) == 0", 1),
				object: `{metadata: {name: basic, deletionTimestamp: "2026-01-01T11:00:00Z", finalizers: [` + finalizer + `]}}`,
				pods:   []string{`{metadata: {name: p, ownerReferences: [{uid: u-basic, controller: true}]}}`},
			},
			want: "r matched\nevent on tidbclusters db/basic: Bye last words\nread pods by owner ",
		},
		"being deleted, only watching": {
			reason: "hold: false reacts where when holds, and has no finalizer to take off.",
			scene: scene{
				rules: hold("\n      hold: false"), object: `{metadata: {name: basic, deletionTimestamp: "2026-01-01T11:00:00Z", finalizers: [x]}, spec: {keep: true}}`,
			},
			want: "r matched\nevent on tidbclusters db/basic: Bye last words",
		},
		"being deleted while suspended": {
			reason: "It lets go without doing anything.",
			scene:  scene{rules: hold("\n    suspend: true"), object: `{metadata: {name: basic, deletionTimestamp: "2026-01-01T11:00:00Z", finalizers: [` + finalizer + `]}}`},
			want:   "r skipped: the rule is suspended, so it lets the object go\n" + `merge tidbclusters db/basic {"metadata":{"finalizers":null}}`,
		},
		"a missed name is confirmed": {
			reason: "A cache may lag: what cannot be taken back asks the API server.",
			scene: scene{
				rules: `
  rules:
  - name: r
    watch: tidbclusters
    with: {config: {resource: configmaps, name: "${object.metadata.name}-config"}, every: {resource: pods, all: true}}
    when: config == nil
    actions: [{delete: {target: every}}]`,
				object: `{}`,
				pods:   []string{`{metadata: {name: p}}`},
			},
			want: "r matched\n" + `delete pods db/p {"propagationPolicy":"Background"} if there is no basic-config` +
				"\nread configmaps by name basic-config\nread pods by all ",
		},
		"a condition of a Pod": {
			reason: "The API server writes null where nobody gave a time, which is no difference.",
			scene: scene{
				rules: `
  rules:
  - name: r
    watch: tidbclusters
    actions: [{patch: {subresource: status, merge: {status: {conditions: "${setCondition(object.status.conditions, {type: 'Gate', status: 'True'})}"}}}}]`,
				object: `{status: {conditions: [{type: Gate, status: "True", lastProbeTime: null, lastTransitionTime: "2026-01-01T00:00:00Z"}]}}`,
			},
			want: "r matched",
		},
		"a refusal of a rule that read a Secret": {
			reason: "A name may be made of a value, so neither the reason nor the Event says it.",
			scene: scene{
				rules: `
  rules:
  - name: r
    watch: tidbclusters
    with: {s: {resource: secrets, name: s}}
    when: s != nil
    actions: [{apply: {resource: configmaps, manifest: {metadata: {name: "${fromBase64(s.data.name)}"}}}}]`,
				object:  `{}`,
				secrets: []string{`{metadata: {name: s}, data: {name: aHVudGVyMg==}}`},
				maps:    []string{`{metadata: {name: hunter2}}`},
			},
			want: "r refused: rules.yaml:17:74: spec.rules[0].actions[0].apply.manifest.metadata.name: the rule has seen a Secret, and the reason may tell a value of it\n" +
				"event on tidbclusters db/basic: NotOurs the rule has seen a Secret, and the reason may tell a value of it\n" +
				"read secrets by name s\nread configmaps by name hunter2",
		},
		"a refusal to come of a rule that read a Secret": {
			reason: "Nor is it told where the refusal shows when it is written only.",
			scene: scene{
				rules: `
    marked: {version: v1, resource: configmaps, labelSelector: mark=yes}
  rules:
  - name: r
    watch: tidbclusters
    with: {s: {resource: secrets, name: s}}
    when: s != nil
    actions: [{apply: {resource: marked, manifest: {metadata: {name: "${fromBase64(s.data.name)}", labels: {mark: "yes"}}}}}]`,
				object:  `{}`,
				secrets: []string{`{metadata: {name: s}, data: {name: aHVudGVyMg==}}`},
			},
			want: "r matched\n" + `apply configmaps db/hunter2 {"metadata":{"labels":{"dyncontroller.dev/owner-uid":"u-basic","dyncontroller.dev/rule":"r",` +
				`"dyncontroller.dev/set":"` + plan.Rule{Kind: "ClusterRuleSet", Set: "set"}.SetID() + `","mark":"yes"},` +
				`"ownerReferences":[{"apiVersion":"pingcap.com/v1alpha1","blockOwnerDeletion":true,"controller":true,"kind":"TidbCluster","name":"basic","uid":"u-basic"}]}}` +
				" or tell: the rule has seen a Secret, and the reason may tell a value of it\nread secrets by name s\nread configmaps by name hunter2",
		},
		"a loser that read a Secret": {
			reason: "The path of the conflict may hold a value.",
			scene: scene{
				rules: `
  rules:
  - {name: a, watch: tidbclusters, actions: [{patch: {merge: {spec: {hunter2: 1}}}}]}
  - name: b
    watch: tidbclusters
    with: {s: {resource: secrets, name: s}}
    when: s != nil
    actions: [{patch: {merge: {spec: {"${fromBase64(s.data.name)}": 2}}}}]`,
				object:  `{}`,
				secrets: []string{`{metadata: {name: s}, data: {name: aHVudGVyMg==}}`},
			},
			want: "a matched\nb withheld: rule set/a, which comes first, decides otherwise; what they differ in may tell a value of a Secret\n" +
				`merge tidbclusters db/basic {"spec":{"hunter2":1}}` + "\nread secrets by name s",
		},
		"an error of a rule that read a Secret": {
			reason: "It might tell a value.",
			scene: scene{
				rules: `
  rules:
  - name: r
    watch: tidbclusters
    with: {s: {resource: secrets, name: s}}
    when: s != nil && int(fromBase64(s.data.password)) > 0
    actions: [{patch: {merge: {spec: {size: 1}}}}]`,
				object:  `{}`,
				secrets: []string{`{metadata: {name: s}, data: {password: aHVudGVyMg==}}`},
			},
			want: "r failed: rules.yaml:16:23: spec.rules[0].when: the rule has seen a Secret, and the reason may tell a value of it\nread secrets by name s",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, told(t, tc.evaluate(t))); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
