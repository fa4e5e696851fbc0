package rules

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/names"
)

// Snapshot is all that an evaluation may know.
type Snapshot struct {
	GVR    schema.GroupVersionResource
	Object map[string]any // as stored; read only. Nil for one that is gone.
	// Gone is the object that is gone, where Object is nil.
	Gone plan.Object
	// SelectedBy are the selections that hold the object, and LeftBy those that
	// surely do not: rules of them let go of what they held. Of any others, such as
	// those of a cache that lags behind, nothing is known.
	SelectedBy, LeftBy []plan.Selection

	Now time.Time
	// Related answers what rules ask about other objects, the same way throughout
	// the evaluation. It may be nil where no rule asks.
	Related lookup.Source
	// Kinds is what is known of the resources that rules name.
	Kinds map[schema.GroupVersionResource]plan.Kind
	State State
	// Explain asks for a reason in the decision of a rule that did not match.
	Explain bool
}

// State is what earlier evaluations of the object left behind. Losing it costs
// time, never a wrong decision.
type State struct {
	// HeldSince is since when the `when` of a rule holds, as its last decision
	// said.
	HeldSince map[plan.Rule]time.Time
	// Failures are why writes of the rules were refused last, for this object. A rule of which all was written has none.
	Failures map[plan.Rule]Failure
	// Separate asks for requests that are not joined from several rules.
	Separate bool
	// Ineffective is what is known to have no effect. It is not asked for.
	Ineffective plan.Marks
}

// Failure is why a write of a rule was refused, as its actions read it. It is comparable.
type Failure struct {
	Reason  string // one CamelCase word, such as Forbidden
	Message string
}

// Identity says which object the snapshot is of, and of which version.
func (s *Snapshot) Identity() plan.Object {
	if s.Object == nil {
		return s.Gone
	}
	return plan.ObjectOf(s.GVR, s.Object)
}

// Evaluate asks every rule that watches the object what it wants, and joins
// the wishes into one plan. It is pure: the same snapshot gives the same plan.
func (s *Set) Evaluate(snapshot Snapshot) plan.Plan {
	return s.evaluation(&snapshot).evaluate()
}

func (s *Set) evaluation(snapshot *Snapshot) *evaluation {
	e := &evaluation{set: s, snapshot: snapshot, object: snapshot.Identity(), instant: value.NewInstant(snapshot.Now)}
	e.budget = value.NewLazyBudget(e.size)
	return e
}

// evaluation is that of all rules on one object.
type evaluation struct {
	set      *Set
	snapshot *Snapshot
	object   plan.Object
	instant  *value.Instant
	// budget is shared by all rules, or a thousand of them would take a thousand
	// times as much as one may.
	budget  *value.Budget
	current *ruleEvaluation // of the rule that is being evaluated
	spare   *ruleEvaluation // one that is over, of which nobody keeps anything
	read    int             // bytes of the object, once they are counted
	others  int             // bytes of what the rules before have read beside it
	memos   []memo

	wishes, audited       []plan.Wish
	events, auditedEvents []plan.Event
	decisions             []plan.Decision
	reads                 []plan.Read
	secret                map[plan.Rule]bool
	unheld                []plan.Rule

	explanation *explanation // of one of the rules, nil for none
	// asked is given each condition that a rule asks for, nil for nobody.
	asked func(*Rule, *expression.Program, expression.Clause)
}

func (e *evaluation) evaluate() plan.Plan {
	all := e.set.byGVR[e.snapshot.GVR]
	e.decisions = make([]plan.Decision, 0, len(all))
	for _, rule := range all {
		if rule.concerns(e.snapshot) {
			e.add(rule)
		}
	}
	return e.plan()
}

// concerns reports whether the rule has a say about the object: it selects it, or
// may have left something of it behind.
func (r *Rule) concerns(s *Snapshot) bool {
	switch {
	case s.Object == nil:
		return len(r.prunes) > 0
	case r.watches(s.SelectedBy):
		return true
	case !r.Lingers():
		return false
	default:
		return !slices.ContainsFunc(r.selections, func(selection plan.Selection) bool {
			return selection.GVR == s.GVR && !slices.Contains(s.LeftBy, selection)
		})
	}
}

