package engine

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

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
	return newMasker(s.asker.GVR, seen.Object, read, written, decided.Operations, blind)
}

// newMasker is apart from where it turns out that there is nothing to hide, so that this
// costs nothing.
func newMasker(gvr schema.GroupVersionResource, watched map[string]any, read []map[string]any, written, planned []plan.Operation, blind bool) *masker {
	return &masker{blind: blind, learn: func(values *redact.Values) {
		// These words are in every line anyway, and none of them is from a Secret.
		values.Except(gvr.Resource, gvr.Group)
		values.Except(plan.GivenNames(watched)...)
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
			values.Except(operation.Target.GVR.Resource)
			learnPrefix(values, generateName(operation))
		}
	}}
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

// learnPrefix takes what is left of a value in a name that is too long with it.
func learnPrefix(values *redact.Values, prefix string) {
	if left := Named(prefix, ""); left != prefix && values.Text(prefix) != prefix {
		values.LearnField("stringData", left)
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

// error masks an error. Those that keep rules from something are masked where they begin:
// whatever is told of them later is harmless.
func (m *masker) error(err error) error {
	if m == nil || err == nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reasons().Error(err)
}

// panicked is the cause of a panic as it may be told: it may be about what was read.
func (m *masker) panicked(cause any) any {
	if m == nil {
		return cause
	}
	return m.error(fmt.Errorf("%v", cause))
}

// context is for requests: the Kubernetes client logs their addresses, which have names of
// objects in them, and what the API server warns of.
func (m *masker) context(ctx context.Context) context.Context {
	if m == nil {
		return ctx
	}
	return klog.NewContext(ctx, logr.FromSlogHandler(maskedLog{logr.ToSlogHandler(klog.FromContext(ctx)), m}))
}

// maskedLog is a log in which values are masked.
type maskedLog struct {
	slog.Handler
	hidden *masker
}

// Handle implements [slog.Handler].
func (l maskedLog) Handle(ctx context.Context, r slog.Record) error {
	var attrs []slog.Attr
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	shown := slog.NewRecord(r.Time, r.Level, l.hidden.text(r.Message), r.PC)
	shown.AddAttrs(l.hidden.attrs(attrs)...)
	return l.Handler.Handle(ctx, shown)
}

// WithAttrs implements [slog.Handler].
func (l maskedLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return maskedLog{l.Handler.WithAttrs(l.hidden.attrs(attrs)), l.hidden}
}

// WithGroup implements [slog.Handler].
func (l maskedLog) WithGroup(name string) slog.Handler {
	return maskedLog{l.Handler.WithGroup(name), l.hidden}
}

func (m *masker) attrs(attrs []slog.Attr) []slog.Attr {
	out := slices.Clone(attrs)
	for i, a := range attrs {
		if told := a.Value.Resolve().String(); m.text(told) != told {
			out[i].Value = slog.StringValue(m.text(told))
		}
	}
	return out
}

func (m *masker) text(text string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known().Text(text)
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

// recorded is an Event that may be told of: it is not the one that is recorded, which says
// which object it is about.
func (m *masker) recorded(e plan.Event) plan.Event {
	if m == nil {
		return e
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e.Regarding = m.object(e.Regarding)
	return e
}

// object hides what an object is called. The caller holds the lock.
func (m *masker) object(o plan.Object) plan.Object {
	o.Namespace, o.Name = m.known().Text(o.Namespace), m.known().Text(o.Name)
	return o
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
	o.Target, o.Body = m.object(o.Target), m.known().Body(secret, o.Body)
	o.Predicted, o.Unseen, o.Confirm, o.Reads = nil, nil, nil, nil
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
			out[i].Path[j] = values.Key(step)
		}
	}
	return out
}
