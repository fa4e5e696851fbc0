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
	// before is what is known of the rules that read failure, with an empty refusal where nothing was refused. now is what the
	// attempt has shown, the first refusal of each rule. Nil is for none.
	before, now map[plan.Rule]refusal
}

// refusal is why an action of a rule was refused.
type refusal struct {
	rules.Failure
	action int
}

// known is what the rules are evaluated with.
func (r *refusals) known() map[plan.Rule]rules.Failure {
	var out map[plan.Rule]rules.Failure
	for rule, refusal := range r.before {
		if refusal.Reason == "" {
			continue
		}
		if out == nil {
			out = map[plan.Rule]rules.Failure{}
		}
		out[rule] = refusal.Failure
	}
	return out
}

// word is how the reason of a condition may look. A webhook answers with any reason.
var word = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,99}$`)

// longestMessage is that of a condition of Kubernetes' own types, in bytes.
const longestMessage = 32768

// note adds why an operation was refused for good, by the API server or, if there is an Event of it, by a live read. The message has the
// prefix in place of a name that is another one each time, and nothing in it is the value of a Secret.
func (r *refusals) note(o plan.Operation, prefix string, told *plan.Event, err error, masker *mask.Masker) {
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
	for _, rule := range o.Rules {
		if _, known := r.now[rule]; known || o.Part(rule).Reacts {
			continue
		}
		if r.now == nil {
			r.now = map[plan.Rule]refusal{}
		}
		r.now[rule] = refusal{why, o.Part(rule).First}
	}
}

// of is why a write of a rule is refused, empty if none is, and whether that is known. If not all was tried, it is as before, unless what
// was refused then has been written now. A message that differs only in numbers, such as those of a quota, stays the same.
func (r *refusals) of(rule plan.Rule, p *guard.Progress) (why refusal, known bool) {
	before, known := r.before[rule]
	now, refused := r.now[rule]
	first, unfinished := p.Unfinished[rule]
	switch {
	case refused && now.Reason == before.Reason && withoutDigits(now.Message) == withoutDigits(before.Message):
		return refusal{before.Failure, now.action}, true
	case refused:
		return now, true
	case !unfinished || known && first > before.action:
		return refusal{}, true
	default:
		return before, known
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
func (r *refusals) outdate(o plan.Operation, decisions []plan.Decision, p *guard.Progress) bool {
	return slices.ContainsFunc(decisions, func(d plan.Decision) bool {
		if d.Outcome == plan.Refused || !o.Part(d.Rule).Reacts {
			return false
		}
		why, known := r.of(d.Rule, p)
		return !known || why.Failure != r.before[d.Rule].Failure
	})
}

// finish ends an attempt, and reports whether a failure has changed that an action reads.
func (r *refusals) finish(decisions []plan.Decision, p *guard.Progress) (changed bool) {
	var after map[plan.Rule]refusal
	for _, decision := range decisions {
		why, known := r.of(decision.Rule, p)
		if !decision.Reacts || !known {
			continue
		}
		changed = changed || why.Failure != r.before[decision.Rule].Failure
		if after == nil {
			after = map[plan.Rule]refusal{}
		}
		after[decision.Rule] = why
	}
	r.before, r.now = after, nil
	return changed
}