// size is how much the rules have read so far.
func (e *evaluation) size() int {
	if e.read == 0 {
		e.read = expression.ObjectSize(e.snapshot.Object)
	}
	return e.read + e.others + e.current.reader.Size()
}

func (e *evaluation) add(rule *Rule) {
	e.budget.Reserve()
	t := rule.begin(e)
	e.current = t
	e.decisions = append(e.decisions, t.run())
	if t.holds && !rule.held(e.snapshot.Object) {
		e.unheld = append(e.unheld, rule.ID)
	}
	if rule.Audited() {
		e.audited, e.auditedEvents = append(e.audited, t.action.Wishes...), append(e.auditedEvents, t.action.Events...)
	} else {
		if e.wishes == nil && len(t.action.Wishes) > 0 { // Where one rule wants something, others do.
			e.wishes = make([]plan.Wish, 0, max(len(t.action.Wishes), min(cap(e.decisions), 16)))
		}
		e.wishes = append(e.wishes, t.action.Wishes...)
		e.events = append(e.events, t.action.Events...)
	}
	e.wishes = append(e.wishes, t.freed...)
	e.reads = append(e.reads, t.reader.Reads()...)
	if t.secret() {
		if e.secret == nil {
			e.secret = map[plan.Rule]bool{}
		}
		e.secret[rule.ID] = true
	}
	e.others += t.reader.Size()
	if e.explanation != nil {
		e.explanation.end(t)
	} else {
		e.spare = t
	}
}

func (e *evaluation) plan() plan.Plan {
	state := e.snapshot.State
	options := e.set.options
	options.Separate, options.Ineffective = state.Separate, state.Ineffective
	out := plan.Build(e.wishes, options)
	refused := out.Decisions
	out.Events, out.AuditedEvents, out.Decisions = e.events, e.auditedEvents, e.decisions
	if len(e.audited) > 0 {
		wouldBe := plan.Build(e.audited, options)
		out.Audited = wouldBe.Operations
		refused = append(refused, wouldBe.Decisions...)
	}
	refuse(&out, refused)
	hideReasons(out.Decisions, e.secret)
	out.Reads, out.Unheld = plan.Distinct(e.reads), e.unheld
	out.LookAgainAt = e.instant.Next()
	return out
}

// refuse replaces the decisions of the rules that were left out of the plan,
// and drops their Events.
func refuse(out *plan.Plan, refused []plan.Decision) {
	for _, decision := range refused {
		for i := range out.Decisions {
			if was := out.Decisions[i]; was.Rule == decision.Rule {
				decision.Audited, decision.HeldSince, decision.Zone, decision.Health = was.Audited, was.HeldSince, was.Zone, was.Health
				out.Decisions[i] = decision
			}
		}
		of := func(event plan.Event) bool { return event.Rule == decision.Rule }
		out.Events, out.AuditedEvents = slices.DeleteFunc(out.Events, of), slices.DeleteFunc(out.AuditedEvents, of)
	}
}

// ruleEvaluation is that of one rule on one object. It is not for concurrent use, and
// not copied once it has begun.
type ruleEvaluation struct {
	rule        *Rule
	evaluation  *evaluation
	snapshot    *Snapshot
	memos       []memo // what its names stand for, by slot
	expressions expression.Evaluation
	reader      lookup.Reader
	action      action.Evaluation
	holds       bool // its first wish is its finalizer
	// freed takes finalizers off and restores fields, which audited rules do too.
	freed       []plan.Wish
	steps       []*action.Step // those that it acts by, once it does
	failure     *Failure       // as they read it, nil for none
	explanation *explanation   // nil for none
}

// begin prepares an evaluation of the rule: all of one piece, since most end without a match.
func (r *Rule) begin(e *evaluation) *ruleEvaluation {
	s, object := e.snapshot, e.object
	t := e.spare
	if e.spare = nil; t == nil {
		t = &ruleEvaluation{}
	}
	wishes := t.action.Wishes[:0]
	*t = ruleEvaluation{rule: r, evaluation: e, snapshot: s}
	t.reader = lookup.Reader{Source: s.Related, Kinds: s.Kinds, Home: object, Current: s.Object}
	t.expressions = expression.Evaluation{Names: t, Budget: e.budget, Instant: e.instant}
	t.action = action.Evaluation{
		Rule: r.ID, Object: object, Current: s.Object, Expressions: &t.expressions, Related: &t.reader, Wishes: wishes,
	}
	if e.asked != nil {
		t.expressions.Explained = func(p *expression.Program, c expression.Clause) { e.asked(r, p, c) }
	}
	if e.explanation != nil && e.explanation.rule == r {
		e.explanation.begin(t)
	}
	return t
}

