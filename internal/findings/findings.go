// Package findings shows the findings of a check of rules to people, and to the
// tools that keep, filter and display them.
//
//	Report -> Write: text, JSON, SARIF 2.1.0, GitHub's workflow commands
//
// A report says the same in every format. Callers decide what a finding is.
package findings

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
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

// Report is the result of checking rules. It is not for concurrent use.
type Report struct {
	// Found are the findings of all severities.
	Found document.Errors
	// Rules are the names of the rules that were checked. Loaded means that their
	// mistakes do not keep them from being used.
	Rules  []string
	Loaded bool
	// Tests counts the tests that were passed over.
	Tests int
	// Strict makes a warning count as a mistake.
	Strict bool
	// Directory is the directory that relative names of files start from. Tools that read the report
	// start there too, so names of files below it are made relative.
	Directory string
	// Version is that of the program.
	Version string
}

// Valid reports whether the rules were loaded and nothing counts against them.
// Notes never do.
func (r *Report) Valid() bool {
	return r.Loaded && len(r.sorted(document.Mistake)) == 0 && !r.refusesWarnings()
}

func (r *Report) refusesWarnings() bool { return r.Strict && len(r.sorted(document.Warning)) > 0 }

// severities lists the severities, the worst first.
var severities = []document.Severity{document.Mistake, document.Warning, document.Note}

// sorted returns the findings of some severities in their order, those of each by file and line.
func (r *Report) sorted(severities ...document.Severity) document.Errors {
	var out document.Errors
	for _, severity := range severities {
		out = append(out, r.Found.Of(severity).Sorted()...)
	}
	return out
}

// Write shows the report in one of the formats.
func (r *Report) Write(out io.Writer, format string) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	var err error
	switch format {
	case JSON:
		err = encoder.Encode(r.json())
	case SARIF:
		err = encoder.Encode(r.sarif())
	case GitHub:
		_, err = io.WriteString(out, r.github())
	default:
		text := r.summary()
		if found := r.sorted(severities...); len(found) > 0 {
			text = found.Render() + "\n" + text
		}
		_, err = io.WriteString(out, text)
	}
	if err != nil {
		return fmt.Errorf("writing the findings: %w", err)
	}
	return nil
}

