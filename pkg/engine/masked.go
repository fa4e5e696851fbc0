package engine

import (
	"fmt"
	"slices"
	"sync"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
)

// masker hides the values of Secrets in what one evaluation tells people: those that it read,
// and those that it writes. They are collected when there is first something to tell. A nil
// masker hides nothing: no Secret was concerned. It is safe for concurrent use.
type masker struct {
	mu     sync.Mutex
	learn  func(*redact.Values) // nil once it was called
	values redact.Values
	// blind says that a Secret that rules asked for could not be read yet, so that what
	// they fail with may be a copy of one that cannot be told from other text.
	blind bool
}

// masker returns what hides the values that the evaluation has to do with.
func (s *source) masker(seen sight, decided plan.Plan) *masker {
	if s.engine.options.Unmasked {
		return nil
	}
	read := s.secrets()
	if watched := (plan.Object{GVR: s.asker.GVR}); watched.IsSecret() && seen.Object != nil {
		read = append(read, seen.Object)
	}
	written := append(toSecrets(decided.Operations), toSecrets(decided.Audited)...)
	blind := s.blind()
	if len(read)+len(written) == 0 && !blind {
		return nil
	}
	out := newMasker(s.asker, read, written, decided.Operations)
	out.blind = blind
	return out
}

// newMasker is apart from where it turns out that there is nothing to hide, so that this
// costs nothing.
func newMasker(asker Key, read []map[string]any, written, planned []plan.Operation) *masker {
	return &masker{learn: func(values *redact.Values) {
		// Words that name the objects are in every line anyway.
		values.Except(asker.Namespace, asker.Name, asker.GVR.Resource, asker.GVR.Group)
		for _, object := range read {
			values.Learn(object)
		}
		for _, operation := range written {
			values.Learn(operation.Body)
			for _, change := range operation.Changes {
				learnChange(values, change)
			}
		}
		for _, operation := range planned {
			values.Except(operation.Target.Namespace, operation.Target.Name, operation.Target.GVR.Resource)
		}
	}}
}

// harmless is the cause of a panic as it may be told: it may be about what was read.
func (s *source) harmless(cause any, seen sight) any {
	if hidden := s.masker(seen, plan.Plan{}); hidden != nil {
		return hidden.error(fmt.Errorf("%v", cause))
	}
	return cause
}

// secrets are those among the answers.
func (s *source) secrets() []map[string]any {
	var out []map[string]any
	for _, q := range s.asked {
		if q.IsSecret() {
			out = append(out, s.answers[q.Key()].objects...)
		}
	}
	return out
}

// blind reports whether a question about Secrets had no answer.
func (s *source) blind() bool {
	return slices.ContainsFunc(s.asked, func(q plan.Read) bool { return q.IsSecret() && s.answers[q.Key()].err != nil })
}

func toSecrets(operations []plan.Operation) []plan.Operation {
	var out []plan.Operation
	for _, operation := range operations {
		if operation.Target.IsSecret() {
			out = append(out, operation)
		}
	}
	return out
}

// learnChange takes what a Secret has now, too, which rules may not have read.
func learnChange(values *redact.Values, change plan.Change) {
	for _, value := range []any{change.Before, change.After} {
		if len(change.Path) > 0 {
			values.LearnField(change.Path[0], value)
		}
	}
}

// known returns the values, for as long as the lock is held.
func (m *masker) known() *redact.Values {
	if m.learn != nil {
		m.learn(&m.values)
		m.learn = nil
	}
	return &m.values
}

// reasons hides them in what rules fail with.
func (m *masker) reasons() *redact.Values {
	if m.blind {
		return redact.Everything(nil)
	}
	return m.known()
}

func (m *masker) error(err error) error {
	if m == nil || err == nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reasons().Error(err)
}

// plan masks decisions and Events before anything is made of them: an Event is named by
// its text.
func (m *masker) plan(decided *plan.Plan) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range decided.Decisions {
		d := &decided.Decisions[i]
		hide := m.known()
		if d.Outcome.Troubled() {
			hide = m.reasons()
		}
		if d.Reason != "" {
			d.Reason = hide.Text(d.Reason)
		}
		if d.Err != nil {
			d.Err = hide.Error(d.Err)
		}
	}
	for i := range decided.Events {
		decided.Events[i] = m.masked(decided.Events[i])
	}
}

// event masks an Event.
func (m *masker) event(e plan.Event) plan.Event {
	if m == nil {
		return e
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.masked(e)
}

func (m *masker) masked(e plan.Event) plan.Event {
	values := m.known()
	e.Reason, e.Action, e.Message = values.Text(e.Reason), values.Text(e.Action), values.Text(e.Message)
	return e
}

// operation is one that may be told of: it must not be sent, and predicts nothing.
func (m *masker) operation(o plan.Operation) plan.Operation {
	if m == nil {
		return o
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	secret := o.Target.IsSecret()
	o.Body, o.Predicted, o.Unseen = m.known().Body(secret, o.Body), nil, nil
	o.Changes = m.shown(o.Changes, secret)
	return o
}

// changes masks the fields that are changed, of which the values are not told.
func (m *masker) changes(all []plan.Change) []plan.Change {
	if m == nil {
		return all
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.shown(all, false)
}

func (m *masker) shown(all []plan.Change, secret bool) []plan.Change {
	values := m.known()
	hide := values.Tree
	if secret {
		hide = func(value any) any {
			if value == nil {
				return nil // There is none.
			}
			return values.Mask("")
		}
	}
	out := make([]plan.Change, len(all))
	for i, change := range all {
		out[i] = change
		out[i].Before, out[i].After = hide(change.Before), hide(change.After)
		out[i].Path = make(plan.Path, len(change.Path))
		for j, step := range change.Path {
			out[i].Path[j] = values.Name(step)
		}
	}
	return out
}
