package operator

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/setstatus"
	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// heard notes what it is told.
type heard struct {
	engine.NopObserver
	mu   sync.Mutex
	what []string
}

func (h *heard) Looked(snapshot rules.Snapshot, decisions []plan.Decision) {
	h.note(fmt.Sprintf("looked at %s: %d", plan.Text(snapshot.Object, "metadata", "name"), len(decisions)))
}

func (h *heard) Evaluated(key engine.Key, _ plan.Decision) { h.note("evaluated " + key.Name) }

func (h *heard) Wrote(key engine.Key, operation plan.Operation, class write.Class) {
	h.note("wrote " + operation.Target.Name + " for " + key.Name + " " + string(class))
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
	a := observer{Tally: setstatus.NewTally(clock.RealClock{}, func() uint64 { return 0 }), others: []engine.Observer{one, two}}
	a.Looked(rules.Snapshot{Object: map[string]any{"metadata": map[string]any{"name": "x"}}}, []plan.Decision{{}, {}})
	a.Evaluated(engine.Key{Name: "x"}, plan.Decision{})
	a.Wrote(engine.Key{Name: "x"}, plan.Operation{Target: plan.Object{Name: "y"}}, write.Written)
	a.Recorded(plan.Event{Reason: "Done"}, errors.New("refused"))
	want := []string{"looked at x: 2", "evaluated x", "wrote y for x " + string(write.Written), "recorded Done refused"}
	for _, got := range []*heard{one, two} {
		if diff := cmp.Diff(want, got.what); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}
