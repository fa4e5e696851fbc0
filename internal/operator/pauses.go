package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/util/workqueue"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// mostAttempts is how often it is tried to record the Event of a pause, for about an hour: the status tells of it, too. There are
// as many as rules have paused in that time.
const mostAttempts = 20

// notice is what the set object of a rule is to be told: that the rule has paused, with an
// Event, or that its annotation is not to ask for the rule any more, because it has resumed, or
// paused though it was asked for, which nobody can have meant.
type notice struct {
	limit.Pause
	resumed bool
}

// notifier gives notices. One that fails is given again, ever more slowly.
type notifier struct {
	*core
	events engine.Recorder // as the process
	queue  workqueue.TypedRateLimitingInterface[notice]
}

// open makes the queue, which has to be shut down. It is called before an engine runs.
func (n *notifier) open() {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[notice](firstRetry, lastRetry)
	n.queue = workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[notice]{Clock: n.options.Clock})
}

// paused notes that a rule has paused. An engine calls it while the operator is locked.
func (n *notifier) paused(p limit.Pause) {
	n.queue.Add(notice{Pause: p})
	if p.Asked {
		n.resumed(p.Rule)
	}
	n.statuses.Nudge()
}

// resumed notes that a rule is not paused any more, nor stored as such. An engine calls it while the operator is locked.
func (n *notifier) resumed(rule plan.Rule) {
	n.queue.Add(notice{limit.Pause{Rule: rule}, true})
	n.statuses.Nudge()
}

// run gives notices until the queue is shut down.
func (n *notifier) run(ctx context.Context) {
	for {
		one, down := n.queue.Get()
		if down {
			return
		}
		n.give(ctx, one)
	}
}

// give gives a notice that was taken from the queue. It is given again later where that fails. What
// is forbidden is left at that, and logged once, as everything that fails.
func (n *notifier) give(ctx context.Context, one notice) {
	defer n.queue.Done(one)
	n.mu.Lock()
	set := n.objects[keyOf(one.Rule)]
	n.mu.Unlock()
	if set == nil || set.effective() == nil || ctx.Err() != nil {
		n.queue.Forget(one)
		return
	}
	give := n.recordPause
	if one.resumed {
		give = n.removeAnnotation
	}
	err := give(ctx, set, one.Pause)
	attempts := n.queue.NumRequeues(one)
	if err != nil && attempts == 0 {
		n.options.Log.Warn("a rule set was not told of a pause, or of its end", "err", err)
	}
	if err != nil && (one.resumed || attempts < mostAttempts && !apierrors.IsForbidden(err)) {
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

// removeAnnotation takes the name of a rule out of the annotation of its set: it has resumed, and
// is to be asked for again the next time.
func (n *notifier) removeAnnotation(ctx context.Context, set *object, resumed limit.Pause) error {
	client := n.setClient(set.Key)
	doing, asked := "reading", []string(nil)
	live, err := client.Get(ctx, set.Name, metav1.GetOptions{})
	if err == nil {
		asked = spec.Resumed(live.GetAnnotations()[spec.ResumeAnnotation])
	}
	others := slices.DeleteFunc(slices.Clone(asked), func(name string) bool { return name == resumed.Rule.Name })
	if len(others) < len(asked) {
		doing = "changing"
		var value any // None are no annotation.
		if len(others) > 0 {
			value = strings.Join(others, ",")
		}
		var body []byte
		if body, err = json.Marshal(map[string]any{"metadata": map[string]any{
			"uid": string(live.GetUID()), "resourceVersion": live.GetResourceVersion(),
			"annotations": map[string]any{spec.ResumeAnnotation: value},
		}}); err == nil {
			live, err = client.Patch(ctx, set.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: plan.FieldManager})
		}
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("%s the annotations of %s: %w", doing, set.Key, err)
	}
	n.takeBack(resumed.Rule, consumed{live.GetUID(), live.GetResourceVersion()})
	return nil
}

// consumed is the version of a set in which its annotation does not ask for a rule any more.
type consumed struct {
	uid     types.UID
	version string
}

// over reports whether what a set says of a rule is from after that, as far as can be told: a
// rule that resumed for an annotation from before would do so each time that it pauses.
func (c consumed) over(set *object, rule plan.Rule) bool {
	if set == nil || set.UID != c.uid || !slices.Contains(spec.Resumed(set.Annotations[spec.ResumeAnnotation]), rule.Name) {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(set.ResourceVersion, c.version)
	return err == nil && order >= 0
}

// takeBack has the engines know that a rule is not asked to resume any more. Somebody may
// ask again before the operator sees the set without it: a version from after that counts.
func (n *notifier) takeBack(rule plan.Rule, at consumed) {
	n.mu.Lock()
	defer n.mu.Unlock()
	others := slices.DeleteFunc(n.asked(), func(asked plan.Rule) bool { return asked == rule })
	for _, t := range n.tenants {
		t.ask(others)
	}
	n.consumed[rule] = at
	n.ask()
}

// ask tells the tenant which rules are asked to resume, before it gets new ones. It is
// called with the lock of the operator.
func (t *tenant) ask(asked []plan.Rule) {
	if t.asked == nil || !slices.Equal(t.asked, asked) {
		t.asked = append([]plan.Rule{}, asked...)
		t.engine.Resume(asked)
	}
}
