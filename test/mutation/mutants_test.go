package mutation_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/test/mutation"
)

func TestMutants(t *testing.T) {
	const head = "kind: ClusterRuleSet\nspec: "
	tests := map[string]struct {
		reason, spec string
		want         []string
	}{
		"params": {"of each shape", "{params: {a: 1, b: true, c: [1h]}}", []string{
			"spec.params.a: dropped", "spec.params.a: 1 becomes 2", "spec.params.b: dropped", "spec.params.b: flipped",
			"spec.params.c: dropped", `spec.params.c[0]: "1h" becomes "2h"`,
		}},
		"resources": {"what is selected", "{resources: {pods: {version: v1, resource: pods, labelSelector: a=b}}}", []string{
			"spec.resources.pods.labelSelector: dropped", `spec.resources.pods.labelSelector: "a=b" becomes "a=bx"`,
		}},
		"condition": {"changed, and negated", "{rules: [{when: a > b}]}", []string{
			"spec.rules[0].when: > becomes >=", "spec.rules[0].when: negated",
		}},
		"twice": {"the same change in two places has two names", "{rules: [{when: a > b && c > d}]}", []string{
			"spec.rules[0].when: > becomes >=", "spec.rules[0].when: && becomes ||", "spec.rules[0].when: > becomes >= (2)",
			"spec.rules[0].when: negated",
		}},
		"names": {"of the set and of the rule", "{let: {a: b && c}, rules: [{let: {d: b && c}}]}", []string{
			"spec.let.a: && becomes ||", "spec.rules[0].let.d: && becomes ||",
		}},
		"for": {"longer, or not at all", "{rules: [{for: 5m}]}", []string{
			"spec.rules[0].for: dropped", `spec.rules[0].for: "5m" becomes "10m"`,
		}},
		"with": {"the resource stays", "{rules: [{with: {a: {resource: pods, all: true}, b: {ownedBy: 'c ?? d'}}}]}", []string{
			"spec.rules[0].with.a.all: flipped", "spec.rules[0].with.b.ownedBy: the sides of ?? swapped",
		}},
		"patch": {"an apply may be forced", "{rules: [{actions: [{patch: {apply: {a: 1}}}]}]}", []string{
			"spec.rules[0].actions[0]: the action dropped", "spec.rules[0].actions[0].patch.apply.a: dropped",
			"spec.rules[0].actions[0].patch.apply.a: 1 becomes 2", "spec.rules[0].actions[0].patch: force added",
		}},
		"apply": {"with all that says how", "{rules: [{actions: [{apply: {manifest: {}, owned: false, prune: true}}]}]}", []string{
			"spec.rules[0].actions[0]: the action dropped", "spec.rules[0].actions[0].apply.owned: flipped",
			"spec.rules[0].actions[0].apply.prune: flipped", "spec.rules[0].actions[0].apply: adopt added",
			"spec.rules[0].actions[0].apply: existing added",
		}},
		"keep": {"is the other of two", "{rules: [{actions: [{apply: {owned: true, prune: false, adopt: false, existing: Keep}}]}]}", []string{
			"spec.rules[0].actions[0]: the action dropped", "spec.rules[0].actions[0].apply.owned: flipped",
			"spec.rules[0].actions[0].apply.prune: flipped", "spec.rules[0].actions[0].apply.adopt: flipped",
			"spec.rules[0].actions[0].apply.existing: Keep becomes Update",
		}},
		"create": {"may be owned", "{rules: [{actions: [{create: {in: pods, manifest: {a: 1}}}]}]}", []string{
			"spec.rules[0].actions[0]: the action dropped", "spec.rules[0].actions[0].create.manifest.a: dropped",
			"spec.rules[0].actions[0].create.manifest.a: 1 becomes 2", "spec.rules[0].actions[0].create: owned added",
		}},
		"event": {"every word of it", "{rules: [{actions: [{when: a, forEach: {p: '${b < c}'}, event: {type: Normal, reason: A}}]}]}", []string{
			"spec.rules[0].actions[0]: the action dropped", "spec.rules[0].actions[0].when: negated",
			"spec.rules[0].actions[0].forEach.p: dropped", "spec.rules[0].actions[0].forEach.p: < becomes <=",
			"spec.rules[0].actions[0].event.type: Normal becomes Warning", `spec.rules[0].actions[0].event.reason: "A" becomes "Ax"`,
		}},
		"delete": {"what is left to say", "{rules: [{actions: [{delete: {gracePeriodSeconds: 5, propagationPolicy: Foreground}}]}]}", []string{
			"spec.rules[0].actions[0]: the action dropped", "spec.rules[0].actions[0].delete.gracePeriodSeconds: 5 becomes 6",
			"spec.rules[0].actions[0].delete.propagationPolicy: Foreground becomes Background",
		}},
		"onDelete": {"held or not, and for how long", "{rules: [{onDelete: {actions: [{event: {message: a}}], done: b}}]}", []string{
			"spec.rules[0].onDelete: hold added", "spec.rules[0].onDelete.actions[0]: the action dropped",
			`spec.rules[0].onDelete.actions[0].event.message: "a" becomes "ax"`,
			"spec.rules[0].onDelete.done: negated", "spec.rules[0].onDelete.done: dropped",
		}},
		"nothing": {"there is nothing to change", "{}", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			mutants, err := mutation.Mutants(document.File{Name: "a.yaml", Data: []byte(head + test.spec)})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range mutants {
				got = append(got, m.String())
				if m.Line != 2 {
					t.Errorf("%s is in line %d", m, m.Line)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if distinct := slices.Compact(slices.Sorted(slices.Values(got))); len(distinct) != len(got) {
				t.Errorf("two mutants have one name: %q", got)
			}
		})
	}
}

// TestMutantsChangeOneThing reads what is written, and finds all else as it was.
func TestMutantsChangeOneThing(t *testing.T) {
	const text = `kind: ClusterRuleSet
spec: {params: {list: [1, 9007199254740993], set: false, none: null}}
---
kind: RuleTest
spec: {cases: []}
`
	mutants, err := mutation.Mutants(document.File{Name: "a.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range mutants {
		got = append(got, strings.TrimSpace(string(m.Data)))
	}
	const second = "\n---\n" + `{"kind":"RuleTest","spec":{"cases":[]}}`
	want := []string{
		`{"none":null,"set":false}`,
		`{"list":[2,9007199254740993],"none":null,"set":false}`,
		`{"list":[1,9007199254740994],"none":null,"set":false}`,
		`{"list":[1,9007199254740993],"none":null}`,
		`{"list":[1,9007199254740993],"none":null,"set":true}`,
		`{"list":[1,9007199254740993],"set":false}`,
	}
	for i, params := range want {
		want[i] = "---\n" + `{"kind":"ClusterRuleSet","spec":{"params":` + params + `}}` + second
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMutantsOfWhatIsNoYAML(t *testing.T) {
	if mutants, err := mutation.Mutants(document.File{Name: "a.yaml", Data: []byte("a: [")}); err == nil {
		t.Errorf("want an error, have %v", mutants)
	}
}
