package worlds

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// plan is all that happens in a world but for what the program does.
type plan struct {
	seed         uint64
	replicas     int
	steps        []step
	disturbances []disturbance
}

// step is what happens next, and how long it takes until the step after it.
type step struct {
	deed
	value    int
	name     string
	then     time.Duration
	requests int // if it is not 0, the step after it comes when so many requests have been carried
}

// deed is what is done. Those of users are the workload's.
type deed string

// The deeds of what a replica runs on.
const (
	crash   deed = "crash"   // a replica; another one is started after a while
	restart deed = "restart" // a replica, in order
	freeze  deed = "freeze"  // the connection of a replica, for some seconds or minutes
	compact deed = "compact" // what can be watched
	replace deed = "replace" // the rules
)

// drawn is the plan of a seed.
func drawn(seed uint64, of *workload) plan {
	lots := rand.New(rand.NewPCG(seed, 0))
	p := plan{seed: seed, replicas: one(lots, []int{1, 1, 3})}
	deeds := slices.Concat(of.deeds, of.deeds, []deed{crash, restart, restart, freeze, compact, replace})
	delays := one(lots, [][]time.Duration{
		{0, 0, 10 * time.Millisecond, time.Second, 10 * time.Second, time.Minute},
		{0, 10 * time.Millisecond, time.Second, 3 * time.Second}, // All of it within the lag of a watch.
	})
	for range 1 + lots.IntN(20) {
		p.steps = append(p.steps, step{
			deed: one(lots, deeds), value: lots.IntN(12), name: one(lots, []string{"a", "b", "c"}), then: one(lots, delays), requests: max(0, lots.IntN(12)-5),
		})
	}
	for replica := range p.replicas + 2 {
		p.disturbances = append(p.disturbances, drawnDisturbances(lots, replica, of)...)
	}
	return p
}

// drawnDisturbances are those of a replica: of some requests, or of all of a while, of each way; and how late its watches are.
func drawnDisturbances(lots *rand.Rand, replica int, of *workload) (out []disturbance) {
	delay := func() time.Duration { return time.Duration(1+lots.IntN(25)) * time.Second }
	resource := func() string { return of.resources[lots.IntN(len(of.resources))].Resource }
	for _, sent := range []way{reads, creates, patches, deletes, watches, leases} {
		for range max(0, lots.IntN(5)-2) {
			d := disturbance{replica: replica, of: sent, from: 1 + lots.IntN(one(lots, []int{3, 8, 60})), fault: one(lots, possible[sent])}
			if sent != leases && lots.IntN(2) == 0 {
				d.resource = resource()
			}
			// Each watch that stalls takes two minutes, and each refusal longer than the one before.
			if d.to = d.from; lots.IntN(4) == 0 && d.fault != Stalled && d.fault != Forbidden {
				d.to += lots.IntN(8)
			}
			switch d.fault {
			case Belated: // A leader that goes waits for what it has sent, but not for this.
				d.by = time.Duration(1+lots.IntN(10)) * time.Second
			case Late, Slow, Lagging:
				d.by = delay()
			default: // It takes no time.
			}
			out = append(out, d)
		}
	}
	for range lots.IntN(4) {
		out = append(out, disturbance{replica: replica, of: watches, resource: resource(), from: 1, to: forever, fault: Lagging, by: delay()})
	}
	return out
}

func one[T any](lots *rand.Rand, of []T) T { return of[lots.IntN(len(of))] }

// choose is which of several requests is next.
func (p plan) choose() func(int) int { return rand.New(rand.NewPCG(p.seed, 1)).IntN }

// smaller are plans with less of everything: whoever looks for the cause of a failure wants the smallest that fails.
func (p plan) smaller(yield func(plan) bool) {
	if p.replicas > 1 {
		less := p
		less.replicas = 1
		if !yield(less) {
			return
		}
	}
	for _, part := range parts(len(p.steps)) {
		less := p
		less.steps = slices.Delete(slices.Clone(p.steps), part[0], part[1])
		if !yield(less) {
			return
		}
	}
	for _, part := range parts(len(p.disturbances)) {
		less := p
		less.disturbances = slices.Delete(slices.Clone(p.disturbances), part[0], part[1])
		if !yield(less) {
			return
		}
	}
}

// parts are what may be left out of a list: each half, quarter and so on, down to each element.
func parts(n int) (out [][2]int) {
	for size := n; size > 0; size /= 2 {
		for from := 0; from < n; from += size {
			out = append(out, [2]int{from, min(from+size, n)})
		}
	}
	return out
}

// String is the plan as a transcript has it.
func (p plan) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "seed %d, replicas: %d\n", p.seed, p.replicas)
	for _, s := range p.steps {
		then := s.then.String()
		if s.requests > 0 {
			then = fmt.Sprintf("%d requests", s.requests)
		}
		fmt.Fprintf(&out, "%s %s %d, then %s\n", s.deed, s.name, s.value, then)
	}
	for i := range p.disturbances {
		fmt.Fprintln(&out, &p.disturbances[i])
	}
	return out.String()
}
