package trace

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/printable"
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
	for _, set := range t.Sets {
		w.line(0, "set     %s", set)
	}
	w.line(0, "result  %s", t.Result())
	if next := t.Decision.Next; next != nil {
		w.line(0, "next    %s", next)
	}
	w.heading = "in the way"
	for _, o := range t.Obstacles {
		w.line(2, "%s (%s)", o.Text, o.Kind)
	}
	w.condition(t.Condition)
	w.heading = "actions"
	for _, a := range t.Actions {
		w.action(a)
	}
	w.heading = "would be sent"
	for _, r := range t.Requests {
		w.request(r)
	}
	w.heading = "evaluated together with"
	by := map[plan.Outcome][]string{}
	for _, o := range t.Others {
		by[o.Outcome] = append(by[o.Outcome], o.Rule)
	}
	for _, o := range t.Others {
		if rules := by[o.Outcome]; rules != nil {
			w.line(2, "%s: %s", o.Outcome, strings.Join(rules, ", "))
		}
		by[o.Outcome] = nil
	}
	w.controller(t.Controller, t.Rule.Rule)
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

// String says when it is, and what comes then.
func (n Next) String() string {
	at := Masked
	if !n.At.IsZero() {
		at = moment(n.At)
	}
	return at + ": " + n.Because
}

// String writes the place as editors take it.
func (p Place) String() string {
	switch {
	case p.Line == 0 && p.Path != "":
		return p.File + ": " + p.Path
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
		return p.Path
	}
	return fmt.Sprintf("%d:%d", p.Line, p.Column)
}

// writer collects lines. Before the first line of a section come an empty line and its heading.
type writer struct {
	text    strings.Builder
	heading string
}

func (w *writer) line(indent int, format string, args ...any) {
	w.write(strings.Repeat(" ", indent), fmt.Sprintf(format, args...))
}

// write adds a line of which the margin is ours.
func (w *writer) write(margin, text string) {
	if w.heading != "" {
		w.text.WriteString("\n" + w.heading + "\n")
		w.heading = ""
	}
	w.text.WriteString(strings.TrimRight(margin+printable.Line(text), " ") + "\n")
}

