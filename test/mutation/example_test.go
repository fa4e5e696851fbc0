package mutation_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/dyncontroller/dyncontroller/pkg/simulate"
	"github.com/dyncontroller/dyncontroller/test/mutation"
)

const (
	ruleFile = `apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: names}
spec:
  resources: {pods: {version: v1, resource: pods}}
  rules:
  - name: named
    watch: pods
    when: object.metadata.name == "web"
    actions: [{event: {reason: Named, message: it has a name}}]
`
	testFile = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleTest
metadata: {name: names}
spec: {rules: [rules.yaml], cases: [{name: a, objects: [pod.yaml]}]}
`
	podFile = `{apiVersion: v1, kind: Pod, metadata: {name: db, namespace: shop}}
`
	goldenFile = `# written by: dyncontroller test --update
decisions:
- {object: pods shop/db, rule: names/named, outcome: not matched}
writes: []
events: []
`
)

func TestTry(t *testing.T) {
	example, err := mutation.Read(fstest.MapFS{
		"rules.yaml": {Data: []byte(ruleFile)}, "rules_test.yaml": {Data: []byte(testFile)}, "pod.yaml": {Data: []byte(podFile)},
		"golden/a.yaml": {Data: []byte(goldenFile)}, "README.md": {Data: []byte("# a: [")},
	})
	if err != nil || len(example.Rules) != 1 || example.Rules[0] != "rules.yaml" {
		t.Fatalf("found the rules %v, error %v", example.Rules, err)
	}
	report, err := example.Run(t.Context(), "", nil)
	if err != nil || report.Count(simulate.Pass) != 1 {
		t.Fatalf("the case does not pass: %v, %+v", err, report)
	}
	tests := map[string]struct {
		reason, when string
		want         mutation.Verdict
	}{
		"the same":    {"there is nothing to catch", `object.metadata.name == "web"`, mutation.Survived},
		"other words": {"the rule still does nothing", `object.metadata.name == "webx"`, mutation.Survived},
		"matches":     {"the rule acts", `object.metadata.name != "web"`, mutation.Caught},
		"fails":       {"the rule cannot be evaluated", `fromJSON(object.metadata.name) == "web"`, mutation.Caught},
		"no rule":     {"it does not compile", `object.metadata.nam == "web"`, mutation.Refused},
		"no boolean":  {"nor does this", `object.metadata.name`, mutation.Refused},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := example.Try(t.Context(), "rules.yaml", mutation.Mutant{Data: replaced(test.when)})
			if err != nil || got != test.want {
				t.Errorf("%s: want %d, have %d, error %v", test.reason, test.want, got, err)
			}
		})
	}
}

func replaced(when string) []byte {
	return []byte(strings.ReplaceAll(ruleFile, `object.metadata.name == "web"`, when))
}
