package engine

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/quarantine"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// reasonQuarantined is of the Event that tells of a rule in quarantine.
const reasonQuarantined = "Quarantined"

// Quarantined lists the rules that keep failing, in the order of the objects and rules.
func (e *Engine) Quarantined() []quarantine.Case[Key] { return e.quarantine.List(Key.compare) }

// QuarantinedObjects counts the objects for which each rule is in quarantine. The zero
// rule stands for those that could not be looked at.
func (e *Engine) QuarantinedObjects() map[plan.Rule]int { return e.quarantine.Counts() }

// quarantined keeps a rule from failing again too soon. Others go on.
func (a *attempt) quarantined(operation plan.Operation) *obstacle {
	if !a.engine.quarantine.Has(a.key) {
		return nil
	}
	seen := a.saw(nil)
	for _, rule := range operation.Rules {
		if held, err := a.engine.quarantine.Holds(a.key, rule, seen); held {
			return &obstacle{err: err} // The quarantine says when it is looked at again.
		}
	}
	return nil
}

// saw is what the attempt was decided by, with the versions of what it has written
// itself.
func (a *attempt) saw(written map[types.UID]string) quarantine.Grounds[*active] {
	var seen []quarantine.Object
	add := func(object map[string]any) {
		uid := uidOf(object)
		version, changed := written[uid]
		if !changed {
			version = versionOf(object)
		}
		seen = append(seen, quarantine.Object{UID: uid, Version: version})
	}
	add(a.asked.watched)
	for _, known := range a.asked.answers {
		for _, object := range known.objects {
			add(object)
		}
	}
	return a.engine.quarantine.Grounds(seen, a.now.begun)
}

// written are the versions of objects that the attempt has changed.
func (a *attempt) written() map[types.UID]string {
	out := map[types.UID]string{}
	for _, object := range a.latest {
		out[object.UID] = object.ResourceVersion
	}
	return out
}

// isolate puts rules in quarantine that keep failing, and lets go those that do not any
// more. Who settles gives up instead.
func (a *attempt) isolate(decided plan.Plan) {
	q := a.engine.quarantine
	setbacks := append(unevaluated(decided.Decisions), a.outcome.setbacks...)
	if a.engine.open.keeping() || len(setbacks) == 0 && !q.Has(a.key) {
		return
	}
	saw := a.saw(a.written())
	if len(a.latest) > 0 {
		q.Echo(a.key, a.saw(nil), saw)
	}
	for _, s := range setbacks {
		if a.outcome.split && len(s.rules) > 1 {
			continue // It is not known yet whose fault it is.
		}
		for _, rule := range s.rules {
			if q.Fail(a.key, rule, s.Setback, saw) && !s.Futile {
				a.tellIsolated(rule, s.Err)
			}
		}
	}
	a.letGo(decided.Decisions)
	if a.onlySlowed(setbacks) {
		a.outcome.state = settled // The quarantine says when it is looked at again.
	}
}

// unevaluated are the rules that cannot be evaluated. They are functions of what they
// see, so that is what has to change. They are told of as decisions are: a rule that is
// wrong may fail for all objects at once, and an Event of each would be too much.
func unevaluated(decisions []plan.Decision) []setback {
	var out []setback
	for _, t := range troubled(slices.DeleteFunc(slices.Clone(decisions), func(d plan.Decision) bool { return d.Outcome != plan.Failed })) {
		out = append(out, setback{t.rules, quarantine.Setback{Err: t.err, Hopeless: true, Futile: true}})
	}
	return out
}

// letGo forgets the rules that have come to an end, or have nothing to do with the object
// any more.
func (a *attempt) letGo(decisions []plan.Decision) {
	stays := map[plan.Rule]bool{}
	for _, t := range a.outcome.troubles {
		for _, rule := range t.rules {
			stays[rule] = true
		}
	}
	for _, decision := range decisions {
		if !a.concluded(decision) {
			stays[decision.Rule] = true
		}
	}
	a.engine.release(a.key, func(rule plan.Rule) bool { return !stays[rule] })
}

// release takes rules out of quarantine.
func (e *Engine) release(key Key, done func(plan.Rule) bool) {
	for _, rule := range e.quarantine.Release(key, done) {
		e.log(key).Info("out of quarantine", "rule", nameOf(rule))
	}
}

// onlySlowed reports whether nothing is to be tried again but what is tried slowly.
// What was written besides has still to be seen.
func (a *attempt) onlySlowed(setbacks []setback) bool {
	return a.outcome.state == retry && !a.outcome.wrote && !a.outcome.split &&
		!slices.ContainsFunc(setbacks, func(s setback) bool {
			return s.Passes || slices.ContainsFunc(s.rules, func(rule plan.Rule) bool { return !a.engine.quarantine.Slows(a.key, rule) })
		})
}

// tellIsolated says so once a quarantine, and on the object unless that has been told of
// already, or is gone.
func (a *attempt) tellIsolated(rule plan.Rule, err error) {
	if a.foreseen(err) {
		return
	}
	a.engine.logIsolated(a.key, rule, err)
	a.warn(rule, reasonQuarantined, fmt.Sprintf("rule %s keeps failing%s and is tried again slowly; the log says why", rule, kindOf(err)))
}

// kindOf says for an Event what kind of an error it is. The whole text may name what is none of
// the business of who reads Events, such as another namespace that the rule has asked about.
func kindOf(err error) string {
	if reason := apierrors.ReasonForError(err); reason != metav1.StatusReasonUnknown {
		return fmt.Sprintf(" (%s)", reason)
	}
	return ""
}

func (e *Engine) logIsolated(key Key, rule plan.Rule, err error) {
	e.log(key).Warn("keeps failing and is in quarantine", "rule", nameOf(rule), "err", err)
}

// nameOf is empty for all rules.
func nameOf(rule plan.Rule) string {
	if rule == (plan.Rule{}) {
		return ""
	}
	return rule.String()
}

// setBack is for a turn in which no rule was asked. Where it failed before that, the object
// is put in quarantine as a whole, and where there is none any more it is forgotten there.
func (e *Engine) setBack(key Key, result outcome) outcome {
	if result.troubles == nil && e.memory.known(key) == nil {
		e.release(key, func(plan.Rule) bool { return true })
	}
	if result.looked || e.open.keeping() {
		return result
	}
	slowed := false
	for _, s := range result.setbacks {
		if e.quarantine.Fail(key, plan.Rule{}, s.Setback, quarantine.Grounds[*active]{}) {
			e.logIsolated(key, plan.Rule{}, s.Err)
		}
		slowed = e.quarantine.Slows(key, plan.Rule{}) && !s.Passes
	}
	if slowed && !result.wrote {
		result.state = settled // The quarantine says when it is looked at again.
	}
	return result
}

// resting reports whether an object is left alone for now that could not be looked at,
// and has it looked at when that is over.
func (e *Engine) resting(key Key) bool {
	wait := e.quarantine.Rests(key)
	if wait <= 0 {
		return false
	}
	e.queue.AddAfter(key, wait)
	return true
}

// lookAgainSlowly has an object looked at when a rule is to be tried again that was put
// off.
func (e *Engine) lookAgainSlowly(key Key) {
	e.lookAgainIn(key, e.quarantine.Next(key))
}
