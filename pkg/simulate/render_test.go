package simulate_test

import (
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/simulate"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/coverage"
)

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
