package limit_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// TestShareOfWhatThereWas holds that a rule may write for its share of what there was when
// its window began, though it takes that away itself.
func TestShareOfWhatThereWas(t *testing.T) {
	const objects = 1000
	tests := map[string]struct {
		reason string
		each   time.Duration // between two writes
		from   int           // objects when the window begins
		later  int           // that are there besides by the time of the first write
		want   int           // writes before it pauses
		of     int64         // objects, as the pause says
	}{
		"AtOnce":  {"Half of all, not half of the rest, which is a third.", 0, objects, 0, objects / 2, objects},
		"Slowly":  {"So it is however often is counted meanwhile.", time.Second, objects, 0, objects / 2, objects},
		"Growing": {"What comes counts, too, as it is counted: after two are gone.", time.Second / 2, objects, objects + 2, objects, 2 * objects},
		"Few":     {"At least one.", 0, 1, 0, 1, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(share(one, 50))
			w.objects[one] = tc.from
			wrote := 0
			for w.reserve(types.UID(fmt.Sprint(wrote)), one) == granted {
				w.settle(types.UID(fmt.Sprint(wrote)), true, one)
				if wrote == 0 {
					w.objects[one] += tc.later
				}
				w.objects[one]--
				w.clock.Step(tc.each)
				wrote++
			}
			if wrote != tc.want {
				t.Errorf("%s It wrote for %d objects, want %d", tc.reason, wrote, tc.want)
			}
			if got, _ := w.pauseOf(one); got.Of != tc.of {
				t.Errorf("%s The pause says that it is of %d", tc.reason, got.Of)
			}
		})
	}
}

// TestShareOfALaterWindow holds that what was there long ago is no base.
func TestShareOfALaterWindow(t *testing.T) {
	tests := map[string]struct {
		reason string
		rest   time.Duration // after the first write
		again  time.Duration // after a second one
		want   answer
	}{
		"SameWindow": {"The window has begun with all of them.", 0, 0, granted},
		"NewWindow":  {"Nothing counts any more, and with the next write it begins anew.", 10 * time.Minute, 0, paused},
		"Slid":       {"A window that never ends has slid past them.", 9 * time.Minute, 3 * time.Minute, paused},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(share(one, 10))
			w.objects[one] = 100
			w.write(t, one, "a")
			w.objects[one] = 10
			w.clock.Step(tc.rest)
			w.write(t, one, "b")
			w.clock.Step(tc.again)
			if got := w.reserve("c", one); got != tc.want {
				t.Errorf("%s The answer is %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

// TestShareOfWhatIsWatchedNow holds that a rule which is the same and watches its objects in another version counts them there.
func TestShareOfWhatIsWatchedNow(t *testing.T) {
	w := newWorld(share(one, 50))
	w.objects[two] = 10
	moved := share(one, 50)
	moved.Watches = share(two, 50).Watches
	w.follow(true, moved)
	for i := range 5 {
		w.write(t, one, types.UID(fmt.Sprint(i)))
	}
	if got := w.reserve("more", one); got != paused {
		t.Errorf("the answer is %d, want a pause", got)
	}
}

// TestShareWhileWritesAreUnderWay holds that what is gone before its deletion is answered takes nothing of the share.
func TestShareWhileWritesAreUnderWay(t *testing.T) {
	w := newWorld(share(one, 50))
	w.objects[one] = 4
	if got := w.reserve("a", one); got != granted {
		t.Fatalf("the answer for the first object is %d", got)
	}
	w.objects[one]-- // The watch was quicker than the answer.
	w.clock.Step(time.Second)
	if got := w.reserve("b", one); got != granted {
		t.Errorf("the answer for the second of four objects is %d", got)
	}
	w.settle("a", true, one)
	w.settle("b", true, one)
	w.objects[one]--
	if got := w.reserve("c", one); got != paused {
		t.Errorf("the answer for the third of four objects is %d", got)
	}
	if got, _ := w.pauseOf(one); got.Of != 4 {
		t.Errorf("the pause says that it is of %d", got.Of)
	}
}

// TestShareOfWhatIsWrittenForAgain holds that a rule which goes on to write for an object does not keep a base of long ago by that.
func TestShareOfWhatIsWrittenForAgain(t *testing.T) {
	w := newWorld(share(one, 10))
	w.objects[one] = 100
	for range 30 {
		w.write(t, one, "a")
		w.objects[one] = 10
		w.clock.Step(time.Minute)
	}
	if got := w.reserve("b", one); got != paused {
		t.Errorf("the answer for the second of ten objects is %d", got)
	}
}
