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
	core     *core
	pool     *workers.Pool
	writer   Writer
	live     Live
	recorder Recorder
}

// Write implements [Writer].
func (a attended) Write(ctx context.Context, operation plan.Operation) (result write.Result) {
	workers.Call(ctx, workers.PurposeOf(operation), func() { result = a.writer.Write(ctx, operation) })
	return result
}

// Get implements [Live].
func (a attended) Get(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string) (map[string]any, error) {
	return ask(ctx, a, gvr, func() (map[string]any, error) { return a.live.Get(ctx, gvr, namespace, name) })
}

// Read implements [Live].
func (a attended) Read(ctx context.Context, q plan.Read) ([]map[string]any, error) {
	return ask(ctx, a, q.From[0].GVR, func() ([]map[string]any, error) { return a.live.Read(ctx, q) })
}

// List implements [Live].
func (a attended) List(ctx context.Context, from plan.Selection, visit func(object map[string]any) error) error {
	_, err := ask(ctx, a, from.GVR, func() (any, error) { return nil, a.live.List(ctx, from, visit) })
	return err
}

// Record implements [Recorder].
func (a attended) Record(ctx context.Context, event plan.Event, again bool) error {
	events := eventsv1.SchemeGroupVersion.WithResource("events")
	_, err := ask(ctx, a, events, func() (any, error) { return nil, a.recorder.Record(ctx, event, again) })
	return err
}

// ask does what may take long, unless too many wait for the like.
func ask[T any](ctx context.Context, a attended, gvr schema.GroupVersionResource, do func() (T, error)) (found T, err error) {
	purpose := workers.Purpose{GVR: gvr}
	if workers.In(ctx) && a.core.runs() == forever && a.pool.Crowded(purpose) {
		return found, workers.ErrCrowded
	}
	workers.Call(ctx, purpose, func() { found, err = do() })
	return found, err
}
