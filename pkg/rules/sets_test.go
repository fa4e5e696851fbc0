package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// wholeSet is a document of the kind, with what else is under spec.
func wholeSet(kind, metadata, spec string) string {
	return "apiVersion: dyncontroller.dev/v1alpha1\nkind: " + kind + "\nmetadata: {" + metadata + "}\nspec:\n" +
		"  resources: {tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}, pods: {version: v1, resource: pods}}\n" + spec
}

func sized(kind, metadata, rule string, size int) string {
	return wholeSet(kind, metadata, fmt.Sprintf("  rules: [{name: %s, watch: tidbclusters, actions: [{patch: {merge: {spec: {size: %d}}}}]}]\n", rule, size))
}

const basic = `{kind: TidbCluster, metadata: {name: basic}, spec: {size: 0}}`

// TestPrecedence holds which of two rules that want different values wins, in
// whatever order the files are read.
func TestPrecedence(t *testing.T) {
	tests := map[string]struct {
		reason string
		files  []string
		want   string
	}{
		"name of the set": {
			reason: "The lower name of a set wins, whatever the rules are called.",
			files:  []string{sized("ClusterRuleSet", "name: b", "first", 1), sized("ClusterRuleSet", "name: a", "second", 2)},
			want: "second matched\nfirst withheld: spec.size is decided by rule a/second, which comes first\n" +
				`merge tidbclusters db/basic {"spec":{"size":2}}`,
		},
		"kind": {
			reason: "Then the kind: the platform's rules come before those of a team.",
			files:  []string{sized("RuleSet", "name: a", "team", 1), sized("ClusterRuleSet", "name: a", "platform", 2)},
			want: "platform matched\nteam withheld: spec.size is decided by rule a/platform, which comes first\n" +
				`merge tidbclusters db/basic {"spec":{"size":2}}`,
		},
		"order in the set": {
			reason: "Within a set the earlier rule wins.",
			files: []string{wholeSet("ClusterRuleSet", "name: a", `
  rules:
  - {name: z, watch: tidbclusters, actions: [{patch: {merge: {spec: {size: 1}}}}]}
  - {name: a, watch: tidbclusters, actions: [{patch: {merge: {spec: {size: 2}}}}]}
`)},
			want: "z matched\na withheld: spec.size is decided by rule a/z, which comes first\n" +
				`merge tidbclusters db/basic {"spec":{"size":1}}`,
		},
		"agreement": {
			reason: "Who wants the same value is no loser.",
			files:  []string{sized("ClusterRuleSet", "name: b", "first", 1), sized("ClusterRuleSet", "name: a", "second", 1)},
			want:   "second matched\nfirst matched\n" + `merge tidbclusters db/basic {"spec":{"size":1}}`,
		},
		"overlapping parent": {
			reason: "Who wants the parent gone and who wants a value in it cannot both have it.",
			files: []string{
				wholeSet("ClusterRuleSet", "name: a", "  rules: [{name: gone, watch: tidbclusters, actions: [{patch: {merge: {spec: null}}}]}]\n"),
				sized("ClusterRuleSet", "name: b", "there", 1),
			},
			want: "gone matched\nthere withheld: spec.size is decided by rule a/gone, which comes first\n" +
				`merge tidbclusters db/basic {"spec":null}`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				if diff := cmp.Diff(tc.want, told(t, newStage(t, tc.files, basic).evaluate())); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
				slices.Reverse(tc.files)
			}
		})
	}
}

// TestScope holds whom a rule concerns: a RuleSet the objects of its namespace, a
// ClusterRuleSet all that it selects.
func TestScope(t *testing.T) {
	files := []string{
		sized("RuleSet", "name: here", "defaulted", 1), // The default namespace is db.
		sized("RuleSet", "name: there, namespace: other", "elsewhere", 2),
		sized("ClusterRuleSet", "name: z", "everywhere", 1),
	}
	s := newStage(t, files, basic)
	want := "defaulted matched\neverywhere matched\n" + `merge tidbclusters db/basic {"spec":{"size":1}}`
	if diff := cmp.Diff(want, told(t, s.evaluate())); diff != "" {
		t.Errorf("the object is in db (-want +got):\n%s", diff)
	}
	var namespaces []string
	for _, rule := range s.set.Rules() {
		namespaces = append(namespaces, rule.ID.Name+" in "+rule.ID.Namespace)
	}
	if diff := cmp.Diff([]string{"defaulted in db", "elsewhere in other", "everywhere in "}, namespaces); diff != "" {
		t.Errorf("namespaces of rules (-want +got):\n%s", diff)
	}
	var selections []string
	for _, selection := range s.set.Selections() {
		selections = append(selections, selection.GVR.Resource+" in "+selection.Namespace)
	}
	if diff := cmp.Diff([]string{"tidbclusters in db", "tidbclusters in other", "tidbclusters in "}, selections); diff != "" {
		t.Errorf("selections (-want +got):\n%s", diff)
	}
}

