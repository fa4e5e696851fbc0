package rules_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// around is what the rules of the tests of with find.
var around = []string{
	`{kind: TidbCluster, metadata: {name: basic}, spec: {wanted: [c-2, null, c-1, c-9], selector: {matchExpressions: [{key: tier, operator: In, values: [db]}]}, node: n-1, empty: {}}}`,
	`{kind: ConfigMap, metadata: {name: c-1}}`,
	`{kind: ConfigMap, metadata: {name: c-2}}`,
	`{kind: ConfigMap, metadata: {name: c-1, namespace: other, uid: u-far}}`,
	`{kind: Pod, metadata: {name: p-2, labels: {app: basic, tier: db}, ownerReferences: [{uid: u-basic, controller: true}]}, spec: {nodeName: n-1, number: 1}}`,
	`{kind: Pod, metadata: {name: p-1, labels: {app: basic}, ownerReferences: [{uid: u-c-1, controller: true}]}, spec: {nodeName: n-2}}`,
	`{kind: Pod, metadata: {name: p-1, namespace: other, uid: u-p1-other, labels: {app: basic, tier: db}, ownerReferences: [{uid: u-basic}]}, spec: {nodeName: n-1}}`,
	`{kind: Pod, metadata: {name: p-0, labels: {app: basic-not, tier: web}, ownerReferences: [{uid: u-basic}]}, spec: {nodeName: n-1, number: 2}}`,
	`{kind: Node, metadata: {name: n-2}}`,
	`{kind: Node, metadata: {name: n-1}}`,
}

const relations = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: related}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
    pods: {version: v1, resource: pods}
    dbPods: {version: v1, resource: pods, labelSelector: tier=db}
    maps: {version: v1, resource: configmaps, namespaces: [db, other]}
    nodes: {version: v1, resource: nodes}
  rules:
  - name: r
    watch: tidbclusters
    with: WITH
    let: {texts: "found == nil ? ['nil'] : map(flatten([found]), .metadata.namespace == nil ? .metadata.name : .metadata.namespace + '/' + .metadata.name)"}
    actions: [{event: {reason: Found, message: "found ${join(texts, ' ')}"}}]
