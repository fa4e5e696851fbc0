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
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				w.reserve(object)
				reserved[object]++
			case 1:
				if reserved[object] > 0 {
					reserved[object]--
					effective := rapid.Bool().Draw(t, "effective")
					w.settle(object, effective, now, per)
					if effective {
						wrote[object] = now
					}
				}
			case 2:
				now = now.Add(time.Duration(rapid.IntRange(0, 6).Draw(t, "seconds")) * time.Second)
			case 3:
				w.settle("stranger", true, now, per) // Nobody has reserved that.
			}
			w.expire(now, per)
			var all, written int
			for i := range 6 {
				object := types.UID(fmt.Sprint(i))
				at, ever := wrote[object]
				young := ever && now.Sub(at) < per
				if young {
					written++
				}
				in := young || reserved[object] > 0
				if in {
					all++
				}
				if has := w.find(object) != nil; has != in {
					t.Fatalf("object %d: in the window is %v, want %v", i, has, in)
				}
			}
			if gotAll, gotWritten := len(w.entries), w.written.Len(); gotAll != all || gotWritten != written {
				t.Fatalf("got %d objects, %d written; want %d, %d", gotAll, gotWritten, all, written)
			}
		}
	})
}
