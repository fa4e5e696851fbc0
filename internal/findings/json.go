package findings

import "github.com/dyncontroller/dyncontroller/pkg/rules/document"

// jsonReport is a report in JSON.
type jsonReport struct {
	Valid    bool          `json:"valid"`
	Rules    []string      `json:"rules"`
	Mistakes []jsonFinding `json:"mistakes"`
	Warnings []jsonFinding `json:"warnings"`
	Notes    []jsonFinding `json:"notes"`
}

// jsonFinding has its place only where it has one: Line and Column count from 1,
// Length and Column in characters.
type jsonFinding struct {
	Severity string        `json:"severity"`
	Code     document.Code `json:"code"`
	File     string        `json:"file"`
	Line     int           `json:"line,omitempty"`
	Column   int           `json:"column,omitempty"`
	Length   int           `json:"length,omitempty"`
	Path     string        `json:"path,omitempty"`
	Message  string        `json:"message"`
	Hint     string        `json:"hint,omitempty"`
}

func (r *Report) json() jsonReport {
	return jsonReport{
		Valid:    r.Valid(),
		Rules:    append([]string{}, r.Rules...),
		Mistakes: inJSON(r.of(document.Mistake)),
		Warnings: inJSON(r.of(document.Warning)),
		Notes:    inJSON(r.of(document.Note)),
	}
}

func inJSON(all document.Errors) []jsonFinding {
	out := []jsonFinding{}
	for _, found := range all {
		out = append(out, jsonFinding{
			Severity: found.Severity.String(),
			Code:     document.Describe(found.Code).Code,
			File:     found.File,
			Line:     found.Line,
			Column:   found.Column,
			Length:   found.Length,
			Path:     found.Path,
			Message:  found.Message,
			Hint:     found.Hint,
		})
	}
	return out
}
