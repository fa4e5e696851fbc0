package simulate

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// finding is an error in JSON, in the words of `validate -o json`: it has its place only
// where it has one, Line and Column count from 1, Length and Column in characters.
type finding struct {
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

// plain are the fields of a result that JSON has as they are.
type plain Result

// MarshalJSON implements [json.Marshaler].
func (r Result) MarshalJSON() ([]byte, error) {
	out := struct {
		plain
		Errors []finding `json:"errors,omitempty"`
	}{plain: plain(r)}
	for _, err := range r.Errors {
		out.Errors = append(out.Errors, finding{
			Severity: err.Severity.String(),
			Code:     document.Describe(err.Code).Code,
			File:     err.File,
			Line:     err.Line,
			Column:   err.Column,
			Length:   err.Length,
			Path:     err.Path,
			Message:  err.Message,
			Hint:     err.Hint,
		})
	}
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false) // Whoever encodes the report decides.
	if err := encoder.Encode(out); err != nil {
		return nil, fmt.Errorf("encoding a result: %w", err)
	}
	return data.Bytes(), nil
}
