package simulate_test

import (
	"context"
	"fmt"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
)

const guardrails = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: tidb-guardrails}
spec:
  resources:
    tidbclusters: {group: pingcap.com, version: v1alpha1, resource: tidbclusters}
  rules:
  - name: pd-quorum
    watch: tidbclusters
    when: object.spec.pd.replicas % 2 == 0
    actions:
    - patch: {merge: {spec: {pd: {replicas: "${object.spec.pd.replicas + 1}"}}}}
`

const cluster = `
apiVersion: pingcap.com/v1alpha1
kind: TidbCluster
metadata: {name: basic, namespace: tidb, uid: 5f0c, resourceVersion: "7"}
spec: {pd: {replicas: 4}}
`

// Rules look at one object once, as the command eval has them.
func ExampleEvaluation_Run() {
	objects, errs := simulate.ParseObjects(document.File{Name: "cluster.yaml", Data: []byte(cluster)})
	if err := errs.Err(); err != nil {
		fmt.Println(err)
		return
	}
	set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: []byte(guardrails)}},
		rules.Options{Schemas: simulate.Schemas(nil, objects)})
	if err := errs.Of(document.Mistake).Err(); err != nil {
		fmt.Println(err)
		return
	}
	outcome, err := simulate.Evaluation{
		Rules: set, Object: objects[0], Now: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC),
	}.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range outcome.Writes {
		fmt.Println(w.Rules, w.Type, w.Object, w.Body)
	}
	for _, changed := range outcome.Objects {
		fmt.Println(changed.Object, changed.Now["spec"])
	}
	// Output:
	// [tidb-guardrails/pd-quorum] merge tidbclusters tidb/basic map[metadata:map[resourceVersion:(as read) uid:(as read)] spec:map[pd:map[replicas:5]]]
	// tidbclusters tidb/basic map[pd:map[replicas:5]]
}

// Tests are run, as the command test does. Here the files are in memory.
func ExampleRun() {
	files := newMemory(map[string]string{
		"rules.yaml":   guardrails,
		"cluster.yaml": cluster,
		"test.yaml": `
apiVersion: dyncontroller.dev/v1alpha1
kind: RuleTest
metadata: {name: pd-quorum}
spec:
  rules: [rules.yaml]
  cases:
  - name: an even PD becomes odd
    objects: [cluster.yaml]
`,
		"golden/an-even-pd-becomes-odd.yaml": `
decisions:
- {object: tidbclusters tidb/basic, rule: tidb-guardrails/pd-quorum, outcome: matched}
- object: tidbclusters tidb/basic
  rule: tidb-guardrails/pd-quorum
  outcome: not matched
  reason: object.spec.pd.replicas % 2 == 0 is false; object.spec.pd.replicas is 5
writes:
- object: tidbclusters tidb/basic
  rules: [tidb-guardrails/pd-quorum]
  type: merge
  manager: dyncontroller
  body: {metadata: {uid: (as read), resourceVersion: (as read)}, spec: {pd: {replicas: 6}}}
events: []
objects:
- object: tidbclusters tidb/basic
  patch: {spec: {pd: {replicas: 6}}}
`,
	})
	report, err := simulate.Run(context.Background(), []string{"test.yaml"}, simulate.Options{Files: files})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(report.Text(false))
	// Output:
	// FAIL  pd-quorum/an even PD becomes odd
	//   golden/an-even-pd-becomes-odd.yaml
	//     tidbclusters tidb/basic: spec.pd.replicas: want 6, have 5
	//
	//     why, at 2026-01-01T00:00:00Z:
	//       tidb-guardrails/pd-quorum (rules.yaml:9:11) on tidbclusters tidb/basic: matched
	//         true   object.spec.pd.replicas % 2 == 0; object.spec.pd.replicas is 4 (11:11)
	//         merge tidbclusters tidb/basic: spec.pd.replicas: 4 -> 5 (13:7)
	//
	// want is what the golden or the test says, have is what the rules do now; --update writes goldens
	//
	// 0 passed, 1 failed, 0 in error
}