// summary is one line, or empty where no rule was checked.
func (r *Report) summary() string {
	var parts []string
	if r.Valid() {
		parts = append(parts, "valid: "+document.Count(len(r.Rules), "rule"))
	}
	for _, severity := range severities {
		if n := len(r.sorted(severity)); n > 0 {
			parts = append(parts, document.Count(n, severity.String()))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	line := strings.Join(parts, ", ")
	if r.Loaded && r.refusesWarnings() {
		line += "; --strict takes no warnings"
	}
	if r.Tests > 0 {
		line += "; " + document.Count(r.Tests, "test") + " not looked at, which dyncontroller test runs"
	}
	return line + "\n"
}

// stdin is the name of standard input in findings.
const stdin = "-"

// file returns the file of a finding, relative to the directory where it
// is below it. It is empty for findings without a file: of standard input, of the command line.
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

// sentence is the message of a finding in one line, with its field and its hint:
// a tool shows the line of the file, not the field.
func (r *Report) sentence(found *document.Error) string {
	out := document.Error{Path: found.Path, Message: found.Message, Hint: found.Hint}
	if r.file(found) == "" && found.File != stdin {
		out.File = found.File
	}
	return out.Error()
}

// json shows the report to programs. What there is none of is an empty list.
func (r *Report) json() any {
	of := func(severity document.Severity) []document.Finding { return r.sorted(severity).Findings() }
	return struct {
		Valid    bool               `json:"valid"`
		Rules    []string           `json:"rules"`
		Mistakes []document.Finding `json:"mistakes"`
		Warnings []document.Finding `json:"warnings"`
		Notes    []document.Finding `json:"notes"`
	}{r.Valid(), append([]string{}, r.Rules...), of(document.Mistake), of(document.Warning), of(document.Note)}
}

// The escapes of GitHub's toolkit. Unescaped, these characters would end a message or a property.
var (
	githubMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// github shows findings as commands of GitHub's workflows, which put each beside
// its line in a pull request. The summary is for readers of the log.
func (r *Report) github() string {
	var out strings.Builder
	commands := [...]string{"error", "warning", "notice"}
	for _, found := range r.sorted(severities...) {
		position := ""
		if file := r.file(found); file != "" {
			position = "file=" + githubProperty.Replace(filepath.ToSlash(file)) + ","
			if found.Line > 0 {
				// GitHub counts the last column too.
				position += fmt.Sprintf("line=%d,col=%d,endColumn=%d,", found.Line, found.Column, found.Column+max(found.Length, 1)-1)
			}
		}
		title := githubProperty.Replace(string(document.Describe(found.Code).Code))
		fmt.Fprintf(&out, "::%s %stitle=%s::%s\n", commands[found.Severity], position, title, githubMessage.Replace(r.sentence(found)))
	}
	return out.String() + r.summary()
}

// The part of SARIF 2.1.0 that a report needs. The standard explains the fields:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       map[string]sarifDriver `json:"tool"`
		Bases      map[string]any         `json:"originalUriBaseIds"`
		ColumnKind string                 `json:"columnKind"`
		Results    []sarifResult          `json:"results"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string            `json:"id"`
		Short   map[string]string `json:"shortDescription"`
		Help    map[string]string `json:"help"`
		Default map[string]string `json:"defaultConfiguration"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      map[string]string `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical map[string]any      `json:"physicalLocation"`
		Logical  []map[string]string `json:"logicalLocations,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndColumn   int `json:"endColumn"` // The column behind the last one.
	}
)

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// sarifRoot is the base of relative names of files, as most tools call it.
const sarifRoot = "%SRCROOT%"

// sarif lists every code as a rule, so that the index of a rule is the same in every report.
func (r *Report) sarif() sarifLog {
	level := func(severity document.Severity) string { return [...]string{"error", "warning", "note"}[severity] }
	text := func(text string) map[string]string { return map[string]string{"text": text} }
	codes := document.Codes()
	driver := sarifDriver{Name: "dyncontroller", Version: r.Version}
	for _, code := range codes {
		severity := map[string]string{"level": level(code.Severity)}
		driver.Rules = append(driver.Rules, sarifRule{string(code.Code), text(code.Text), text(code.Advice), severity})
	}
	results, seen := []sarifResult{}, map[string]int{}
	for _, found := range r.sorted(severities...) {
		code := document.Describe(found.Code)
		result := sarifResult{
			RuleID:    string(code.Code),
			RuleIndex: slices.Index(codes, code),
			Level:     level(found.Severity),
			Message:   text(r.sentence(found)),
			// The key names the way in which fingerprints are made. Another way gets another name.
			Fingerprints: map[string]string{"rulesAndLine/v1": r.fingerprint(found, seen)},
		}
		if at, ok := r.location(found); ok {
			result.Locations = []sarifLocation{at}
		}
		results = append(results, result)
	}
	return sarifLog{sarifSchema, "2.1.0", []sarifRun{{
		Tool:       map[string]sarifDriver{"driver": driver},
		Bases:      map[string]any{sarifRoot: map[string]any{"description": text("The directory that the command was run in.")}},
		ColumnKind: "unicodeCodePoints",
		Results:    results,
	}}}
}

// location returns the position of a finding, if it is in a file or in standard input.
func (r *Report) location(found *document.Error) (at sarifLocation, ok bool) {
	var artifact map[string]any
	switch file := r.file(found); {
	case found.File == stdin:
		artifact = map[string]any{"description": map[string]string{"text": "standard input"}}
	case file == "":
		return at, false
	case filepath.IsAbs(file):
		artifact = map[string]any{"uri": (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()}
	default:
		artifact = map[string]any{"uri": (&url.URL{Path: filepath.ToSlash(file)}).String(), "uriBaseId": sarifRoot}
	}
	at.Physical = map[string]any{"artifactLocation": artifact}
	if found.Line > 0 {
		at.Physical["region"] = sarifRegion{found.Line, found.Column, found.Column + max(found.Length, 1)}
	}
	if found.Path != "" {
		at.Logical = []map[string]string{{"fullyQualifiedName": found.Path}}
	}
	return at, true
}

// fingerprint is made of the file, the line's text and the message. It stays the same when lines above the
// finding come and go. Equal ones are numbered.
func (r *Report) fingerprint(found *document.Error, seen map[string]int) string {
	parts := []string{filepath.ToSlash(r.file(found)), string(found.Code), found.Message, strings.TrimSpace(found.Text())}
	text := strings.Join(parts, "\x00")
	seen[text]++
	hash := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", text, seen[text]))
	return hex.EncodeToString(hash[:16])
}
