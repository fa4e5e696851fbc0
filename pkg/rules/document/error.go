package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/printable"
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

	Rules []string // that it compares with each other, as logs name them; nil for most

	source *source
	offset int
	fixed  bool
}

// Fixed reports whether the message is a text of the program, in which no value is. The hint may have one.
func (e *Error) Fixed() bool { return e.fixed }

// Coded sets the code and returns the error, which is being made.
func (e *Error) Coded(code Code) *Error {
	e.Code = code
	return e
}

// Between sets the rules that are compared and returns the error, which is being made.
func (e *Error) Between(rules ...fmt.Stringer) *Error {
	for _, rule := range rules {
		e.Rules = append(e.Rules, rule.String())
	}
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
	return e.header() + "; " + printable.Line(e.Hint)
}

// Redacted returns an error at the same place that says something else, for
// where the message repeats what must not be shown.
func (e *Error) Redacted(message string) *Error {
	out := *e
	out.Message, out.Hint, out.fixed = message, "", false
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
		out.WriteString("  hint: " + printable.Line(e.Hint) + "\n")
	}
	return out.String()
}

func (e *Error) header() string {
	place, severity, code := e.File, "", ""
	if place == "-" {
		place = "<stdin>"
	}
	if e.Line > 0 {
		place = strings.TrimPrefix(fmt.Sprintf("%s:%d:%d", place, e.Line, e.Column), ":")
	}
	if e.Severity != Mistake {
		severity = e.Severity.String()
		if e.Code != "" { // By which a comment ignores it.
			code = " [" + string(e.Code) + "]"
		}
	}
	parts := slices.DeleteFunc([]string{place, severity, e.Path, e.Message}, func(part string) bool { return part == "" })
	return printable.Line(strings.Join(parts, ": ") + code)
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

// Errors are the findings of one or more files: mistakes, and with them warnings and
// notes.
type Errors []*Error

// Error returns one line for each finding.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Render returns every finding as [Error.Render] does, with an empty line
// between them.
func (e Errors) Render() string {
	blocks := make([]string, len(e))
	for i, err := range e {
		blocks[i] = err.Render()
	}
	return strings.Join(blocks, "\n")
}

// Of returns those of one severity.
func (e Errors) Of(severity Severity) Errors {
	return slices.DeleteFunc(slices.Clone(e), func(err *Error) bool { return err.Severity != severity })
}

// Unwrap lets errors.As find the single ones.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i, err := range e {
		list[i] = err
	}
	return list
}

// Err returns nil if there is no finding, so that an empty list never becomes a
// non-nil error.
func (e Errors) Err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// maxErrors is how many findings of one severity of a file are reported.
const maxErrors = 100

// Enough reports whether there are so many mistakes that more would be of no use. A
// loop over a document that collects them ends then: what a file may cost is bounded,
// and each of them costs far more than the text it takes. Warnings and notes end
// nothing, or the mistakes behind them would not be found; see [Errors.Bounded].
func (e Errors) Enough() bool { return e.EnoughOf(Mistake) }

// EnoughOf is [Errors.Enough] for one severity, for where nothing but that is collected.
func (e Errors) EnoughOf(severity Severity) bool {
	count := 0 // It is asked for each node: to copy them would cost more than all else.
	for _, err := range e {
		if err.Severity == severity {
			count++
		}
	}
	return count > maxErrors
}

// Bounded returns the findings or, once they are very many, what [Errors.Sorted] leaves
// of them. A loop that goes on whatever the number of warnings keeps no more than that.
func (e Errors) Bounded() Errors {
	if len(e) > 10*maxErrors {
		return e.Sorted()
	}
	return e
}

// Sorted returns the findings by file, line and column, each only once. Where a file has
// too many of one severity, the last of them says so. None of another severity gives way
// for them: a mistake is never lost behind warnings.
func (e Errors) Sorted() Errors {
	sorted := slices.Clone(e)
	slices.SortStableFunc(sorted, func(a, b *Error) int { return cmp.Or(compare(a, b), cmp.Compare(a.Severity, b.Severity)) })
	sorted = slices.CompactFunc(sorted, func(a, b *Error) bool { return compare(a, b) == 0 })
	kept := sorted[:0]
	ofFile := map[Severity]int{}
	for i, err := range sorted {
		if i == 0 || err.File != sorted[i-1].File {
			clear(ofFile)
		}
		ofFile[err.Severity]++
		count := ofFile[err.Severity]
		if count > maxErrors+1 {
			continue
		}
		if count > maxErrors {
			err = err.Redacted(fmt.Sprintf("more %ss follow", err.Severity)).Coded(CodeTooMany)
			err.Hint = "correct the others first"
		}
		kept = append(kept, err)
	}
	return kept
}

// compare leaves the path out: a map and its first key start at the same place and would
// report the same twice.
func compare(a, b *Error) int {
	return cmp.Or(
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Message, b.Message),
	)
}

// Severity says how sure it is that something is wrong.
type Severity uint8

// The severities. A mistake keeps a rule from being used. A warning is about what
// can be meant and mostly is not. A note says what nobody can know from the
// rules, and never counts against them.
const (
	Mistake Severity = iota
	Warning
	Note
)

// String returns the word for it.
func (s Severity) String() string { return [...]string{"mistake", "warning", "note"}[min(s, Note)] }

// Code names a kind of mistake, for tools that filter and count them. Codes are
// kept: what a tool was told to ignore must not come back under another name.
type Code string

// Description is a row of the table of codes.
type Description struct {
	Code     Code
	Severity Severity // that it mostly has
	Text     string   // what is wrong, in a sentence
	Advice   string   // what to do, in a sentence
}

