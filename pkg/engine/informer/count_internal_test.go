package informer

import (
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/types"
)

// TestCount holds that it is known at any time how many objects a cache has: before the
// handler has been told of all, after, and once it has begun anew.
func TestCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOutage(t)
		defer o.Stop()
		count := func(want int) {
			t.Helper()
			synctest.Wait()
			if got, names := o.Count(everywhere), len(o.Names(everywhere)); got != want || names != want {
				t.Errorf("it counts %d, and has %d names, want %d", got, names, want)
			}
		}
		count(1)
		o.server.put(widget("a", "y"))
		o.server.put(widget("b", "y"))
		count(3)
		o.server.put(widget("b", "y", labelled("color", "red")))
		o.server.remove(types.NamespacedName{Namespace: "a", Name: "x"})
		count(2)
		r := o.running[everywhere]
		r.told = func() bool { return false }
		r.load.add(-2)
		count(2)
		o.Renew(widgets)
		count(2)
		if got := o.Count(Key{GVR: widgets, Namespace: "a"}); got != 0 {
			t.Errorf("a cache that does not run has %d", got)
		}
	})
}
