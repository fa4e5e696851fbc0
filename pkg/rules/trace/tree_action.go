package trace

import (
	"fmt"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

func (w *writer) actions(all []Action) {
	if len(all) == 0 {
		return
	}
	w.section("actions")
	for _, a := range all {
		text := a.Kind
		if a.ForEach != "" && a.Reached {
			text += fmt.Sprintf(", for each %s: %d", a.ForEach, a.Count)
		}
		if !a.Reached {
			text += ", not reached"
		}
		w.line(2, "%s%s", text, inParentheses(a.At.inFile()))
		if a.Error != "" {
			w.line(4, "fails: %s", a.Error)
		}
		for _, turn := range a.Turns {
			w.turn(turn)
		}
		if more := a.Count - len(a.Turns); more > 0 && a.Reached {
			w.line(4, "and %d more%s", more, a.stopped())
		}
	}
}

// stopped says that the last turn that is told of was the last.
func (a Action) stopped() string {
	if n := len(a.Turns); n > 0 && a.Turns[n-1].Error != "" {
		return ", not reached"
	}
	return ""
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
	for _, c := range x.Changes {
		w.line(6, "%s: %s", c.Path, c.text())
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
	w.section("the controller")
	if m.Waits != "" {
		w.line(2, "the object waits: %s", m.Waits)
	}
	r := m.Of(rule)
	if r == nil && m.Trouble != (Trouble{}) {
		w.line(2, "the object cannot be looked at, by any rule")
		for _, text := range (Record{Trouble: m.Trouble}).lines() {
			w.line(2, "%s", text)
		}
		return
	}
	if r == nil {
		w.line(2, "it remembers nothing of the rule and the object")
		return
	}
	for _, text := range r.lines() {
		w.line(2, "%s", text)
	}
}

// lines say what there is to say.
func (r Record) lines() []string {
	decided := string(r.Outcome)
	if r.Audited {
		decided += ", in mode Audit"
	}
	if r.Reason != "" {
		decided += ": " + r.Reason
	}
	var out []string
	add := func(said bool, format string, args ...any) {
		if said {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(!r.At.IsZero(), "decided at %s: %s", moment(r.At), decided)
	add(r.At.IsZero() && decided != "", "decided: %s", decided)
	add(!r.Since.IsZero(), "so since %s", moment(r.Since))
	add(!r.HeldSince.IsZero(), "when holds since %s", moment(r.HeldSince))
	add(!r.WrittenAt.IsZero(), "wrote last at %s", moment(r.WrittenAt))
	t := r.Trouble
	add(t.Paused != "", "paused: %s", t.Paused)
	add(t.Contest != "", "contested: %s", t.Contest)
	add(t.Quarantined, "quarantined: it is tried only now and then")
	add(t.Failure != "" && t.Attempts <= 1, "failed: %s", t.Failure)
	add(t.Failure != "" && t.Attempts > 1, "failed %d times: %s", t.Attempts, t.Failure)
	add(!t.Next.IsZero(), "tried again at %s", moment(t.Next))
	add(!r.LookAgainAt.IsZero(), "looks again at %s", moment(r.LookAgainAt))
	return out
}
