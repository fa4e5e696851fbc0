package limit

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// TestWindow compares the window with what is counted from the whole history.
func TestWindow(t *testing.T) {
	const per = 10 * time.Second
	rapid.Check(t, func(t *rapid.T) {
		w := newWindow()
		now := time.Unix(1_000_000, 0)
		wrote := map[types.UID]time.Time{}
		reserved := map[types.UID]int{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			object := types.UID(fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "object")))
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				reserved[object]++
				w.reserve(object)
			case 1:
				effective := rapid.Bool().Draw(t, "effective") // Also of what was sent before the rule changed.
				w.settle(object, effective, now, per)
				reserved[object] = max(0, reserved[object]-1)
				if effective {
					wrote[object] = now
				}
			case 2:
				now = now.Add(time.Duration(rapid.IntRange(0, 6).Draw(t, "seconds")) * time.Second)
			}
			w.expire(now.Add(-per))
			var all, written int
			for i := range 6 {
				object := types.UID(fmt.Sprint(i))
				young := now.Sub(wrote[object]) < per
				if young {
					written++
				} else {
					delete(wrote, object)
				}
				in := young || reserved[object] > 0
				if in {
					all++
				}
				if has := w.has(object, now.Add(-per)); has != in {
					t.Fatalf("object %d: in the window is %v, want %v", i, has, in)
				}
			}
			if gotWritten, gotAll := len(w.written), len(w.written)+w.pending(); gotAll != all || gotWritten != written {
				t.Fatalf("got %d objects, %d written; want %d, %d", gotAll, gotWritten, all, written)
			}
		}
	})
}
