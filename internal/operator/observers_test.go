package operator

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// heard notes what it is told.
type heard struct {
	engine.NopObserver
	mu    sync.Mutex
	what  []string
	queue []int
}

func (h *heard) Evaluated(key engine.Key, _ plan.Decision) { h.note("evaluated " + key.Name) }

func (h *heard) Wrote(operation plan.Operation, class write.Class) {
	h.note("wrote " + operation.Target.Name + " " + string(class))
}

func (h *heard) Recorded(event plan.Event, err error) {
	h.note("recorded " + event.Reason + " " + text(err))
}

func (h *heard) Queued(length int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.queue = append(h.queue, length)
}

func (h *heard) note(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.what = append(h.what, what)
}

// TestObservers holds that each observer hears all, and of queues their sum.
func TestObservers(t *testing.T) {
	one, two := &heard{}, &heard{}
	var total atomic.Int64
	a := &observers{all: []engine.Observer{one, two}, total: &total}
	b := &observers{all: []engine.Observer{two}, total: &total}
	a.Evaluated(engine.Key{Name: "x"}, plan.Decision{})
	a.Wrote(plan.Operation{Target: plan.Object{Name: "x"}}, write.Written)
	a.Recorded(plan.Event{Reason: "Done"}, errors.New("refused"))
	want := []string{"evaluated x", "wrote x " + string(write.Written), "recorded Done refused"}
	for _, got := range []*heard{one, two} {
		if diff := cmp.Diff(want, got.what); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	a.Queued(3)
	b.Queued(4)
	a.Queued(1)
	b.Queued(0)
	a.Queued(0)
	if diff := cmp.Diff([]int{3, 7, 5, 1, 0}, two.queue); diff != "" {
		t.Errorf("the sum of the queues (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{3, 5, 0}, one.queue); diff != "" {
		t.Errorf("who hears of one tenant (-want +got):\n%s", diff)
	}
}
