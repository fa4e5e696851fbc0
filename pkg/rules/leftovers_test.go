package rules_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// left shows what the rules of the files may leave, a line for each.
func left(t *testing.T, files ...string) string {
	t.Helper()
	var documents []document.File
	for i, text := range files {
		documents = append(documents, document.File{Name: string(rune('a'+i)) + ".yaml", Data: []byte(text)})
	}
	set, errs := rules.Load(documents, rules.Options{DefaultNamespace: "db"})
	if len(errs.Of(document.Mistake)) > 0 {
		t.Fatalf("loading the rules:\n%s", errs.Render())
	}
	var lines []string
	for _, l := range set.Leftovers() {
		line := l.String()
		if l.Release != "" {
			line += " " + string(l.Release)
		}
		if l.Prune {
			line += " prune"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestLeftovers(t *testing.T) {
	const child = `apply: {resource: configmaps, manifest: {metadata: {name: c}}, prune: `
	tests := map[string]struct {
		reason string
		rules  string
		want   string
	}{
		"nothing": {
			reason: "Rules that only merge and delete leave nothing.",
			rules:  `[{name: r, watch: tidbclusters, actions: [{patch: {merge: {spec: {a: 1}}}}, {event: {reason: A, message: b}}]}]`,
		},
		"all kinds": {
			reason: "Each kind of thing, wherever an action is.",
			rules: `
  - name: r
    watch: tidbclusters
    with: {pods: {resource: pods, all: true}}
    actions:
    - patch: {target: pods, apply: {metadata: {labels: {a: b}}}}
    - create: {in: pods, manifest: {metadata: {generateName: p-}}}
    - ` + child + `true}
    onDelete: {actions: [{apply: {resource: secrets, manifest: {metadata: {name: s}}, owned: false}}]}`,
			want: `
children of rule set/r on configmaps.v1 prune
created of rule set/r on pods.v1
fields of rule set/r on pods.v1 Orphan
children of rule set/r on secrets.v1
finalizer of rule set/r on tidbclusters.v1alpha1.pingcap.com`,
		},
		"finalizers": {
			reason: "On everything that is watched, and only where the rule holds.",
			rules: `
  - {name: holds, watch: "tidbclusters,pods", onDelete: {actions: [{event: {reason: A, message: b}}]}}
  - {name: reacts, watch: tidbclusters, onDelete: {hold: false, actions: [{event: {reason: A, message: b}}]}}`,
			want: `
finalizer of rule set/holds on pods.v1
finalizer of rule set/holds on tidbclusters.v1alpha1.pingcap.com`,
		},
		"idle": {
			reason: "What an idle rule has left before is its own still: turning it off is not removing it.",
			rules: `
  - {name: asleep, suspend: true, watch: pods, onDelete: {actions: [{event: {reason: A, message: b}}]}}
  - {name: audited, mode: Audit, watch: pods, actions: [{patch: {apply: {metadata: {labels: {a: b}}}}}]}`,
			want: `
finalizer of rule set/asleep on pods.v1
fields of rule set/audited on pods.v1 Orphan`,
		},
		"release": {
			reason: "Fields of a rule are told apart by resource only, so all of them say Remove, or none is removed.",
			rules: `
  - name: both
    watch: pods
    actions:
    - patch: {apply: {metadata: {labels: {a: b}}}, release: Remove}
    - patch: {apply: {metadata: {labels: {c: d}}}}
  - name: other
    watch: pods
    actions:
    - patch: {apply: {metadata: {labels: {e: f}}}}
    - patch: {apply: {metadata: {labels: {g: h}}}, release: Remove}
  - name: remove
    watch: pods
    actions:
    - patch: {apply: {metadata: {labels: {i: j}}}, release: Remove}
    - patch: {apply: {status: {phase: A}}, subresource: status, release: Remove}`,
			want: `
fields of rule set/both on pods.v1 Orphan
fields of rule set/other on pods.v1 Orphan
fields of rule set/remove on pods.v1 Remove`,
		},
		"prune while deleting": {
			reason: "What onDelete applies has the labels of the other children of the resource, and is pruned with them.",
			rules: `
  - name: r
    watch: tidbclusters
    actions: [{` + child + `true}}]
    onDelete: {hold: false, actions: [{apply: {resource: configmaps, manifest: {metadata: {name: d}}}}]}`,
			want: "\nchildren of rule set/r on configmaps.v1 prune",
		},
		"through names": {
			reason: "A target is followed through let and forEach.",
			rules: `
  - name: r
    watch: tidbclusters
    with: {pods: {resource: pods, all: true}, maps: {resource: configmaps, all: true}}
    let: {failed: "filter(pods, .status.phase == 'Failed')"}
    actions:
    - patch: {target: failed, apply: {metadata: {labels: {a: b}}}}
    - forEach: {found: "${maps}"}
      patch: {target: found, apply: {data: {a: b}}}`,
			want: `
fields of rule set/r on configmaps.v1 Orphan
fields of rule set/r on pods.v1 Orphan`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			text := tc.rules
			if strings.HasPrefix(text, "[") {
				text = " " + text
			}
			if diff := cmp.Diff(strings.TrimPrefix(tc.want, "\n"), left(t, world+"  rules:"+text+"\n")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLeftoversWhere holds in which namespaces what a set leaves can be: looking for
// it must not take more rights than leaving it did.
func TestLeftoversWhere(t *testing.T) {
	const rule = `
  rules: [{name: r, watch: watched, onDelete: {actions: [{event: {reason: A, message: b}}]}}]
`
	set := func(kind, metadata, resources string) string {
		return "apiVersion: dyncontroller.dev/v1alpha1\nkind: " + kind + "\nmetadata: {" + metadata + "}\nspec:\n  resources: {" + resources + "}" + rule
	}
	tests := map[string]struct {
		reason string
		files  []string
		want   string
	}{
		"everywhere": {
			"A ClusterRuleSet is everywhere.",
			[]string{set("ClusterRuleSet", "name: s", "watched: {version: v1, resource: pods}")},
			"finalizer of rule s/r on pods.v1",
		},
		"namespaces": {
			"Unless it keeps to some namespaces.",
			[]string{set("ClusterRuleSet", "name: s", "watched: {version: v1, resource: pods, namespaces: [b, a, b]}")},
			"finalizer of rule s/r on pods.v1 in namespace a\nfinalizer of rule s/r on pods.v1 in namespace b",
		},
		"several declarations": {
			"All that the set may see of the resource counts: a target is not known better.",
			[]string{set("ClusterRuleSet", "name: s", "watched: {version: v1, resource: pods, namespaces: [a]}, more: {version: v1, resource: pods, namespaces: [b]}")},
			"finalizer of rule s/r on pods.v1 in namespace a\nfinalizer of rule s/r on pods.v1 in namespace b",
		},
		"several declarations, one everywhere": {
			"One that is everywhere covers the others.",
			[]string{set("ClusterRuleSet", "name: s", "watched: {version: v1, resource: pods, namespaces: [a]}, more: {version: v1, resource: pods}")},
			"finalizer of rule s/r on pods.v1",
		},
		"rule set": {
			"A RuleSet is in its namespace, and another of that name in its own.",
			[]string{
				set("RuleSet", "name: s", "watched: {version: v1, resource: pods}"),
				set("RuleSet", "name: s, namespace: other", "watched: {version: v1, resource: pods}"),
			},
			"finalizer of rule s/r on pods.v1 in namespace db\nfinalizer of rule s/r on pods.v1 in namespace other",
		},
		"two versions": {
			"Two versions of a resource have the same objects. The later one is there longer.",
			[]string{
				strings.ReplaceAll(set("ClusterRuleSet", "name: s",
					"watched: {group: example.com, version: v1, resource: widgets}, old: {group: example.com, version: v1beta1, resource: widgets}"),
					"watch: watched", `watch: "old,watched"`),
			},
			"finalizer of rule s/r on widgets.v1.example.com",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for range 5 { // The order does not come from a map.
				if diff := cmp.Diff(tc.want, left(t, tc.files...)); diff != "" {
					t.Fatalf("%s (-want +got):\n%s", tc.reason, diff)
				}
			}
		})
	}
}

// TestLeftoversOfNothing holds that no rules leave nothing.
func TestLeftoversOfNothing(t *testing.T) {
	if got := (&rules.Set{}).Leftovers(); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
