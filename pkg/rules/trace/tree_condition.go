package trace

import (
	"fmt"
	"strings"
)

func (w *writer) condition(c Condition) {
	w.conditionOf("when", c.When)
	w.conditionOf("done", c.Done)
	if c.For != nil {
		w.section("for")
		w.line(2, "%s", c.For.text())
	}
	if len(c.Names) > 0 {
		w.section("let")
		for _, n := range c.Names {
			value := "is " + n.String()
			if n.Error != "" {
				value = "fails: " + n.Error
			}
			w.line(2, "%s %s, from %s%s", n.Name, value, n.Source, inParentheses(n.At.inFile()))
		}
	}
	if len(c.Lookups) > 0 {
		w.section("with")
		for _, l := range c.Lookups {
			w.line(2, "%s: %s%s", l.Name, l.text(), inParentheses(l.At.inFile()))
		}
	}
}

func (w *writer) conditionOf(title string, c *Clause) {
	if c == nil {
		return
	}
	w.section(title)
	w.clause(*c, "  ", "  ")
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
	if h.Duration != "" {
		out += ", and must for " + h.Duration
	}
	if h.Until != nil {
		out += fmt.Sprintf(": until %s", moment(*h.Until))
	} else {
		out += ": it has"
	}
	return out
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
