package rules

import (
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

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
