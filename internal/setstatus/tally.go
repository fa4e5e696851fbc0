package setstatus

import (
	"errors"
	"slices"
	"sync"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/workers"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// Counts are what is known of one rule.
type Counts struct {
	// Matched is the number of objects for which the condition holds now, whether the
	// rule could act on them or not.
	Matched int64
	// Writes is the number of requests that changed something, since the tally was made.
	Writes int64
	// Errors is the number of objects on which the rule fails now.
	Errors int64
	// LastError is what one of them failed with. It stays the same as long as that one
	// fails, so that many failures do not take turns.
	LastError string
}

// Tally counts what one engine does, by rule. An engine is given it as Observer, and
// its methods Looked, Concluded and Forgot as the options of these names. It is safe
// for concurrent use, and holds an entry for each object on which a rule matches or
// fails. Each call takes time that grows with the rules of its object alone.
type Tally struct {
	engine.NopObserver
	revision func() uint64

	mu      sync.Mutex
	changed map[plan.Rule]uint64  // by set: the revision of its last change; guarded by mu
	rules   map[plan.Rule]*sum    // that are followed; guarded by mu
	objects map[engine.Key]object // without empty ones; guarded by mu
	scratch []*sum                // of one call, to make no garbage; guarded by mu
}

var _ engine.Observer = (*Tally)(nil)

// object lists the rules that match an object, and those that fail on it, each once.
type object struct{ matched, failing []*sum }

// NewTally returns a tally that follows no rule. Each change gets a revision, which is to
// be greater each time; it is asked for under the lock of the tally.
func NewTally(revision func() uint64) *Tally {
	return &Tally{revision: revision, changed: map[plan.Rule]uint64{}, rules: map[plan.Rule]*sum{}, objects: map[engine.Key]object{}}
}

// Follow says which rules there are from now on. The others are forgotten, and what
// is told of them from now on is ignored. It is called before the engine gets them.
func (t *Tally) Follow(rules []plan.Rule) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.rules
	t.rules = make(map[plan.Rule]*sum, len(rules))
	for _, rule := range rules {
		if t.rules[rule] = before[rule]; t.rules[rule] == nil {
			t.rules[rule] = &sum{set: rule.OfSet(), failing: map[engine.Key]string{}}
		}
	}
	for rule, known := range before {
		if known.gone = t.rules[rule] == nil; known.gone {
			delete(t.changed, known.set)
		}
	}
	gone := func(known *sum) bool { return known.gone }
	for key, of := range t.objects {
		t.store(key, object{slices.DeleteFunc(of.matched, gone), slices.DeleteFunc(of.failing, gone)})
	}
}

// Counts returns what is known of a rule, nothing where it is not followed.
func (t *Tally) Counts(rule plan.Rule) Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.rules[rule]
	if known == nil {
		return Counts{}
	}
	return known.Counts
}

// Changed returns the revision of the last change of what is known of the rules of a set,
// 0 for none.
func (t *Tally) Changed(set plan.Rule) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changed[set]
}

// note has a change told. The lock is held.
func (t *Tally) note(known *sum) { t.changed[known.set] = t.revision() }

// Looked is told of each evaluation. Rules that have no say about the object any more
// are not among the decisions.
func (t *Tally) Looked(snapshot rules.Snapshot, decisions []plan.Decision) {
	key := keyOf(snapshot)
	t.mu.Lock()
	defer t.mu.Unlock()
	of, now := t.objects[key], t.scratch[:0]
	for _, known := range of.matched {
		known.marked = true
	}
	for _, decision := range decisions {
		if !holds(decision.Outcome) {
			continue
		}
		known := t.rules[decision.Rule]
		switch {
		case known == nil:
			continue
		case known.marked:
			known.marked = false // It matched before.
		default:
			known.Matched++
			t.note(known)
		}
		now = append(now, known)
	}
	for _, known := range of.matched {
		if known.marked {
			known.marked = false
			known.Matched--
			t.note(known)
		}
	}
	of.matched, t.scratch = append(of.matched[:0], now...), now
	if len(of.failing) > 0 {
		decided := make(map[*sum]bool, len(decisions))
		for _, decision := range decisions {
			decided[t.rules[decision.Rule]] = true
		}
		of.failing = slices.DeleteFunc(of.failing, func(known *sum) bool {
			if decided[known] {
				return false
			}
			known.recovers(key)
			t.note(known)
			return true
		})
	}
	t.store(key, of)
}

// Concluded is told what could not be done for an object, each time that rules have
// looked at it. What is only out of date is tried again at once, and does not count; nor
// does waiting for other writes, or for the inventory, of which the status has a condition.
func (t *Tally) Concluded(key engine.Key, failures []engine.Failure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	texts := map[*sum]string{}
	for _, failure := range failures {
		if failure.Err == nil || write.Classify(failure.Err) == write.Stale || passes(failure.Err) {
			continue
		}
		if len(failure.Rules) == 0 {
			return // No rule has come to look, so nothing is known that was not before.
		}
		for _, rule := range failure.Rules {
			if known := t.rules[rule]; known != nil {
				texts[known] = bounded(unplaced(failure.Err), longestError)
			}
		}
	}
	of := t.objects[key]
	if len(texts)+len(of.failing) == 0 {
		return
	}
	before := of.failing
	of.failing = make([]*sum, 0, len(texts))
	for _, known := range before {
		if _, still := texts[known]; still {
			known.marked = true
		} else {
			known.recovers(key)
			t.note(known)
		}
	}
	for known, text := range texts {
		if known.fails(key, text) {
			t.note(known)
		}
		of.failing = append(of.failing, known)
	}
	t.store(key, of)
}

func passes(err error) bool {
	waits := func(why error) bool { return errors.Is(err, why) }
	return slices.ContainsFunc([]error{engine.ErrUnrecorded, engine.ErrBusy, engine.ErrUncounted, workers.ErrCrowded}, waits)
}

// Forgot is told that the engine remembers nothing of an object any more.
func (t *Tally) Forgot(key engine.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, known := range t.objects[key].matched {
		known.Matched--
		t.note(known)
	}
	for _, known := range t.objects[key].failing {
		known.recovers(key)
		t.note(known)
	}
	delete(t.objects, key)
}

// Wrote implements [engine.Observer].
func (t *Tally) Wrote(operation plan.Operation, class write.Class) {
	if class != write.Written {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, rule := range operation.Rules {
		if known := t.rules[rule]; known != nil {
			known.Writes++
			t.note(known)
		}
	}
}

// store keeps what is known of an object. The lock is held.
func (t *Tally) store(key engine.Key, of object) {
	if len(of.matched)+len(of.failing) == 0 {
		delete(t.objects, key)
		return
	}
	t.objects[key] = of
}

// holds reports whether the condition of a rule holds that came to this outcome.
func holds(outcome plan.Outcome) bool {
	switch outcome {
	case plan.Matched, plan.Waiting, plan.Withheld, plan.Refused:
		return true
	default:
		return false
	}
}

// keyOf is the key by which the engine knows the object of a snapshot.
func keyOf(snapshot rules.Snapshot) engine.Key {
	object := snapshot.Identity()
	key := engine.Key{GVR: snapshot.GVR, Namespace: object.Namespace, Name: object.Name}
	if snapshot.Object == nil {
		key.UID = object.UID
	}
	return key
}
