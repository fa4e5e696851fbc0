// Package mask hides the values of Secrets in what one evaluation tells people. What is sent is not changed.
package mask

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/dyncontroller/dyncontroller/pkg/engine/naming"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
)

// Masker hides the values of Secrets that one evaluation has read, or writes. A nil Masker hides nothing: no Secret was
// concerned. It is safe for concurrent use.
type Masker struct {
	// values learns the values when they are first needed.
	values func() *redact.Values
	// blind says that a Secret could not be read yet, so that what rules fail with may be a copy of an unknown value.
	blind bool
}

// Evaluation is what a [Masker] learns from.
type Evaluation struct {
	GVR     schema.GroupVersionResource // of the watched object
	Watched map[string]any              // nil where it is gone
	Secrets []map[string]any            // that were read
	Blind   bool                        // a Secret could not be read yet
	// Operations and Audited are those of the plan.
	Operations, Audited []plan.Operation
}

// New returns the Masker of an evaluation. It costs nothing where there is nothing to hide.
func New(of Evaluation) *Masker {
	if of.isSecret() && of.Watched != nil || len(of.Secrets) > 0 || of.Blind ||
		slices.ContainsFunc(of.Operations, hasSecrets) || slices.ContainsFunc(of.Audited, hasSecrets) {
		return &Masker{values: sync.OnceValue(of.values), blind: of.Blind}
	}
	return nil
}

func (of Evaluation) isSecret() bool { return plan.Object{GVR: of.GVR}.IsSecret() }

func hasSecrets(o plan.Operation) bool { return o.Target.IsSecret() || len(o.Derived) > 0 }

// values learns the values that were read, or are written. What is cached of a Secret is learned too: another rule has read it.
func (of Evaluation) values() *redact.Values {
	values := &redact.Values{}
	// These words are in every line anyway, and none of them is from a Secret.
	values.Except(of.GVR.Resource, of.GVR.Group)
	values.Except(plan.GivenNames(of.Watched)...)
	for _, secret := range of.Secrets {
		values.Learn(secret)
	}
	if of.isSecret() {
		values.Learn(of.Watched)
	}
	for _, o := range slices.Concat(of.Operations, of.Audited) {
		Learn(values, o)
	}
	for _, o := range of.Operations {
		values.Except(o.Target.GVR.Resource)
		// A name that is too long ends within a value.
		prefix := naming.Prefix(o)
		if left := naming.Join(prefix, ""); left != prefix && values.Text(prefix) != prefix {
			values.LearnField("stringData", left)
		}
	}
	values.Text("asked once, they may be asked by several at the same time")
	return values
}

// Learn takes what an operation writes to a Secret, or what rules have made of one: an answer may repeat it.
func Learn(values *redact.Values, o plan.Operation) {
	secret := o.Target.IsSecret()
	if secret {
		values.Learn(o.Body)
	}
	for _, change := range o.Changes {
		shown, known := o.Shows(change)
		switch {
		case len(change.Path) == 0:
		case secret:
			values.LearnField(change.Path[0], change.Before)
			values.LearnField(change.Path[0], change.After)
		case !shown:
			learn(values, change.After)
			for _, step := range change.Path[known:] {
				learn(values, step)
			}
		}
	}
	for field, name := range map[string]string{"name": o.Target.Name, "namespace": o.Target.Namespace} {
		if shown, _ := o.Derived.Shows(plan.Path{"metadata", field}); !shown {
			learn(values, name)
		}
	}
}

// learn takes what was made of a Secret.
func learn(values *redact.Values, made any) {
	switch made := made.(type) {
	case map[string]any:
		for _, below := range made {
			learn(values, below)
		}
	case []any:
		for _, element := range made {
			learn(values, element)
		}
	default:
		values.LearnField("stringData", fmt.Sprint(made))
	}
}

// nothing is known to a nil Masker.
var nothing redact.Values

// Known are the values that are masked, none for nil.
func (m *Masker) Known() *redact.Values {
	if m == nil {
		return &nothing
	}
	return m.values()
}

// reasons are the values for what rules fail with.
func (m *Masker) reasons() *redact.Values {
	if m != nil && m.blind {
		return redact.Everything(nil)
	}
	return m.Known()
}