`

// TestRelations holds what a rule finds by each form of with, in which order, and
// what it is said to have read.
func TestRelations(t *testing.T) {
	tests := map[string]struct{ reason, with, found, read string }{
		"name":               {"One object, in the namespace of the watched one.", `{found: {resource: maps, name: c-1}}`, "db/c-1", "configmaps by name c-1"},
		"name, computed":     {"Its name is a template.", `{found: {resource: maps, name: "${object.spec.wanted[0]}"}}`, "db/c-2", "configmaps by name c-2"},
		"name, nil":          {"A nil name reads nothing.", `{found: {resource: maps, name: "${object.spec.absent}"}}`, "nil", ""},
		"name, nowhere":      {"What is not there is nil, and was read.", `{found: {resource: maps, name: c-3}}`, "nil", "configmaps by name c-3"},
		"name, elsewhere":    {"In a namespace that is named.", `{found: {resource: maps, name: c-1, namespace: other}}`, "other/c-1", "configmaps by name c-1"},
		"names":              {"Each once, by name, without what is nil or absent.", `{found: {resource: maps, names: "${object.spec.wanted}"}}`, "db/c-1 db/c-2", "configmaps by name c-1,c-2,c-9"},
		"names, everywhere":  {"In every namespace.", `{found: {resource: maps, names: [c-1], namespace: "*"}}`, "db/c-1 other/c-1", "configmaps by name c-1"},
		"matchLabels":        {"By all the labels.", `{found: {resource: pods, matchLabels: {app: "${object.metadata.name}"}}}`, "db/p-1 db/p-2", "pods by labels app=basic"},
		"matchLabels, of it": {"The whole map may be one template.", `{found: {resource: pods, matchLabels: "${ {'app': object.metadata.name, 'tier': 'db'} }"}}`, "db/p-2", "pods by labels app=basic,tier=db"},
		"matchLabels, omit":  {"A label may be left out.", `{found: {resource: pods, matchLabels: {app: basic, tier: "${object.spec.absent ?? omit()}"}}}`, "db/p-1 db/p-2", "pods by labels app=basic"},
		"selector":           {"A LabelSelector of the object.", `{found: {resource: pods, selector: "${object.spec.selector}"}}`, "db/p-2", "pods by labels tier in (db)"},
		"selector, nil":      {"A nil one selects nothing.", `{found: {resource: pods, selector: "${object.spec.absent}"}}`, "", ""},
		"matchFields":        {"By fields that are equal, of any type.", `{found: {resource: pods, matchFields: {spec.nodeName: "${object.spec.node}", spec.number: 2}}}`, "db/p-0", "pods by fields"},
		"ownedBy object":     {"By the uid of the controller alone.", `{found: {resource: pods, ownedBy: object, namespace: "*"}}`, "db/p-2", "pods by owner"},
		"ownedBy list":       {"Of any of them.", `{maps: {resource: maps, names: [c-1, c-2]}, found: {resource: pods, ownedBy: maps}}`, "db/p-1", "configmaps by name c-1,c-2; pods by owner"},
		"ownedBy nil":        {"Of nobody.", `{mine: {resource: maps, name: c-3}, found: {resource: pods, ownedBy: mine}}`, "", "configmaps by name c-3"},
		"ownedBy let":        {"Of what a let has left of them.", `{maps: {resource: maps, names: [c-1, c-2]}, found: {resource: pods, ownedBy: some}}`, "db/p-1", "configmaps by name c-1,c-2; pods by owner"},
		"all":                {"All that the declaration selects.", `{found: {resource: dbPods, all: true, namespace: "*"}}`, "db/p-2 other/p-1", "pods by all"},
		"all of the cluster": {"A cluster-scoped resource has no namespace.", `{found: {resource: nodes, all: true}}`, "n-1 n-2", "nodes by all"},
		"undeclared":         {"What the declaration does not select is absent.", `{found: {resource: dbPods, matchLabels: {app: basic-not}}}`, "", "pods by labels app=basic-not"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(relations, "WITH", tc.with, 1)
			text = strings.Replace(text, "let: {", `let: {some: "`+firstOf(tc.with)+`", `, 1)
			p := newStage(t, []string{text}, around...).evaluate()
			if d := p.Decisions[0]; d.Outcome != plan.Matched {
				t.Fatalf("%s: %s", d.Outcome, d.Reason)
			}
			if diff := cmp.Diff(strings.TrimSpace("found "+tc.found), strings.TrimSpace(p.Events[0].Message)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			var reads []string
			for _, read := range p.Reads {
				reads = append(reads, strings.TrimSpace(read.From[0].GVR.Resource+" by "+string(read.By)+" "+strings.Join(read.Names, ",")+read.Labels))
			}
			if diff := cmp.Diff(tc.read, strings.Join(reads, "; ")); diff != "" {
				t.Errorf("what was read (-want +got):\n%s", diff)
			}
		})
	}
}

// firstOf is a let that takes the first of the maps, where there are any.
func firstOf(with string) string {
	if strings.Contains(with, "maps:") {
		return "take(maps, 1)"
	}
	return "[]"
}

// TestRelationsFail holds what a rule is told that could select more than it says.
func TestRelationsFail(t *testing.T) {
	tests := map[string]struct{ reason, with, want string }{
		"labels, empty": {"An empty map selects everything.", `{found: {resource: pods, matchLabels: "${object.spec.empty}"}}`, "matchLabels is empty; write texts as in {app: web}; for every object, all: true"},
		"label, nil":    {"A label without a value would select more.", `{found: {resource: pods, matchLabels: {app: "${object.spec.absent}"}}}`, "want a value, have nil; ?? gives a default, and ?? omit() leaves it out"},
		"all omitted":   {"Nothing is left of it.", `{found: {resource: pods, matchLabels: {app: "${omit()}"}}}`, "matchLabels is empty; write texts as in {app: web}; for every object, all: true"},
		"selector":      {"An empty selector selects everything.", `{found: {resource: pods, selector: "${object.spec.empty}"}}`, "selector is empty; write all: true if every object is meant"},
		"field, nil":    {"A field without a value would select more.", `{found: {resource: pods, matchFields: {spec.nodeName: "${object.spec.absent}"}}}`, "want a value, have nil; ?? gives a default, and ?? omit() leaves it out"},
		"name, a list":  {"One name at a time.", `{found: {resource: maps, name: "${object.spec.wanted}"}}`, "want a string, have a list; write a text, or names for a list"},
		"namespace":     {"Whether the own or every one is meant cannot be told.", `{found: {resource: pods, all: true, namespace: "${object.spec.absent}"}}`, `the namespace must be a string, have nil; write "*" for every namespace, or leave it out for the object's own`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(relations, "WITH", tc.with, 1)
			p := newStage(t, []string{text}, around...).evaluate()
			d := p.Decisions[0]
			if d.Outcome != plan.Failed || !strings.HasSuffix(d.Reason, tc.want) || !strings.HasPrefix(d.Reason, "0.yaml:15:") {
				t.Errorf("%s\n got %s: %s\nwant failed: 0.yaml:15:...: %s", tc.reason, d.Outcome, d.Reason, tc.want)
			}
		})
	}
}

