package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
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

// What is told of one action.
const (
	mostTurns   = 20
	mostChanges = 50
)

// toldStep is what an action came to.
type toldStep struct {
	step    *action.Step
	node    *document.Node
	reached bool
	turns   []toldTurn // the first ones
	rest    []plan.Wish
	count   int
	err     error
	secret  bool // the list of forEach may tell of a Secret
}

// toldTurn is what one time of an action came to.
type toldTurn struct {
	element any
	when    *body.Expression // nil where it was not asked
	clause  expression.Clause
	wishes  []plan.Wish
	events  []plan.Event
	err     error
	secret  bool // what it wants may tell of a Secret
}

// ask evaluates a condition of the rule, and remembers how it came about.
func (x *explanation) ask(t *turn, condition *body.Expression) (bool, error) {
	whole, err := condition.Program().Explain(&t.expressions)
	if x.asked == nil {
		x.asked = map[*body.Expression]expression.Clause{}
	}
	x.asked[condition] = whole
	x.moment(t, "a time in its condition comes")
	if err != nil {
		return false, body.Locate(condition.Node(), err)
	}
	return whole.Holds(), nil
}

// moment notes what it is that will make the rule look again, where that is new.
func (x *explanation) moment(t *turn, because string) {
	at := t.expressions.Instant.Next()
	if x.next == nil && !at.IsZero() || x.next != nil && at.Before(x.next.At) {
		x.next = &trace.Next{At: at, Because: because}
	}
}

// act carries out the actions as [turn.act] does.
func (x *explanation) act(t *turn, steps []*action.Step) error {
	nodes := t.rule.source.Actions
	if t.rule.onDelete != nil && plan.BeingDeleted(t.action.Current) {
		nodes = t.rule.source.OnDelete.Actions
	}
	x.steps = make([]toldStep, len(steps))
	for i, step := range steps {
		x.steps[i] = toldStep{step: step, node: nodes[i]}
	}
	for i := range x.steps {
		if err := x.carry(t, &x.steps[i]); err != nil {
			return err
		}
	}
	x.moment(t, "a time in its actions comes")
	return nil
}

func (x *explanation) carry(t *turn, s *toldStep) error {
	s.reached = true
	seen := x.watch(t)
	turns, err := s.step.Turns(&t.action)
	s.secret = seen.tainted()
	if err != nil {
		s.err = err
		return err
	}
	s.count = len(turns)
	for i, each := range turns {
		if i >= mostTurns {
			if s.err = x.rest(t, s, each); s.err != nil {
				return s.err
			}
			continue
		}
		told, err := x.once(t, each, s.secret)
		s.turns = append(s.turns, told)
		if err != nil {
			return err
		}
	}
	return nil
}

// rest carries out a turn of which nothing is told.
func (x *explanation) rest(t *turn, s *toldStep, each action.Turn) error {
	before := len(t.action.Wishes)
	err := each.Evaluate(&t.action, func(when *body.Expression) (bool, error) { return when.EvalBool(&t.expressions) })
	s.rest = append(s.rest, t.action.Wishes[before:]...)
	return err
}

// once carries out one turn and keeps what that came to.
func (x *explanation) once(t *turn, each action.Turn, secret bool) (toldTurn, error) {
	told := toldTurn{element: each.Element}
	wishes, events := len(t.action.Wishes), len(t.action.Events)
	seen := x.watch(t)
	err := each.Evaluate(&t.action, func(when *body.Expression) (bool, error) {
		told.when = when
		var asking error
		told.clause, asking = when.Program().Explain(&t.expressions)
		if asking != nil {
			return false, body.Locate(when.Node(), asking)
		}
		return told.clause.Holds(), nil
	})
	told.secret = seen.tainted() || secret
	told.wishes, told.events, told.err = t.action.Wishes[wishes:], t.action.Events[events:], err
	return told, err
}

// watch notes the names that are used until it is asked whether one of them may tell of a
// Secret.
func (x *explanation) watch(t *turn) *watching {
	w := &watching{explanation: x, turn: t, outer: t.expressions.Names}
	t.expressions.Names = w
	return w
}

// watching are the names of an evaluation, of which it is noted whether they may tell of a
// Secret.
type watching struct {
	*explanation
	turn   *turn
	outer  expression.Names
	secret bool
}

// Value implements [expression.Names].
func (w *watching) Value(slot int) (any, error) {
	w.secret = w.secret || w.tellsSecret(slot)
	return w.outer.Value(slot)
}

// tainted ends the watch.
func (w *watching) tainted() bool {
	w.turn.expressions.Names = w.outer
	return w.secret
}

// actions tells what each action came to, and what the engine does for the rule besides.
func (x *explanation) actions(s *showing) []trace.Action {
	var out []trace.Action
	for _, step := range x.steps {
		out = append(out, s.action(step))
	}
	return append(out, x.besides(s)...)
}

