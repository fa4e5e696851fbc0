package limit_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
)

// pass has the next process know what this one has stored, after a time.
func (w *world) pass(after time.Duration, rules ...guard.Limited) *world {
	next := newWorld()
	next.clock.SetTime(w.clock.Now().Add(after))
	next.follow(false)
	next.follow(false, rules...)
	next.learn(w.store(nil, nobody), everything)
	return next
}

// TestCounts holds what a next process counts of what the one before has written.
func TestCounts(t *testing.T) {
	const most = 5
	objects := func(from, to int) (out []types.UID) {
		for i := from; i < to; i++ {
			out = append(out, types.UID(fmt.Sprint("uid-", i)))
		}
		return out
	}
	tests := map[string]struct {
		reason string
		before []types.UID
		after  time.Duration
		rule   guard.Limited
		then   []types.UID // what may be written for
		last   types.UID   // by which it pauses
	}{
		"Others":  {"They count together.", objects(0, 3), 0, limited(one, most), objects(3, 5), "x"},
		"Same":    {"An object counts once, whoever writes.", objects(0, 5), 0, limited(one, most), objects(0, 5), "x"},
		"Full":    {"It is at its limit.", objects(0, 5), 0, limited(one, most), nil, "x"},
		"Over":    {"The window is over, or a part of it less.", objects(0, 5), 12 * time.Minute, limited(one, most), objects(5, 10), "x"},
		"NotOver": {"The window is not over.", objects(0, 5), 9 * time.Minute, limited(one, most), nil, "x"},
		"Changed": {"It is another rule.", objects(0, 5), 0, changed(limited(one, most)), objects(5, 10), "x"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.follow(false, limited(one, most))
			w.learn(nil, everything)
			store := func(w *world, object types.UID) {
				w.write(t, one, object)
				w.learn(w.store(nil, nobody), everything)
			}
			for _, object := range tc.before {
				store(w, object)
			}
			next := w.pass(tc.after, tc.rule)
			for _, object := range tc.then {
				store(next, object)
			}
			if got := next.reserve(tc.last, one); got != paused {
				t.Errorf("%s One more: %d", tc.reason, got)
			}
		})
	}
}

// TestCountsWait holds that a rule waits while a tenth of its limit is not stored, and not
// for what is.
func TestCountsWait(t *testing.T) {
	w := newWorld()
	w.follow(false, limited(one, 20))
	w.learn(nil, everything)
	w.write(t, one, "a")
	if w.Unsaved() {
		t.Error("each write would be stored")
	}
	w.write(t, one, "b")
	if got := w.reserve("c", one); got != busy || !w.Unsaved() {
		t.Errorf("the third, of which none is stored: %d", got)
	}
	w.write(t, one, "a")
	stored := w.store(nil, nobody)
	if counts := stored[one].Counts; len(counts) != 1 || len(counts[0].Objects) != 8 {
		t.Errorf("stored %+v", counts)
	}
	w.learn(stored, everything)
	w.write(t, one, "c")
	w.clock.Step(9 * time.Minute)
	w.write(t, one, "a")
	if !w.Unsaved() {
		t.Error("that it was written for again is to be stored too: it would not be known for long")
	}
}

// TestCountsWaitForAShare holds that what was written is stored where nothing is under way and the limit has shrunk, as
// there are fewer objects to have a share of.
func TestCountsWaitForAShare(t *testing.T) {
	w := newWorld()
	w.objects[one] = 500
	w.follow(false, share(one, 10))
	w.learn(nil, everything)
	w.write(t, one, "first")
	w.clock.Step(61 * time.Second)
	w.objects[one] = 200
	for _, object := range []types.UID{"a", "b", "c"} {
		w.write(t, one, object)
	}
	if w.Unsaved() {
		t.Fatal("a tenth of fifty is stored already")
	}
	w.clock.Step(10*time.Minute - time.Second/2) // The window has no count of five hundred any more.
	if got := w.reserve("d", one); got != busy || !w.Unsaved() {
		t.Errorf("%d, to be stored: %t", got, w.Unsaved())
	}
}
