package setstatus

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/conflict"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/workers"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// Counts are the numbers of one rule.
type Counts struct {
	// Matched is the number of objects for which the condition holds now, whether the
	// rule could act on them or not.
	Matched int64
	// Writes is the number of requests that changed something, since the tally was made.
	Writes int64
	// LastWrite is when the last of them was made, zero for none.
	LastWrite time.Time
	// Errors is the number of objects on which the rule fails now.
	Errors int64
	// LastError is the error of one of them. It stays that of the same object while that
	// fails, so that many failures do not take turns.
	LastError string
}

// Tally counts what one engine does, by rule. It is safe for concurrent use, and holds an entry for
// each object on which a rule matches or fails. The time of each call grows with the rules of its object alone.
type Tally struct {
	engine.NopObserver
	clock    clock.PassiveClock
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

// sum is what is known of one rule.
type sum struct {
	Counts

	rule    plan.Rule
	noted   Counts    // as of the last revision
	failing []failure // some of the objects on which it fails now, at most maxSamples; LastError is of the first
}

type failure struct {
	key  engine.Key
	text string
}

// maxSamples is the number of failing objects of a rule whose errors are kept.
const maxSamples = 8

// NewTally returns a tally that follows no rule. Each change gets a revision. Revision must return
// a greater one each time; it is called under the lock of the tally.
func NewTally(clock clock.PassiveClock, revision func() uint64) *Tally {
	return &Tally{clock: clock, revision: revision, changed: map[plan.Rule]uint64{}, rules: map[plan.Rule]*sum{}, objects: map[engine.Key]object{}}
}

// Follow sets the rules that are counted from now on. The others are forgotten, and later events
// about them are ignored. It is called before the engine gets the rules.
func (t *Tally) Follow(rules []plan.Rule) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.rules
	t.rules = make(map[plan.Rule]*sum, len(rules))
	for _, rule := range rules {
		if t.rules[rule] = before[rule]; t.rules[rule] == nil {
			t.rules[rule] = &sum{rule: rule}
		}
	}
	for rule := range before {
		if t.rules[rule] == nil {
			delete(t.changed, rule.OfSet())
		}
	}
	gone := func(known *sum) bool { return t.rules[known.rule] != known }
	for key, of := range t.objects {
		t.store(key, object{slices.DeleteFunc(of.matched, gone), slices.DeleteFunc(of.failing, gone)})
	}
}

// Counts returns the counts of a rule, zero where it is not followed.
func (t *Tally) Counts(rule plan.Rule) Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.rules[rule]
	if known == nil {
		return Counts{}
	}
	return known.Counts
}

// Changed returns the revision of the last change of the counts of a set's rules,
// 0 for none.
func (t *Tally) Changed(set plan.Rule) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changed[set]
}

// note gives the counts of rules a revision if they have changed. The lock is held.
func (t *Tally) note(rules ...*sum) {
	for _, known := range rules {
		if known.noted != known.Counts {
			known.noted = known.Counts
			t.changed[known.rule.OfSet()] = t.revision()
		}
	}
}

// Looked implements [engine.Observer]. Rules that do not select the object any more
// are not among the decisions.
func (t *Tally) Looked(snapshot rules.Snapshot, decisions []plan.Decision) {
	key := keyOf(snapshot)
	t.mu.Lock()
	defer t.mu.Unlock()
	of, now := t.objects[key], t.scratch[:0]
	for _, decision := range decisions {
		switch decision.Outcome {
		case plan.Matched, plan.Waiting, plan.Withheld, plan.Refused: // The condition holds.
			if known := t.rules[decision.Rule]; known != nil {
				known.Matched++
				now = append(now, known)
			}
		default:
		}
	}
	for _, known := range of.matched {
		known.Matched--
	}
	t.note(of.matched...)
	t.note(now...)
	of.matched, t.scratch = append(of.matched[:0], now...), now
	if len(of.failing) > 0 {
		decided := make(map[*sum]bool, len(decisions))
		for _, decision := range decisions {
			decided[t.rules[decision.Rule]] = true
		}
		of.failing = slices.DeleteFunc(of.failing, func(known *sum) bool {
			if !decided[known] {
				t.recovers(known, key)
			}
			return !decided[known]
		})
	}
	t.store(key, of)
}

