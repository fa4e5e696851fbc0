package rules

import (
	"errors"
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
)

// turn is one rule looking at one object. It is not for concurrent use, and
// not copied once it has begun.
type turn struct {
	rule        *Rule
	snapshot    *Snapshot
	names       values
	expressions expression.Evaluation
	reader      relation.Reader
	action      action.Evaluation
	// freed takes finalizers off, which audited rules do too.
	freed []plan.Wish
	told  *explanation // nil for nobody
}

// begin prepares a turn: all of one piece, since most turns end without a match.
func (r *Rule) begin(e *evaluation) *turn {
	s, object := e.snapshot, e.object
	t := e.spare
	if e.spare = nil; t == nil {
		t = &turn{}
	}
	wishes := t.action.Wishes[:0]
	*t = turn{rule: r, snapshot: s}
	t.reader = relation.Reader{Source: s.Related, Kinds: s.Kinds, Home: object, Current: s.Object}
	t.expressions = expression.Evaluation{
		Names:   &t.names,
		Budget:  e.budget,
		Instant: e.instant,
	}
	t.names = values{rule: r, object: s.Object, expressions: &t.expressions, reader: &t.reader, spare: &e.memos}
	t.action = action.Evaluation{
		Rule: r.ID, Object: object, Current: s.Object, Expressions: &t.expressions, Related: &t.reader, Wishes: wishes,
	}
	if e.told != nil && e.told.rule == r {
		t.told = e.told
		t.expressions.Instant = expression.NewInstant(e.instant.Now()) // Of its own.
	}
	return t
}

// run lets the rule decide. A rule that fails wants nothing; one that is refused
// keeps what it asked for before.
func (t *turn) run() plan.Decision {
	decision, err := t.decide()
	refusal, refused := errors.AsType[*action.Refusal](err)
	switch {
	case errors.Is(err, relation.ErrNotSynced) || errors.Is(t.reader.Err(), relation.ErrNotSynced):
		t.action.Wishes, t.action.Events = nil, nil
		decision = t.skipped("a cache that it reads is not complete")
		decision.HeldSince = t.snapshot.State.HeldSince[t.rule.ID]
	case refused:
		decision.Outcome, decision.Reason, decision.Err = plan.Refused, refusal.Error(), refusal.Err
		if refusal.Event != nil {
			event := *refusal.Event
			if t.secret() {
				event.Message = errSecret.Error()
			}
			t.action.Events = append(t.action.Events, event)
		}
	case err != nil:
		t.action.Wishes, t.action.Events = nil, nil
		decision.Outcome, decision.Reason, decision.Err = plan.Failed, err.Error(), err
	}
	t.confirm()
	t.hide()
	return decision
}

// hide keeps what the rule has seen of a Secret out of what may be told about its
// wishes later.
func (t *turn) hide() {
	if !t.secret() {
		return
	}
	for i := range t.action.Wishes {
		wish := &t.action.Wishes[i]
		if wish.Unseen == nil || wish.Unseen.Event == nil {
			continue
		}
		event := *wish.Unseen.Event
		event.Message = errSecret.Error()
		wish.Unseen = &plan.Unseen{From: wish.Unseen.From, Event: &event}
	}
}

func (t *turn) decide() (plan.Decision, error) {
	switch current := t.action.Current; {
	case current == nil:
		return t.skipped("the object is gone"), t.prune()
	case plan.BeingDeleted(current):
		return t.bury()
	case !t.selected():
		t.release()
		return t.skipped(unselected), t.prune()
	case t.rule.suspended():
		t.release()
		return t.skipped(t.rule.idle()), nil
	default:
		return t.judge()
	}
}

const unselected = "the rule does not select the object any more"

func (t *turn) selected() bool { return t.rule.watches(t.snapshot.SelectedBy) }

// judge evaluates the rule on a living object.
func (t *turn) judge() (plan.Decision, error) {
	decision, err := t.ready()
	if t.rule.audited() || err == nil && decision.Outcome == plan.Unmatched {
		t.release()
	}
	switch {
	case err != nil || decision.Outcome == plan.Waiting:
		return decision, err
	case decision.Outcome == plan.Unmatched:
		return decision, t.prune()
	}
	if t.rule.holds() && !t.rule.audited() {
		t.action.Wishes = append(t.action.Wishes, t.rule.finalizer(t.action.Object, t.action.Current, true))
	}
	if err := t.act(t.rule.steps); err != nil {
		return decision, err
	}
	return decision, t.prune()
}

