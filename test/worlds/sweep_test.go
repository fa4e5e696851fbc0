package worlds

import (
	"flag"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

var sweeps = flag.Int("sweeps", 3, "how many of the plans TestCrashSweep kills a process in, at each of its requests")

// swept are plans in which something is under way most of the time.
var swept = []struct {
	workload string
	plan
}{
	{"children", plan{replicas: 1, steps: []step{{deed: create, value: 1, name: "a", then: time.Minute}, {deed: remove, name: "a", then: time.Minute}}}},
	{"jobs", plan{replicas: 1, steps: []step{{deed: create, value: 5, name: "a", then: time.Second}, {deed: succeed, name: "a"}, {deed: fail, value: 1, name: "a", then: 20 * time.Second}, {deed: kill, name: "a"}}}},
	{"replicasets", plan{replicas: 1, steps: []step{{deed: create, value: 3, name: "a", then: time.Second}, {deed: scale, value: 1, name: "a"}, {deed: kill, name: "a", then: time.Second}, {deed: bare, name: "a"}}}},
	{"children", plan{replicas: 1, steps: []step{{deed: create, value: 1, name: "a"}, {deed: create, value: 3, name: "b", then: time.Minute}, {deed: scale, name: "a"}, {deed: spoil, value: 3, name: "b", then: time.Second}, {deed: spoil, name: "a"}}}},
	{"children", plan{replicas: 1, steps: []step{{deed: create, value: 1, name: "a", then: time.Second}, {deed: relabel, value: 3, name: "a", then: time.Minute}, {deed: scale, value: 3, name: "a", then: time.Second}, {deed: relabel, name: "a"}}}},
	{"children", plan{replicas: 1, steps: []step{{deed: create, value: 2, name: "a", then: 10 * time.Millisecond}, {deed: remove, name: "a"}, {deed: create, value: 1, name: "a", then: time.Second}, {deed: remove, name: "a", then: time.Minute}, {deed: create, name: "a"}}}},
	{"children", plan{replicas: 1, steps: []step{{deed: create, value: 1, name: "a", then: time.Second}, {deed: restart, name: "a"}, {deed: relabel, value: 3, name: "a"}, {deed: remove, name: "a"}}}},
	{"children", plan{replicas: 3, steps: []step{{deed: create, value: 1, name: "a", then: time.Minute}, {deed: remove, name: "a", then: time.Minute}, {deed: create, value: 1, name: "a"}}}},
	{"children", plan{replicas: 1, steps: []step{{deed: create, value: 1, name: "a", then: time.Second}, {deed: compact, name: "a"}, {deed: relabel, value: 3, name: "a"}, {deed: compact, name: "a", then: time.Second}, {deed: relabel, value: 1, name: "a"}}}},
	{"children", plan{replicas: 3, steps: []step{{deed: create, value: 1, name: "a", then: time.Second}, {deed: relabel, value: 3, name: "a"}, {deed: restart, value: 1, name: "a", then: time.Second}, {deed: remove, name: "a"}, {deed: create, value: 1, name: "b"}}}},
	{"jobs", plan{replicas: 3, steps: []step{{deed: create, value: 4, name: "a", then: time.Second}, {deed: fail, name: "a"}, {deed: restart, name: "a", then: time.Second}, {deed: succeed, name: "a"}}}},
	{"replicasets", plan{replicas: 3, steps: []step{{deed: create, value: 3, name: "a"}, {deed: restart, name: "a", then: time.Second}, {deed: kill, value: 1, name: "a"}, {deed: scale, value: 4, name: "a"}}}},
	{"rollouts", plan{replicas: 1, steps: []step{{deed: create, name: "a"}, {deed: create, value: 1, name: "a"}, {deed: create, value: 2, name: "a"}, {deed: create, value: 3, name: "a", then: time.Second}, {deed: remove, name: "a"}}}},
	{"limits", plan{replicas: 1, steps: []step{{deed: create, name: "a"}, {deed: create, value: 1, name: "a"}, {deed: create, value: 2, name: "a"}, {deed: create, value: 3, name: "a", then: time.Minute}, {deed: replace, value: 2, name: "a"}}}},
	{"rollouts", plan{replicas: 3, steps: []step{{deed: create, name: "a"}, {deed: create, value: 1, name: "a"}, {deed: create, value: 2, name: "a"}, {deed: create, value: 3, name: "a", then: time.Second}, {deed: restart, name: "a", then: time.Minute}, {deed: sicken, value: 1, name: "a"}}}},
}

// TestCrashSweep kills a process at each of its requests, before the API server has it and before the process has the answer: of the processes
// of a world, the first one that writes.
func TestCrashSweep(t *testing.T) {
	server, named, kills := newServer(t), byName(t), 0
	for n, s := range swept[:min(*sweeps, len(swept))] {
		p, workload := s.plan, named[s.workload]
		p.seed = uint64(n)
		var whole *World
		synctest.Test(t, func(t *testing.T) { whole = live(t, server, workload, p, nil) })
		at, requests := whole.firstToWrite(), 0
		for _, r := range whole.history.all[:whole.rested] {
			if r.as == name(at) {
				requests++
			}
		}
		for request := range requests {
			for _, fault := range []Fault{CrashBefore, CrashAfter} {
				killed := p
				killed.disturbances = []disturbance{{replica: at, of: all, from: 1 + request, to: 1 + request, fault: fault}}
				if wrong, transcript, _ := play(t, server, workload, killed); wrong != "" {
					report(t, server, workload, killed, wrong, transcript, fmt.Sprintf("go test ./test/worlds -run TestCrashSweep -sweeps %d", n+1))
				}
				kills++
			}
		}
	}
	t.Logf("%d kills", kills)
}

// firstToWrite is the number of the first process that has written, from 0.
func (w *World) firstToWrite() int {
	for _, r := range w.history.all {
		for i := range w.replicas {
			if r.as == name(i) && r.changes() {
				return i
			}
		}
	}
	return 0
}
