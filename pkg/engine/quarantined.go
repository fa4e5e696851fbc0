package engine

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Quarantined is a rule that keeps failing for an object. It is tried again slowly, and
// sooner when there is a change of the object, of what the rule reads of others, or of
// the rules.
type Quarantined struct {
	Key   Key
	Rules []plan.Rule // none where the object could not be looked at by any
	Err   error       // of the last attempt
	Since time.Time   // of the first failure
	// Attempts are those that failed since.
	Attempts int
	// Next is when it is tried again at the latest. It is zero for a rule that cannot be
	// evaluated: it does not get better with time.
	Next time.Time
}

// Quarantined lists what keeps failing, in the order of the objects and rules.
func (e *Engine) Quarantined() []Quarantined { return e.quarantine.list() }

// QuarantinedObjects counts the objects for which each rule is in quarantine. The zero
// rule stands for those that could not be looked at.
func (e *Engine) QuarantinedObjects() map[plan.Rule]int {
	e.quarantine.mu.Lock()
	defer e.quarantine.mu.Unlock()
	return maps.Clone(e.quarantine.counts)
}

func compareRules(a, b plan.Rule) int {
	return cmp.Or(
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Set, b.Set), cmp.Compare(a.Name, b.Name),
	)
}

func (q *quarantine) list() []Quarantined {
	q.mu.Lock()
	defer q.mu.Unlock()
	var out []Quarantined
	for key, trials := range q.of {
		for rule, t := range trials {
			if !t.isolated {
				continue
			}
			one := Quarantined{Key: key, Err: t.err, Since: t.since, Attempts: t.attempts, Next: t.next}
			if rule != (plan.Rule{}) {
				one.Rules = []plan.Rule{rule}
			}
			out = append(out, one)
		}
	}
	slices.SortFunc(out, func(a, b Quarantined) int {
		if order := a.Key.compare(b.Key); order != 0 {
			return order
		}
		return slices.CompareFunc(a.Rules, b.Rules, compareRules)
	})
	return out
}