// Concluded implements [engine.Observer].
// A conflict is tried again at once, and does not count. Neither does
// waiting for other writes, for a wave of a rollout, or for the inventory, which has a condition in the status.
func (t *Tally) Concluded(key engine.Key, failures []guard.Failure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	texts := map[*sum]string{}
	for _, failure := range failures {
		waits := func(why error) bool { return errors.Is(failure.Err, why) }
		held := slices.Contains([]limit.Hold{limit.HoldWave, limit.HoldPasses}, limit.HoldOf(failure.Err))
		if failure.Err == nil || held || write.Classify(failure.Err) == write.Stale ||
			slices.ContainsFunc([]error{guard.ErrUnrecorded, conflict.ErrUnderWay, workers.ErrCrowded}, waits) {
			continue
		}
		if len(failure.Rules) == 0 {
			return // No rule was evaluated, so nothing new is known.
		}
		text := failure.Err.Error()
		if mistake, is := errors.AsType[*document.Error](failure.Err); is {
			text = strings.Replace(text, mistake.Error(), WithoutFile(mistake).Error(), 1)
		}
		for _, rule := range failure.Rules {
			if known := t.rules[rule]; known != nil {
				texts[known] = bounded(text, longestError)
			}
		}
	}
	of := t.objects[key]
	if len(texts)+len(of.failing) == 0 {
		return
	}
	before := of.failing
	of.failing = slices.AppendSeq(make([]*sum, 0, len(texts)), maps.Keys(texts))
	for _, known := range of.failing {
		known.fails(key, texts[known])
	}
	for _, known := range before {
		if _, still := texts[known]; still {
			known.Errors-- // It was counted before.
			t.note(known)
		} else {
			t.recovers(known, key)
		}
	}
	t.note(of.failing...)
	t.store(key, of)
}

// fails counts an object. The error that is shown stays that of the same object while that fails.
func (s *sum) fails(key engine.Key, text string) {
	s.Errors++
	i := slices.IndexFunc(s.failing, func(one failure) bool { return one.key == key })
	switch {
	case i >= 0:
		s.failing[i].text = text
	case len(s.failing) < maxSamples:
		s.failing = append(s.failing, failure{key, text})
	}
	s.LastError = s.failing[0].text
}

// recovers forgets the error of an object. If no other error is known although other objects
// fail, the text stays until one of them fails again. The lock is held.
func (t *Tally) recovers(s *sum, key engine.Key) {
	s.Errors--
	s.failing = slices.DeleteFunc(s.failing, func(one failure) bool { return one.key == key })
	switch {
	case s.Errors == 0:
		s.LastError = ""
	case len(s.failing) > 0:
		s.LastError = s.failing[0].text
	}
	t.note(s)
}

// Forgot implements [engine.Observer].
func (t *Tally) Forgot(key engine.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.objects[key]
	for _, known := range of.matched {
		known.Matched--
	}
	t.note(of.matched...)
	for _, known := range of.failing {
		t.recovers(known, key)
	}
	delete(t.objects, key)
}

// Wrote implements [engine.Observer].
func (t *Tally) Wrote(_ engine.Key, operation plan.Operation, class write.Class) {
	if class != write.Written {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, rule := range operation.Rules {
		if known := t.rules[rule]; known != nil {
			known.Writes++
			known.LastWrite = t.clock.Now()
			t.note(known)
		}
	}
}

// store keeps the entry of an object. The lock is held.
func (t *Tally) store(key engine.Key, of object) {
	if len(of.matched)+len(of.failing) == 0 {
		delete(t.objects, key)
		return
	}
	t.objects[key] = of
}

// keyOf is the engine's key of the object of a snapshot.
func keyOf(snapshot rules.Snapshot) engine.Key {
	object := snapshot.Identity()
	key := engine.Key{GVR: snapshot.GVR, Namespace: object.Namespace, Name: object.Name}
	if snapshot.Object == nil {
		key.UID = object.UID
	}
	return key
}