// TestConfirm holds which operations ask the API server before they are sent:
// those that cannot be taken back and that the absence of a named object led to.
func TestConfirm(t *testing.T) {
	tests := map[string]struct{ reason, with, actions, want string }{
		"delete":         {"It cannot be taken back.", "{c: {resource: maps, name: c-3}}", "[{when: c == nil, delete: {target: every}}]", "delete confirms c-3"},
		"create":         {"Nor can a new object.", "{c: {resource: maps, name: c-3}}", "[{when: c == nil, create: {in: mine, manifest: {metadata: {generateName: a-}}}}]", "create confirms c-3"},
		"names":          {"Of several names those that are missing.", "{c: {resource: maps, names: [c-1, c-3, c-4]}}", "[{when: len(c) < 2, delete: {target: every}}]", "delete confirms c-3,c-4"},
		"apply":          {"An apply of what is not there makes it.", "{c: {resource: maps, name: c-3}}", "[{when: c == nil, apply: {resource: maps, manifest: {metadata: {name: a-1}}}}]", "apply confirms c-3"},
		"found":          {"What was found needs no second look.", "{c: {resource: maps, name: c-1}}", "[{when: c != nil, delete: {target: every}}]", "delete"},
		"unused":         {"What no expression looked at led nowhere.", "{c: {resource: maps, name: c-3}}", "[{delete: {target: every}}]", "delete"},
		"patch":          {"A patch is of an object as it is.", "{c: {resource: maps, name: c-3}}", "[{when: c == nil, patch: {merge: {spec: {a: 1}}}}]", "merge"},
		"selected":       {"An empty selection is no look-up by name.", "{c: {resource: maps, matchLabels: {a: b}}}", "[{when: len(c) == 0, delete: {target: every}}]", "delete"},
		"before the end": {"Whichever action looked: the rule is one decision.", "{c: {resource: maps, name: c-3}}", "[{delete: {target: every}}, {when: c == nil, patch: {merge: {spec: {a: 1}}}}]", "delete confirms c-3; merge"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			with := "{every: {resource: pods, matchFields: {metadata.name: p-0}}, mine: {resource: pods, ownedBy: object}, " + tc.with[1:]
			text := strings.Replace(relations[:strings.Index(relations, "    let:")], "WITH", with, 1) +
				"    actions: " + tc.actions + "\n"
			p := newStage(t, []string{text}, around...).evaluate()
			if d := p.Decisions[0]; d.Outcome != plan.Matched {
				t.Fatalf("%s: %s", d.Outcome, d.Reason)
			}
			var got []string
			for _, o := range p.Operations {
				line := string(o.Type)
				for _, read := range o.ToConfirm() {
					line += " confirms " + strings.Join(read.Names, ",")
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
