package rules_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
)

// TestExplainSecretNames holds that names and labels tell nothing of a Secret, and that
// names which have nothing to do with it are told.
func TestExplainSecretNames(t *testing.T) {
	const (
		living = `{metadata: {name: basic, namespace: db, uid: u-basic}, spec: {size: 1, names: [a], copy: nary-in, nary-in: 0}}`
		login  = `{metadata: {name: login, namespace: db, annotations: {note: a-mine-of-notes}}, data: {token: Y2FuYXJ5LWluLWEtbWluZQ==, until: "2026-03-04T05:06:07Z"}}`
		whole  = `{metadata: {name: canary-in-a-mine, namespace: db, uid: m-1, labels: {app: nary-in}}, data: {a: b, "nary": x}}`
		other  = `{metadata: {name: other, namespace: db, uid: m-2, labels: {app: web}}, data: {a: b}}`
		far    = `{metadata: {name: far, namespace: db, uid: m-3}, data: {a: b}}`
		token  = "let: {token: \"fromBase64(login?.data?.token ?? '')\"}"
		named  = `manifest: {metadata: {name: "x-${token[2:9]}"}, data: {a: b}}`
	)
	maker := plan.Rule{Kind: "ClusterRuleSet", Set: "set", Name: "r"}
	made := fmt.Sprintf(`{metadata: {name: x-nary-in, namespace: db, uid: m-4, labels: {%s: %s, %s: r, %s: u-basic},
		managedFields: [{manager: %s, operation: Apply, fieldsV1: {"f:data": {"f:a": {}}}}]}, data: {a: b}}`,
		plan.LabelSet, maker.SetID(), plan.LabelRule, plan.LabelOwnerUID, maker.FieldManager())
	tests := map[string]struct {
		reason string
		maps   []string
		with   string
		rule   string   // the rest of the rule
		want   []string // parts of the tree
	}{
		"Applied": {
			reason: "A name that is made of a Secret.",
			rule:   "actions: [{apply: {resource: configmaps, " + named + "}}]",
			want: []string{
				"    apply configmaps db/(masked)\n", "would be sent\n  apply configmaps db/(masked), as ",
				"      data.a: absent -> (masked)\n      ownership (labels and ownerReferences)\n\n",
			},
		},
		"AppliedForEach": {
			reason: "A name that is made of what comes from one.",
			rule:   `actions: [{forEach: {part: "${[token[2:9]]}"}, apply: {resource: configmaps, manifest: {metadata: {name: "x-${part}"}}}}]`,
			want:   []string{"apply configmaps db/(masked)\n", "would be sent\n  apply configmaps db/(masked)"},
		},
		"AppliedWhole": {
			reason: "A manifest of which nobody knows before what is in it.",
			rule:   `actions: [{apply: {resource: configmaps, manifest: {metadata: "${{'name': 'x-' + token[2:9]}}", data: {a: b}}}}]`,
			want:   []string{"apply configmaps db/(masked)\n"},
		},
		"AppliedFar": {
			reason: "A namespace may tell as much.",
			rule:   `actions: [{apply: {resource: configmaps, owned: false, manifest: {metadata: {name: x, namespace: "${token[2:9]}"}, data: {a: b}}}}]`,
			want:   []string{"apply configmaps (masked)/(masked)\n"},
		},
		"AppliedPlain": {
			reason: "What is written into an object does not name it.",
			rule:   `actions: [{apply: {resource: configmaps, manifest: {metadata: {name: "x-${object.metadata.name}"}, data: {a: "${token[2:9]}"}}}}]`,
			want:   []string{"    apply configmaps db/x-basic\n", "would be sent\n  apply configmaps db/x-basic", "data.a: absent -> (masked)"},
		},
		"Created": {
			reason: "So of what is created.",
			with:   ", maps: {resource: configmaps, matchLabels: {app: new}}",
			rule:   `actions: [{create: {in: maps, manifest: {metadata: {name: "x-${token[2:9]}", labels: {app: new}}}}}]`,
			want:   []string{"    create configmaps db/(masked)\n", "would be sent\n  create configmaps db/(masked)"},
		},
		"Pruned": {
			reason: "What was named by it before.", maps: []string{made},
			rule: "when: object.spec.size > 1 && token != ''\n    actions: [{apply: {resource: configmaps, prune: true, " + named + "}}]",
			want: []string{"  prune\n    delete configmaps db/(masked)\n", "would be sent\n  delete configmaps db/(masked)"},
		},
		"Found": {
			reason: "A look-up by a name that is a Secret, and what was found.",
			with:   `, cm: {resource: configmaps, name: "${token}"}`,
			rule: `when: cm?.metadata?.name != "x" && cm?.metadata?.labels != nil && cm?.data?.a == "b"
    actions: [{patch: {target: cm, merge: {data: {a: c}}}}, {event: {target: cm, reason: R, message: a}}]`,
			want: []string{
				"cm: configmaps.v1 by name (masked): 1 found (", "cm?.metadata?.labels is (masked)\n", "    merge configmaps db/(masked)\n",
				"about configmaps db/(masked)", "would be sent\n  merge configmaps db/(masked)",
			},
		},
		"Selected": {
			reason: "One by labels, of which all are told to have them.",
			with:   `, cms: {resource: configmaps, matchLabels: {app: "${token[2:9]}"}}`,
			rule: `when: len(cms) == 1 && cms[0].metadata.labels.app != "x"
    actions: [{forEach: {cm: "${cms}"}, when: cm.metadata.labels.app != "x", delete: {target: cm}}]`,
			want: []string{"cms: configmaps.v1 by labels (masked): 1 found (", "delete, for each cm", "    delete configmaps db/(masked)\n"},
		},
		"SelectedWritten": {
			reason: "What stands in what a Secret selects.",
			with:   `, cms: {resource: configmaps, matchLabels: {app: "${token[2:9]}"}}`,
			rule:   `actions: [{patch: {target: cms, merge: {metadata: {labels: {app: null}}}}}]`,
			want:   []string{"    merge configmaps db/(masked)\n", "metadata.labels.app: (masked) -> (masked)"},
		},
		"OwnedFar": {
			reason: "What is owned in a namespace that a Secret names.",
			maps:   []string{`{metadata: {name: owned, ownerReferences: [{name: basic, uid: u-basic, controller: true}]}, data: {a: b}}`},
			with:   `, low: {resource: configmaps, ownedBy: object, namespace: "${token == '' ? 'far' : 'db'}"}`,
			rule:   `actions: [{patch: {target: low, merge: {data: {a: z}}}}, {forEach: {c: "${low}"}, event: {target: c, reason: R, message: m}}]`,
			want:   []string{"low: configmaps.v1 by owner (masked): 1 found (", "    merge configmaps db/(masked)\n", "about configmaps db/(masked)"},
		},
		"WhenEach": {
			reason: "What is written where a Secret says so.",
			rule:   `actions: [{forEach: {i: "${[1, 2]}"}, when: "len(token) > i * 10", patch: {merge: {spec: {long: "${i}"}}}}]`,
			want:   []string{"spec.long: absent -> (masked)"},
		},
		"NamedAlike": {
			reason: "A name that is that of the watched object by chance.",
			rule:   `actions: [{apply: {resource: configmaps, manifest: {metadata: {name: "${token != '' ? 'basic' : ''}"}, data: {a: b}}}}]`,
			want:   []string{"    apply configmaps db/(masked)\n"},
		},
		"DigitsOfKey": {
			reason: "A key of digits is no index.",
			rule:   `actions: [{patch: {merge: {metadata: {annotations: {"${string(len(token) + 73000)}": v}}}}}]`,
			want:   []string{"metadata.annotations[\"(masked)\"]: absent -> (masked)"},
		},
		"KeyThere": {
			reason: "A field that is named by a Secret, and is there.",
			rule:   `actions: [{patch: {merge: {spec: {"${token[2:9]}": 1, size: 2}}}}]`,
			want:   []string{`spec["(masked)"]: (masked) -> (masked)`, "spec.size: (masked) -> (masked)"},
		},
		"KeyElsewhere": {
			reason: "A field that is named by a Secret as the rule names another one.",
			rule:   `actions: [{patch: {merge: {metadata: {annotations: {"${string(len(token))}": v}}, spec: {"16": {x: "${nil}"}, list: [{z: "${token}"}]}}}}]`,
			want:   []string{`metadata.annotations["(masked)"]: absent`, "spec.list: absent ->"},
		},
		"Pointer": {
			reason: "What a JSON patch has in its pointers.",
			rule:   `actions: [{patch: {json: [{op: add, path: /metadata/annotations, value: {a~1b: "${token}", "${token[2:9]}": x}}, {op: add, path: "/spec/${token[2:9]}", value: 1}]}}]`,
			want:   []string{`metadata.annotations["a~1b"]`, `metadata.annotations["(masked)"]`, `spec["(masked)"]`},
		},
		"StringData": {
			reason: "A key of stringData is one of data once it is stored.",
			rule:   `actions: [{apply: {resource: secrets, owned: false, manifest: {metadata: {name: fresh}, stringData: {plain: "${token}", "${token[2:9]}": x}}}}]`,
			want:   []string{"data.plain: absent -> (masked)", `data["(masked)"]: absent -> (masked)`},
		},
		"Until": {
			reason: "A time that is in a Secret.",
			rule:   "when: before(login?.data?.until ?? '') && object.spec.size == 1\n    actions: [{event: {reason: R, message: m}}]",
			want:   []string{"next    (masked): a time in its condition comes\n"},
		},
		"UntilEach": {
			reason: "A time that is in a Secret, in an action.",
			rule:   "actions: [{forEach: {t: \"${[login?.data?.until ?? '']}\"}, when: before(t), event: {reason: R, message: m}}]",
			want:   []string{"next    (masked): a time in its actions comes\n"},
		},
		"Held": {
			reason: "How long a Secret says that a condition must hold.",
			rule:   "for: duration(string(len(token)) + \"m\")\n    actions: [{event: {reason: R, message: m}}]",
			want:   []string{"next    (masked): its condition has held for long enough\n"},
		},
		"Equal": {
			reason: "What is the same as a part of a Secret.",
			rule:   "when: object.spec.copy == token[2:9]\n    actions: [{event: {reason: R, message: m}}]",
			want:   []string{"object.spec.copy is (masked)"},
		},
		"Withheld": {
			reason: "What another rule calls by a Secret.",
			rule: `actions: [{patch: {merge: {metadata: {annotations: {"${token[2:9]}": x}}}}}]
  - {name: b, watch: tidbclusters, actions: [{patch: {merge: {metadata: {annotations: null}}}}]}`,
			want: []string{"withheld: set/b"},
		},
		"Predicate": {
			reason: "What a predicate compares with a Secret.",
			rule:   "when: \"any([object.spec.copy], # == token[2:9])\"\n    actions: [{event: {reason: R, message: m}}]",
			want:   []string{"object.spec.copy is (masked)"},
		},
		"ComparedElsewhere": {
			reason: "What was compared with a Secret, where the rule reads or writes it once more.",
			rule: `when: object.spec.copy != nil && object.spec.copy == token[2:9]
    actions: [{patch: {merge: {metadata: {annotations: {copy: "${object.spec.copy}"}}}}}, {patch: {merge: {spec: {size: 2}}}}]`,
			want: []string{"object.spec.copy != nil (17:11)\n  │            object.spec.copy is (masked)", "annotations.copy: absent -> (masked)", "spec.size: 1 -> 2"},
		},
		"Chosen": {
			reason: "For which elements an action is done says what they are.",
			with:   ", maps: {resource: configmaps, all: true}",
			rule: `actions:
    - {forEach: {e: "${[object.spec.copy]}"}, when: "e == token[2:9]", event: {reason: R, message: m}}
    - {forEach: {m: "${maps}"}, when: "m.metadata.labels?.app == token[2:9]", patch: {target: m, merge: {data: {a: c}}}}`,
			want: []string{"event, for each e: 1 (18:7)\n    (masked)\n", "    merge configmaps db/(masked)\n"},
		},
		"Nil": {
			reason: "Where a Secret says that there is nothing.",
			rule:   `actions: [{forEach: {c: "${map(split(token, ''), # == 'n' ? nil : 1)}"}, event: {reason: R, message: m, type: "${token == '' ? 'Normal' : 'Warning'}"}}]`,
			want:   []string{"    (masked)\n    (masked) event (masked)"},
		},
		"AnnotationOfSecret": {
			reason: "A Secret has more that tells of it than its data.",
			rule:   `actions: [{patch: {target: login, merge: {metadata: {annotations: {note: x}, labels: {a: b}}}}}]`,
			want:   []string{`metadata.annotations.note: (masked) -> (masked)`, `metadata.labels.a: absent -> "b"`},
		},
		"HeldByTime": {
			reason: "A time in a Secret that says how long a condition must hold, once it has.",
			rule:   "for: \"before(login?.data?.until ?? '') ? '0s' : '1h'\"\n    actions: [{event: {reason: R, message: m}}]",
			want:   []string{"next    (masked): a time in its for comes\n"},
		},
		"UsualElsewhere": {
			reason: "A key that is usual in another place.",
			rule:   `actions: [{patch: {merge: {spec: {"${token[2:9] == 'nary-in' ? 'labels' : 'name'}": {x: 1}}}}}]`,
			want:   []string{`spec["(masked)"]["(masked)"]: absent`},
		},
		"SelectedBehind": {
			reason: "What is found by what was found.",
			with:   `, cm: {resource: configmaps, name: "${token}"}, next: {resource: configmaps, names: "${[cm?.metadata?.name]}"}`,
			rule:   "when: next != nil\n    actions: [{patch: {target: next, merge: {data: {a: c}}}}]",
			want:   []string{"next: configmaps.v1 by name (masked): 1 found (", "    merge configmaps db/(masked)\n"},
		},
		"Filtered": {
			reason: "What a Secret selects of what is known.",
			with:   ", maps: {resource: configmaps, all: true}",
			rule:   `actions: [{forEach: {cm: "${filter(maps, .metadata.labels.app == token[2:9])}"}, patch: {target: cm, merge: {data: {a: c}}}}]`,
			want:   []string{"    (masked)\n", "    merge configmaps db/(masked)\n"},
		},
		"Listed": {
			reason: "What is among others that are known.", maps: []string{made},
			with: ", maps: {resource: configmaps, all: true}",
			rule: "actions: [{apply: {resource: configmaps, " + named + "}}, {forEach: {cm: \"${maps}\"}, event: {target: cm, reason: R, message: a}}]",
			want: []string{"by all in db: db/(masked), db/far, db/other, db/(masked) (", "    ConfigMap db/(masked)\n", "    ConfigMap db/other\n", "about configmaps db/other"},
		},
		"Element": {
			reason: "What is made to look like an object.",
			rule:   `actions: [{forEach: {c: "${[{'kind': 'X', 'metadata': {'name': token[2:9]}}]}"}, event: {reason: R, message: a}}]`,
			want:   []string{"event, for each c", "    (masked)\n"},
		},
		"Secrets": {
			reason: "Secrets have names that may be told.",
			with:   ", every: {resource: secrets, all: true}",
			rule: `when: every[0].metadata.name != ""
    actions: [{forEach: {s: "${ every }"}, patch: {target: s, merge: {metadata: {labels: {a: b}}}}}]`,
			want: []string{"every: secrets.v1 by all in db: db/login (", "every[0].metadata.name is \"login\"", "    Secret db/login\n", "merge secrets db/login\n", "would be sent\n  merge secrets db/login"},
		},
		"Plain": {
			reason: "What has nothing to do with a Secret, beside what has.",
			with:   `, cm: {resource: configmaps, name: other}, web: {resource: configmaps, matchLabels: {app: web}}`,
			rule: `when: cm?.metadata?.labels?.app == "web" && token != "x"
    actions:
    - {patch: {target: cm, merge: {data: {a: "${token[2:9]}"}}}}
    - {forEach: {w: "${web}"}, event: {target: w, reason: R, message: a}}
    - {forEach: {part: "${object.spec.names}"}, apply: {resource: configmaps, manifest: {metadata: {name: "x-${part}-${index}"}, data: {a: b}}}}
    - {patch: {merge: {spec: {token: "${token}"}}}}`,
			want: []string{
				"cm: configmaps.v1 by name other in db: db/other (", "cm?.metadata?.labels?.app is \"web\"", "    merge configmaps db/other\n", "    ConfigMap db/other\n",
				"about configmaps db/other", "    apply configmaps db/x-a-0\n", "    merge tidbclusters db/basic\n", "\n  merge configmaps db/other", "\n  apply configmaps db/x-a-0",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			all := scene{
				rules:  "\n  rules:\n  - name: r\n    watch: tidbclusters\n    with: {login: {resource: secrets, name: login}" + tc.with + "}\n    " + token + "\n    " + tc.rule + "\n",
				object: living, maps: append(tc.maps, whole, other, far), secrets: []string{login},
			}.explained(t, nil)
			tree := all["r"].Tree()
			for _, part := range tc.want {
				if !strings.Contains(tree, part) {
					t.Errorf("%s\nthe tree lacks %q:\n%s", tc.reason, part, tree)
				}
			}
			data, err := json.Marshal(all["r"])
			if err != nil {
				t.Fatal(err)
			}
			tellsNothing(t, tree+string(data)+all["b"].Tree())
		})
	}
}

