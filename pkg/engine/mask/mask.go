// Package mask hides the values of Secrets in what one evaluation tells people. What is sent is not changed.
package mask

import (
	"context"
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
		slices.ContainsFunc(of.Operations, toSecret) || slices.ContainsFunc(of.Audited, toSecret) {
		return &Masker{values: sync.OnceValue(of.values), blind: of.Blind}
	}
	return nil
}

func (of Evaluation) isSecret() bool { return plan.Object{GVR: of.GVR}.IsSecret() }

func toSecret(o plan.Operation) bool { return o.Target.IsSecret() }

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
		if !toSecret(o) {
			continue
		}
		values.Learn(o.Body)
		for _, change := range o.Changes {
			if len(change.Path) > 0 {
				values.LearnField(change.Path[0], change.Before)
				values.LearnField(change.Path[0], change.After)
			}
		}
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
	}
	for i, event := range decided.Events {
		decided.Events[i] = m.Event(event)
	}
}

// Operation returns an operation that may be told of. It must not be sent, and predicts nothing.
func (m *Masker) Operation(o plan.Operation) plan.Operation {
	if m == nil {
		return o
	}
	values, secret, target := m.Known(), toSecret(o), o.Target
	hide := func(field plan.Path, value any) any {
		if value != nil && !target.Shows(field) {
			return values.Mask("")
		}
		return values.Tree(value)
	}
	o.Target, o.Body = m.Object(o.Target), values.Body(secret, o.Body)
	o.Predicted, o.Unseen, o.Confirm, o.Reads = nil, nil, nil, nil
	o.Changes = slices.Clone(o.Changes)
	for i := range o.Changes {
		change := &o.Changes[i]
		change.Before, change.After, change.Path = hide(change.Path, change.Before), hide(change.Path, change.After), slices.Clone(change.Path)
		for j, step := range change.Path {
			change.Path[j] = values.Key(step)
		}
	}
	return o
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
