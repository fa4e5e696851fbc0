package engine

import (
	"cmp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// refusals are why writes of rules for an object are refused, for the actions that read failure.
type refusals struct {
	// before is what the rules are evaluated with, and now what the attempt has shown, the first of each rule. Nil is for none.
	before, now map[plan.Rule]rules.Failure
}

// note adds why an operation has failed, if the API server refuses it for good. The message has the prefix in place of a name that
// is another one each time.
func (r *refusals) note(o plan.Operation, prefix string, cause guard.Cause, err error) {
	if cause != guard.Hopeless {
		return
	}
	message := err.Error()
	if prefix != "" {
		message = strings.ReplaceAll(message, o.Target.Name, prefix)
	}
	for _, rule := range o.Rules {
		if _, known := r.now[rule]; known || o.Reacts(rule) {
			continue
		}
		if r.now == nil {
			r.now = map[plan.Rule]rules.Failure{}
		}
		r.now[rule] = rules.Failure{Reason: cmp.Or(string(apierrors.ReasonForError(err)), "Refused"), Message: message}
	}
}

// of is why a write of a rule is refused, empty where all was written. Where not all was tried it is as before, and so is the message
// of the same reason, which may say what changes all the time.
func (r *refusals) of(rule plan.Rule, unfinished map[plan.Rule]int) rules.Failure {
	before, now := r.before[rule], r.now[rule]
	first, isUnfinished := unfinished[rule]
	if now.Reason == before.Reason || now.Reason == "" && isUnfinished && first != plan.Regardless {
		return before
	}
	return now
}

// outdate reports whether an operation was decided by another failure than there is now. What the evaluation refused itself was known
// to it.
func (r *refusals) outdate(o plan.Operation, decisions []plan.Decision, unfinished map[plan.Rule]int) bool {
	return slices.ContainsFunc(decisions, func(d plan.Decision) bool {
		return d.Outcome != plan.Refused && o.Reacts(d.Rule) && r.of(d.Rule, unfinished) != r.before[d.Rule]
	})
}

// finish ends an attempt, and reports whether a failure has changed that an action reads.
func (r *refusals) finish(decisions []plan.Decision, unfinished map[plan.Rule]int) (changed bool) {
	if len(r.before)+len(r.now) == 0 {
		return false
	}
	after := map[plan.Rule]rules.Failure{}
	for _, decision := range decisions {
		failure := r.of(decision.Rule, unfinished)
		changed = changed || decision.Reacts && failure != r.before[decision.Rule]
		if failure.Reason != "" {
			after[decision.Rule] = failure
		}
	}
	r.before, r.now = after, nil
	return changed
}
