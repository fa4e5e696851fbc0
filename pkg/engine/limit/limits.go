package limit

import (
	"sync"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Limits is what is known of the rules with limits or a rollout of a process. Each of its engines has a [Guard] for those that it runs, and a set that
// goes to another engine takes along what is known of its rules. It is safe for concurrent use.
type Limits struct {
	mu      sync.Mutex
	then    []func()             // what to do once the lock is released; guarded by mu, as are all that follow
	rules   map[plan.Rule]*state // that engines run, or have run last
	runs    map[plan.Rule]*Guard // by set, that of the engine which runs it, nil while none may write for it
	started int                  // how often an engine has begun to run a rule
	alone   bool                 // there is one engine, which runs all that it follows; immutable
}

// NewLimits returns limits of which no engine runs any rule until [Limits.Assign] is called.
func NewLimits() *Limits {
	return &Limits{rules: map[plan.Rule]*state{}}
}

// unlock releases the lock, and does what is not to be done with it held. All unexported methods of limits, guards and states are called with it.
func (l *Limits) unlock() {
	then := l.then
	l.then = nil
	l.mu.Unlock()
	for _, do := range then {
		do()
	}
}

// Assign says by which guard each set is run from now on: nil while none may write for it, as the engine that did has writes under way, which go on to count.
// What is known of other sets is forgotten.
func (l *Limits) Assign(runs map[plan.Rule]*Guard) {
	l.mu.Lock()
	defer l.unlock()
	for set, from := range l.runs {
		if from != nil && from != runs[set] {
			delete(from.sets, set) // It is another set to that engine if it comes back.
		}
	}
	for id, s := range l.rules {
		set := id.OfSet()
		to, is := runs[set]
		switch {
		case !is:
			delete(l.rules, id)
		case to != nil && to != l.runs[set]:
			s.moveTo(to)
		}
	}
	l.runs = runs
}

// Started counts how often an engine has begun to run a rule.
func (l *Limits) Started() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.started
}

// start notes that an engine begins to run a rule.
func (g *Guard) start(s *state) {
	g.started++
	s.running = running{g, g.started}
}

// moveTo has another guard go on with a rule, or the same one after a while. That one stores what the other one has not.
func (s *state) moveTo(g *Guard) {
	g.start(s)
	s.counted = time.Time{}
	s.save()
	g.free()
	if s.everywhere() {
		return
	}
	r := s.storable()
	s.rollout = newRollout()
	if r != nil {
		s.rollout.restore(r, g.clock.Now())
	}
	g.lookAgain(s.Watches)
}
