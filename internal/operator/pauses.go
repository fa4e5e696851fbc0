package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// maxNotices bounds the Events that are still to be recorded.
const maxNotices = 100

// notices are the pauses that set objects are still to hear of, and the rules that have
// resumed, which the annotations of their sets are not to ask for any more. The engines
// tell it while the operator is locked. It is safe for concurrent use.
type notices struct {
	news chan struct{} // has a value when there is something to do

	mu      sync.Mutex
	paused  []limit.Pause      // guarded by mu
	resumed map[plan.Rule]bool // guarded by mu
}

func newNotices() *notices {
	return &notices{news: make(chan struct{}, 1), resumed: map[plan.Rule]bool{}}
}

// pause notes that a rule has paused.
func (n *notices) pause(p limit.Pause) {
	n.leave([]limit.Pause{p}, nil)
	n.tell()
}

// resume notes that a rule is not paused any more, nor stored as such.
func (n *notices) resume(rule plan.Rule) {
	n.leave(nil, []plan.Rule{rule})
	n.tell()
}

// leave has something done, and wakes nobody: what has failed is no news.
func (n *notices) leave(paused []limit.Pause, resumed []plan.Rule) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.paused = append(n.paused, paused...)
	n.paused = n.paused[max(0, len(n.paused)-maxNotices):]
	for _, rule := range resumed {
		n.resumed[rule] = true
	}
}

func (n *notices) tell() {
	select {
	case n.news <- struct{}{}:
	default:
	}
}

// take returns all that there is to do, which is nobody's any more.
func (n *notices) take() (paused []limit.Pause, resumed []plan.Rule) {
	n.mu.Lock()
	defer n.mu.Unlock()
	paused, resumed = n.paused, slices.Collect(maps.Keys(n.resumed))
	n.paused = nil
	clear(n.resumed)
	return paused, resumed
}

// serve gives notice until the context is done. What fails is tried again, ever more
// slowly.
func (o *Operator) serve(ctx context.Context) {
	wait := time.Duration(0)
	for {
		var retry <-chan time.Time
		if wait > 0 {
			retry = o.options.Clock.After(wait)
		}
		select {
		case <-o.notices.news:
		case <-retry:
		case <-ctx.Done():
			return
		}
		err := o.giveNotice(ctx)
		if err == nil {
			wait = 0
			continue
		}
		if wait == 0 {
			o.options.Log.Warn("a rule set was not told of a pause, or of its end", "err", err)
		}
		wait = min(max(2*wait, dischargeSoonest), dischargeLatest)
	}
}

// giveNotice does what there is to do; what fails is left to be done.
func (o *Operator) giveNotice(ctx context.Context) error {
	paused, resumed := o.notices.take()
	var errs []error
	for _, p := range paused {
		if err := o.record(ctx, p); err != nil {
			errs = append(errs, err)
			if !apierrors.IsForbidden(err) { // The status tells it, too.
				o.notices.leave([]limit.Pause{p}, nil)
			}
		}
	}
	for _, rule := range resumed {
		if err := o.answered(ctx, rule); err != nil {
			errs = append(errs, err)
			o.notices.leave(nil, []plan.Rule{rule})
		}
	}
	return errors.Join(errs...)
}

// record tells of a pause with an Event on its set, where that is an object.
func (o *Operator) record(ctx context.Context, p limit.Pause) error {
	set := o.running(keyOf(p.Rule))
	if set == nil {
		return nil
	}
	return o.events.Record(ctx, plan.Event{
		Rule: p.Rule, Type: "Warning", Reason: "Paused", Action: "Pause", Message: fmt.Sprintf("rule %s is paused: %s", p.Rule.Name, p),
		Regarding: plan.Object{GVR: v1alpha1.ResourceOf(set.Kind), Kind: set.Kind, Namespace: set.Namespace, Name: set.Name, UID: set.UID},
	}, true) //nolint:wrapcheck // It says what it is of.
}

// answered takes the name of a rule out of the annotation of its set: it has resumed, and
// is to be asked for again the next time.
func (o *Operator) answered(ctx context.Context, rule plan.Rule) error {
	set := o.running(keyOf(rule))
	if set == nil {
		return nil
	}
	client := o.client.Resource(v1alpha1.ResourceOf(set.Kind)).Namespace(set.Namespace)
	live, err := client.Get(ctx, set.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading the annotations of %s: %w", set.Key, err)
	}
	asked := spec.Resumed(live.GetAnnotations()[spec.ResumeAnnotation])
	rest := slices.DeleteFunc(slices.Clone(asked), func(name string) bool { return name == rule.Name })
	if len(rest) == len(asked) {
		return nil
	}
	var value any // None are no annotation.
	if len(rest) > 0 {
		value = strings.Join(rest, ",")
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": string(live.GetUID()), "resourceVersion": live.GetResourceVersion(),
		"annotations": map[string]any{spec.ResumeAnnotation: value},
	}})
	if err != nil {
		return fmt.Errorf("changing the annotations of %s: %w", set.Key, err)
	}
	_, err = client.Patch(ctx, set.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: plan.FieldManager})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("changing the annotations of %s: %w", set.Key, err)
	}
	return nil
}

// running is the set object of a key that is in effect, nil for none.
func (o *Operator) running(key source.Key) *object {
	o.mu.Lock()
	defer o.mu.Unlock()
	if set := o.objects[key]; set != nil && set.effective() != nil {
		return set
	}
	return nil
}

// asked lists the rules that the annotations of set objects ask to resume, in order. The
// lock is held.
func (o *Operator) asked() []plan.Rule {
	var out []plan.Rule
	for _, set := range o.inOrder() {
		if set.effective() == nil {
			continue
		}
		names := spec.Resumed(set.Annotations[spec.ResumeAnnotation])
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			rule := ruleOf(set.Key)
			rule.Name = name
			out = append(out, rule)
		}
	}
	return out
}

// askedNow is the same for who does not hold the lock.
func (o *Operator) askedNow() []plan.Rule {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked()
}

// ask tells the tenants which rules are asked to resume. The lock is held.
func (o *Operator) ask() {
	asked := o.asked()
	for _, t := range o.tenants {
		t.ask(asked)
	}
}

// ask tells the tenant which rules are asked to resume, before it gets new ones. It is
// called with the lock of the operator.
func (t *tenant) ask(asked []plan.Rule) {
	if t.asked == nil || !slices.Equal(t.asked, asked) {
		t.asked = append([]plan.Rule{}, asked...)
		t.engine.Resume(asked)
	}
}

// newEvents returns who records the Events of the operator itself.
func newEvents(options *Options) (engine.Recorder, error) {
	if options.dryRun() {
		return options.Recorder, nil
	}
	events, err := write.NewRecorder(options.Fence.Guard(options.Cluster.Config), options.Instance, options.Clock)
	if err != nil {
		return nil, fmt.Errorf("preparing to record events: %w", err)
	}
	return events, nil
}
