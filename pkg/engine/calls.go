package engine

import (
	"context"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/workers"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// attended has a substitute work while a worker waits long for an answer of the API
// server. It implements [Writer], [Live] and [Recorder] for the engine that it is of.
type attended struct {
	engine   *Engine
	writer   Writer
	live     Live
	recorder Recorder
}

// attend returns options whose calls are attended.
func attend(e *Engine, options Options) Options {
	a := attended{e, options.Writer, options.Live, options.Recorder}
	options.Writer, options.Live, options.Recorder = a, a, a
	return options
}

// Write implements [Writer].
func (a attended) Write(ctx context.Context, operation plan.Operation) (result write.Result) {
	workers.Call(ctx, workers.PurposeOf(operation), func() { result = a.writer.Write(ctx, operation) })
	return result
}

// Get implements [Live].
func (a attended) Get(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string) (object map[string]any, err error) {
	err = a.ask(ctx, gvr, func() error {
		object, err = a.live.Get(ctx, gvr, namespace, name)
		return err
	})
	return object, err
}

// Read implements [Live].
func (a attended) Read(ctx context.Context, q plan.Read) (found []map[string]any, err error) {
	err = a.ask(ctx, q.From[0].GVR, func() error {
		found, err = a.live.Read(ctx, q)
		return err
	})
	return found, err
}

// List implements [Live].
func (a attended) List(ctx context.Context, from plan.Selection, visit func(object map[string]any) error) error {
	return a.ask(ctx, from.GVR, func() error { return a.live.List(ctx, from, visit) })
}

// Record implements [Recorder].
func (a attended) Record(ctx context.Context, event plan.Event, again bool) error {
	events := eventsv1.SchemeGroupVersion.WithResource("events")
	return a.ask(ctx, events, func() error { return a.recorder.Record(ctx, event, again) })
}

// ask does what may take long, unless too many wait for the like.
func (a attended) ask(ctx context.Context, gvr schema.GroupVersionResource, do func() error) (err error) {
	purpose := workers.Purpose{GVR: gvr}
	if workers.In(ctx) && !a.engine.open.keeping() && a.engine.workers.Crowded(purpose) {
		return workers.ErrCrowded
	}
	workers.Call(ctx, purpose, func() { err = do() })
	return err
}
