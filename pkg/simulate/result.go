package simulate

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/coverage"
)

// Status is what became of a case.
type Status string

// The statuses. A case that could not be judged is an error, never a pass.
const (
	Pass  Status = "pass"
	Fail  Status = "fail"
	Error Status = "error"
	Skip  Status = "skip"
)

// Result is what became of a case, or, without a name, of a whole file.
type Result struct {
	File   string `json:"file"`
	Name   string `json:"name,omitempty"` // test/case
	Status Status `json:"status"`
	Golden string `json:"golden,omitempty"`
	// Updated says that the golden was written.
	Updated bool `json:"updated,omitempty"`
	// EvaluationsFailed and WritesRefused are how many of each there were, in the golden
	// too: a case may want them.
	EvaluationsFailed int `json:"evaluationsFailed,omitempty"`
	WritesRefused     int `json:"writesRefused,omitempty"`
	// Differences are those of a failed case, a line for each field.
	Differences []string `json:"differences,omitempty"`
	// Diff shows the same as a unified diff of the golden.
	Diff string `json:"diff,omitempty"`
	// Explanations say how rules came to what differs: the first ones, in order.
	Explanations []Explanation `json:"explanations,omitempty"`
	// Cycle is the path of a case that does not settle, in lines to be shown as they
	// are: rule, write, rule, write.
	Cycle []string `json:"cycle,omitempty"`
	// Order is what comes out differently with the queue reversed, a line for each
	// difference.
	Order []string `json:"order,omitempty"`
	// Errors are what is wrong with it. In JSON, each is as `validate -o json` has it.
	Errors document.Errors `json:"-"`

	brief    []string // Differences for people, without what follows from the others
	suspects []suspect
}

// MarshalJSON implements [json.Marshaler].
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false) // Whoever encodes the report decides.
	err := encoder.Encode(struct {
		plain
		Errors []document.Finding `json:"errors,omitempty"`
	}{plain(r), r.Errors.Findings()})
	return data.Bytes(), err
}

// Report is the outcome of all that was run, in the order of the files and of
// the cases in them.
type Report struct {
	Results []Result `json:"results"`
	// Warnings are about the rules, whatever becomes of the cases.
	Warnings document.Errors `json:"-"`
	// Coverage says which rules the cases exercise, nil where nobody asked.
	Coverage *coverage.Report `json:"coverage,omitempty"`
}

// Count says how many results have the status.
func (r Report) Count(status Status) int {
	n := 0
	for _, result := range r.Results {
		if result.Status == status {
			n++
		}
	}
	return n
}

// Passed reports whether every case that was to be run has passed and, where that was
// asked for, every rule is exercised.
func (r Report) Passed() bool {
	return r.Count(Fail)+r.Count(Error) == 0 && (r.Coverage == nil || len(r.Coverage.Errors()) == 0)
}

// Summary counts the results in one line.
func (r Report) Summary() string {
	out := fmt.Sprintf("%d passed, %d failed, %d in error", r.Count(Pass), r.Count(Fail), r.Count(Error))
	if skipped := r.Count(Skip); skipped > 0 {
		out += fmt.Sprintf(", %d skipped", skipped)
	}
	return out
}
