package trace

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Tree shows the trace to people: what the rule came to, and below it how. It ends with a
// line break and is safe for a terminal.
func (t Trace) Tree() string {
	w := &writer{}
	w.line(0, "rule    %s%s", t.Rule, inParentheses(t.Rule.At.String()))
	if t.Rule.Description != "" {
		w.line(4, "%s", t.Rule.Description)
	}
	w.line(0, "object  %s", t.Object)
	if t.Rule.ActsAs != "" {
		w.line(0, "acts as ServiceAccount %s", t.Rule.ActsAs)
	}
	w.line(0, "result  %s", t.Result())
	if next := t.Decision.Next; next != nil {
		w.line(0, "next    %s: %s", moment(next.At), next.Because)
	}
	w.obstacles(t.Obstacles)
	w.condition(t.Condition)
	w.actions(t.Actions)
	w.requests(t.Requests)
	w.others(t.Others)
	w.controller(t.Controller, t.Rule.ID())
	return w.text.String()
}

// Brief shows in a few lines what decided: the conditions that were looked at, without
// those that a let is made of, and what the rule changes.
func (t Trace) Brief() string {
	w := &writer{}
	w.line(0, "%s%s on %s: %s", t.Rule, inParentheses(t.Rule.At.String()), t.Object, t.Result())
	for _, c := range []*Clause{t.Condition.When, t.Condition.Done} {
		if c != nil {
			w.decided(*c)
		}
	}
	for _, a := range t.Actions {
		if a.Error != "" {
			w.line(2, "%s fails: %s%s", a.Kind, a.Error, inParentheses(a.At.inFile()))
		}
		for _, turn := range a.Turns {
			for _, x := range turn.Wants {
				for _, c := range x.Changes {
					w.line(2, "%s %s: %s: %s%s", x.Type, target(x.Object, x.Subresource), c.Path, c.text(), inParentheses(a.At.inFile()))
				}
			}
		}
	}
	return w.text.String()
}

// decided has a line for each condition that is not made of others.
func (w *writer) decided(c Clause) {
	if c.Operator == And || c.Operator == Or {
		for _, part := range c.Clauses {
			w.decided(part)
		}
		return
	}
	if c.Verdict == NotAsked {
		return
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%-6s %s", c.Verdict, c.Source)
	for _, read := range c.Reads {
		if read.Path != c.Source {
			fmt.Fprintf(&text, "; %s is %s", read.Path, read.Value)
		}
	}
	if c.Error != "" {
		text.WriteString(": " + c.Error)
	}
	w.line(2, "%s%s", text.String(), inParentheses(c.At.inFile()))
}

// Result is the decision in a line.
func (t Trace) Result() string {
	d := t.Decision
	out := string(d.Outcome)
	switch {
	case d.Outcome == "" && len(t.Obstacles) > 0:
		return "not asked: " + t.Obstacles[0].Text
	case d.Outcome == "":
		return "not asked"
	case d.Settled:
		out += ", and all is as the rule wants it"
	case d.Outcome == plan.Matched && d.Audited:
		out += ", and nothing is written in mode Audit"
	}
	if d.Reason != "" {
		out += ": " + d.Reason
	}
	return out
}

// String writes the place as editors take it.
func (p Place) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.File == "":
		return fmt.Sprintf("%d:%d", p.Line, p.Column)
	default:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
}

// inFile is the place in a file that is known.
func (p Place) inFile() string {
	if p.Line == 0 {
		return ""
	}
	return fmt.Sprintf("%d:%d", p.Line, p.Column)
}

// writer collects lines.
type writer struct{ text strings.Builder }

func (w *writer) line(indent int, format string, args ...any) {
	w.write(strings.Repeat(" ", indent), fmt.Sprintf(format, args...))
}

// write adds a line of which the margin is ours.
func (w *writer) write(margin, text string) {
	w.text.WriteString(strings.TrimRight(margin+printable(text), " ") + "\n")
}

// section begins one with an empty line before it.
func (w *writer) section(title string) { w.text.WriteString("\n" + title + "\n") }

func (w *writer) obstacles(all []Obstacle) {
	if len(all) == 0 {
		return
	}
	w.section("in the way")
	for _, o := range all {
		w.line(2, "%s (%s)", o.Text, o.Kind)
	}
}

func (w *writer) requests(all []Request) {
	if len(all) == 0 {
		return
	}
	w.section("would be sent")
	for _, r := range all {
		text := string(r.Type) + " " + target(r.Object, r.Subresource)
		if r.Manager != "" {
			text += ", as " + r.Manager
		}
		if len(r.Rules) > 1 {
			text += ", for " + strings.Join(r.Rules, ", ")
		}
		if r.Audited {
			text += ", if the rule were not in mode Audit"
		}
		w.line(2, "%s", text)
	}
}

func (w *writer) others(all []Other) {
	if len(all) == 0 {
		return
	}
	w.section("evaluated together with")
	var outcomes []plan.Outcome
	by := map[plan.Outcome][]string{}
	for _, o := range all {
		if by[o.Outcome] == nil {
			outcomes = append(outcomes, o.Outcome)
		}
		by[o.Outcome] = append(by[o.Outcome], o.Rule)
	}
	for _, outcome := range outcomes {
		w.line(2, "%s: %s", outcome, strings.Join(by[outcome], ", "))
	}
}

// target names what is written to.
func target(object, subresource string) string {
	if subresource == "" {
		return object
	}
	return object + ", " + subresource
}

func inParentheses(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// moment writes an instant as rules do.
func moment(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// printable keeps control characters from a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
