package simulate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/coverage"
)

func TestTextOfWhatDoesNotSettle(t *testing.T) {
	report := simulate.Report{Results: []simulate.Result{
		{
			Name: "pods/circles", Status: simulate.Error, Errors: document.Errors{{Message: "the rules do not settle"}},
			Cycle: []string{"set/up", "  merge pods a/b", "set/down", "  merge pods a/b"},
		},
		{
			Name: "pods/ordered", Status: simulate.Error, Errors: document.Errors{{Message: "the order matters"}},
			Order: []string{"spec.a: 1, then 2"},
		},
	}}
	const want = `ERROR pods/circles
  the rules do not settle
  it goes round in a circle:
    set/up
      merge pods a/b
    set/down
      merge pods a/b
ERROR pods/ordered
  the order matters
  with the queue reversed, it ends differently:
    spec.a: 1, then 2

0 passed, 0 failed, 2 in error
`
	if diff := cmp.Diff(want, report.Text(false)); diff != "" {
		t.Errorf("(-want +have):\n%s", diff)
	}
}

func TestARuleThatNoCaseExercisesIsNoSuccess(t *testing.T) {
	report := simulate.Report{Results: []simulate.Result{{Name: "a/b", Status: simulate.Pass}}}
	if !report.Passed() {
		t.Error("nobody asked for the coverage")
	}
	report.Coverage = &coverage.Report{Rules: []coverage.Rule{{Rule: "set/one", Matched: 1}}}
	if !report.Passed() {
		t.Error("every rule is exercised")
	}
	report.Coverage.Rules = append(report.Coverage.Rules, coverage.Rule{Rule: "set/two", Unmatched: 1})
	if report.Passed() {
		t.Error("a rule is not exercised")
	}
	if text := report.Text(false); !strings.Contains(text, "no case exercises the rule set/two") {
		t.Errorf("have %q", text)
	}
}
