package setstatus

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// longestWrite is how long one request may take, so that others get their turn.
const longestWrite = 10 * time.Second

// round looks at every set once that has news, and returns how long to wait for the next time.
func (w *Writer) round(ctx context.Context) time.Duration {
	updates := w.snapshot()
	there := make(map[Set]bool, len(updates))
	next := period
	for _, update := range updates {
		there[update.Set] = true
		if ctx.Err() == nil {
			next = min(next, w.look(ctx, update))
		}
	}
	for set := range w.known {
		if !there[set] {
			delete(w.known, set)
		}
	}
	return next
}

// look writes a status if that is due, and returns how long to wait otherwise.
func (w *Writer) look(ctx context.Context, update Update) time.Duration {
	known := w.known[update.Set]
	if known == nil || known.uid != update.UID {
		known = &state{uid: update.UID}
		w.known[update.Set] = known
	}
	now := w.clock.Now()
	if now.Before(known.retry) {
		return known.retry.Sub(now)
	}
	looked := glance{update.Revision, update.ResourceVersion}
	if known.settled == looked {
		return period
	}
	have, version := known.latest(update)
	want := update.Compose(have)
	switch found := compare(have, want); {
	case found == none, known.void && compare(known.sent, want) == none:
		known.settled = looked
		return period
	case found == counters && now.Before(known.wrote.Add(period)):
		return known.wrote.Add(period).Sub(now)
	}
	answer, err := w.send(ctx, update, version, have, want)
	now = w.clock.Now()
	if err != nil {
		w.failed(ctx, update, known, err, now)
		return known.delay
	}
	*known = state{
		uid: update.UID, settled: looked, wrote: now, version: answer.GetResourceVersion(), status: v1alpha1.StatusOf(answer),
		sent: want, void: answer.GetResourceVersion() == version,
	}
	return period
}

func (w *Writer) send(ctx context.Context, update Update, version string, have, want v1alpha1.Status) (*unstructured.Unstructured, error) {
	body, err := patch(string(update.UID), version, have, want)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, longestWrite)
	defer cancel()
	options := metav1.PatchOptions{FieldManager: plan.FieldManager}
	answer, err := w.client.Resource(v1alpha1.ResourceOf(update.Set.Kind)).Namespace(update.Set.Namespace).
		Patch(ctx, update.Set.Name, types.MergePatchType, body, options, "status")
	if err != nil {
		return nil, fmt.Errorf("patching the status: %w", err)
	}
	return answer, nil
}

// failed notes that a status could not be written. An object that is gone, or newer
// than what is known of it, is no news: the snapshot will say so.
func (w *Writer) failed(ctx context.Context, update Update, known *state, err error, now time.Time) {
	gone := apierrors.IsNotFound(err) || apierrors.IsConflict(err)
	if !known.failed(now, err.Error()) || ctx.Err() != nil {
		return
	}
	log := w.log.With("gvr", plan.ResourceName(v1alpha1.ResourceOf(update.Set.Kind)), "namespace", update.Set.Namespace, "name", update.Set.Name)
	if gone {
		log.Debug("the status of a set is not written: it has changed", "err", err)
		return
	}
	log.Warn("cannot write the status of a set", "err", err)
}
