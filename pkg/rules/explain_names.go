package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/names"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// mostFound is how many related objects are named.
const mostFound = 20

// condition tells what decided whether the rule matches.
func (x *explanation) condition(s *showing, decision plan.Decision) trace.Condition {
	out := trace.Condition{Names: x.lets(s), Lookups: x.lookups(s)}
	x.opened = map[string]bool{}
	out.When = s.condition(x.rule.when)
	if x.rule.onDelete != nil {
		out.Done = s.condition(x.rule.onDelete.done)
	}
	if x.rule.hold != nil && !decision.HeldSince.IsZero() {
		out.For = x.held(decision.HeldSince)
	}
	return out
}

func (x *explanation) held(since time.Time) *trace.Hold {
	out := &trace.Hold{Since: since}
	now := x.turn.snapshot.Now
	long, err := x.rule.hold.duration(&x.turn.expressions)
	if err != nil {
		return out
	}
	if x.rule.hold.computed == nil || !x.turn.secret() {
		out.Duration = long.String()
	}
	if at := since.Add(long); now.Before(at) {
		out.Until = &at
	}
	remembered, is := x.turn.snapshot.State.HeldSince[x.rule.ID]
	out.Guessed = !is || !remembered.Equal(since)
	return out
}

// condition shows one that was asked, or nil.
func (s *showing) condition(condition *body.Expression) *trace.Clause {
	if condition == nil {
		return nil
	}
	whole, asked := s.asked[condition]
	if !asked {
		return nil
	}
	out := s.clause(condition, whole)
	return &out
}

// clause shows a condition. A name of let that is a condition is opened, once in each
// condition of the rule.
func (s *showing) clause(in *body.Expression, c expression.Clause) trace.Clause {
	out := trace.Clause{
		Operator: c.Operator, Source: s.text(oneLine(c.Source)), Verdict: c.Verdict, Error: s.error(c.Err),
		At: placeOf(in.Node().ErrorAt(c.Offset, len(c.Source), "", "")),
	}
	if !c.ChangesAt.IsZero() {
		out.ChangesAt = &c.ChangesAt
	}
	for _, part := range c.Clauses {
		out.Clauses = append(out.Clauses, s.clause(in, part))
	}
	for _, read := range c.Reads {
		out.Reads = append(out.Reads, s.read(read))
	}
	d := s.rule.named(c)
	if d == nil || c.Verdict == trace.NotAsked || s.opened[d.Name] {
		return out
	}
	s.opened[d.Name] = true
	// What has been asked already gives the same answer again; when that changes is known.
	instant := s.turn.expressions.Instant
	s.turn.expressions.Instant = expression.NewInstant(instant.Now())
	whole, _ := d.Value.Program().Explain(&s.turn.expressions)
	s.turn.expressions.Instant = instant
	out.Operator, out.Reads, out.Error = trace.Let, nil, ""
	out.Clauses = []trace.Clause{s.clause(d.Value, whole)}
	return out
}

// defined calls visit for the names that the rule and its set define, in order, with what
// they were, if they were used.
func (x *explanation) defined(visit func(d *names.Definition, found *memo)) {
	for slot := range x.rule.names.Slots() {
		d := x.rule.names.At(slot)
		if d == nil {
			continue
		}
		var found *memo
		if memos := x.turn.names.memos; memos != nil && memos[slot].done {
			found = &memos[slot]
		}
		visit(d, found)
	}
}

func (x *explanation) lets(s *showing) (out []trace.Name) {
	x.defined(func(d *names.Definition, found *memo) {
		if d.Value == nil || found == nil {
			return
		}
		told := trace.Name{
			Name: d.Name, Source: s.text(oneLine(d.Value.Program().Source())), At: placeOfNode(d.Node), Error: s.error(found.err),
		}
		if found.err == nil {
			told.Value = s.within(found.value, x.useSecret([]string{d.Name}))
		}
		out = append(out, told)
	})
	return out
}

func (x *explanation) lookups(s *showing) (out []trace.Lookup) {
	x.defined(func(d *names.Definition, found *memo) {
		if d.Related == nil {
			return
		}
		told := trace.Lookup{
			Name: d.Name, At: placeOfNode(d.Node), Asked: found != nil,
			Resource: plan.ResourceName(d.Related.Declaration().GVR),
		}
		if found != nil {
			told.Error = s.error(found.err)
			x.looked(s, d, &told)
		}
		out = append(out, told)
	})
	return out
}

// looked tells what was asked, and the answer.
func (x *explanation) looked(s *showing, d *names.Definition, told *trace.Lookup) {
	q, err := d.Related.Query(&x.turn.expressions, &x.turn.reader)
	if err != nil || q == nil {
		return
	}
	secret := x.asksSecret(d)
	told.By = s.question(*q)
	if secret {
		told.By = string(q.By) + " " + trace.Masked
	}
	found, err := x.turn.reader.Read(*q, nil)
	if err != nil {
		return
	}
	told.Count = len(found)
	if secret {
		return // The names are what was asked for.
	}
	for _, object := range found[:min(len(found), mostFound)] {
		told.Found = append(told.Found, s.related(object))
	}
	for _, name := range q.Names {
		if !slices.ContainsFunc(found, func(o map[string]any) bool { return plan.Text(o, "metadata", "name") == name }) {
			told.Missing = append(told.Missing, s.text(name))
		}
	}
	told.Missing = told.Missing[:min(len(told.Missing), mostFound)]
}

func nameOfObject(object map[string]any) string {
	name := plan.Text(object, "metadata", "name")
	if namespace := plan.Text(object, "metadata", "namespace"); namespace != "" {
		return namespace + "/" + name
	}
	return name
}

// longestQuestion is how much of a question is told, in bytes.
const longestQuestion = 300

// question words what is asked about other objects. It is masked before it is cut.
func (s *showing) question(q plan.Read) string {
	var out string
	switch q.By {
	case plan.ByName:
		out = "name " + strings.Join(q.Names, ", ")
	case plan.ByLabels:
		out = "labels " + q.Labels
	case plan.ByFields:
		var fields []string
		for _, f := range q.Fields {
			fields = append(fields, f.Path.String()+"="+shown(f.Value))
		}
		out = "fields " + strings.Join(fields, ", ")
	case plan.ByOwner:
		out = "owner " + strings.Join(texts(q.Owners), ", ")
	default:
		out = "all"
	}
	if out = s.text(out); len(out) > longestQuestion {
		out = strings.ToValidUTF8(out[:longestQuestion], "") + "..."
	}
	if q.Namespace != "" {
		out += " in " + s.text(q.Namespace)
	}
	return out
}

func texts[T ~string](all []T) []string {
	out := make([]string, len(all))
	for i, one := range all {
		out[i] = string(one)
	}
	return out
}