func (w *writer) request(r Request) {
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

func (w *writer) condition(c Condition) {
	w.heading = "when"
	if c.When != nil {
		w.clause(*c.When, "  ", "  ")
	}
	w.heading = "done"
	if c.Done != nil {
		w.clause(*c.Done, "  ", "  ")
	}
	w.heading = "healthy"
	if c.Healthy != nil {
		w.clause(*c.Healthy, "  ", "  ")
	}
	w.heading = "for"
	if c.For != nil {
		w.line(2, "%s", c.For.text())
	}
	w.heading = "let"
	for _, n := range c.Names {
		value := "is " + n.String()
		if n.Error != "" {
			value = "fails: " + n.Error
		}
		w.line(2, "%s %s, from %s%s", n.Name, value, n.Source, inParentheses(n.At.inFile()))
	}
	w.heading = "with"
	for _, l := range c.Lookups {
		w.line(2, "%s: %s%s", l.Name, l.text(), inParentheses(l.At.inFile()))
	}
}

// clause writes a condition and its parts. The margins are those of its first line and of
// what is below it.
func (w *writer) clause(c Clause, first, below string) {
	what := ""
	if c.Operator == Let {
		what = ", a let"
	}
	w.write(first, fmt.Sprintf("%-10s %s%s%s", c.Verdict, c.Source, what, inParentheses(c.At.inFile())))
	details := below
	if len(c.Clauses) > 0 {
		details += "│ "
	}
	if c.Error != "" {
		w.write(details, "           "+c.Error)
	}
	for _, read := range c.Reads {
		w.write(details, fmt.Sprintf("           %s is %s", read.Path, read.Value))
	}
	if c.ChangesAt != nil {
		w.write(details, "           may change at "+moment(*c.ChangesAt))
	}
	for i, part := range c.Clauses {
		if i == len(c.Clauses)-1 {
			w.clause(part, below+"└ ", below+"  ")
		} else {
			w.clause(part, below+"├ ", below+"│ ")
		}
	}
}

func (h Hold) text() string {
	out := "when holds since " + moment(h.Since)
	if h.Guessed {
		out = "when holds now, and since when is not known here"
	}
	switch {
	case h.Duration == "":
		return out
	case h.Until != nil:
		return fmt.Sprintf("%s, and must for %s: until %s", out, h.Duration, moment(*h.Until))
	default:
		return fmt.Sprintf("%s, and must for %s: it has", out, h.Duration)
	}
}

func (l Lookup) text() string {
	switch {
	case !l.Asked:
		return l.Resource + ", not asked"
	case l.Error != "":
		return l.Resource + ", fails: " + l.Error
	case l.By == "":
		return l.Resource + ", nothing to look for"
	}
	out := fmt.Sprintf("%s by %s: ", l.Resource, l.By)
	switch {
	case l.Count == 0:
		out += "none"
	case len(l.Found) == 0:
		out += fmt.Sprintf("%d found", l.Count)
	case l.Count > len(l.Found):
		out += fmt.Sprintf("%d, first %s", l.Count, strings.Join(l.Found, ", "))
	default:
		out += strings.Join(l.Found, ", ")
	}
	if len(l.Missing) > 0 && l.Count > 0 {
		out += "; no " + strings.Join(l.Missing, ", ")
	}
	return out
}

func (w *writer) action(a Action) {
	text := a.Kind
	switch {
	case !a.Reached:
		text += ", not reached"
	case a.ForEach != "":
		text += fmt.Sprintf(", for each %s: %d", a.ForEach, a.Count)
	}
	w.line(2, "%s%s", text, inParentheses(a.At.inFile()))
	if a.Error != "" {
		w.line(4, "fails: %s", a.Error)
	}
	stopped := ""
	for _, turn := range a.Turns {
		w.turn(turn)
		if turn.Error != "" {
			stopped = ", not reached"
		}
	}
	if more := a.Count - len(a.Turns); more > 0 {
		w.line(4, "and %d more%s", more, stopped)
	}
}

func (w *writer) turn(t Turn) {
	if t.Element != nil {
		w.line(4, "%s", t.Element)
	}
	if t.When != nil {
		w.clause(*t.When, "    when ", "         ")
	}
	if t.Error != "" && (t.When == nil || t.When.Verdict != Error) {
		w.line(4, "fails: %s", t.Error)
	}
	for _, want := range t.Wants {
		w.want(want)
	}
	for _, event := range t.Events {
		w.line(4, "%s event %s about %s: %s", event.Type, event.Reason, event.Object, event.Message)
	}
}

func (w *writer) want(x Want) {
	text := string(x.Type) + " " + target(x.Object, x.Subresource)
	if x.Already {
		text += ": it is so already"
	}
	w.line(4, "%s", text)
	added := map[string]string{}
	for _, c := range x.Changes {
		if c.Before.Absent && (x.Type == plan.Apply || x.Type == plan.Create) {
			added[c.Path] = c.After.String()
		}
	}
	ownership, fields := compare.Ownership(added)
	for _, c := range x.Changes {
		switch slices.Index(fields, c.Path) {
		case -1:
			w.line(6, "%s: %s", c.Path, c.text())
		case 0:
			w.line(6, "%s", ownership)
		}
	}
	if more := x.Count - len(x.Changes); more > 0 {
		w.line(6, "and %d more", more)
	}
}

func (c Change) text() string {
	out := fmt.Sprintf("%s -> %s", c.Before, c.After)
	var owners []string
	for _, o := range c.Owners {
		text := o.Name
		if o.Operation == "Apply" {
			text += " (applied)"
		}
		owners = append(owners, text)
	}
	if len(owners) > 0 {
		out += ", set by " + strings.Join(owners, " and ")
	}
	return out
}

// controller tells what a running one remembers of the rule.
func (w *writer) controller(m *Memory, rule plan.Rule) {
	if m == nil {
		return
	}
	w.heading = "the controller"
	w.say(m.Waits != "", "the object waits: %s", m.Waits)
	r := m.Of(rule)
	if r == nil {
		unseen := m.Trouble != (Trouble{})
		w.say(unseen, "the object cannot be looked at, by any rule")
		w.say(!unseen, "it remembers nothing of the rule and the object")
		r = &Record{Trouble: m.Trouble}
	}
	decided := string(r.Outcome)
	if r.Audited {
		decided += ", in mode Audit"
	}
	if r.Reason != "" {
		decided += ": " + r.Reason
	}
	w.say(!r.At.IsZero(), "decided at %s: %s", moment(r.At), decided)
	w.say(r.At.IsZero() && decided != "", "decided: %s", decided)
	w.say(!r.Since.IsZero(), "so since %s", moment(r.Since))
	w.say(!r.HeldSince.IsZero(), "when holds since %s", moment(r.HeldSince))
	w.say(!r.WrittenAt.IsZero(), "wrote last at %s", moment(r.WrittenAt))
	w.trouble(r.Trouble)
	w.say(!r.LookAgainAt.IsZero(), "looks again at %s", moment(r.LookAgainAt))
}

// say writes a line of a section, if it is to be said.
func (w *writer) say(said bool, format string, args ...any) {
	if said {
		w.line(2, format, args...)
	}
}

// trouble says what keeps a controller from carrying out what a rule has decided.
func (w *writer) trouble(t Trouble) {
	w.say(t.Paused != "", "paused: %s", t.Paused)
	w.say(t.Contest != "", "contested: %s", t.Contest)
	w.say(t.Wave != "", "not yet: %s", t.Wave)
	w.say(t.Quarantined, "quarantined: it is tried only now and then")
	w.say(t.Failure != "" && t.Attempts <= 1, "failed: %s", t.Failure)
	w.say(t.Failure != "" && t.Attempts > 1, "failed %d times: %s", t.Attempts, t.Failure)
	w.say(!t.Next.IsZero(), "tried again at %s", moment(t.Next))
}

// Value is a value as people are shown it. The zero value shows nothing.
type Value struct {
	// JSON is the value, empty where it is absent, masked or large.
	JSON json.RawMessage `json:"value,omitempty"`
	// Absent says that there is none.
	Absent bool `json:"absent,omitempty"`
	// Summary stands for a value that is not shown.
	Summary string `json:"summary,omitempty"`
}

// Masked is the value of a Secret, or one that may tell of it.
const Masked = "(masked)"

// longest is how much of a value is shown, in bytes of JSON.
const longest = 160

// ValueOf shows a value of JSON, which is nil, a boolean, a number, a text, a list or a map,
// by its text as JSON. Of a large one it says what it is.
func ValueOf(value any, text string) Value {
	if value == nil {
		return Value{Absent: true}
	}
	if len(text) <= longest {
		return Value{JSON: json.RawMessage(text)}
	}
	switch value := value.(type) {
	case string:
		beginning, _ := json.Marshal(strings.ToValidUTF8(value[:min(len(value), longest/2)], "")) // A text always has JSON.
		return Value{Summary: fmt.Sprintf("a text of %d bytes, %s...", len(value), beginning[:len(beginning)-1])}
	case []any:
		return Value{Summary: fmt.Sprintf("a list of %d", len(value))}
	case map[string]any:
		return Value{Summary: fmt.Sprintf("a map of %d", len(value))}
	default:
		return Value{Summary: "a large value"}
	}
}

// String shows the value in a line.
func (v Value) String() string {
	switch {
	case v.Absent:
		return "absent"
	case v.Summary != "":
		return v.Summary
	case len(v.JSON) == 0:
		return "(none)"
	default:
		return string(v.JSON)
	}
}