// run lets the rule decide. A rule that fails wants nothing but its finalizer, if its `when` holds; one that is refused
// keeps what it asked for before.
func (t *ruleEvaluation) run() plan.Decision {
	decision, err := t.decide()
	if err == nil {
		err = t.permitted()
	}
	refusal, refused := errors.AsType[*action.Refusal](err)
	switch {
	case errors.Is(err, lookup.ErrNotSynced) || errors.Is(t.reader.Err(), lookup.ErrNotSynced):
		t.action.Wishes, t.action.Events, t.holds = nil, nil, false
		decision = t.skipped("a cache that it reads is not complete")
		decision.HeldSince = t.snapshot.State.HeldSince[t.rule.ID]
	case refused:
		decision.Outcome, decision.Reason, decision.Err = plan.Refused, refusal.Error(), refusal.Err
		for _, event := range refusal.Events {
			if t.secret() {
				event = *hidden(&event)
			}
			t.action.Events = append(t.action.Events, event)
		}
	case err != nil:
		t.action.Wishes, t.action.Events = t.action.Wishes[:0], nil
		if t.holds {
			t.action.Wishes = t.action.Wishes[:1]
		}
		decision.Outcome, decision.Reason, decision.Err = plan.Failed, err.Error(), err
	}
	decision.Health = t.health()
	t.confirm()
	if zone := t.expressions.Instant.TakeZone(); zone != "" && !t.secret() {
		decision.Zone = zone
	}
	return decision
}

// permitted refuses writes to resources that are not in the footprint of the rule: its permissions and --allow-sensitive were checked by that.
func (t *ruleEvaluation) permitted() error {
	for _, wish := range t.action.Wishes {
		if access := t.rule.Footprint().Lookup(wish.Target.GVR); access == nil || !access.Writable() {
			return fmt.Errorf("the rule would write %s, but its permissions were not checked for that: this is a bug in dyncontroller, please report it", plan.ResourceName(wish.Target.GVR))
		}
	}
	return nil
}

// memo is what a name stands for, once it was asked.
type memo struct {
	done  bool
	value any
	err   error
}

// Value implements [expression.Names]: each name is evaluated at most once.
func (t *ruleEvaluation) Value(slot int) (any, error) {
	switch slot {
	case names.Object:
		return t.snapshot.Object, nil
	case names.Rule:
		return t.rule.about, nil
	case names.Params:
		return t.rule.params, nil
	case t.rule.names.Failure():
		if t.failure == nil {
			return nil, nil
		}
		return map[string]any{"reason": t.failure.Reason, "message": t.failure.Message}, nil
	}
	if t.memos == nil {
		slots := t.rule.names.Slots()
		t.memos = slices.Grow(t.evaluation.memos[:0], slots)[:slots]
		clear(t.memos)
		t.evaluation.memos = t.memos
	}
	at := &t.memos[slot]
	if !at.done {
		if d := t.rule.names.At(slot); d.Related != nil {
			at.value, at.err = d.Related.Evaluate(&t.expressions, &t.reader)
		} else {
			at.value, at.err = d.Value.Eval(&t.expressions)
		}
		at.done = true
	}
	return at.value, at.err
}

