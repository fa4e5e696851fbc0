package trace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
)

// What is shown in a list of what one rule would write.
const (
	mostListed        = 5 // objects
	mostListedChanges = 3 // fields of each
)

// List shows to people what several rules decide about one object: a few lines for each, and those that do not apply to the object in
// the last line. The sets are those of which the version in effect may be another one. It ends with a line break and is safe for a
// terminal.
func List(object Object, sets []Set, all []Trace) string {
	w := &writer{}
	for _, t := range all { // One may have masked the name.
		if strings.Contains(t.Object.Namespace+t.Object.Name, Masked) {
			object.Namespace, object.Name = t.Object.Namespace, t.Object.Name
		}
	}
	w.line(0, "object  %s", object)
	for _, set := range sets {
		w.line(0, "set     %s", set)
	}
	if len(all) == 0 {
		w.line(0, "result  no rule watches %s", strings.TrimSuffix(object.Resource+"."+object.Group, "."))
		return w.text.String()
	}
	if m := all[0].Controller; m != nil {
		w.heading = "the controller"
		w.say(m.Waits != "", "the object waits: %s", m.Waits)
		w.say(m.Trouble != (Trouble{}), "the object cannot be looked at, by any rule")
		w.trouble(m.Trouble)
		w.heading = ""
	}
	var others []string
	for _, t := range all {
		if kind := t.elsewhere(); kind != "" {
			others = append(others, fmt.Sprintf("%s (%s)", t.Rule, kind))
			continue
		}
		w.text.WriteString("\n")
		w.short(t)
	}
	if len(others) > 0 {
		w.text.WriteString("\n")
		w.line(0, "do not apply: %s", strings.Join(others, ", "))
	}
	return w.text.String()
}

// elsewhere is why the rule is not about the object, empty where it is, or where that is not known.
func (t Trace) elsewhere() Kind {
	at := slices.IndexFunc(t.Obstacles, func(o Obstacle) bool {
		return slices.Contains([]Kind{OtherResource, OtherNamespace, NotSelected}, o.Kind)
	})
	if t.Decision.Outcome != "" || at < 0 {
		return ""
	}
	return t.Obstacles[at].Kind
}

// short has what one rule decides, and what comes of it.
func (w *writer) short(t Trace) {
	as := ""
	if t.Rule.ActsAs != "" {
		as = ", acts as ServiceAccount " + t.Rule.ActsAs
	}
	w.line(0, "%s%s%s", t.Rule, inParentheses(t.Rule.At.String()), as)
	w.line(2, "%s", t.Result())
	for i, o := range t.Obstacles {
		said := t.Decision.Outcome == "" && i == 0 // The result is that.
		w.say(!said && slices.Contains([]Kind{NoResource, Forbidden, Unknown}, o.Kind), "in the way: %s (%s)", o.Text, o.Kind)
	}
	if next := t.Decision.Next; next != nil {
		w.line(2, "next %s", next)
	}
	w.wanted(t)
	if record := t.Controller.Of(t.Rule.Rule); record != nil {
		w.trouble(record.Trouble)
	}
}

// wanted has what would be sent and recorded.
func (w *writer) wanted(t Trace) {
	objects := 0
	for _, a := range t.Actions {
		for _, turn := range a.Turns {
			for _, x := range turn.Wants {
				sent := func(r Request) bool {
					return r.Type == x.Type && r.Object == x.Object && r.Subresource == x.Subresource
				}
				if x.Already || !slices.ContainsFunc(t.Requests, sent) {
					continue
				}
				if objects++; objects <= mostListed {
					w.line(2, "would %s %s%s", x.Type, target(x.Object, x.Subresource), x.changes())
				}
			}
			for _, event := range turn.Events {
				w.say(t.Decision.Outcome == plan.Matched && !t.Decision.Audited,
					"would record %s event %s on %s: %s", event.Type, event.Reason, event.Object, event.Message)
			}
		}
	}
	w.say(objects > mostListed, "and would write %d more", objects-mostListed)
}

// changes are the first fields that are written, but for what makes a new object the child of a rule.
func (x Want) changes() string {
	added := map[string]string{}
	for _, c := range x.Changes {
		if c.Before.Absent && (x.Type == plan.Apply || x.Type == plan.Create) {
			added[c.Path] = c.After.String()
		}
	}
	_, ownership := compare.Ownership(added)
	var fields []string
	count := x.Count
	for _, c := range x.Changes {
		if slices.Contains(ownership, c.Path) {
			count--
		} else if len(fields) < mostListedChanges {
			fields = append(fields, fmt.Sprintf("%s: %s -> %s", c.Path, c.Before, c.After))
		}
	}
	if len(fields) == 0 {
		return ""
	}
	out := ": " + strings.Join(fields, ", ")
	if more := count - len(fields); more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}
