package coverage_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/coverage"
)

const some = `
apiVersion: dyncontroller.dev/v1alpha1
kind: ClusterRuleSet
metadata: {name: set}
spec:
  resources: {pods: {version: v1, resource: pods}}
  rules:
  - name: sized
    watch: pods
    when: object.spec.size > 1 && (object.spec.size > 2 || object.spec.big == true)
    actions: [{event: {reason: A, message: a}}]
  - name: everything
    watch: pods
    actions: [{event: {reason: A, message: a}}]
  - name: fails
    watch: pods
    when: object.spec.size > object.spec.least
    actions: [{event: {reason: A, message: a}}]
  - name: patient
    watch: pods
    when: object.spec.size > 0
    for: 5m
    actions: [{event: {reason: A, message: a}}]
`

func load(t *testing.T, name, text string) *rules.Set {
	t.Helper()
	set, errs := rules.Load([]document.File{{Name: name, Data: []byte(text)}}, rules.Options{})
	if len(errs) > 0 {
		t.Fatal(errs.Render())
	}
	return set
}

// pod evaluates the rules on a pod, as the runner of a case does.
func pod(set *rules.Set, into *coverage.Case, spec map[string]any) {
	snapshot := rules.Snapshot{
		GVR: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, SelectedBy: set.Selections(),
		Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		Object: map[string]any{
			"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a", "namespace": "b"}, "spec": spec,
		},
	}
	into.Evaluated(snapshot, set.Evaluate(snapshot).Decisions)
}

func TestRecorder(t *testing.T) {
	type cases [][]map[string]any // each of several objects
	tests := map[string]struct {
		reason string
		cases  cases
		want   string
	}{
		"nothing": {
			"rules that no case exercises are errors, and their conditions are not gone into", cases{}, `
RULE            MATCHED     UNMATCHED
set/sized       never       never
set/everything  never       never
set/fails       never       never
set/patient     never       never

rules.yaml:8:1: no case exercises the rule set/sized
  hint: add a case in which it matches

rules.yaml:12:1: no case exercises the rule set/everything
  hint: add a case in which it matches

rules.yaml:15:1: no case exercises the rule set/fails
  hint: add a case in which it matches

rules.yaml:19:1: no case exercises the rule set/patient
  hint: add a case in which it matches

coverage: 0 of 4 rules exercised, 0 of 5 conditions seen both true and false
`,
		},
		"one side": {
			"what was seen one way only is told, and so is what was not asked for", cases{{{"size": int64(3), "least": int64(1)}}}, `
RULE            MATCHED     UNMATCHED
set/sized       1 case      never
  rules.yaml:10:11: never false: object.spec.size > 1
  rules.yaml:10:36: never false: object.spec.size > 2
  rules.yaml:10:60: never asked: object.spec.big == true
set/everything  1 case      never
set/fails       1 case      never
  rules.yaml:17:11: never false: object.spec.size > object.spec.least
set/patient     never       never

rules.yaml:19:1: no case exercises the rule set/patient
  hint: add a case in which it matches

coverage: 3 of 4 rules exercised, 0 of 5 conditions seen both true and false
`,
		},
		"all sides": {
			"cases are counted, and not how often a rule matches in them; a rule that fails or waits has not acted",
			cases{
				{{"size": int64(3), "least": int64(1)}, {"size": int64(4), "least": int64(9)}},
				{{"size": int64(2), "least": nil}},
				{{"size": int64(2), "big": true, "least": int64(1)}},
				{{"size": int64(0), "least": int64(1)}},
			},
			`
RULE            MATCHED     UNMATCHED
set/sized       2 cases     2 cases
set/everything  4 cases     never
set/fails       2 cases     2 cases
set/patient     never       1 case

rules.yaml:19:1: no case exercises the rule set/patient
  hint: add a case in which it matches

coverage: 3 of 4 rules exercised, 5 of 5 conditions seen both true and false
`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var recorder coverage.Recorder
			recorder.Rules(load(t, "rules.yaml", some))
			for _, objects := range test.cases {
				set := load(t, "rules.yaml", some) // As every test does.
				recorder.Rules(set)
				c := recorder.Case(set)
				for _, spec := range objects {
					pod(set, c, spec)
				}
			}
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), recorder.Report().Text()); diff != "" {
				t.Errorf("%s (-want +have):\n%s", test.reason, diff)
			}
		})
	}
}

func TestReportAsJSON(t *testing.T) {
	var recorder coverage.Recorder
	set := load(t, "rules.yaml", strings.Split(some, "  - name: everything")[0])
	recorder.Rules(set)
	pod(set, recorder.Case(set), map[string]any{"size": int64(1)})
	got, err := json.Marshal(recorder.Report())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"rules":[{"rule":"set/sized","file":"rules.yaml","line":8,"matched":0,"unmatched":1,"clauses":[` +
		`{"text":"object.spec.size \u003e 1","line":10,"column":11,"true":false,"false":true},` +
		`{"text":"object.spec.size \u003e 2","line":10,"column":36,"true":false,"false":false},` +
		`{"text":"object.spec.big == true","line":10,"column":60,"true":false,"false":false}]}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +have):\n%s", diff)
	}
}

func TestRulesOfTheSameNameInTwoFilesAreTwo(t *testing.T) {
	var recorder coverage.Recorder
	for _, file := range []string{"b.yaml", "a.yaml"} {
		set := load(t, file, some)
		recorder.Rules(set)
		if file == "b.yaml" {
			pod(set, recorder.Case(set), map[string]any{"size": int64(3)})
		}
	}
	report := recorder.Report()
	if len(report.Rules) != 8 || report.Rules[1].File != "a.yaml" || report.Rules[1].Exercised() || !report.Rules[5].Exercised() {
		t.Errorf("have %+v", report.Rules)
	}
}

func TestNothingIsRecordedWithoutACase(t *testing.T) {
	set := load(t, "rules.yaml", some)
	var none *coverage.Recorder
	none.Rules(set)
	pod(set, none.Case(set), map[string]any{"size": int64(3)})
	var recorder coverage.Recorder
	recorder.Case(set).Evaluated(rules.Snapshot{}, []plan.Decision{{Rule: set.IDs()[0], Outcome: plan.Matched}})
	if report := recorder.Report(); len(report.Rules) > 0 {
		t.Errorf("rules that were never named are reported: %+v", report)
	}
}

func TestSuspendedRulesNeedNoCase(t *testing.T) {
	var recorder coverage.Recorder
	recorder.Rules(load(t, "rules.yaml", strings.ReplaceAll(some, "    watch: pods\n", "    watch: pods\n    suspend: true\n")))
	if report := recorder.Report(); len(report.Rules)+len(report.Errors()) > 0 {
		t.Errorf("have %+v", report)
	}
}

func TestCasesMayRunAtOnce(t *testing.T) {
	var recorder coverage.Recorder
	set := load(t, "rules.yaml", some)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			recorder.Rules(set)
			pod(set, recorder.Case(set), map[string]any{"size": int64(i)})
			_ = recorder.Report()
		})
	}
	all.Wait()
	if sized := recorder.Report().Rules[0]; sized.Matched != 5 || sized.Unmatched != 3 {
		t.Errorf("have %+v", sized)
	}
}
