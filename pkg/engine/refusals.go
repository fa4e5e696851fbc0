package engine

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/mask"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// refusals are why writes of rules for an object are refused, for the actions that read failure.
type refusals struct {
	// before is what the rules were refused, of the rules that read failure. knows are those of which it is known whether they were:
	// a process that has begun does not know it.
	before map[plan.Rule]refusal
	knows  []plan.Rule
	// now is what the attempt has shown, the first refusal of each rule, or an empty one where it has failed otherwise.
	now map[plan.Rule]refusal
}

// refusal is why an action of a rule was refused; empty if it was not. The number of the action is that in the rules of the generation.
type refusal struct {
	rules.Failure
	action, generation int
}

// known is what the rules are evaluated with.
func (r *refusals) known() map[plan.Rule]rules.Failure {
	if len(r.before) == 0 {
		return nil
	}
	out := map[plan.Rule]rules.Failure{}
	for rule, refusal := range r.before {
		out[rule] = refusal.Failure
	}
	return out
}

// word is how the reason of a condition may look. A webhook answers with any reason.
var word = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,99}$`)

// longestMessage is in bytes. Conditions of Kubernetes' own types have at most 32768.
const longestMessage = 4096

// note adds that an operation has failed: it was refused for good, or it may go on for ever without an answer that says so. What passes
// by itself shows nothing.
func (r *refusals) note(o plan.Operation, cause guard.Cause, why rules.Failure) {
	if cause != guard.Hopeless && cause != guard.Retryable {
		return
	}
	for _, rule := range o.Rules {
		part := o.Part(rule)
		if part.Reacts || r.now[rule].Reason != "" {
			continue
		}
		if r.now == nil {
			r.now = map[plan.Rule]refusal{}
		}
		r.now[rule] = refusal{}
		if cause == guard.Hopeless {
			r.now[rule] = refusal{Failure: why, action: part.Last}
		}
	}
}

// failureOf is why an operation is refused: by the API server or, if there is an Event of it, by a live read. The message has the prefix in
// place of a name that is another one each time, and nothing in it is the value of a Secret.
func failureOf(o plan.Operation, prefix string, told *plan.Event, err error, masker *mask.Masker) rules.Failure {
	why := rules.Failure{Reason: string(apierrors.ReasonForError(err)), Message: err.Error()}
	if told != nil {
		why.Reason = told.Reason
	}
	if reason := masker.Error(errors.New(why.Reason)).Error(); reason != why.Reason || !word.MatchString(reason) {
		why.Reason = "Refused"
	}
	if prefix != "" {
		why.Message = strings.ReplaceAll(why.Message, o.Target.Name, prefix)
	}
	why.Message = strings.ToValidUTF8(why.Message[:min(len(why.Message), longestMessage)], "")
	return why
}

// of is why a write of a rule is refused, and whether that is known. If not all was tried, it is as before, unless what was refused then
// has been written now. A message that differs only in numbers, such as those of a quota, stays the same; so does any of the same reason
// for who settles, as there is no pause between two attempts.
func (r *refusals) of(rule plan.Rule, a *guard.Attempt) (why refusal, known bool) {
	before := r.before[rule]
	now, answered := r.now[rule]
	now.generation = a.Generation
	first, unfinished := a.Unfinished[rule]
	switch {
	case now.Reason != "" && now.Reason == before.Reason && (a.Settling || withoutDigits(now.Message) == withoutDigits(before.Message)):
		now.Failure = before.Failure
		return now, true
	case now.Reason != "":
		return now, true
	case !unfinished, before.Reason != "" && before.generation == now.generation && first > before.action:
		return refusal{}, true
	default:
		return before, answered || slices.Contains(r.knows, rule)
	}
}

func withoutDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, text)
}

// outdate reports whether an operation was decided by another failure than there is now, or it is not known yet whether there is one.
// What the evaluation refused itself was known to it.
func (r *refusals) outdate(o plan.Operation, a *guard.Attempt) bool {
	return slices.ContainsFunc(a.Plan.Decisions, func(d plan.Decision) bool {
		if d.Outcome == plan.Refused || !o.Part(d.Rule).Reacts {
			return false
		}
		why, known := r.of(d.Rule, a)
		return !known || why.Reason != r.before[d.Rule].Reason
	})
}

// finish ends an attempt, and reports whether a failure has changed that an action reads. A rule that was not asked, or waits, has shown
// nothing.
func (r *refusals) finish(a *guard.Attempt) (changed bool) {
	for _, d := range a.Plan.Decisions {
		why, known := r.of(d.Rule, a)
		if !d.Reacts || !known || !slices.Contains([]plan.Outcome{plan.Matched, plan.Unmatched, plan.Refused}, d.Outcome) {
			continue
		}
		if !slices.Contains(r.knows, d.Rule) {
			r.knows = append(r.knows, d.Rule)
		}
		before := r.before[d.Rule]
		changed = changed || why.Failure != before.Failure
		switch {
		case why.Reason == "":
			delete(r.before, d.Rule)
		case r.before == nil:
			r.before = map[plan.Rule]refusal{d.Rule: why}
		default:
			r.before[d.Rule] = why
		}
	}
	r.now = nil
	return changed
}
