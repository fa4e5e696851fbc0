package operator

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// mostAttempts is how often it is tried to record the Event of a pause, for about an hour: the status tells of it, too. There are
// as many as rules have paused in that time.
const mostAttempts = 20

// notifier tells set objects of their pauses, with Events. One that fails is recorded again, ever more slowly.
type notifier struct {
	*core
	events engine.Recorder // as the process
	queue  workqueue.TypedRateLimitingInterface[limit.Pause]
}

// open makes the queue, which has to be shut down. It is called before an engine runs.
func (n *notifier) open() {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[limit.Pause](firstRetry, lastRetry)
	n.queue = workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[limit.Pause]{Clock: n.options.Clock})
}

// paused notes that a rule has paused. An engine calls it while the operator is locked.
func (n *notifier) paused(p limit.Pause) {
	n.queue.Add(p)
	n.statuses.Nudge()
}

// run tells of pauses until the queue is shut down.
func (n *notifier) run(ctx context.Context) {
	for {
		one, down := n.queue.Get()
		if down {
			return
		}
		n.tell(ctx, one)
	}
}

// tell tells of a pause that was taken from the queue, and again later where that fails. What is
// forbidden is left at that, and logged once, as everything that fails.
func (n *notifier) tell(ctx context.Context, one limit.Pause) {
	defer n.queue.Done(one)
	n.mu.Lock()
	set := n.objects[keyOf(one.Rule)]
	n.mu.Unlock()
	if set == nil || set.effective() == nil || ctx.Err() != nil {
		n.queue.Forget(one)
		return
	}
	err := n.recordPause(ctx, set, one)
	attempts := n.queue.NumRequeues(one)
	if err != nil && attempts == 0 {
		n.options.Log.Warn("a rule set was not told of a pause", "err", err)
	}
	if err != nil && attempts < mostAttempts && !apierrors.IsForbidden(err) {
		n.queue.AddRateLimited(one)
	} else {
		n.queue.Forget(one)
	}
}

// recordPause tells of a pause with an Event on its set. An annotation
// from before is taken off then, and is to be put on as if it had never been there.
func (n *notifier) recordPause(ctx context.Context, set *object, p limit.Pause) error {
	p.Asked = false
	return n.events.Record(ctx, plan.Event{
		Rule: p.Rule, Type: "Warning", Reason: "Paused", Action: "Pause", Message: fmt.Sprintf("rule %s is paused: %s", p.Rule.Name, p),
		Regarding: plan.Object{GVR: v1alpha1.ResourceOf(set.Kind), Kind: set.Kind, Namespace: set.Namespace, Name: set.Name, UID: set.UID},
	}, true) //nolint:wrapcheck // It says what it is of.
}
