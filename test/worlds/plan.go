package worlds

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// plan is all that is drawn for a world. What the program does is not, nor what users do each minute whatever the plan is.
type plan struct {
	seed         uint64
	replicas     int
	inCluster    bool // the rules are set objects, and not files
	steps        []step
	disturbances []disturbance
	order        *order // in which requests and events come, nil for one by lot
}

// step is what happens next, and how long it takes until the step after it.
type step struct {
	deed
	value    int // of 0 to 11; each deed makes its own choice of it
	name     string
	then     time.Duration
	requests int           // if it is not 0, the step after it comes when so many requests have been carried, or a second later
	troubles []disturbance // of the next requests, where the deed is trouble
}

// deed is what is done. Those of users are the workload's.
type deed string

// The deeds of what a replica runs on.
const (
	crash   deed = "crash"   // a replica; another one is started after a while
	restart deed = "restart" // a replica, in order
	freeze  deed = "freeze"  // the connection of a replica, for some seconds or minutes
	trouble deed = "trouble" // of a replica: requests of several ways go wrong from then on
	compact deed = "compact" // what can be watched
	replace deed = "replace" // the rules
	seize   deed = "seize"   // the lease, as by hand
	move    deed = "move"    // a set object to another ServiceAccount
	revoke  deed = "revoke"  // the right to a resource, for some seconds or minutes
)

// follows is what often comes next: users undo what they did, and a replica in trouble is started again.
var follows = map[deed]deed{create: remove, remove: create, replace: replace, trouble: restart}

// drawn is the plan of a seed.
func drawn(seed uint64, of *workload) plan {
	lots := rand.New(rand.NewPCG(seed, 0))
	p := plan{seed: seed, replicas: one(lots, []int{1, 1, 3})}
	deeds := slices.Concat(of.deeds, of.deeds, []deed{crash, restart, restart, freeze, trouble, trouble, trouble, compact, replace, revoke})
	if p.replicas > 1 {
		deeds = append(deeds, seize, restart, restart)
	}
	if p.inCluster = lots.IntN(8) == 0 && of.texts != nil || of.tenants; p.inCluster {
		deeds = append(deeds, move, move)
	}
	delays := one(lots, [][]time.Duration{
		{0, 0, 10 * time.Millisecond, time.Second, 10 * time.Second, time.Minute},
		{0, 10 * time.Millisecond, time.Second, 3 * time.Second}, // All of it within the lag of a watch.
	})
	for range 1 + lots.IntN(20) {
		s := step{
			deed: one(lots, deeds), value: lots.IntN(12), name: one(lots, []string{"a", "b", "c"}), then: one(lots, delays), requests: max(0, lots.IntN(12)-5),
		}
		if s.deed == trouble {
			s.troubles = drawnTroubles(lots, of)
		}
		p.steps = append(p.steps, s)
		if deed := follows[s.deed]; deed != "" && lots.IntN(3) == 0 {
			s.deed, s.troubles = deed, nil
			if deed == replace {
				s.value++ // By the other rules.
			}
			p.steps = append(p.steps, s)
		}
	}
	for replica := range p.replicas + 2 {
		p.disturbances = append(p.disturbances, drawnDisturbances(lots, replica, of)...)
	}
	return p
}

// drawnDisturbances are those of a replica: of some requests, or of all of a while, of each way; and how late its watches are.
func drawnDisturbances(lots *rand.Rand, replica int, of *workload) (out []disturbance) {
	for _, sent := range ways {
		for range max(0, lots.IntN(5)-2) {
			d := drawnDisturbance(lots, sent, of)
			d.replica, d.from = replica, 1+lots.IntN(one(lots, []int{3, 8, 60}))
			if d.to = d.from; lots.IntN(4) == 0 && d.mayLast() {
				d.to += lots.IntN(8)
			}
			out = append(out, d)
		}
	}
	for range lots.IntN(4) {
		out = append(out, disturbance{replica: replica, of: watches, resource: of.resource(lots), from: 1, to: forever, fault: Lagging, by: delay(lots)})
	}
	return out
}

// drawnTroubles are disturbances that begin together: what breaks one request seldom comes alone.
func drawnTroubles(lots *rand.Rand, of *workload) (out []disturbance) {
	for _, sent := range ways {
		if lots.IntN(3) > 0 {
			continue
		}
		d := drawnDisturbance(lots, sent, of)
		for tries := 0; tries < 2 && d.by == 0; tries++ { // More happens meanwhile where it takes time.
			d = drawnDisturbance(lots, sent, of)
		}
		if d.from, d.to = 1, 1; d.mayLast() {
			d.to += lots.IntN(map[bool]int{true: 40, false: 6}[sent == leases]) // Some renewals have to fail until the lease is lost.
		}
		out = append(out, d)
	}
	return out
}

// drawnDisturbance is one of requests of a way, without their numbers.
func drawnDisturbance(lots *rand.Rand, sent way, of *workload) disturbance {
	d := disturbance{of: sent, fault: one(lots, possible[sent])}
	if sent != leases && lots.IntN(2) == 0 {
		d.resource = of.resource(lots)
	}
	switch d.fault {
	case Belated: // A leader that goes waits for what it has sent, but not for this.
		d.by = time.Duration(1+lots.IntN(10)) * time.Second
	case Late, Slow, Lagging:
		d.by = delay(lots)
	default: // It takes no time.
	}
	return d
}

// mayLast reports whether it may be about several requests in a row. Each watch that stalls takes two minutes, and each refusal longer than
// the one before.
func (d *disturbance) mayLast() bool { return d.fault != Stalled && d.fault != Forbidden }

// resource is one of those that the rules are about.
func (w *workload) resource(lots *rand.Rand) string { return one(lots, w.resources).Resource }

func delay(lots *rand.Rand) time.Duration { return time.Duration(1+lots.IntN(25)) * time.Second }

func one[T any](lots *rand.Rand, of []T) T { return of[lots.IntN(len(of))] }

// choose is which of several requests is next.
func (p plan) choose() func(int) int { return rand.New(rand.NewPCG(p.seed, 1)).IntN }

// smaller are plans with less of everything: the smallest one that fails shows the cause best.
func (p plan) smaller(yield func(plan) bool) {
	if p.inCluster {
		less := p
		less.inCluster = false
		if !yield(less) {
			return
		}
	}
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
	for i, s := range p.steps {
		for _, part := range parts(len(s.troubles)) {
			less := p
			less.steps = slices.Clone(p.steps)
			less.steps[i].troubles = slices.Delete(slices.Clone(s.troubles), part[0], part[1])
			if !yield(less) {
				return
			}
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
	if p.inCluster {
		fmt.Fprintln(&out, "the rules are a set object")
	}
	for _, s := range p.steps {
		then := s.then.String()
		if s.requests > 0 {
			then = fmt.Sprintf("%d requests", s.requests)
		}
		fmt.Fprintf(&out, "%s %s %d, then %s\n", s.deed, s.name, s.value, then)
		for i := range s.troubles {
			fmt.Fprintf(&out, "  %s\n", &s.troubles[i])
		}
	}
	for i := range p.disturbances {
		fmt.Fprintf(&out, "%s, %s\n", name(p.disturbances[i].replica), &p.disturbances[i])
	}
	return out.String()
}
