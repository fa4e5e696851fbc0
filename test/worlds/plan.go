package worlds

import (
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// plan is all that happens in a world but for what the program does. It is drawn before the world begins, so that rapid can make it smaller.
type plan struct {
	steps []step
	// faults are those of each replica, in the order in which they are started. Those after them have none.
	faults []Faults
}

// step is what happens next, and how long it takes until the step after it.
type step struct {
	deed
	value int
	name  string
	then  time.Duration
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
	crash   deed = "crash"   // the replica; another one is started
	restart deed = "restart" // the replica, in order
	compact deed = "compact" // what can be watched
)

var deeds = []deed{create, create, scale, scale, relabel, remove, spoil, crash, restart, compact}

// drawn is a plan.
func drawn(t *rapid.T) plan {
	var p plan
	delays := []time.Duration{0, 0, 10 * time.Millisecond, time.Second, 10 * time.Second, time.Minute}
	for range rapid.IntRange(1, 20).Draw(t, "steps") {
		p.steps = append(p.steps, step{
			rapid.SampledFrom(deeds).Draw(t, "deed"), rapid.IntRange(0, 3).Draw(t, "value"), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"),
			rapid.SampledFrom(delays).Draw(t, "then"),
		})
	}
	for range 3 {
		faults := Faults{}
		for range rapid.IntRange(0, 8).Draw(t, "faults") {
			faults[rapid.IntRange(1, 60).Draw(t, "request")] = rapid.SampledFrom(allFaults).Draw(t, "fault")
		}
		p.faults = append(p.faults, faults)
	}
	return p
}

// String is the plan as a transcript has it.
func (p plan) String() string {
	var out strings.Builder
	for _, s := range p.steps {
		fmt.Fprintf(&out, "%s %s %d, then %s\n", s.deed, s.name, s.value, s.then)
	}
	for i, faults := range p.faults {
		if len(faults) > 0 {
			fmt.Fprintf(&out, "run-%d: %v\n", i+1, map[int]Fault(faults))
		}
	}
	return out.String()
}
