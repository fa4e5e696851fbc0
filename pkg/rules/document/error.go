package document

import (
	"fmt"
	"strings"
)

// Error is one mistake in a file: where it is, what is wrong, what to write
// instead. It can also be a doubt or a remark: see [Severity].
type Error struct {
	File    string // as the user gave it, "-" for standard input
	Line    int    // from 1; 0 if the mistake concerns the whole file
	Column  int    // from 1, in runes
	Length  int    // in runes, at least 1 where Line is set
	Path    string // such as spec.rules[0].when, empty at the root
	Message string
	Hint    string // what to write instead, may be empty

	Severity Severity
	Code     Code // the kind of mistake, empty where it has no name of its own

	source *source
	offset int
}

// Coded sets the code and returns the error, which is being made.
func (e *Error) Coded(code Code) *Error {
	e.Code = code
	return e
}

// Warn makes a warning of an error that is being made, and returns it.
func (e *Error) Warn() *Error {
	e.Severity = Warning
	return e
}

// Note makes a note of an error that is being made, and returns it.
func (e *Error) Note() *Error {
	e.Severity = Note
	return e
}

// Text returns the line of the file where the mistake is, empty where it is on
// none.
func (e *Error) Text() string {
	if e.source == nil || e.Line == 0 {
		return ""
	}
	return e.source.line(e.Line)
}

// Error returns position, path, message and hint in one line.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.header()
	}
	return e.header() + "; " + e.Hint
}

// Redacted returns an error at the same place that says something else, for
// where the message repeats what must not be shown.
func (e *Error) Redacted(message string) *Error {
	out := *e
	out.Message, out.Hint = message, ""
	return &out
}

// Render returns the message with the source line, a caret under the mistake
// and the hint. The text ends with a line break and is safe for a terminal.
func (e *Error) Render() string {
	var out strings.Builder
	out.WriteString(e.header() + "\n")
	if e.source != nil && e.Line > 0 {
		out.WriteString(e.excerpt())
	}
	if e.Hint != "" {
		out.WriteString("  hint: " + e.Hint + "\n")
	}
	return out.String()
}

func (e *Error) header() string {
	name := e.File
	if name == "-" {
		name = "<stdin>"
	}
	var parts []string
	if name != "" {
		parts = append(parts, name)
	}
	if e.Line > 0 {
		parts = append(parts, fmt.Sprintf("%d:%d", e.Line, e.Column))
	}
	place := strings.Join(parts, ":")
	parts = parts[:0]
	severity := e.Severity.String()
	if e.Severity == Mistake {
		severity = "" // As it has always been: what says nothing else is a mistake.
	}
	for _, part := range []string{place, severity, e.Path, e.Message} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	header := strings.Join(parts, ": ")
	if e.Severity != Mistake && e.Code != "" { // By which a comment ignores it.
		header += " [" + string(e.Code) + "]"
	}
	return header
}

// Finding is an error for programs. It has a position only where it is of a line: the line and the column count from 1, the
// column and the length are in characters. An [Error] itself does not encode so: a log writes errors as texts.
type Finding struct {
	Severity string `json:"severity"`
	Code     Code   `json:"code"`
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Length   int    `json:"length,omitempty"`
	Path     string `json:"path,omitempty"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

// Findings are the errors for programs, not nil.
func (e Errors) Findings() []Finding {
	out := make([]Finding, len(e))
	for i, err := range e {
		out[i] = Finding{err.Severity.String(), Describe(err.Code).Code, err.File, err.Line, err.Column, err.Length, err.Path, err.Message, err.Hint}
	}
	return out
}

// Few keeps as many lines as somebody reads, and counts the others in one more.
func Few(lines []string, most int) []string {
	if len(lines) <= most {
		return lines
	}
	return append(lines[:most:most], fmt.Sprintf("and %d more", len(lines)-most))
}

// Count writes a number with its noun.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
