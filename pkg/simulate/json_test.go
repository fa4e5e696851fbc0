package simulate_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/simulate"
)

func TestResultInJSON(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		result simulate.Result
		want   string
	}{
		"passed": {
			"what is not there is left out",
			simulate.Result{File: "a.yaml", Name: "a/b", Status: simulate.Pass},
			`{"file":"a.yaml","name":"a/b","status":"pass"}`,
		},
		"remarks": {
			"numbers, for programs",
			simulate.Result{File: "a.yaml", Status: simulate.Pass, Golden: "b", EvaluationsFailed: 1, WritesRefused: 2},
			`{"file":"a.yaml","status":"pass","golden":"b","evaluationsFailed":1,"writesRefused":2}`,
		},
		"error": {
			"as validate has it",
			simulate.Result{File: "a.yaml", Status: simulate.Error, Errors: document.Errors{
				{File: "a.yaml", Line: 1, Column: 2, Length: 3, Path: "spec", Message: "want <b>", Hint: "write it", Code: document.CodeUnknownField},
				{File: "a.yaml", Message: "no place, and no code"},
			}},
			`{"file":"a.yaml","status":"error","errors":[` +
				`{"severity":"mistake","code":"unknown-field","file":"a.yaml","line":1,"column":2,"length":3,"path":"spec","message":"want <b>","hint":"write it"},` +
				`{"severity":"mistake","code":"invalid","file":"a.yaml","message":"no place, and no code"}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			encoder := json.NewEncoder(&got)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(tc.result); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want+"\n", got.String()); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRemarks(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		result simulate.Result
		want   []string
	}{
		"none":     {"as it mostly is", simulate.Result{Status: simulate.Pass}, nil},
		"one":      {"in the singular", simulate.Result{Status: simulate.Pass, EvaluationsFailed: 1, WritesRefused: 1}, []string{"1 evaluation failed", "1 write refused"}},
		"several":  {"in the plural", simulate.Result{Status: simulate.Pass, EvaluationsFailed: 2, WritesRefused: 3}, []string{"2 evaluations failed", "3 writes refused"}},
		"updated":  {"the golden first", simulate.Result{Status: simulate.Pass, Updated: true, Golden: "a.yaml", WritesRefused: 1}, []string{"wrote a.yaml", "1 write refused"}},
		"failed":   {"the differences say more", simulate.Result{Status: simulate.Fail, EvaluationsFailed: 1}, nil},
		"in error": {"so do the errors", simulate.Result{Status: simulate.Error, WritesRefused: 1}, nil},
	} {
		if diff := cmp.Diff(tc.want, tc.result.Remarks()); diff != "" {
			t.Errorf("%s: %s: (-want +got)\n%s", name, tc.reason, diff)
		}
	}
}