// TestExplainWatchedSecret holds that what is named by the name of a Secret is told, and what
// is named by its values is not.
func TestExplainWatchedSecret(t *testing.T) {
	set := mustLoad(t, world+`
  rules:
  - name: named
    watch: secrets
    with:
      cm: {resource: configmaps, name: "${object.metadata.name}"}
      web: {resource: configmaps, matchLabels: {app: "${object.metadata.name}"}}
    when: cm?.metadata?.labels?.app == "login" && len(web) == 1
    actions:
    - {patch: {target: cm, merge: {data: {a: "${object.data.token}"}}}}
    - {apply: {resource: configmaps, manifest: {metadata: {name: "${object.metadata.name}-copy"}, data: {a: b}}}}
  - name: valued
    watch: secrets
    with: {cm: {resource: configmaps, name: "${fromBase64(object.data.token)}"}}
    when: cm?.metadata?.labels?.app == "nary-in"
    actions: [{patch: {target: cm, merge: {data: {a: c}}}}]
  - name: applied
    watch: secrets
    actions: [{patch: {merge: {metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: "${nil}"}}}}}]
`)
	related := lookup.Objects{configMaps: objects(t, "ConfigMap", []string{
		`{metadata: {name: login, namespace: db, uid: m-1, labels: {app: login}}, data: {a: b}}`,
		`{metadata: {name: canary-in-a-mine, namespace: db, uid: m-2, labels: {app: nary-in}}, data: {a: b}}`,
	})}
	snapshot := rules.Snapshot{
		GVR: secrets, SelectedBy: set.Selections(), Now: noon, Related: related,
		Kinds: map[schema.GroupVersionResource]plan.Kind{configMaps: {Name: "ConfigMap", Namespaced: true}, secrets: {Name: "Secret", Namespaced: true}},
		Object: named(t, "Secret", `{metadata: {name: login, namespace: db, uid: s-1,
			annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"stringData":{"pin":"917"}}'}}, data: {token: Y2FuYXJ5LWluLWEtbWluZQ==}}`),
	}
	for name, want := range map[string][]string{
		"named": {
			"cm: configmaps.v1 by name login in db: db/login (", "labels?.app is \"login\"", "    merge configmaps db/login\n", "    apply configmaps db/login-copy\n",
			"\n  merge configmaps db/login,", "\n  apply configmaps db/login-copy",
		},
		"applied": {"last-applied-configuration\"]: (masked) -> (masked)"},
		"valued":  {"cm: configmaps.v1 by name (masked): 1 found (", "labels?.app is (masked)", "    merge configmaps db/(masked)\n", "\n  merge configmaps db/(masked)"},
	} {
		tree := set.Explain(snapshot, plan.Rule{Kind: "ClusterRuleSet", Set: "set", Name: name}).Tree()
		for _, part := range want {
			if !strings.Contains(tree, part) {
				t.Errorf("the tree lacks %q:\n%s", part, tree)
			}
		}
		if name == "named" {
			tellsNothing(t, tree)
		}
	}
}
