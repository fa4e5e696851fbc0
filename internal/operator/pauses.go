package operator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/dyncontroller/dyncontroller/internal/source"
	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// maxNotices bounds the Events that are still to be recorded.
const maxNotices = 100

// notices are the pauses that set objects are still to hear of, and the rules that the
// annotations of their sets are not to ask for any more: those that have resumed, and those
// that paused though they were asked for, which nobody can have meant. The engines tell it
// while the operator is locked. It is safe for concurrent use.
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
	var asked []plan.Rule
	if p.Asked {
		asked = append(asked, p.Rule)
	}
	n.leave([]limit.Pause{p}, asked)
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

// record tells of a pause with an Event on its set, where that is an object. An annotation
// from before is taken off then, and is to be put on as if it had never been there.
func (o *Operator) record(ctx context.Context, p limit.Pause) error {
	set := o.running(keyOf(p.Rule))
	if set == nil {
		return nil
	}
	p.Asked = false
	return o.events.Record(ctx, plan.Event{
		Rule: p.Rule, Type: "Warning", Reason: "Paused", Action: "Pause", Message: fmt.Sprintf("rule %s is paused: %s", p.Rule.Name, p),
		Regarding: plan.Object{GVR: v1alpha1.ResourceOf(set.Kind), Kind: set.Kind, Namespace: set.Namespace, Name: set.Name, UID: set.UID},
	}, true) //nolint:wrapcheck // It says what it is of.
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
