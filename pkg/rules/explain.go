package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/names"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// Explain tells how a rule of the set comes to its decision about the object, together with
// all others that watch it. The values of Secrets that the rules read are masked, and those
// that are hidden besides. It is pure, as [Set.Evaluate] is, bounded as that is, and not for
// the hot path. A rule that the set does not have has an [trace.Obstacle].
func (s *Set) Explain(snapshot Snapshot, id plan.Rule, hidden ...*redact.Values) trace.Trace {
	object := snapshot.Identity()
	out := trace.Trace{Rule: trace.Rule{Rule: id}, Object: trace.ObjectOf(object), Now: snapshot.Now}
	rule := s.byID[id]
	if rule == nil {
		out.Obstacles = []trace.Obstacle{{Kind: trace.Unknown, Text: "there is no such rule"}}
		return out
	}
	snapshot.Explain = true
	e := s.evaluation(&snapshot)
	x := &explanation{evaluation: e, secrets: newSecrets(rule, &snapshot, hidden)}
	e.explanation = x
	decided := e.evaluate()

	out.Rule.Description, out.Rule.At = rule.Description(), placeOf(rule.Place())
	if account := rule.Identity(); account.Name != "" {
		out.Rule.ActsAs = account.String()
	}
	out.Object.Namespace, out.Object.Name = x.text(object.Namespace), x.text(object.Name)
	out.Obstacles = rule.Obstacles(snapshot)
	for i := range out.Obstacles {
		out.Obstacles[i].Text = x.text(out.Obstacles[i].Text)
	}
	if x.of != nil {
		x.tell(&out, decided)
	}
	return out
}

// Watched lists the resources that the rule watches.
func (r *Rule) Watched() []schema.GroupVersionResource { return slices.Clone(r.watched) }