// TestOrderOfRules holds the order of precedence: by name of the set, kind and
// namespace, and within a set as written.
func TestOrderOfRules(t *testing.T) {
	files := []string{
		sized("RuleSet", "name: b, namespace: z", "bz", 1), sized("RuleSet", "name: b, namespace: a", "ba", 1),
		sized("RuleSet", "name: a, namespace: z", "az", 1), sized("ClusterRuleSet", "name: b", "b", 1), sized("ClusterRuleSet", "name: c", "c", 1),
		wholeSet("ClusterRuleSet", "name: bb", "  rules:\n  - {name: z, watch: pods, actions: [{delete: {}}]}\n  - {name: x, watch: pods, actions: [{delete: {}}]}\n"),
	}
	for range files {
		var got []string
		for _, id := range newStage(t, files).set.IDs() {
			got = append(got, id.Name)
		}
		if diff := cmp.Diff("az b ba bz z x c", strings.Join(got, " ")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		files = append(files[1:], files[0])
	}
}

// TestSharedLet holds that a let of the set is the rule's own wherever a rule uses
// it, with its own errors.
func TestSharedLet(t *testing.T) {
	s := newStage(t, []string{wholeSet("ClusterRuleSet", "name: shared", `
  params: {suffix: "-x"}
  let: {mine: "rule.name + params.suffix", later: "mine + rule.set", broken: object.spec.none.deeper}
  rules:
  - {name: one, watch: tidbclusters, actions: [{patch: {merge: {metadata: {labels: {one: "${mine}"}}}}}]}
  - {name: two, watch: tidbclusters, actions: [{patch: {merge: {metadata: {labels: {two: "${later}"}}}}}]}
  - {name: three, watch: tidbclusters, let: {own: "mine + '!'"}, when: own == 'three-x!', actions: [{event: {reason: Seen, message: "${own}"}}]}
  - {name: four, watch: tidbclusters, when: broken == 1, actions: [{event: {reason: Seen, message: never}}]}
`)}, basic)
	want := `one matched
two matched
three matched
four failed: 0.yaml:8:95: spec.let.broken: object.spec.none is absent, so object.spec.none.deeper cannot be read; write object.spec.none?.deeper, which is nil then
merge tidbclusters db/basic {"metadata":{"labels":{"one":"one-x","two":"two-xshared"}}}
event on tidbclusters db/basic: Seen three-x!`
	if diff := cmp.Diff(want, told(t, s.evaluate())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDeterminism holds that a plan depends on nothing but the snapshot and what
// the rules are: not on the order of files, and not on chance.
func TestDeterminism(t *testing.T) {
	files := []string{troupe, sized("ClusterRuleSet", "name: a", "one", 1), sized("RuleSet", "name: a", "two", 2), sized("ClusterRuleSet", "name: zz", "last", 1)}
	objects := []string{
		`{kind: TidbCluster, metadata: {name: basic, labels: {env: prod}}, spec: {size: 4, wanted: {b: 1, a: 2, c: 3}, roles: [pd, tikv]}}`,
		`{kind: Pod, metadata: {name: p-1, labels: {app: basic}}, status: {phase: Failed}}`,
		`{kind: Pod, metadata: {name: p-0, labels: {app: basic}}, status: {phase: Running}}`,
	}
	var first plan.Plan
	for i := range 20 {
		if i%2 == 1 {
			slices.Reverse(files)
			slices.Reverse(objects)
		}
		files = append(files[1:], files[0])
		got := newStage(t, files, objects...).evaluate()
		for at := range got.Decisions {
			got.Decisions[at].Err = nil // It holds the file, whose name has changed.
		}
		if i == 0 {
			first = got
			if len(first.Operations) < 3 || len(first.Events) == 0 {
				t.Fatalf("the plan shows too little:\n%s", told(t, first))
			}
		}
		if diff := cmp.Diff(first, got, cmp.AllowUnexported(plan.Change{})); diff != "" {
			t.Fatalf("the plans differ in round %d (-first +got):\n%s", i, diff)
		}
	}
}