// decide evaluates the rule.
func (t *ruleEvaluation) decide() (plan.Decision, error) {
	r, current := t.rule, t.action.Current
	deleted := current != nil && plan.BeingDeleted(current)
	switch {
	case current == nil:
		return t.skipped("the object is gone"), t.prune()
	case deleted && r.onDelete == nil:
		return t.skipped("the object is being deleted"), nil
	case deleted && r.onDelete.hold:
		return t.finish()
	case !t.selected():
		t.release()
		return t.skipped(unselected), t.prune()
	case r.Suspended():
		t.release()
		return t.skipped(r.idle()), nil
	}
	decision, err := t.ready()
	if r.Audited() || err == nil && decision.Outcome == plan.Unmatched {
		t.release()
	}
	switch {
	case err != nil || decision.Outcome == plan.Waiting:
		return decision, err
	case decision.Outcome == plan.Unmatched:
		return decision, t.prune()
	case deleted:
		return decision, t.act(r.onDelete.steps)
	}
	if r.holds() && !r.Audited() {
		t.action.Wishes, t.holds = append(t.action.Wishes, r.finalizer(t.action.Object, current, true)), true
	}
	err = t.act(r.steps)
	t.restore(err != nil)
	if err != nil {
		return decision, err
	}
	return decision, t.prune()
}

const unselected = "the rule does not select the object any more"

func (t *ruleEvaluation) selected() bool { return t.rule.watches(t.snapshot.SelectedBy) }

// finish acts where the finalizer of the rule is on an object that is being deleted, and takes it off
// once the rule is done: even where it does not select it any more, or `when` turned
// false, since the finalizer is the promise to do so. Where nothing says when it is done, that follows the actions in
// the same plan: a failed one stops it.
func (t *ruleEvaluation) finish() (plan.Decision, error) {
	r := t.rule
	switch {
	case !r.held(t.action.Current):
		return t.skipped("the object is being deleted, and the rule does not hold it"), nil
	case r.Suspended() || r.Audited():
		t.letGo()
		return t.skipped(r.idle() + ", so it lets the object go"), nil
	}
	err := t.act(r.onDelete.steps)
	done := true
	if err == nil && r.onDelete.done != nil {
		done, err = r.onDelete.done.EvalBool(&t.expressions)
	}
	if err == nil && done {
		t.letGo()
	}
	return t.decision(plan.Matched), err
}

// ready tells whether `when` holds, and has held for long enough.
func (t *ruleEvaluation) ready() (plan.Decision, error) {
	matched, err := true, error(nil)
	if t.rule.when != nil {
		matched, err = t.rule.when.EvalBool(&t.expressions)
	}
	switch {
	case err != nil:
		return t.decision(plan.Failed), err
	case !matched:
		decision := t.decision(plan.Unmatched)
		if t.snapshot.Explain {
			decision.Reason = t.whyNot(t.rule.when)
		}
		return decision, nil
	case t.rule.hold == nil:
		return t.decision(plan.Matched), nil
	default:
		return t.wait(t.decision(plan.Matched))
	}
}

// wait tells whether `when` has held for long enough.
func (t *ruleEvaluation) wait(decision plan.Decision) (plan.Decision, error) {
	long, err := t.rule.hold.duration(&t.expressions)
	if err != nil {
		return decision, err
	}
	if t.explanation != nil {
		t.explanation.moment("a time in its for comes", t.explanation.holds())
	}
	now := t.expressions.Instant.Now()
	since, held := t.snapshot.State.HeldSince[t.rule.ID]
	if !held || since.After(now) {
		since = now
	}
	decision.HeldSince = since
	if until := since.Add(long); now.Before(until) {
		t.expressions.Instant.ChangesAt(until)
		if t.explanation != nil {
			t.explanation.moment("its condition has held for long enough", t.explanation.holds())
		}
		decision.Outcome = plan.Waiting
		decision.Reason = "when holds since " + since.UTC().Format(time.RFC3339)
		if t.rule.hold.computed == nil || !t.secret() {
			decision.Reason += ", and must hold for " + long.String()
		}
	}
	return decision, nil
}