// The codes.
var (
	CodeInvalid         = code(Mistake, "invalid", "This has no meaning here.", "Write what the message says.")
	CodeYAML            = code(Mistake, "yaml", "The file is not YAML that all readers understand in the same way.", "Correct the place, or quote the value.")
	CodeTooMany         = code(Mistake, "too-many", "A file has so many findings that the rest is not shown.", "Correct the others first.")
	CodeUnknownField    = code(Mistake, "unknown-field", "There is no such field, in the rule language or in the schema of an object.", "Write the field that is meant; with an outdated schema, give the CRD that is installed.")
	CodeMissingField    = code(Mistake, "missing-field", "A field that must be there is missing.", "Add it.")
	CodeTypeMismatch    = code(Mistake, "type-mismatch", "A value has the wrong type.", "Convert it, or write a value of that type.")
	CodeNotInEnum       = code(Mistake, "not-in-enum", "A value is not one of the allowed values.", "Write one of them.")
	CodeOutOfBounds     = code(Mistake, "out-of-bounds", "A number, or a length, is above or below what the schema allows.", "Stay within the bounds.")
	CodeWrongFormat     = code(Mistake, "wrong-format", "A text does not have the required form.", "Write it in that form.")
	CodeNotSupported    = code(Mistake, "not-supported", "It is part of the language, but not supported yet.", "Leave it out until it can.")
	CodeExpression      = code(Mistake, "expression", "An expression or a template cannot be read.", "Correct it where the caret is.")
	CodeUnknownName     = code(Mistake, "unknown-name", "An expression uses an unknown name or function.", "Use a known one, or define it with let.")
	CodeMayBeAbsent     = code(Mistake, "may-be-absent", "An expression uses a value that may be absent.", "Use ?. or ??, or ask for it with in or != nil first.")
	CodeNeverTrue       = code(Mistake, "never-true", "A comparison gives the same result for every object.", "Compare with a value that is possible there.")
	CodeParameter       = code(Mistake, "parameter", "A --param replaces nothing, or has the wrong type.", "Name a parameter of a set, and give it a value of the type that it has.")
	CodeUnknownResource = code(Mistake, "unknown-resource", "There is no such resource.", "Write the resource that is meant, or give its CRD with --crds.")
	CodeNotWatchable    = code(Mistake, "not-watchable", "A resource that rules watch or read can be neither listed nor watched.", "Watch another one.")
	CodeWrongScope      = code(Mistake, "wrong-scope", "A cluster-scoped resource is used like a namespaced one, or the reverse.", "Leave the namespace out, or use a ClusterRuleSet.")
	CodeSubresource     = code(Mistake, "subresource", "A field is written where the API server ignores it, such as status without its subresource.", "Name the subresource, or leave it out.")
	CodeSensitive       = code(Mistake, "sensitive", "A rule writes objects that give permissions or can break a cluster, and that is not allowed.", "Do without, or run with --allow-sensitive.")
	CodeAtomicList      = code(Warning, "atomic-list", "Server-side apply replaces the whole list, with the elements that others wrote.", "Write the list with merge or json, or own all of it.")
	CodeReplacedList    = code(Warning, "replaced-list", "A merge patch replaces the whole list, and its other elements are lost.", "Use apply, or build the list from the one that is there.")
	CodeIdleStamp       = code(Warning, "idle-stamp", "A rule waits until a time is old, and stamp() never renews it.", "Write a value that changes beside the stamp.")
	CodeConflict        = code(Warning, "conflict", "Two rules can write different values to the same field.", "Make their conditions exclude each other, or make them one rule.")
	CodePruneLoop       = code(Warning, "prune-loop", "Whether an object is pruned depends on that object itself.", "Write a when that ignores the objects that the rule makes.")
	CodeUnlimitedDelete = code(Warning, "unlimited-delete", "A rule that deletes has no limits.", "Give it limits.")
	CodeLiteralNull     = code(Warning, "literal-null", "A null in a patch is lost on its way into a cluster by client-side apply.", "Write \"${nil}\".")
	CodeMissingBraces   = code(Warning, "missing-braces", "A text looks like an expression, but is written as text.", "Write ${ } around it; for the text itself, write ${\"...\"}.")
	CodeRestless        = code(Warning, "restless", "A rule changes a field each time that it is evaluated, and never stops.", "Give it a when that is false once the field has its value.")
	CodeRecursion       = code(Warning, "recursion", "A rule makes an object for each that it watches, also for those that it has made.", "Give the resource a labelSelector, or the rule a when, that leaves out what it makes.")
	CodeUnusedIgnore    = code(Warning, "unused-ignore", "A comment that ignores a warning has none to ignore.", "Remove it, or correct its code and place.")
	CodeCycle           = code(Note, "cycle", "Two rules each read what the other writes. Most settle.", "See in a RuleTest that they do.")
	CodeUntyped         = code(Note, "untyped", "No schema is known of a resource, so its fields are not checked.", "Give its CRD with --crds, or a cluster with --context.")
	CodeUnchecked       = code(Note, "unchecked", "Something was not checked: a mistake hides it, or it would take too long.", "Correct the mistakes; let fewer rules write the same fields.")
)

// codes is the table of codes.
var codes []Description

func code(severity Severity, name Code, text, advice string) Code {
	codes = append(codes, Description{name, severity, text, advice})
	return name
}

// Codes returns the table of codes.
func Codes() []Description { return slices.Clone(codes) }

// Describe returns the row of a code, that of [CodeInvalid] where it has none.
func Describe(code Code) Description {
	i := slices.IndexFunc(codes, func(d Description) bool { return d.Code == code })
	return codes[max(i, 0)]
}
