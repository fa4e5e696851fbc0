package engine

import (
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
)

// TestBarrierOfBothLanes holds that all that was queued before has been in hand when it is
// over, in whichever lane, also what changed lanes meanwhile.
func TestBarrierOfBothLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(Options{Caches: func(informer.Handler) Caches { return nil }})
		defer e.queue.ShutDown()
		e.awake.Store(true)
		want := map[Key]bool{}
		for i := range 20 {
			fresh, later := objectNamed("fresh-"+strconv.Itoa(i)), objectNamed("later-"+strconv.Itoa(i))
			e.changed([]Key{fresh}, version{}, true)
			e.enqueue(later)
			want[fresh], want[later] = true, true
		}
		over := make(chan struct{})
		go func() {
			defer close(over)
			if err := e.lookedAtAll(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		for i := 19; ; i-- {
			if i >= 0 { // It overtakes the key of the barrier.
				e.changed([]Key{objectNamed("later-" + strconv.Itoa(i))}, version{}, true)
			}
			select {
			case <-over:
				if len(want) > 0 {
					t.Errorf("%d objects that were queued before are still to be looked at", len(want))
				}
				return
			default:
			}
			key, _ := e.queue.Get()
			delete(want, key)
			if isBarrier(key) {
				e.barrier.pass(key)
			}
			e.queue.Done(key)
			synctest.Wait()
		}
	})
}