// act carries out the actions. Those that read failure come last, and whatever becomes of the others.
func (t *ruleEvaluation) act(steps []*action.Step) error {
	t.steps, t.action.Derived = steps, t.rule.effects().derived
	reacts := t.rule.effects().reacts
	if failure, failed := t.snapshot.State.Failures[t.rule.ID]; failed {
		t.failure = &failure
	}
	var err error
	for i, step := range steps {
		if reacts[step] {
			continue
		}
		if err = t.carryOut(step, i+1, false); err != nil {
			break
		}
	}
	refusal, refused := errors.AsType[*action.Refusal](err)
	if refused {
		t.failure = &Failure{Reason: refusal.Reason(), Message: refusal.Err.Message}
		if t.secret() {
			t.failure.Message = shownReason(refusal.Err)
		}
	} else if err != nil {
		return err
	}
	for i, step := range steps {
		if !reacts[step] {
			continue
		}
		wrong := t.carryOut(step, i+1, true)
		if also, too := errors.AsType[*action.Refusal](wrong); too && refused {
			refusal.Events = append(refusal.Events, also.Events...)
			break
		} else if wrong != nil {
			return wrong
		}
	}
	return err
}

func (t *ruleEvaluation) carryOut(step *action.Step, number int, reacts bool) error {
	before, events := len(t.action.Wishes), len(t.action.Events)
	err := step.Evaluate(&t.action)
	t.mark(step, t.action.Wishes[before:], t.action.Events[events:])
	type place struct {
		gvr                          schema.GroupVersionResource
		namespace, name, subresource string
	}
	placeOf := func(w *plan.Wish) place { return place{w.Target.GVR, w.Target.Namespace, w.Target.Name, w.Subresource} }
	applied := map[place]bool{}
	for i := range t.action.Wishes[:before] {
		if wish := &t.action.Wishes[i]; reacts && !wish.Reacts && wish.Type == plan.Apply {
			applied[placeOf(wish)] = true
		}
	}
	for i := range t.action.Wishes[before:] {
		wish := &t.action.Wishes[before+i]
		wish.Action, wish.Reacts = number, reacts
		if err == nil && wish.Type == plan.Apply && applied[placeOf(wish)] {
			err = fmt.Errorf("%s is applied by an action that reads failure and by another one, and each request would remove the fields "+
				"of the other; write them into one action", wish.Target)
		}
	}
	if t.explanation != nil {
		t.explanation.step(step, err)
	}
	return err
}

// prune wishes away what the rule applied before and does not want any more. A
// suspended rule wants nothing to change. While the object is being deleted its children stay until it is gone.
func (t *ruleEvaluation) prune() error {
	if t.rule.Suspended() || plan.BeingDeleted(t.action.Current) {
		return nil
	}
	before := len(t.action.Wishes)
	for _, children := range t.rule.prunes {
		if err := action.Prune(&t.action, children); err != nil {
			return err
		}
	}
	for i := range t.action.Wishes[before:] {
		t.action.Wishes[before+i].Action = plan.Afterwards
	}
	return nil
}

// release takes the finalizer of the rule off, and restores what it has changed for a while.
func (t *ruleEvaluation) release() {
	t.restoreAll()
	if t.rule.holds() && t.rule.held(t.action.Current) {
		t.letGo()
	}
}

// letGo takes the finalizer off after all else that the rule wants.
func (t *ruleEvaluation) letGo() {
	wish := t.rule.finalizer(t.action.Object, t.action.Current, false)
	wish.Action = plan.Afterwards
	t.freed = append(t.freed, wish)
}

// confirm says by which look-ups the rule may have decided what it wants. What is told about a wish later has nothing of a Secret.
func (t *ruleEvaluation) confirm() {
	if len(t.action.Wishes)+len(t.freed) == 0 {
		return
	}
	seen, missed, secret := t.reader.Seen(), t.reader.Missed(), t.secret()
	for i := range t.freed {
		t.freed[i].Reads, t.freed[i].Missed = seen, missed
	}
	for i := range t.action.Wishes {
		wish := &t.action.Wishes[i]
		wish.Reads, wish.Missed = seen, missed
		if secret && wish.Unseen != nil {
			wish.Unseen = &plan.Unseen{From: wish.Unseen.From, Event: hidden(wish.Unseen.Event)}
		}
	}
}

func (t *ruleEvaluation) decision(outcome plan.Outcome) plan.Decision {
	return plan.Decision{Rule: t.rule.ID, Outcome: outcome, Audited: t.rule.Audited(), Reacts: len(t.rule.effects().reacts) > 0}
}

func (t *ruleEvaluation) skipped(reason string) plan.Decision {
	decision := t.decision(plan.Skipped)
	decision.Reason = reason
	return decision
}
