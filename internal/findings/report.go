package findings

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// The formats of a report.
const (
	Text   = "text"
	JSON   = "json"
	SARIF  = "sarif"
	GitHub = "github"
)

// Formats lists the formats.
func Formats() []string { return []string{Text, JSON, SARIF, GitHub} }

// Report is what checking rules has come to. It is not for concurrent use.
type Report struct {
	// Found are the findings of all severities.
	Found document.Errors
	// Rules are the names of the rules that were checked. Loaded says that they can
	// be used, as far as mistakes go.
	Rules  []string
	Loaded bool
	// Tests counts the tests that were passed over.
	Tests int
	// Strict makes a warning count as a mistake.
	Strict bool
	// Directory is where relative names of files begin. A tool that reads the report
	// begins there too, so that names of files below it are made relative.
	Directory string
	// Version is that of the program.
	Version string
}

// Valid reports whether the rules were loaded and nothing counts against them.
// Notes never do.
func (r *Report) Valid() bool {
	return r.Loaded && len(r.of(document.Mistake)) == 0 && !r.refused()
}

// of returns the findings of one severity in the order of files and lines.
func (r *Report) of(severity document.Severity) document.Errors { return r.Found.Of(severity).Sorted() }

// refused reports whether warnings count against the rules.
func (r *Report) refused() bool { return r.Strict && len(r.of(document.Warning)) > 0 }

// Write shows the report in one of the formats.
func (r *Report) Write(out io.Writer, format string) error {
	var err error
	switch format {
	case JSON:
		err = writeJSON(out, r.json())
	case SARIF:
		err = writeJSON(out, r.sarif())
	case GitHub:
		_, err = io.WriteString(out, r.github())
	default:
		_, err = io.WriteString(out, r.text())
	}
	if err != nil {
		return fmt.Errorf("writing the findings: %w", err)
	}
	return nil
}

// writeJSON indents, and leaves < and > readable.
func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// severities lists the severities, the worst first.
func severities() []document.Severity {
	return []document.Severity{document.Mistake, document.Warning, document.Note}
}

// sorted returns the findings, the worst first.
func (r *Report) sorted() document.Errors {
	var out document.Errors
	for _, severity := range severities() {
		out = append(out, r.of(severity)...)
	}
	return out
}

// text shows each finding where it is, and counts them in the end.
func (r *Report) text() string {
	var out strings.Builder
	if found := r.sorted(); len(found) > 0 {
		out.WriteString(found.Render() + "\n")
	}
	out.WriteString(r.summary())
	return out.String()
}

// summary is a line, or nothing where there was nothing to look at.
func (r *Report) summary() string {
	var parts []string
	if r.Valid() {
		parts = append(parts, "valid: "+count(len(r.Rules), "rule"))
	}
	for _, severity := range severities() {
		if n := len(r.of(severity)); n > 0 {
			parts = append(parts, count(n, severity.String()))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	line := strings.Join(parts, ", ")
	if r.Loaded && r.refused() {
		line += "; --strict takes no warnings"
	}
	if r.Tests > 0 {
		line += "; " + count(r.Tests, "test") + " not looked at"
	}
	return line + "\n"
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprint(n, " ", noun)
}

// stdin is the name of standard input in findings.
const stdin = "-"

// file returns the file that a finding is in, relative to the directory where it
// is below it, and "" for what is in no file: standard input, the command line.
func (r *Report) file(found *document.Error) string {
	if found.File == stdin || strings.HasPrefix(found.File, "--") {
		return ""
	}
	if r.Directory != "" && filepath.IsAbs(found.File) {
		if below, err := filepath.Rel(r.Directory, found.File); err == nil && filepath.IsLocal(below) {
			return below
		}
	}
	return found.File
}

// sentence is the message of a finding in one line, with what it is about and what to
// write instead. A tool that shows it shows the line, not the field.
func (r *Report) sentence(found *document.Error) string {
	out := found.Message
	if found.Path != "" {
		out = found.Path + ": " + out
	}
	if r.file(found) == "" && found.File != stdin && found.File != "" {
		out = found.File + ": " + out
	}
	if found.Hint != "" {
		out += "; " + found.Hint
	}
	return out
}