// Error masks an error. It is masked where it begins, so that whoever tells of it later need not care.
func (m *Masker) Error(err error) error { return m.reasons().Error(err) }

// Event masks the texts of an Event, but not which object it is about.
func (m *Masker) Event(e plan.Event) plan.Event {
	values := m.Known()
	e = e.Masked(values.Whole)
	e.Reason, e.Action, e.Message = values.Text(e.Reason), values.Text(e.Action), values.Text(e.Message)
	return e
}

// Object masks the name of an object.
func (m *Masker) Object(o plan.Object) plan.Object {
	values := m.Known()
	o.Namespace, o.Name = values.Text(o.Namespace), values.Text(o.Name)
	return o
}

// Plan masks decisions and Events before anything is made of them: an Event is known by its text.
func (m *Masker) Plan(decided *plan.Plan) {
	if m == nil {
		return
	}
	for i := range decided.Decisions {
		d, values := &decided.Decisions[i], m.Known()
		if d.Outcome.Troubled() {
			values = m.reasons()
		}
		d.Reason, d.Err = values.Text(d.Reason), values.Error(d.Err)
		if d.Health != nil { // It is told where the rule pauses.
			d.Health.Reason = m.reasons().Text(d.Health.Reason)
		}
	}
	for _, events := range [][]plan.Event{decided.Events, decided.AuditedEvents} {
		for i, event := range events {
			events[i] = m.Event(event)
		}
	}
}

// Operation returns an operation that may be told of. It must not be sent, and predicts nothing.
func (m *Masker) Operation(o plan.Operation) plan.Operation {
	if m == nil {
		return o
	}
	return Operation(m.Known(), o)
}

// Operation is [Masker.Operation] where the values are known.
func Operation(values *redact.Values, o plan.Operation) plan.Operation {
	name := func(field, name string) string {
		if shown, _ := o.Derived.Shows(plan.Path{"metadata", field}); !shown && name != "" {
			return fmt.Sprint(values.Whole(name))
		}
		return values.Text(name)
	}
	out := o
	out.Target.Namespace, out.Target.Name = name("namespace", o.Target.Namespace), name("name", o.Target.Name)
	out.Body = values.Body(o.Target.IsSecret(), o.Derived.Hide(o.Body, values.Whole))
	out.Predicted, out.Unseen, out.Confirm, out.Reads, out.Missed = nil, nil, nil, nil, nil
	out.Changes = slices.Clone(o.Changes)
	for i := range out.Changes {
		change := &out.Changes[i]
		shown, known := o.Shows(*change)
		hide := values.Whole
		if shown {
			hide = values.Tree
		}
		change.Before, change.After, change.Path = hide(change.Before), hide(change.After), slices.Clone(change.Path)
		for j, step := range change.Path {
			if change.Path[j] = values.Key(step); j >= known {
				change.Path[j] = values.Mask(step)
			}
		}
	}
	return out
}

// Context masks what the Kubernetes client logs of requests: their addresses have names of objects in them, and the API
// server may warn of values.
func (m *Masker) Context(ctx context.Context) context.Context {
	if m == nil {
		return ctx
	}
	return klog.NewContext(ctx, logr.FromSlogHandler(handler{logr.ToSlogHandler(klog.FromContext(ctx)), m.values}))
}

// handler is a log in which values are masked.
type handler struct {
	slog.Handler
	values func() *redact.Values
}

// Handle implements [slog.Handler].
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	shown := slog.NewRecord(r.Time, r.Level, h.values().Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		shown.AddAttrs(h.attr(a))
		return true
	})
	return h.Handler.Handle(ctx, shown) //nolint:wrapcheck // It is the error of the log.
}

// WithAttrs implements [slog.Handler].
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	attrs = slices.Clone(attrs)
	for i, a := range attrs {
		attrs[i] = h.attr(a)
	}
	return handler{h.Handler.WithAttrs(attrs), h.values}
}

// WithGroup implements [slog.Handler].
func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.values}
}

func (h handler) attr(a slog.Attr) slog.Attr {
	told := a.Value.Resolve().String()
	if shown := h.values().Text(told); shown != told {
		a.Value = slog.StringValue(shown)
	}
	return a
}
