package rules

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// Explain tells how a rule of the set comes to its decision about the object, together with
// all others that watch it. The values of Secrets that the rules read are masked, and those
// that are hidden besides. It is pure, as [Set.Evaluate] is, bounded as that is, and not for
// the hot path. A rule that the set does not have has an [trace.Obstacle].
func (s *Set) Explain(snapshot Snapshot, id plan.Rule, hidden ...*redact.Values) trace.Trace {
	object := snapshot.Identity()
	out := trace.Trace{Rule: trace.RuleOf(id), Object: trace.ObjectOf(object), Now: snapshot.Now}
	rule := s.byID[id]
	if rule == nil {
		out.Obstacles = []trace.Obstacle{{Kind: trace.Unknown, Text: "there is no such rule"}}
		return out
	}
	out.Rule = rule.Described()
	out.Obstacles = rule.Obstacles(snapshot)
	snapshot.Explain = true
	e := s.evaluation(&snapshot)
	x := &explanation{rule: rule, evaluation: e, hidden: redact.New(redact.Plain)}
	for _, values := range hidden {
		x.hidden.LearnFrom(values)
	}
	x.hidden.Except(plan.GivenNames(snapshot.Object)...)
	out.Object.Namespace, out.Object.Name = x.hidden.Text(object.Namespace), x.hidden.Text(object.Name)
	for i := range out.Obstacles {
		out.Obstacles[i].Text = x.hidden.Text(out.Obstacles[i].Text)
	}
	e.told = x
	for _, other := range s.byGVR[snapshot.GVR] {
		if other.concerns(&snapshot) {
			e.add(other)
		}
	}
	decided := e.plan()
	if x.turn == nil {
		return out
	}
	x.tell(&out, decided)
	return out
}

// Described says which rule it is.
func (r *Rule) Described() trace.Rule {
	out := trace.RuleOf(r.ID)
	out.Description, out.At = r.Description(), placeOf(r.Place())
	if account := r.Identity(); account.Name != "" {
		out.ActsAs = account.String()
	}
	return out
}

// Watched lists the resources that the rule watches.
func (r *Rule) Watched() []schema.GroupVersionResource { return slices.Clone(r.watched) }

// Related lists what the rule reads besides.
func (r *Rule) Related() []plan.Selection { return r.reads() }

// placeOf is where a note is.
func placeOf(note *document.Error) trace.Place {
	return trace.Place{File: note.File, Line: note.Line, Column: note.Column}
}

func placeOfNode(n *document.Node) trace.Place { return placeOf(n.Errorf("", "")) }

// Obstacles say what keeps the rule from the object before any condition is asked, as far
// as the snapshot shows.
func (r *Rule) Obstacles(snapshot Snapshot) []trace.Obstacle {
	var out []trace.Obstacle
	add := func(kind trace.Kind, format string, args ...any) {
		out = append(out, trace.Obstacle{Kind: kind, Text: fmt.Sprintf(format, args...)})
	}
	switch object := snapshot.Identity(); {
	case !slices.Contains(r.watched, snapshot.GVR):
		add(trace.OtherResource, "the rule watches %s, not %s", r.watching(), plan.ResourceName(snapshot.GVR))
	case snapshot.Object == nil:
		add(trace.NoObject, "there is no %s", object)
	case !r.watches(snapshot.SelectedBy):
		out = append(out, r.unselected(snapshot.GVR, snapshot.Object)...)
	}
	if r.suspended() {
		add(trace.Suspended, "%s: it is kept, and does nothing", r.idle())
	} else if r.audited() {
		add(trace.Audit, "%s: it decides and reports, and writes nothing", r.idle())
	}
	if plan.BeingDeleted(snapshot.Object) {
		text := "the object is being deleted since " + plan.Text(snapshot.Object, "metadata", "deletionTimestamp")
		if r.onDelete == nil {
			text += ", and the rule has no onDelete"
		}
		add(trace.BeingDeleted, "%s", text)
	}
	return out
}

// watching names what the rule watches.
func (r *Rule) watching() string {
	var names []string
	for _, gvr := range r.watched {
		names = append(names, plan.ResourceName(gvr))
	}
	return strings.Join(names, ", ")
}

// explanation collects what one rule does in an evaluation.
type explanation struct {
	rule       *Rule
	evaluation *evaluation
	turn       *turn // nil until it was the rule's
	asked      map[*body.Expression]expression.Clause
	steps      []toldStep
	hidden     *redact.Values // whatever the rules read
	// secrets are those that any rule of the evaluation read.
	secrets []map[string]any
	next    *trace.Next     // nil where the rule does not look again
	tells   map[int]bool    // whether a name comes from a Secret, as far as it was asked
	opened  map[string]bool // names of let whose definition has been told
	// unnamed are the objects whose names the rule has from a Secret.
	unnamed map[plan.Object]bool
}

// keep remembers what a turn has come to, before the next rule has its own.
func (x *explanation) keep(t *turn) {
	for _, read := range t.reader.Reads() {
		if read.IsSecret() {
			found, _ := t.reader.Read(read, nil)
			x.secrets = append(x.secrets, found...)
		}
	}
	if t.rule == x.rule {
		x.turn = t
		t.names.memos = slices.Clone(t.names.memos)
		x.evaluation.instant.ChangesAt(t.expressions.Instant.Next())
	}
}

// tell puts all into the trace.
func (x *explanation) tell(out *trace.Trace, decided plan.Plan) {
	t := x.turn
	// What has been spent is spent; to tell of it takes some more.
	t.expressions.Budget = expression.NewLazyBudget(x.evaluation.size)
	x.evaluation.turn = t
	s := x.showing()
	at := slices.IndexFunc(decided.Decisions, func(d plan.Decision) bool { return d.Rule == x.rule.ID })
	decision := decided.Decisions[at]
	x.unname()
	out.Requests = x.requests(s, decided)
	out.Decision = trace.Decision{
		Outcome: decision.Outcome, Reason: s.text(decision.Reason), Audited: decision.Audited,
		Settled: decision.Outcome == plan.Matched && len(out.Requests) == 0 && !x.records(),
		Next:    x.next,
	}
	out.Condition = x.condition(s, decision)
	out.Actions = x.actions(s)
	for _, other := range decided.Decisions {
		if other.Rule != x.rule.ID {
			out.Others = append(out.Others, trace.Other{Rule: other.Rule.String(), Outcome: other.Outcome})
		}
	}
}

func (x *explanation) records() bool {
	return slices.ContainsFunc(x.steps, func(s toldStep) bool {
		return slices.ContainsFunc(s.turns, func(t toldTurn) bool { return len(t.events) > 0 })
	})
}

// requests are the operations that the rule takes part in.
func (x *explanation) requests(s *showing, decided plan.Plan) []trace.Request {
	var out []trace.Request
	add := func(all []plan.Operation, audited bool) {
		for _, o := range all {
			if !slices.Contains(o.Rules, x.rule.ID) {
				continue
			}
			request := trace.Request{
				Type: o.Type, Object: s.object(o.Target), Subresource: o.Subresource, Manager: o.Manager, Force: o.Force, Audited: audited,
			}
			for _, rule := range o.Rules {
				request.Rules = append(request.Rules, rule.String())
			}
			out = append(out, request)
		}
	}
	add(decided.Operations, false)
	add(decided.Audited, true)
	return out
}
