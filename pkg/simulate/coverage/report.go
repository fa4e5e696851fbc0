package coverage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dyncontroller/dyncontroller/pkg/printable"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// Report says what was exercised, in the order of the files and the lines in them.
type Report struct {
	Rules []Rule `json:"rules"`
}

// Rule is one rule of the tests.
type Rule struct {
	Rule string `json:"rule"`
	File string `json:"file"`
	Line int    `json:"line"`
	// Matched and Unmatched count the cases in which the rule matched, and in which
	// it did not. A case may be one of both.
	Matched   int      `json:"matched"`
	Unmatched int      `json:"unmatched"`
	Clauses   []Clause `json:"clauses,omitempty"`
}

// Clause is one of the conditions that && and || join in the `when` of a rule.
type Clause struct {
	Text   string `json:"text"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	// True and False say whether any case saw the clause so.
	True  bool `json:"true"`
	False bool `json:"false"`
}

// Report returns what has been recorded so far.
func (r *Recorder) Report() Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := Report{Rules: []Rule{}}
	for _, known := range r.known {
		rule := Rule{
			Rule: known.rule.String(), File: known.at.File, Line: known.at.Line, Matched: known.matched, Unmatched: known.unmatched,
		}
		for _, c := range known.clauses {
			rule.Clauses = append(rule.Clauses, Clause{
				Text: c.Text, Line: c.At.Line, Column: c.At.Column, True: known.held[c.Offset], False: known.failed[c.Offset],
			})
		}
		out.Rules = append(out.Rules, rule)
	}
	slices.SortFunc(out.Rules, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule))
	})
	return out
}

// Exercised reports whether a case exercises the rule.
func (r Rule) Exercised() bool { return r.Matched > 0 }

// Both reports whether the clause was seen true and false.
func (c Clause) Both() bool { return c.True && c.False }

// Errors says of each rule that no case exercises where it is written.
func (r Report) Errors() document.Errors {
	var errs document.Errors
	for _, rule := range r.Rules {
		if !rule.Exercised() {
			errs = append(errs, &document.Error{
				File: rule.File, Line: rule.Line, Column: 1, Length: 1,
				Message: fmt.Sprintf("no case exercises the rule %s", rule.Rule),
				Hint:    "add a case in which it matches",
			})
		}
	}
	return errs
}

// Summary counts in one line what was exercised.
func (r Report) Summary() string {
	exercised, clauses, both := 0, 0, 0
	for _, rule := range r.Rules {
		if rule.Exercised() {
			exercised++
		}
		clauses += len(rule.Clauses)
		for _, clause := range rule.Clauses {
			if clause.Both() {
				both++
			}
		}
	}
	return fmt.Sprintf("coverage: %d of %d rules exercised, %d of %d conditions seen both true and false",
		exercised, len(r.Rules), both, clauses)
}

// Text is a table of the rules, below each the conditions that no case saw
// both ways, the rules that no case exercises, and the summary.
func (r Report) Text() string {
	var out strings.Builder
	width := len("RULE")
	for _, rule := range r.Rules {
		width = max(width, utf8.RuneCountInString(rule.Rule))
	}
	line := func(rule, matched, unmatched string) {
		out.WriteString(printable.Sprintf("%-*s  %-10s  %s\n", width, rule, matched, unmatched))
	}
	line("RULE", "MATCHED", "UNMATCHED")
	for _, rule := range r.Rules {
		line(rule.Rule, cases(rule.Matched), cases(rule.Unmatched))
		for _, clause := range rule.Clauses {
			if missing := clause.missing(); missing != "" && rule.Exercised() {
				out.WriteString(printable.Sprintf("  %s:%d:%d: %s: %s\n", rule.File, clause.Line, clause.Column, missing, clause.Text))
			}
		}
	}
	if errs := r.Errors(); len(errs) > 0 {
		out.WriteString("\n" + errs.Render())
	}
	out.WriteString("\n" + r.Summary() + "\n")
	return out.String()
}

func cases(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "1 case"
	default:
		return fmt.Sprintf("%d cases", n)
	}
}

// missing says what no case saw of the clause, or "".
func (c Clause) missing() string {
	switch {
	case c.Both():
		return ""
	case c.True:
		return "never false"
	case c.False:
		return "never true"
	default:
		return "never asked"
	}
}
