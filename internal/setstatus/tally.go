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
// fails.
type Tally struct {
	engine.NopObserver

	mu      sync.Mutex
	rules   map[plan.Rule]*sum     // that are followed; guarded by mu
	objects map[engine.Key][]entry // without empty ones; guarded by mu
}

var _ engine.Observer = (*Tally)(nil)

// entry is what a rule says of an object.
type entry struct {
	rule            plan.Rule
	matched, failed bool
}

// NewTally returns a tally that follows no rule.
func NewTally() *Tally {
	return &Tally{rules: map[plan.Rule]*sum{}, objects: map[engine.Key][]entry{}}
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
			t.rules[rule] = &sum{failing: map[engine.Key]string{}}
		}
	}
	for key, entries := range t.objects {
		t.store(key, slices.DeleteFunc(entries, func(e entry) bool { return t.rules[e.rule] == nil }))
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
	return Counts{Matched: known.matched, Writes: known.writes, Errors: known.errors, LastError: known.shown.text}
}

// Looked is told of each evaluation. Rules that have no say about the object any more
// are not among the decisions.
func (t *Tally) Looked(snapshot rules.Snapshot, decisions []plan.Decision) {
	key := keyOf(snapshot)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.update(key, func(rule plan.Rule, before entry) entry {
		before.matched = false
		at := slices.IndexFunc(decisions, func(d plan.Decision) bool { return d.Rule == rule })
		if at < 0 {
			return entry{rule: rule}
		}
		before.matched = holds(decisions[at].Outcome)
		return before
	}, ruleOf(decisions))
}

// Concluded is told what could not be done for an object, each time that rules have
// looked at it. What is only out of date is tried again at once, and does not count; nor
// does waiting for other writes, or for the inventory, of which the status has a condition.
func (t *Tally) Concluded(key engine.Key, failures []engine.Failure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	texts := map[plan.Rule]string{}
	for _, failure := range failures {
		if failure.Err == nil || write.Classify(failure.Err) == write.Stale || passes(failure.Err) {
			continue
		}
		if len(failure.Rules) == 0 {
			return // No rule has come to look, so nothing is known that was not before.
		}
		for _, rule := range failure.Rules {
			texts[rule] = bounded(unplaced(failure.Err), longestError)
		}
	}
	var all []plan.Rule
	for rule := range texts {
		all = append(all, rule)
	}
	t.update(key, func(rule plan.Rule, before entry) entry {
		text, failed := texts[rule]
		before.failed = failed
		if failed {
			t.rules[rule].fails(key, text)
		}
		return before
	}, all)
}

func passes(err error) bool {
	waits := func(why error) bool { return errors.Is(err, why) }
	return slices.ContainsFunc([]error{engine.ErrUnrecorded, engine.ErrBusy, engine.ErrUncounted, workers.ErrCrowded}, waits)
}

// Forgot is told that the engine remembers nothing of an object any more.
func (t *Tally) Forgot(key engine.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.update(key, func(rule plan.Rule, _ entry) entry { return entry{rule: rule} }, nil)
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
			known.writes++
		}
	}
}

// update changes what is known of an object for the rules that have an entry, and for
// others.
func (t *Tally) update(key engine.Key, change func(plan.Rule, entry) entry, others []plan.Rule) {
	entries := t.objects[key]
	for _, rule := range others {
		if t.rules[rule] != nil && !slices.ContainsFunc(entries, func(e entry) bool { return e.rule == rule }) {
			entries = append(entries, entry{rule: rule})
		}
	}
	for i, before := range entries {
		after := change(before.rule, before)
		if before.failed && !after.failed {
			t.rules[before.rule].recovers(key)
		}
		t.rules[before.rule].count(before, after)
		entries[i] = after
	}
	t.store(key, slices.DeleteFunc(entries, func(e entry) bool { return !e.matched && !e.failed }))
}

func (t *Tally) store(key engine.Key, entries []entry) {
	if len(entries) == 0 {
		delete(t.objects, key)
		return
	}
	t.objects[key] = entries
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

func ruleOf(decisions []plan.Decision) []plan.Rule {
	var out []plan.Rule
	for _, decision := range decisions {
		if holds(decision.Outcome) {
			out = append(out, decision.Rule)
		}
	}
	return out
}