// ready tells whether `when` holds, and has held for long enough.
func (t *turn) ready() (plan.Decision, error) {
	matched, err := t.matches()
	switch {
	case err != nil:
		return t.decision(plan.Failed), err
	case !matched:
		return t.unmatched(), nil
	case t.rule.hold == nil:
		return t.decision(plan.Matched), nil
	default:
		return t.wait(t.decision(plan.Matched))
	}
}

// matches evaluates `when`.
func (t *turn) matches() (bool, error) {
	if t.rule.when == nil {
		return true, nil
	}
	return t.ask(t.rule.when)
}

// ask evaluates a condition of the rule.
func (t *turn) ask(condition *body.Expression) (bool, error) {
	if t.told != nil {
		return t.told.ask(t, condition)
	}
	return condition.EvalBool(&t.expressions)
}

// wait tells whether `when` has held for long enough.
func (t *turn) wait(decision plan.Decision) (plan.Decision, error) {
	long, err := t.rule.hold.duration(&t.expressions)
	if err != nil {
		return decision, err
	}
	now := t.expressions.Instant.Now()
	since, held := t.snapshot.State.HeldSince[t.rule.ID]
	if !held || since.After(now) {
		since = now
	}
	decision.HeldSince = since
	if until := since.Add(long); now.Before(until) {
		t.expressions.Instant.ChangesAt(until)
		if t.told != nil {
			t.told.moment(t, "its condition has held for long enough")
		}
		decision.Outcome = plan.Waiting
		decision.Reason = "when holds since " + since.UTC().Format(time.RFC3339)
		if t.rule.hold.computed == nil || !t.secret() {
			decision.Reason += ", and must hold for " + long.String()
		}
	}
	return decision, nil
}

func (t *turn) act(steps []*action.Step) error {
	if t.told != nil {
		return t.told.act(t, steps)
	}
	for _, step := range steps {
		if err := step.Evaluate(&t.action); err != nil {
			return err
		}
	}
	return nil
}

// prune wishes away what the rule applied before and does not want any more. A
// suspended rule wants nothing to change.
func (t *turn) prune() error {
	if t.rule.suspended() {
		return nil
	}
	for _, declared := range t.rule.prunes {
		if err := action.Prune(&t.action, declared); err != nil {
			return err
		}
	}
	return nil
}

// release takes the finalizer of the rule off.
func (t *turn) release() {
	if t.rule.holds() && t.rule.held(t.action.Current) {
		t.letGo()
	}
}

// letGo takes the finalizer off after all else that the rule wants.
func (t *turn) letGo() {
	t.freed = append(t.freed, t.rule.finalizer(t.action.Object, t.action.Current, false))
}

// confirm says by which look-ups the rule may have decided what it wants. What cannot be taken back waits for a live
// look where a named object was not found.
func (t *turn) confirm() {
	if len(t.action.Wishes)+len(t.freed) == 0 {
		return
	}
	seen, missed := t.reader.Seen(), t.reader.Missed()
	for i := range t.freed {
		t.freed[i].Reads = seen
	}
	for i := range t.action.Wishes {
		wish := &t.action.Wishes[i]
		wish.Reads = seen
		creates := wish.Type == plan.Create || wish.Type == plan.Apply && wish.Target.UID == ""
		if len(missed) > 0 && (creates || wish.Type == plan.Delete) {
			wish.Confirm = append(wish.Confirm, missed...)
		}
	}
}

// secret reports whether values that the rule has seen must not be shown.
func (t *turn) secret() bool {
	return t.action.Object.IsSecret() || slices.ContainsFunc(t.reader.Seen(), plan.Read.IsSecret)
}

func (t *turn) decision(outcome plan.Outcome) plan.Decision {
	return plan.Decision{Rule: t.rule.ID, Outcome: outcome, Audited: t.rule.audited()}
}

func (t *turn) skipped(reason string) plan.Decision {
	decision := t.decision(plan.Skipped)
	decision.Reason = reason
	return decision
}

func (t *turn) unmatched() plan.Decision {
	decision := t.decision(plan.Unmatched)
	if t.snapshot.Explain {
		decision.Reason = t.rule.whyNot(&t.expressions, t.secret())
	}
	return decision
}
