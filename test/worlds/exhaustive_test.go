package worlds

import (
	"flag"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
)

var depth = flag.Int("depth", 2, "at how many moments, at which several requests or events are on their way, TestExhaustive lives on with each of them")

// smallest are plans of two objects and a child. Each begins with a minute in which the replicas come to work, in one order.
var smallest = []plan{
	{replicas: 1, steps: []step{{scale, 0, "a", time.Minute, 0, nil}, {create, 1, "a", 0, 0, nil}, {remove, 0, "a", 0, 0, nil}}},
	{replicas: 1, steps: []step{{create, 1, "a", time.Minute, 0, nil}, {relabel, 3, "a", 0, 2, nil}, {relabel, 0, "a", 0, 0, nil}, {create, 1, "b", 0, 0, nil}}},
	{replicas: 2, steps: []step{{create, 1, "a", time.Minute, 0, nil}, {scale, 3, "a", 0, 1, nil}, {restart, 0, "a", 0, 0, nil}, {remove, 0, "a", 0, 0, nil}}},
}

// TestExhaustive lives the worlds of the smallest plans in all orders in which requests and the events of watches may arrive, up to a depth,
// each once more with a process killed at each of its requests: as https://github.com/tgoodwin/kamera explores single reconcilers.
func TestExhaustive(t *testing.T) {
	server, workload := newServer(t), children(load(t))
	lives, left := 0, 0
	for _, p := range smallest {
		var rest *World
		synctest.Test(t, func(t *testing.T) { rest = calm(t, server, workload, p) })
		at, from, to := begun(t, server, workload, p)
		crashes := []disturbance{{}}
		for request := from; request <= to; request++ {
			for _, fault := range []Fault{CrashBefore, CrashAfter} {
				crashes = append(crashes, disturbance{replica: at, of: all, from: request, to: request, fault: fault})
			}
		}
		for _, crash := range crashes {
			killed := p
			if crash.fault != "" {
				killed.disturbances = []disturbance{crash}
			}
			for next := (&order{}); next != nil; next = next.following(*depth) {
				killed.order = next
				var w *World
				synctest.Test(t, func(t *testing.T) { w = live(t, server, workload, killed, nil) })
				lives++
				if wrong := judge(w, rest); wrong != "" {
					t.Fatalf("%s\nthe order %v of\n%s\nthe requests:\n%s", wrong, next.taken, killed, w.history)
				}
				if len(next.several) < len(next.taken) {
					left++
				}
			}
		}
	}
	t.Logf("%d lives, of which %d left their order", lives, left)
}

// begun is which process is the first to write, and its first and last request of the ten seconds after the minute in which it came to work.
func begun(t *testing.T, server *apiserver.Server, of *workload, p plan) (at, first, last int) {
	t.Helper()
	p.order = &order{}
	var w *World
	synctest.Test(t, func(t *testing.T) { w = live(t, server, of, p, nil) })
	at = w.firstToWrite()
	for _, r := range w.history.all[:w.rested] {
		if r.as != name(at) || r.at.After(birth.Add(time.Minute+10*time.Second)) {
			continue
		}
		if last++; first == 0 && !r.at.Before(birth.Add(time.Minute)) {
			first = last
		}
	}
	return at, first, last
}
