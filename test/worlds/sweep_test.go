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
	{"children", plan{replicas: 1, steps: []step{{create, 1, "a", time.Minute, 0, nil}, {remove, 0, "a", time.Minute, 0, nil}}}},
	{"jobs", plan{replicas: 1, steps: []step{{create, 5, "a", time.Second, 0, nil}, {succeed, 0, "a", 0, 0, nil}, {fail, 1, "a", 20 * time.Second, 0, nil}, {kill, 0, "a", 0, 0, nil}}}},
	{"replicasets", plan{replicas: 1, steps: []step{{create, 3, "a", time.Second, 0, nil}, {scale, 1, "a", 0, 0, nil}, {kill, 0, "a", time.Second, 0, nil}, {bare, 0, "a", 0, 0, nil}}}},
	{"children", plan{replicas: 1, steps: []step{{create, 1, "a", 0, 0, nil}, {create, 3, "b", time.Minute, 0, nil}, {scale, 0, "a", 0, 0, nil}, {spoil, 3, "b", time.Second, 0, nil}, {spoil, 0, "a", 0, 0, nil}}}},
	{"children", plan{replicas: 1, steps: []step{{create, 1, "a", time.Second, 0, nil}, {relabel, 3, "a", time.Minute, 0, nil}, {scale, 3, "a", time.Second, 0, nil}, {relabel, 0, "a", 0, 0, nil}}}},
	{"children", plan{replicas: 1, steps: []step{{create, 2, "a", 10 * time.Millisecond, 0, nil}, {remove, 0, "a", 0, 0, nil}, {create, 1, "a", time.Second, 0, nil}, {remove, 0, "a", time.Minute, 0, nil}, {create, 0, "a", 0, 0, nil}}}},
	{"children", plan{replicas: 1, steps: []step{{create, 1, "a", time.Second, 0, nil}, {restart, 0, "a", 0, 0, nil}, {relabel, 3, "a", 0, 0, nil}, {remove, 0, "a", 0, 0, nil}}}},
	{"children", plan{replicas: 3, steps: []step{{create, 1, "a", time.Minute, 0, nil}, {remove, 0, "a", time.Minute, 0, nil}, {create, 1, "a", 0, 0, nil}}}},
	{"children", plan{replicas: 1, steps: []step{{create, 1, "a", time.Second, 0, nil}, {compact, 0, "a", 0, 0, nil}, {relabel, 3, "a", 0, 0, nil}, {compact, 0, "a", time.Second, 0, nil}, {relabel, 1, "a", 0, 0, nil}}}},
	{"children", plan{replicas: 3, steps: []step{{create, 1, "a", time.Second, 0, nil}, {relabel, 3, "a", 0, 0, nil}, {restart, 1, "a", time.Second, 0, nil}, {remove, 0, "a", 0, 0, nil}, {create, 1, "b", 0, 0, nil}}}},
	{"jobs", plan{replicas: 3, steps: []step{{create, 4, "a", time.Second, 0, nil}, {fail, 0, "a", 0, 0, nil}, {restart, 0, "a", time.Second, 0, nil}, {succeed, 0, "a", 0, 0, nil}}}},
	{"replicasets", plan{replicas: 3, steps: []step{{create, 3, "a", 0, 0, nil}, {restart, 0, "a", time.Second, 0, nil}, {kill, 1, "a", 0, 0, nil}, {scale, 4, "a", 0, 0, nil}}}},
	{"rollouts", plan{replicas: 1, steps: []step{{create, 0, "a", 0, 0, nil}, {create, 1, "a", 0, 0, nil}, {create, 2, "a", 0, 0, nil}, {create, 3, "a", time.Second, 0, nil}, {remove, 0, "a", 0, 0, nil}}}},
	{"limits", plan{replicas: 1, steps: []step{{create, 0, "a", 0, 0, nil}, {create, 1, "a", 0, 0, nil}, {create, 2, "a", 0, 0, nil}, {create, 3, "a", time.Minute, 0, nil}, {replace, 2, "a", 0, 0, nil}}}},
	{"rollouts", plan{replicas: 3, steps: []step{{create, 0, "a", 0, 0, nil}, {create, 1, "a", 0, 0, nil}, {create, 2, "a", 0, 0, nil}, {create, 3, "a", time.Second, 0, nil}, {restart, 0, "a", time.Minute, 0, nil}, {sicken, 1, "a", 0, 0, nil}}}},
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