// besides are the finalizers and what is pruned, which no action asks for.
func (x *explanation) besides(s *showing) []trace.Action {
	var out []trace.Action
	add := func(kind string, wish plan.Wish) {
		if wants := s.wants([]plan.Wish{wish}, nil); len(wants) > 0 {
			out = append(out, trace.Action{Kind: kind, Reached: true, Count: 1, Turns: []trace.Turn{{Wants: wants}}})
		}
	}
	for _, wish := range slices.Concat(x.unasked(), x.turn.freed) {
		if wish.Type == plan.Finalize {
			add("finalizer", wish)
		} else {
			add("prune", wish)
		}
	}
	return out
}

// unasked are the wishes that no action has.
func (x *explanation) unasked() []plan.Wish {
	out := slices.Clone(x.turn.action.Wishes)
	for _, step := range x.steps {
		out = without(out, step.rest)
		for _, turn := range step.turns {
			out = without(out, turn.wishes)
		}
	}
	return out
}

// without leaves out wishes that are told with the action that has them.
func without(all, told []plan.Wish) []plan.Wish {
	if len(told) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(w plan.Wish) bool {
		return slices.ContainsFunc(told, func(t plan.Wish) bool { return t.Type == w.Type && t.Target == w.Target })
	})
}

func (s *showing) action(step toldStep) trace.Action {
	out := trace.Action{
		Kind: step.step.Kind(), At: placeOfNode(step.node), Reached: step.reached, Count: step.count, Error: s.error(step.err),
	}
	if loop := step.step.Loop(); loop != nil {
		out.ForEach = loop.Name
	}
	for _, turn := range step.turns {
		told := trace.Turn{Error: s.error(turn.err)}
		if out.ForEach != "" {
			element := s.element(turn.element, step)
			told.Element = &element
		}
		if turn.when != nil {
			s.opened = map[string]bool{}
			clause := s.clause(turn.when, turn.clause)
			told.When = &clause
		}
		var written *document.Node
		if turn.secret {
			written = step.node
		}
		told.Wants = s.wants(turn.wishes, written)
		for _, event := range turn.events {
			told.Events = append(told.Events, s.event(event, turn.secret))
		}
		out.Turns = append(out.Turns, told)
	}
	return out
}

// element names an object, and shows anything else. What an expression made of a Secret
// may look like an object.
func (s *showing) element(v any, step toldStep) trace.Value {
	object, isMap := v.(map[string]any)
	loop := step.step.Loop()
	if hidden := step.secret && s.foundBySecret(loop.Name, loop); !hidden && isMap && plan.Text(object, "kind") != "" && plan.Text(object, "metadata", "name") != "" {
		return trace.Value{Summary: s.text(plan.Text(object, "kind")) + " " + s.related(object)}
	}
	return s.within(v, step.secret)
}

func (s *showing) event(e plan.Event, secret bool) trace.Event {
	out := trace.Event{
		Object: s.object(e.Regarding), Type: e.Type, Reason: s.text(e.Reason), Message: s.text(e.Message),
	}
	if secret {
		out.Reason, out.Message = trace.Masked, trace.Masked
	}
	return out
}

// wants tells what wishes are, each by itself. Where written is an action, they may tell of
// a Secret, and only what is written there is shown.
func (s *showing) wants(wishes []plan.Wish, written *document.Node) []trace.Want {
	var out []trace.Want
	for _, wish := range wishes {
		built := plan.Build([]plan.Wish{wish}, s.evaluation.set.planOptions())
		want := trace.Want{Type: wish.Type, Object: s.object(wish.Target), Subresource: wish.Subresource}
		want.Already = len(built.Operations) == 0 && len(built.Decisions) == 0
		for _, operation := range built.Operations {
			want.Count += len(operation.Changes)
			for _, change := range operation.Changes {
				if len(want.Changes) < mostChanges {
					want.Changes = append(want.Changes, s.change(wish, change, written))
				}
			}
		}
		out = append(out, want)
	}
	return out
}

func (s *showing) change(wish plan.Wish, change plan.Change, written *document.Node) trace.Change {
	secret := written != nil || wish.Target.IsSecret() && len(change.Path) > 0 && (change.Path[0] == "data" || change.Path[0] == "stringData")
	path := slices.Clone(change.Path)
	for i, step := range path {
		path[i] = s.values.Key(step)
		_, there := plan.Lookup(wish.Current, change.Path[:i+1])
		if written != nil && !there && !mentions(written, step) {
			path[i] = trace.Masked
		}
	}
	out := trace.Change{
		Path: path.String(), Before: s.within(change.Before, secret), After: s.within(change.After, secret),
	}
	if change.Before != nil {
		for _, manager := range plan.Managers(wish.Current, change.Path) {
			out.Owners = append(out.Owners, trace.Owner(manager))
		}
	}
	return out
}

// mentions reports whether a step of a path is written in an action as it is: as a key, or
// in the path of a JSON patch.
func mentions(n *document.Node, step string) bool {
	if _, err := strconv.Atoi(step); err == nil {
		return true
	}
	for _, entry := range n.Entries() {
		if entry.Key.Text() == step || mentions(entry.Value, step) {
			return true
		}
	}
	if slices.ContainsFunc(n.Elements(), func(element *document.Node) bool { return mentions(element, step) }) {
		return true
	}
	return n.Kind() == document.KindString && strings.HasPrefix(n.Text(), "/") && slices.Contains(strings.Split(n.Text(), "/"), step)
}
