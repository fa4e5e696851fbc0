package scenario

import (
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// secrets are the objects of which the values must not be shown.
var secrets = schema.GroupResource{Resource: "secrets"}

// mask hides the values of Secrets wherever they are shown: their own data, and text that
// a rule made of them.
type mask struct{ values *redact.Values }

// learn takes the values of a Secret, or of a body that is written to one.
func (m *mask) learn(secret any) { m.values.Learn(secret) }

// hide masks what is shown of a phase.
func (m *mask) hide(p *Phase) {
	for i := range p.Decisions {
		decision := &p.Decisions[i]
		decision.Object = m.text(decision.Object)
		decision.Reason, decision.Err = m.text(decision.Reason), m.why(decision.Err)
	}
	for _, writes := range [][]Write{p.Writes, p.Audited} {
		for i := range writes {
			w := &writes[i]
			w.Body, w.Answer = m.body(w.Object, w.Body), m.text(w.Answer)
			w.Object = m.text(w.Object)
			w.Operation.Target.Namespace, w.Operation.Target.Name = m.text(w.Operation.Target.Namespace), m.text(w.Operation.Target.Name)
			w.Operation.Changes = slices.Clone(w.Operation.Changes)
			for j := range w.Operation.Changes {
				change := &w.Operation.Changes[j]
				change.Before, change.After = compare.TellApart(change.Before, change.After, m.values.Tree(change.Before), m.values.Tree(change.After))
				change.Path = slices.Clone(change.Path)
				for k, step := range change.Path {
					change.Path[k] = m.values.Key(step)
				}
			}
		}
	}
	for i := range p.Events {
		event := &p.Events[i]
		event.Object = m.text(event.Object)
		event.Reason, event.Action, event.Message = m.text(event.Reason), m.text(event.Action), m.text(event.Message)
		event.Answer = m.text(event.Answer)
	}
	for i := range p.Objects {
		object := &p.Objects[i]
		object.Now, _ = m.body(object.Object, object.Now).(map[string]any)
		object.Patch, _ = m.body(object.Object, object.Patch).(map[string]any)
		object.Object = m.text(object.Object)
	}
	for i := range p.Failures {
		p.Failures[i].Object, p.Failures[i].Error = m.text(p.Failures[i].Object), m.text(p.Failures[i].Error)
	}
	for i := range p.LookAgainAt {
		p.LookAgainAt[i].Object = m.text(p.LookAgainAt[i].Object)
	}
}

// body hides what is in an object of the name, or in a body that is written to it.
func (m *mask) body(name string, body any) any {
	if fields, is := body.(map[string]any); is && fields == nil {
		return nil
	}
	return m.values.Body(isSecret(name), body)
}

// isSecret goes by the form of [plan.Object.String]: no other resource has this name in
// the groups that a simulated cluster has by itself, and to mask too much does no harm.
func isSecret(name string) bool { return strings.HasPrefix(name, "secrets ") }

func (m *mask) text(text string) string { return m.values.Text(text) }

// why hides what a rule failed with, and keeps the place in the rules.
func (m *mask) why(err error) error {
	shown := m.error(err)
	placed, is := errors.AsType[*document.Error](err)
	if !is {
		return shown
	}
	if message := m.text(placed.Message); message != placed.Message || m.text(placed.Hint) != placed.Hint {
		return placed.Redacted(message)
	}
	return shown
}

// path hides what else the path of a cycle tells, such as names.
func (m *mask) path(e *RestlessError) {
	for i, step := range e.Path {
		e.Path[i] = m.text(step)
	}
}

// error hides what an error tells, which is then all that is left of it.
func (m *mask) error(err error) error {
	if err == nil {
		return nil
	}
	if told := err.Error(); m.text(told) != told {
		return errors.New(m.text(told))
	}
	return err
}
