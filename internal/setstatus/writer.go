package setstatus

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Update is a set object as it is known, and how its status is made.
type Update struct {
	Set             plan.Rule // without a name
	UID             types.UID
	ResourceVersion string
	// Revision changes where Compose may return something else than before for
	// other reasons than the object itself.
	Revision uint64
	// Status is the status of the object.
	Status v1alpha1.Status
	// Compose returns the wanted status from the present one: that of Status, or a newer one
	// that the writer knows. It is called by the goroutine of [Writer.Run], and only
	// where the object or the revision has changed.
	Compose func(previous v1alpha1.Status) v1alpha1.Status
}

const (
	// debounce is how long a burst of nudges is waited for.
	debounce = 200 * time.Millisecond
	// period is how often counters of a set are written, and how often the
	// revisions are compared without a nudge.
	period = 10 * time.Second
	// The delays between attempts on one set: doubled with each failure, capped.
	firstRetry = debounce
	lastRetry  = time.Minute
	// timeout bounds one request, so that other sets get their turn.
	timeout = 10 * time.Second
)

// Writer writes the statuses of set objects. Its methods are safe for concurrent use.
type Writer struct {
	client   dynamic.Interface
	snapshot func() []Update
	clock    clock.Clock
	log      *slog.Logger
	nudged   chan struct{} // has a value when something may have changed

	running sync.Mutex           // one Run at a time
	known   map[plan.Rule]*state // guarded by running
}

// state is what the writer remembers of one set object.
type state struct {
	uid types.UID
	// settled is the update for which nothing was left to be written.
	settled revision
	// version, status and generation are of the object as it was last answered to a write, or read after a conflict; empty
	// once the snapshot shows it or something newer.
	version    string
	status     v1alpha1.Status
	generation int64
	// sent is the status that the last write asked for, and void whether that changed nothing: the
	// API server does not store all of it, and asking again would not help.
	sent v1alpha1.Status
	void bool
	// wrote is when the last write succeeded.
	wrote time.Time
	// retry is when the next attempt may be made, after a failure. Delay is how long it
	// waits, and failure the error that was logged.
	retry   time.Time
	delay   time.Duration
	failure string
}

// revision changes with the object and with what is known of it.
type revision struct {
	number  uint64
	version string // of the object
}

// NewWriter returns a writer. It writes as the process itself. Snapshot lists all set
// objects whose statuses are to be written. The writer forgets others, and
// writes nothing to them. Snapshot is called by the goroutine of [Writer.Run].
func NewWriter(client dynamic.Interface, snapshot func() []Update, clock clock.Clock, log *slog.Logger) *Writer {
	return &Writer{client: client, snapshot: snapshot, clock: clock, log: log, nudged: make(chan struct{}, 1)}
}

// Nudge is to be called when a status may have changed. It never blocks.
func (w *Writer) Nudge() {
	select {
	case w.nudged <- struct{}{}:
	default:
	}
}

// Run writes until the context is done, and is to be called while the process leads.
// It may be called again after it has returned. It then starts without memory.
//
// Conditions are written at once, counters alone at most every ten seconds. A
// status that is as wanted is not sent. Failures are tried again, ever more
// slowly, without holding up other sets.
func (w *Writer) Run(ctx context.Context) {
	w.running.Lock()
	defer w.running.Unlock()
	w.known = map[plan.Rule]*state{}
	for {
		updates, next := w.snapshot(), period
		there := make(map[plan.Rule]bool, len(updates))
		for _, update := range updates {
			there[update.Set] = true
			if ctx.Err() == nil {
				next = min(next, w.write(ctx, update))
			}
		}
		maps.DeleteFunc(w.known, func(set plan.Rule, _ *state) bool { return !there[set] })
		if nudged, ok := w.wait(ctx, next, w.nudged); !ok {
			return
		} else if nudged {
			if _, ok = w.wait(ctx, debounce, nil); !ok { // The burst ends.
				return
			}
		}
	}
}

// wait returns after a while, or at once when nudged. It is not ok once the context is done.
func (w *Writer) wait(ctx context.Context, while time.Duration, nudges <-chan struct{}) (nudged, ok bool) {
	timer := w.clock.NewTimer(while)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false, false
	case <-timer.C():
		return false, true
	case <-nudges:
		return true, true
	}
}

