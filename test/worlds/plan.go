package worlds

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// plan is all that happens in a world but for what the program does.
type plan struct {
	seed     uint64
	replicas int
	steps    []step
	// faults are those of each replica, in the order in which they start. Those after them have none.
	faults []Faults
}

// step is what happens next, and how long it takes until the step after it.
type step struct {
	deed
	value    int
	name     string
	then     time.Duration
	requests int // if it is not 0, the step after it comes when so many requests have been carried out
}

// deed is what is done.
type deed string

// The deeds of users, and of what a replica runs on.
const (
	create  deed = "create"  // a Deployment
	scale   deed = "scale"   // a Deployment
	relabel deed = "relabel" // a Deployment, to one for which rules change something for a while, or back
	remove  deed = "delete"  // a Deployment
	spoil   deed = "spoil"   // what a rule has made of a Deployment
	crash   deed = "crash"   // a replica; another one is started
	restart deed = "restart" // a replica, in order
	freeze  deed = "freeze"  // the connection of a replica, for some seconds or minutes
	compact deed = "compact" // what can be watched
)

var deeds = []deed{create, create, scale, scale, relabel, remove, spoil, crash, restart, freeze, compact}

// drawn is the plan of a seed.
func drawn(seed uint64) plan {
	lots := rand.New(rand.NewPCG(seed, 0))
	p := plan{seed: seed, replicas: one(lots, []int{1, 1, 3})}
	delays := []time.Duration{0, 0, 10 * time.Millisecond, time.Second, 10 * time.Second, time.Minute}
	for range 1 + lots.IntN(20) {
		p.steps = append(p.steps, step{
			deed: one(lots, deeds), value: lots.IntN(12), name: one(lots, []string{"a", "b", "c"}), then: one(lots, delays), requests: max(0, lots.IntN(12)-5),
		})
	}
	for range p.replicas + 2 {
		faults := Faults{}
		for _, of := range []way{reads, writes, watches, leases} {
			faults[of] = map[int]Fault{}
			for range lots.IntN(4) {
				faults[of][1+lots.IntN(one(lots, []int{4, 8, 60}))] = one(lots, possible[of])
			}
		}
		for watch := range 3 { // The first ones, which mostly last.
			if lots.IntN(4) == 0 {
				faults[watches][1+watch] = one(lots, []Fault{Lagging, FarBack})
			}
		}
		p.faults = append(p.faults, faults)
	}
	return p
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
	for i := range p.steps {
		less := p
		less.steps = slices.Delete(slices.Clone(p.steps), i, i+1)
		if !yield(less) {
			return
		}
	}
	for i, faults := range p.faults {
		for _, of := range slices.Sorted(maps.Keys(faults)) {
			for _, number := range slices.Sorted(maps.Keys(faults[of])) {
				less, without := p, maps.Clone(faults)
				without[of] = maps.Clone(faults[of])
				delete(without[of], number)
				less.faults = slices.Clone(p.faults)
				less.faults[i] = without
				if !yield(less) {
					return
				}
			}
		}
	}
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
	for i, faults := range p.faults {
		for _, of := range slices.Sorted(maps.Keys(faults)) {
			for _, number := range slices.Sorted(maps.Keys(faults[of])) {
				fmt.Fprintf(&out, "run-%d, %s, %d: %s\n", i+1, of, number, faults[of][number])
			}
		}
	}
	return out.String()
}
