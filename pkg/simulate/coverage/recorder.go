package coverage

import (
	"sync"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// Recorder collects what the cases of many tests do with their rules. Tests that
// name the same file have the same rules, although each compiles its own. The zero
// value is ready to use. It is safe for concurrent use.
type Recorder struct {
	mu    sync.Mutex
	known map[identity]*record
}

// identity is the same for one rule in the sets of several tests.
type identity struct {
	rule plan.Rule
	file string
}

type record struct {
	rule               plan.Rule
	at                 *document.Error
	clauses            []rules.Clause
	matched, unmatched int // cases
	held, failed       map[int]bool
}

// Rules says which rules there are: those that no case exercises are told too. A
// suspended rule is left out, since none can. A nil recorder records nothing.
func (r *Recorder) Rules(set *rules.Set) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[identity]*record{}
	}
	for _, rule := range set.Rules() {
		at := rule.Place()
		id := identity{rule.ID, at.File}
		if r.known[id] == nil && !rule.Suspended() {
			r.known[id] = &record{rule: rule.ID, at: at, clauses: rule.Clauses(), held: map[int]bool{}, failed: map[int]bool{}}
		}
	}
}

// Case begins a case of a test with these rules, which [Recorder.Rules] has been
// told of. How often a rule matches within one case makes no difference. The case of
// a nil recorder is nil.
func (r *Recorder) Case(set *rules.Set) *Case {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &Case{recorder: r, set: set, known: map[plan.Rule]*record{}, seen: map[seen]bool{}}
	for _, rule := range set.Rules() {
		c.known[rule.ID] = r.known[identity{rule.ID, rule.Place().File}]
	}
	return c
}

// Case is one case of a test. It is not for concurrent use, but the cases of one
// recorder are.
type Case struct {
	recorder *Recorder
	set      *rules.Set
	known    map[plan.Rule]*record
	seen     map[seen]bool
}

// seen is that a rule matched in the case, or did not.
type seen struct {
	rule    plan.Rule
	matched bool
}

// Evaluated notes an evaluation of the rules of the case: the snapshot, and what
// they decided about it. A nil case notes nothing.
func (c *Case) Evaluated(snapshot rules.Snapshot, decisions []plan.Decision) {
	if c == nil {
		return
	}
	judgements := c.set.Judge(snapshot)
	c.recorder.mu.Lock()
	defer c.recorder.mu.Unlock()
	for _, decision := range decisions {
		c.decided(decision)
	}
	for _, judgement := range judgements {
		known := c.known[judgement.Rule]
		for clause, holds := range judgement.Holds {
			if known != nil && holds {
				known.held[clause] = true
			} else if known != nil {
				known.failed[clause] = true
			}
		}
	}
}

func (c *Case) decided(decision plan.Decision) {
	known := c.known[decision.Rule]
	matched := exercised(decision.Outcome)
	if known == nil || !matched && decision.Outcome != plan.Unmatched || c.seen[seen{decision.Rule, matched}] {
		return
	}
	c.seen[seen{decision.Rule, matched}] = true
	if matched {
		known.matched++
	} else {
		known.unmatched++
	}
}

// exercised tells whether a rule got as far as its actions. One that is refused did;
// one that fails may have failed in its `when`, and one that waits has not acted.
func exercised(outcome plan.Outcome) bool {
	return outcome == plan.Matched || outcome == plan.Withheld || outcome == plan.Refused
}
