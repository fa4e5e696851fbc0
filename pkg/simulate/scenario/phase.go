package scenario

import (
	"errors"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/mask"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Phase is what happened between two moments at which the rules had settled, in order
// and in the form that is shown. The values of Secrets are masked.
type Phase struct {
	// Decisions are those of each evaluation, without those that say the same of a rule
	// and an object as the one before.
	Decisions []Decision `json:"decisions"`
	Writes    []Write    `json:"writes"`
	// Audited are the writes of rules in mode Audit, which are not made.
	Audited []Write `json:"audited,omitempty"`
	Events  []Event `json:"events"`
	// AuditedEvents are those of rules in mode Audit, which are not recorded.
	AuditedEvents []Event `json:"-"`
	// Objects are those that are new, or not as they were, by their names.
	Objects []Changed `json:"objects,omitempty"`
	// Waiting is what waits for a wave of a rollout, Paused what a rule does not do since it is paused, and Failures what else could not
	// be done and neither a decision nor an answer says.
	Waiting  []Failure `json:"waiting,omitempty"`
	Paused   []Failure `json:"paused,omitempty"`
	Failures []Failure `json:"failures,omitempty"`
	// LookAgainAt is when what was decided last changes with time alone.
	LookAgainAt []Look `json:"lookAgainAt,omitempty"`
	// Evaluations is how many there had been at its end, since the beginning.
	Evaluations int `json:"-"`
}

// Decision is what became of one rule on one object.
type Decision struct {
	Object  string       `json:"object"`
	Rule    string       `json:"rule"`
	Outcome plan.Outcome `json:"outcome"`
	Mode    spec.Mode    `json:"mode,omitempty"` // empty for Enforce
	Reason  string       `json:"reason,omitempty"`
	// Repeated says that the last decision of the rule on the object differs in its reason alone.
	Repeated bool `json:"-"`
	// Err is why a rule failed, with its place in the rules where it has one.
	// Reason says the same without the place, which changes with every edit.
	Err error `json:"-"`
	// Evaluation is the one that it is of, counted from 1 since the beginning.
	Evaluation int `json:"-"`
}

// Write is a request as it was sent. The uid and the resourceVersion that guard it are
// not the same in every cluster: a word stands for them.
type Write struct {
	Object      string    `json:"object"`
	Rules       []string  `json:"rules"`
	Type        plan.Type `json:"type"`
	Subresource string    `json:"subresource,omitempty"`
	Manager     string    `json:"manager,omitempty"`
	Force       bool      `json:"force,omitempty"`
	Body        any       `json:"body,omitempty"`
	// Answer is what the API server said, empty where it did what was asked.
	Answer string `json:"answer,omitempty"`
	// Failed says that it did not.
	Failed bool `json:"-"`
	// Operation is what it was sent for, and Class what became of that.
	Operation plan.Operation `json:"-"`
	Class     write.Class    `json:"-"`
	// Evaluation is the one that wants it.
	Evaluation int `json:"-"`
}

// Event is a Kubernetes Event that follows the writes of its rule.
type Event struct {
	Object  string `json:"object"`
	Rule    string `json:"rule"`
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Action  string `json:"action"`
	Message string `json:"message"`
	// Answer is why it could not be recorded, empty where it was.
	Answer string `json:"answer,omitempty"`
	// Again says that it ended an episode before: its series counts one more.
	Again bool `json:"again,omitempty"`
	// Evaluation is the one that wants it.
	Evaluation int `json:"-"`
}

// NotDone is all that waits, is paused, or has failed.
func (p *Phase) NotDone() []Failure { return slices.Concat(p.Waiting, p.Paused, p.Failures) }

// Failure is what kept rules from something.
type Failure struct {
	Object string   `json:"object"`
	Rules  []string `json:"rules,omitempty"`
	Error  string   `json:"error"`
	// Hold tells what waits for a wave of a rollout, and what is paused, from what has failed.
	Hold limit.Hold `json:"-"`
}

// Look is the earliest instant at which the rules may want something else of an
// object although nothing has changed.
type Look struct {
	Object string `json:"object"`
	At     string `json:"at"` // RFC 3339
}

// Changed is an object after a phase.
type Changed struct {
	Object string `json:"object"`
	// Gone says that it is not there any more.
	Gone bool `json:"gone,omitempty"`
	// Patch is the JSON merge patch (RFC 7386) from what it was, without the generation, in a
	// scenario that tells patches.
	Patch map[string]any `json:"patch,omitempty"`
	// Now is the object without managedFields, uid and resourceVersion.
	Now map[string]any `json:"now,omitempty"`
}

// hide masks what is shown of a phase: the values of Secrets, and what rules made of them, which is in derived fields of objects.
func hide(v *redact.Values, derived derivedFields, p *Phase) {
	text := func(all ...*string) {
		for _, one := range all {
			*one = v.Text(*one)
		}
	}
	for i := range p.Decisions {
		decision := &p.Decisions[i]
		text(&decision.Object, &decision.Reason)
		decision.Err = hideError(v, decision.Err)
	}
	for _, writes := range [][]Write{p.Writes, p.Audited} {
		for i := range writes {
			w := &writes[i]
			was := w.Operation
			w.Operation, w.Body = mask.Operation(v, was), hideBody(v, derived, w.Object, w.Body)
			w.Object = w.Operation.Target.String()
			text(&w.Answer)
			for j := range w.Operation.Changes {
				change, was := &w.Operation.Changes[j], was.Changes[j]
				change.Before, change.After = compare.TellApart(was.Before, was.After, change.Before, change.After)
			}
		}
	}
	for _, events := range [][]Event{p.Events, p.AuditedEvents} {
		for i := range events {
			event := &events[i]
			text(&event.Object, &event.Reason, &event.Action, &event.Message, &event.Answer)
		}
	}
	for i := range p.Objects {
		object := &p.Objects[i]
		object.Now, _ = hideBody(v, derived, object.Object, object.Now).(map[string]any)
		object.Patch, _ = hideBody(v, derived, object.Object, object.Patch).(map[string]any)
		text(&object.Object)
	}
	for _, list := range [][]Failure{p.Waiting, p.Paused, p.Failures} {
		for i := range list {
			text(&list[i].Object, &list[i].Error)
		}
	}
	for i := range p.LookAgainAt {
		text(&p.LookAgainAt[i].Object)
	}
}

// hideBody hides what is in an object of the name, or in a body that is written to it. No other resource has the name
// of Secrets in the groups that a simulated cluster has by itself, and to mask too much does no harm.
func hideBody(v *redact.Values, derived derivedFields, name string, body any) any {
	if fields, is := body.(map[string]any); is && fields == nil {
		return nil
	}
	return v.Body(strings.HasPrefix(name, "secrets "), derived[name].Hide(body, v.Whole))
}

// hideError hides what an error tells, which is then all that is left of it but for its place in the rules.
func hideError(v *redact.Values, err error) error {
	if err == nil {
		return nil
	}
	if placed, is := errors.AsType[*document.Error](err); is {
		if message := v.Text(placed.Message); message != placed.Message || v.Text(placed.Hint) != placed.Hint {
			return placed.Redacted(message)
		}
	}
	if told := v.Text(err.Error()); told != err.Error() {
		return errors.New(told)
	}
	return err
}
