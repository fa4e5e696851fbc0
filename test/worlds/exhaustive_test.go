package worlds

import (
	"flag"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
)

var depth = flag.Int("depth", 0, "of how many choices, which request or event is next, TestExhaustive tries all")

// smallest are plans of one or two Deployments. Each begins with a minute in which the replicas come to work, in one order.
var smallest = []plan{
	{replicas: 1, steps: []step{{deed: scale, name: "a", then: time.Minute}, {deed: create, value: 1, name: "a"}, {deed: remove, name: "a"}}},
	{replicas: 1, steps: []step{{deed: create, value: 1, name: "a", then: time.Minute}, {deed: relabel, value: 3, name: "a", requests: 2}, {deed: relabel, name: "a"}, {deed: create, value: 1, name: "b"}}},
	{replicas: 2, steps: []step{{deed: create, value: 1, name: "a", then: time.Minute}, {deed: scale, value: 3, name: "a", requests: 1}, {deed: restart, name: "a"}, {deed: remove, name: "a"}}},
}

// TestExhaustive lives the worlds of the smallest plans in all orders of the first requests and events of watches, as
// https://github.com/tgoodwin/kamera does with single reconcilers. It does so again for each request of ten seconds, with the process killed at
// that request.
func TestExhaustive(t *testing.T) {
	server, workload := newServer(t), children(load(t))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // It makes the order of a life that of its choices, as far as it can.
	lives, left := 0, 0
	// try lives a plan in all orders, and says whether a process was killed in any.
	try := func(p plan, rest *World) (killed bool) {
		for p.order = (&order{}); p.order != nil; p.order = p.order.following(*depth) {
			var w *World
			lots(0)
			synctest.Test(t, func(t *testing.T) { w = live(t, server, workload, p, nil) })
			if wrong := judge(w, rest); wrong != "" {
				t.Fatalf("%s\nthe order %v of\n%s\nthe requests:\n%s\nagain: go test ./test/worlds -run TestExhaustive -depth %d", wrong, p.order.taken, p, w.history, *depth)
			}
			if lives++; p.order.left || len(p.order.several) < len(p.order.taken) {
				left++
			}
			killed = killed || slices.ContainsFunc(w.history.all, func(r *request) bool { return r.fault == CrashBefore || r.fault == CrashAfter })
		}
		return killed
	}
	for _, p := range smallest {
		var rest *World
		synctest.Test(t, func(t *testing.T) { rest = calm(t, server, workload, p) })
		at, first, last := begun(t, server, workload, p)
		try(p, rest)
		for request := first; request <= last+mostMore; request++ {
			for _, fault := range []Fault{CrashBefore, CrashAfter} {
				p.disturbances = []disturbance{{replica: at, of: all, from: request, to: request, fault: fault}}
				if !try(p, rest) {
					break
				}
			}
		}
	}
	t.Logf("%d lives, of which %d left their order", lives, left)
	if left > lives/10 {
		t.Error("too many left it")
	}
}

// mostMore is how many requests another order may have more in the ten seconds.
const mostMore = 3

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
	if first == 0 {
		t.Fatalf("%s has sent nothing after the first minute", name(at))
	}
	return at, first, last
}
