package operator

import (
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// heard notes what it is told.
type heard struct {
	engine.NopObserver
	mu   sync.Mutex
	what []string
}

func (h *heard) Evaluated(key engine.Key, _ plan.Decision) { h.note("evaluated " + key.Name) }

func (h *heard) Wrote(operation plan.Operation, class write.Class) {
	h.note("wrote " + operation.Target.Name + " " + string(class))
}

func (h *heard) Recorded(event plan.Event, err error) {
	h.note("recorded " + event.Reason + " " + text(err))
}

func (h *heard) note(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.what = append(h.what, what)
}

// TestObservers holds that each observer hears all.
func TestObservers(t *testing.T) {
	one, two := &heard{}, &heard{}
	a := observer{Tally: setstatus.NewTally(func() uint64 { return 0 }), others: []engine.Observer{one, two}}
	a.Evaluated(engine.Key{Name: "x"}, plan.Decision{})
	a.Wrote(plan.Operation{Target: plan.Object{Name: "x"}}, write.Written)
	a.Recorded(plan.Event{Reason: "Done"}, errors.New("refused"))
	want := []string{"evaluated x", "wrote x " + string(write.Written), "recorded Done refused"}
	for _, got := range []*heard{one, two} {
		if diff := cmp.Diff(want, got.what); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}