// write writes a status if that is due, and returns how long to wait until the next look.
func (w *Writer) write(ctx context.Context, update Update) time.Duration {
	known := w.known[update.Set]
	if known == nil || known.uid != update.UID {
		known = &state{uid: update.UID}
		w.known[update.Set] = known
	}
	now, current := w.clock.Now(), revision{update.Revision, update.ResourceVersion}
	switch {
	case now.Before(known.retry):
		return known.retry.Sub(now)
	case known.settled == current:
		return period
	}
	have, version := update.Status, update.ResourceVersion
	if order, err := resourceversion.CompareResourceVersion(version, known.version); err == nil && order < 0 {
		have, version = known.status, known.version
	} else {
		known.version, known.status, known.generation = "", v1alpha1.Status{}, 0
	}
	want := update.Compose(have)
	changes := difference(have, want)
	switch {
	case want.ObservedGeneration < known.generation:
		return period // The snapshot is to show the present spec first, or the status would be about the one before.
	case len(changes) == 0, known.void && len(difference(known.sent, want)) == 0:
		known.settled = current
		return period
	case now.Before(known.wrote.Add(period)) && onlyCounters(changes, have, want):
		return known.wrote.Add(period).Sub(now)
	}
	answer, err := w.patch(ctx, update, version, changes)
	if err != nil {
		next := w.failed(ctx, update, known, err)
		if apierrors.IsConflict(err) {
			known.version, known.status, known.generation = w.read(ctx, update)
		}
		return next
	}
	*known = state{
		uid: update.UID, settled: current, wrote: w.clock.Now(), version: answer.GetResourceVersion(), status: v1alpha1.StatusOf(answer), generation: answer.GetGeneration(),
		sent: want, void: answer.GetResourceVersion() == version,
	}
	return period
}

// difference returns the fields of a status that are to be changed. The fields that the inventory
// writes, and those that a newer program may have written, are not among them. Absent and empty are the same.
func difference(have, want v1alpha1.Status) map[string]any {
	out := map[string]any{}
	if have.ObservedGeneration != want.ObservedGeneration {
		out["observedGeneration"] = want.ObservedGeneration
	}
	if !apiequality.Semantic.DeepEqual(have.Conditions, want.Conditions) {
		out["conditions"] = want.Conditions
	}
	if have.Summary != want.Summary || !apiequality.Semantic.DeepEqual(have.Rules, want.Rules) {
		out["rules"], out["summary"] = want.Rules, want.Summary
	}
	return out
}

// onlyCounters reports whether nothing differs but numbers and errors of rules.
func onlyCounters(changes map[string]any, have, want v1alpha1.Status) bool {
	uncounted := func(all []v1alpha1.RuleStatus) (out []v1alpha1.RuleStatus) {
		for _, rule := range all {
			out = append(out, v1alpha1.RuleStatus{Name: rule.Name, Standing: rule.Standing, Missing: rule.Missing})
		}
		return out
	}
	_, rules := changes["rules"]
	return rules && len(changes) == 2 && apiequality.Semantic.DeepEqual(uncounted(have.Rules), uncounted(want.Rules))
}

// patch changes the status of the object, in the version that this was decided by.
func (w *Writer) patch(ctx context.Context, update Update, version string, status map[string]any) (*unstructured.Unstructured, error) {
	metadata := map[string]any{"uid": update.UID, "resourceVersion": version}
	body, err := json.Marshal(map[string]any{"metadata": metadata, "status": status})
	if err != nil {
		return nil, fmt.Errorf("encoding a status: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answer, err := w.client.Resource(v1alpha1.ResourceOf(update.Set.Kind)).Namespace(update.Set.Namespace).
		Patch(ctx, update.Set.Set, types.MergePatchType, body, metav1.PatchOptions{FieldManager: plan.FieldManager}, "status")
	if err != nil {
		return nil, fmt.Errorf("patching the status: %w", err)
	}
	return answer, nil
}

// read returns the version, the status and the generation of the object as it is, nothing where that is not known or it is another one. By a
// snapshot that is behind, or was not told of what another client has written to the status, the same version would be refused again and again.
func (w *Writer) read(ctx context.Context, update Update) (version string, status v1alpha1.Status, generation int64) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	there, err := w.client.Resource(v1alpha1.ResourceOf(update.Set.Kind)).Namespace(update.Set.Namespace).Get(ctx, update.Set.Set, metav1.GetOptions{})
	if err != nil || there.GetUID() != update.UID {
		return "", v1alpha1.Status{}, 0
	}
	return there.GetResourceVersion(), v1alpha1.StatusOf(there), there.GetGeneration()
}

// failed delays the next attempt, longer each time, and logs an error that was not logged before. That an
// object is gone, or newer than the snapshot, is logged at level debug: it happens all the time.
func (w *Writer) failed(ctx context.Context, update Update, known *state, err error) time.Duration {
	logged := err.Error() == known.failure
	known.failure = err.Error()
	known.delay = min(max(2*known.delay, firstRetry), lastRetry)
	known.retry = w.clock.Now().Add(known.delay)
	log := w.log.With("gvr", plan.ResourceName(v1alpha1.ResourceOf(update.Set.Kind)), "namespace", update.Set.Namespace, "name", update.Set.Set)
	switch {
	case logged || ctx.Err() != nil:
	case apierrors.IsNotFound(err) || apierrors.IsConflict(err):
		log.Debug("the status of a set is not written: it has changed", "err", err)
	default:
		log.Warn("cannot write the status of a set", "err", err)
	}
	return known.delay
}