// placeOf is where a note is.
func placeOf(note *document.Error) trace.Place {
	out := trace.Place{File: note.File, Line: note.Line, Column: note.Column}
	if note.Line == 0 {
		out.Path = note.Path
	}
	return out
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
		var watched []string
		for _, gvr := range r.watched {
			watched = append(watched, plan.ResourceName(gvr))
		}
		add(trace.OtherResource, "the rule watches %s, not %s", strings.Join(watched, ", "), plan.ResourceName(snapshot.GVR))
	case snapshot.Object == nil:
		add(trace.NoObject, "there is no %s", object)
	case !r.watches(snapshot.SelectedBy):
		out = append(out, r.unselected(snapshot.GVR, snapshot.Object)...)
	}
	if r.Suspended() {
		add(trace.Suspended, "%s: it is kept, and does nothing", r.idle())
	} else if r.Audited() {
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

// explanation records what one rule does in an evaluation, and shows it as a trace.
type explanation struct {
	*secrets
	evaluation  *evaluation
	clauses     map[*expression.Program]expression.Clause // what each condition was when it was last asked
	next        *trace.Next                               // nil where the rule does not look again
	lookAgainAt time.Time
	steps       []recordedStep
	turns       []recordedTurn  // of the step that is carried out
	opened      map[string]bool // names of let whose definition has been shown
}

// recordedStep is an action that the rule has reached.
type recordedStep struct {
	step  *action.Step
	turns []recordedTurn
	err   error
}

// recordedTurn is one time that an action was carried out.
type recordedTurn struct {
	action.Turn
	when   *expression.Clause // nil where it was not asked
	wishes []plan.Wish
	events []plan.Event
	err    error
}

// begin makes the evaluation of the rule record what it does. When its answers change is kept apart from other rules.
func (x *explanation) begin(of *ruleEvaluation) {
	x.of, of.explanation = of, x
	x.clauses = map[*expression.Program]expression.Clause{}
	of.expressions.Instant = value.NewInstant(x.evaluation.instant.Now())
	of.expressions.Explained = func(p *expression.Program, c expression.Clause) {
		x.clauses[p] = c
		if !slices.ContainsFunc(of.steps, func(s *action.Step) bool { return s.When() != nil && s.When().Program() == p }) {
			x.moment("a time in its condition comes", x.tells(p.Source(), nil))
		}
	}
	of.action.Around = x.turn
}

// moment notes what will make the rule look again, where that is new. When that is may be hidden.
func (x *explanation) moment(because string, hidden bool) {
	at := x.of.expressions.Instant.Next()
	if at.IsZero() || x.next != nil && !at.Before(x.lookAgainAt) {
		return
	}
	x.lookAgainAt, x.next = at, &trace.Next{Because: because}
	if !hidden {
		x.next.At = at
	}
}

// turn carries out an action once, and records what that comes to.
func (x *explanation) turn(t action.Turn, do func() error) error {
	a := &x.of.action
	wishes, events := len(a.Wishes), len(a.Events)
	err := do()
	recorded := recordedTurn{Turn: t, wishes: slices.Clone(a.Wishes[wishes:]), events: slices.Clone(a.Events[events:]), err: err}
	if when := t.Step.When(); when != nil {
		recorded.when = new(x.clauses[when.Program()])
	}
	x.turns = append(x.turns, recorded)
	return err
}

// step records that all turns of an action are over.
func (x *explanation) step(step *action.Step, err error) {
	if len(x.turns) <= mostTurns && slices.ContainsFunc(x.turns, func(t recordedTurn) bool { return t.err != nil }) {
		err = nil // The turn says so.
	}
	for _, t := range x.turns {
		x.of.mark(step, t.wishes, t.events)
	}
	x.steps, x.turns = append(x.steps, recordedStep{step, x.turns, err}), nil
	x.moment("a time in its actions comes", x.writes(step))
}

// end keeps what the evaluation of a rule has come to, before the next rule has its own.
func (x *explanation) end(of *ruleEvaluation) {
	for _, read := range of.reader.Reads() {
		if read.IsSecret() {
			found, _ := of.reader.Read(read, nil)
			for _, secret := range found {
				x.values.Learn(secret)
			}
		}
	}
	if of == x.of {
		of.memos = slices.Clone(of.memos)
		x.evaluation.instant.ChangesAt(of.expressions.Instant.Next())
	}
}

// tell puts all into the trace.
func (x *explanation) tell(out *trace.Trace, decided plan.Plan) {
	// What has been spent is spent; to tell of it takes some more.
	x.of.expressions.Budget, x.of.expressions.Explained = value.NewLazyBudget(x.evaluation.size), nil
	x.evaluation.current = x.of
	at := slices.IndexFunc(decided.Decisions, func(d plan.Decision) bool { return d.Rule == x.rule.ID })
	decision := decided.Decisions[at]
	x.learn()
	x.compare()
	x.hideNames()
	x.requests(out, decided.Operations, false)
	x.requests(out, decided.Audited, true)
	out.Decision = trace.Decision{
		Outcome: decision.Outcome, Reason: x.text(decision.Reason), Audited: decision.Audited,
		Settled: decision.Outcome == plan.Matched && len(out.Requests) == 0 && len(x.of.action.Events) == 0,
		Next:    x.next,
	}
	x.condition(&out.Condition, decision)
	out.Actions = x.actions()
	for _, other := range decided.Decisions {
		if other.Rule != x.rule.ID {
			out.Others = append(out.Others, trace.Other{Rule: other.Rule.String(), Outcome: other.Outcome})
		}
	}
}

// requests tells the operations that the rule takes part in.
func (x *explanation) requests(out *trace.Trace, all []plan.Operation, audited bool) {
	for _, o := range all {
		if !slices.Contains(o.Rules, x.rule.ID) {
			continue
		}
		request := trace.Request{
			Type: o.Type, Object: x.object(o.Target), Subresource: o.Subresource, Manager: o.Manager, Force: o.Force, Audited: audited,
		}
		for _, rule := range o.Rules {
			request.Rules = append(request.Rules, rule.String())
		}
		out.Requests = append(out.Requests, request)
	}
}

// condition tells what decided whether the rule matches.
func (x *explanation) condition(out *trace.Condition, decision plan.Decision) {
	for slot := range x.rule.names.Slots() {
		d := x.rule.names.At(slot)
		var found *memo
		if memos := x.of.memos; memos != nil && memos[slot].done {
			found = &memos[slot]
		}
		switch {
		case d == nil:
		case d.Related != nil:
			out.Lookups = append(out.Lookups, x.lookup(d, found))
		case found != nil:
			out.Names = append(out.Names, x.let(d, found))
		}
	}
	x.opened = map[string]bool{}
	out.When = x.asked(x.rule.when)
	if x.rule.onDelete != nil {
		out.Done = x.asked(x.rule.onDelete.done)
	}
	if x.rule.rollout != nil {
		out.Healthy = x.asked(x.rule.rollout.healthy)
	}
	if x.rule.hold != nil && !decision.HeldSince.IsZero() {
		out.For = x.held(decision.HeldSince)
	}
}

func (x *explanation) held(since time.Time) *trace.Hold {
	remembered, is := x.of.snapshot.State.HeldSince[x.rule.ID]
	out := &trace.Hold{Since: since, Guessed: !is || !remembered.Equal(since)}
	if long, err := x.rule.hold.duration(&x.of.expressions); err == nil && !x.holds() {
		out.Duration = long.String()
		if at := since.Add(long); x.of.snapshot.Now.Before(at) {
			out.Until = &at
		}
	}
	return out
}

// asked shows a condition of the rule, nil where it was not asked.
func (x *explanation) asked(condition *template.Expression) *trace.Clause {
	if condition == nil {
		return nil
	}
	whole, asked := x.clauses[condition.Program()]
	if !asked {
		return nil
	}
	return new(x.clause(condition, whole, nil))
}

// clause shows a condition. A name of let that is a condition is opened, once in each
// condition of the rule.
func (x *explanation) clause(of *template.Expression, c expression.Clause, in *action.Step) trace.Clause {
	out := trace.Clause{
		Operator: c.Operator, Source: x.text(oneLine(c.Source)), Verdict: c.Verdict, Error: x.error(c.Err),
		At: placeOf(of.Node().ErrorAt(c.Offset, len(c.Source), "", "")),
	}
	tells := x.tells(c.Source, in)
	if !c.ChangesAt.IsZero() && !tells {
		out.ChangesAt = &c.ChangesAt
	}
	for _, part := range c.Clauses {
		out.Clauses = append(out.Clauses, x.clause(of, part, in))
	}
	for _, read := range c.Reads {
		out.Reads = append(out.Reads, trace.Read{Path: x.text(read.Path), Value: x.value(read.Value, tells)})
	}
	d := x.rule.named(c)
	if d == nil || c.Verdict == trace.NotAsked || x.opened[d.Name] {
		return out
	}
	x.opened[d.Name] = true
	whole, _ := x.of.definition(d)
	out.Operator, out.Reads, out.Error = trace.Let, nil, ""
	out.Clauses = []trace.Clause{x.clause(d.Value, whole, nil)}
	return out
}

func (x *explanation) let(d *names.Definition, found *memo) trace.Name {
	out := trace.Name{
		Name: d.Name, Source: x.text(oneLine(d.Value.Program().Source())), At: placeOfNode(d.Node), Error: x.error(found.err),
	}
	if found.err == nil {
		out.Value = x.value(found.value, x.tells(d.Name, nil))
	}
	return out
}

// mostFound is how many related objects are named.
const mostFound = 20

// lookup tells what with asked, and the answer.
func (x *explanation) lookup(d *names.Definition, answer *memo) trace.Lookup {
	out := trace.Lookup{Name: d.Name, At: placeOfNode(d.Node), Asked: answer != nil, Resource: plan.ResourceName(d.Related.Declaration().GVR)}
	if answer == nil {
		return out
	}
	out.Error = x.error(answer.err)
	q, err := d.Related.Query(&x.of.expressions, &x.of.reader)
	if err != nil || q == nil {
		return out
	}
	secret := x.finds(d.Name, nil)
	out.By = x.question(*q)
	if secret {
		out.By = string(q.By) + " " + trace.Masked
	}
	found, err := x.of.reader.Read(*q, nil)
	if err != nil {
		return out
	}
	out.Count = len(found)
	if secret {
		return out // The names are what was asked for.
	}
	for _, object := range found[:min(len(found), mostFound)] {
		out.Found = append(out.Found, x.related(object))
	}
	for _, name := range q.Names {
		if !slices.ContainsFunc(found, func(o map[string]any) bool { return plan.Text(o, "metadata", "name") == name }) {
			out.Missing = append(out.Missing, x.text(name))
		}
	}
	out.Missing = out.Missing[:min(len(out.Missing), mostFound)]
	return out
}

// longestQuestion is how much of a question is told, in bytes.
const longestQuestion = 300

// question words what is asked about other objects. It is masked before it is cut.
func (x *explanation) question(q plan.Read) string {
	words := slices.Clone(q.Names)
	if q.Labels != "" {
		words = append(words, q.Labels)
	}
	for _, f := range q.Fields {
		words = append(words, f.Path.String()+"="+shown(f.Value))
	}
	for _, owner := range q.Owners {
		words = append(words, string(owner))
	}
	out := x.text(strings.TrimSpace(string(q.By) + " " + strings.Join(words, ", ")))
	if len(out) > longestQuestion {
		out = strings.ToValidUTF8(out[:longestQuestion], "") + "..."
	}
	if q.Namespace != "" {
		out += " in " + x.text(q.Namespace)
	}
	return out
}

// What is told of one action.
const (
	mostTurns   = 20
	mostChanges = 50
)

// actions tells what each action came to, and what the engine does for the rule besides: finalizers, and what is pruned.
func (x *explanation) actions() (out []trace.Action) {
	for _, step := range x.of.steps {
		i := slices.IndexFunc(x.steps, func(s recordedStep) bool { return s.step == step })
		told := trace.Action{Kind: step.Kind(), At: placeOfNode(step.Node()), Reached: i >= 0}
		if loop := step.Loop(); loop != nil {
			told.ForEach = loop.Name
		}
		if told.Reached {
			told.Error = x.error(x.steps[i].err)
			for _, turn := range x.steps[i].turns[:min(len(x.steps[i].turns), mostTurns)] {
				told.Turns, told.Count = append(told.Turns, x.shownTurn(turn)), turn.Of
			}
		}
		out = append(out, told)
	}
	for _, wish := range slices.Concat(x.unasked(), x.of.freed) {
		kind := "prune"
		switch {
		case wish.Type == plan.Finalize:
			kind = "finalizer"
		case wish.Restoring != nil:
			kind = "restore"
		}
		wants := []trace.Want{x.want(wish, false)}
		out = append(out, trace.Action{Kind: kind, Reached: true, Count: 1, Turns: []trace.Turn{{Wants: wants}}})
	}
	return out
}

// unasked are the wishes that no action has.
func (x *explanation) unasked() []plan.Wish {
	return slices.DeleteFunc(slices.Clone(x.of.action.Wishes), func(w plan.Wish) bool {
		same := func(told plan.Wish) bool { return told.Type == w.Type && told.Target == w.Target }
		return slices.ContainsFunc(x.steps, func(s recordedStep) bool {
			return slices.ContainsFunc(s.turns, func(t recordedTurn) bool { return slices.ContainsFunc(t.wishes, same) })
		})
	})
}

func (x *explanation) shownTurn(t recordedTurn) trace.Turn {
	out := trace.Turn{Error: x.error(t.err)}
	loop, node := t.Step.Loop(), t.Step.Node()
	if loop != nil {
		out.Element = new(x.element(t.Element, loop.Name, t.Step))
	}
	if t.when != nil {
		x.opened = map[string]bool{}
		out.When = new(x.clause(t.Step.When(), *t.when, t.Step))
	}
	tells := x.writes(t.Step)
	for _, wish := range t.wishes {
		out.Wants = append(out.Wants, x.want(wish, tells))
	}
	for _, e := range t.events {
		event := trace.Event{Object: x.object(e.Regarding), Type: e.Type, Reason: x.text(e.Reason), Message: x.text(e.Message)}
		if tells {
			event.Reason, event.Message = trace.Masked, trace.Masked
			if strings.Contains(node.Get("event").Get("type").Text(), "${") {
				event.Type = trace.Masked
			}
		}
		out.Events = append(out.Events, event)
	}
	return out
}

// element names an object, and shows anything else. What an expression made of a Secret
// may look like an object.
func (x *explanation) element(v any, name string, in *action.Step) trace.Value {
	object, _ := v.(map[string]any)
	if kind := plan.Text(object, "kind"); kind != "" && plan.Text(object, "metadata", "name") != "" && !x.names(name, in) && !x.chooses(in) {
		return trace.Value{Summary: x.text(kind) + " " + x.related(object)}
	}
	return x.value(v, x.tells(name, in) || x.chooses(in))
}

// want tells what a wish is by itself. Where that tells of a Secret, no values are shown.
func (x *explanation) want(wish plan.Wish, tells bool) trace.Want {
	built := plan.Build([]plan.Wish{wish}, x.evaluation.set.options)
	out := trace.Want{Type: wish.Type, Object: x.object(wish.Target), Subresource: wish.Subresource}
	out.Already = len(built.Operations) == 0 && len(built.Decisions) == 0
	for _, operation := range built.Operations {
		changes := slices.DeleteFunc(slices.Clone(operation.Changes), func(c plan.Change) bool { return c.Bookkeeping() != "" })
		out.Count += len(changes)
		for _, change := range changes[:min(len(changes), mostChanges-len(out.Changes))] {
			out.Changes = append(out.Changes, x.change(wish, operation, change, tells))
		}
	}
	return out
}

func (x *explanation) change(wish plan.Wish, operation plan.Operation, change plan.Change, tells bool) trace.Change {
	shown, known := operation.Shows(change)
	hidden := tells || !shown
	path := slices.Clone(change.Path)
	for i, step := range path {
		if path[i] = x.values.Key(step); i >= known {
			path[i] = trace.Masked
		}
	}
	out := trace.Change{
		Path: path.String(), Before: x.value(change.Before, hidden && change.Before != nil), After: x.value(change.After, hidden),
	}
	if change.Before != nil && !slices.Contains(path, trace.Masked) {
		out.Owners = plan.Managers(wish.Current, change.Path)
	}
	return out
}

// whyNot names the clause of a condition that is false, with the values it read unless they are secret. Of a name of let it says what that
// stands for.
func (t *ruleEvaluation) whyNot(condition *template.Expression) string {
	whole, err := condition.Program().Explain(&t.expressions)
	var why, values []string
	for err == nil {
		last := whole.Deciding()
		why = append(why, oneLine(last.Source)+" is false")
		d := t.rule.named(last)
		if d == nil {
			for _, read := range last.AllReads() {
				values = append(values, read.Path+" is "+shown(read.Value))
			}
			break
		}
		whole, err = t.definition(d)
	}
	reason := strings.Join(why, ": ")
	if len(values) > 0 && !t.secret() {
		reason += "; " + strings.Join(values, ", ")
	}
	return reason
}

// definition explains what a name of let stands for. It has been asked already, so when its answer changes is known.
func (t *ruleEvaluation) definition(d *names.Definition) (expression.Clause, error) {
	instant := t.expressions.Instant
	t.expressions.Instant = value.NewInstant(instant.Now())
	defer func() { t.expressions.Instant = instant }()
	return d.Value.Program().Explain(&t.expressions)
}

// named is the definition of let that a clause consists of, or nil.
func (r *Rule) named(c expression.Clause) *names.Definition {
	d := r.names.Lookup(strings.Trim(oneLine(c.Source), "( )"))
	if c.Operator != "" || d == nil || d.Value == nil {
		return nil
	}
	return d
}

// oneLine is an expression without line breaks.
func oneLine(source string) string { return strings.Join(strings.Fields(source), " ") }
