package quarantine

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Case is a rule that fails for an object. In quarantine it is tried again slowly, and
// sooner when there is a change of the object, of what the rule reads of others, or of
// the rules.
type Case[K comparable] struct {
	Key   K
	Rule  plan.Rule // zero where the object could not be looked at by any
	Err   error     // of the last attempt
	Since time.Time // of the first failure
	// Attempts are those that failed since.
	Attempts int
	// Next is when it is tried again at the latest. It is zero for a rule that cannot be
	// evaluated, as it does not get better with time, and where somebody else says when,
	// before it is in quarantine.
	Next time.Time
	// Isolated says that it is in quarantine.
	Isolated bool
}

// Of returns what is known of a rule, and whether it fails at all.
func (w *Ward[K, R]) Of(key K, rule plan.Rule) (c Case[K], fails bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t := w.of[key][rule]; t != nil {
		return caseOf(key, rule, t), true
	}
	return Case[K]{}, false
}

// Has reports whether any rule fails for an object.
func (w *Ward[K, R]) Has(key K) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.of[key]) > 0
}

// Len counts the objects for which a rule fails, in quarantine or not.
func (w *Ward[K, R]) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.of)
}

// List returns what is in quarantine, in the order of the keys, and of the rules.
func (w *Ward[K, R]) List(order func(a, b K) int) []Case[K] {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []Case[K]
	for key, trials := range w.of {
		for rule, t := range trials {
			if t.isolated {
				out = append(out, caseOf(key, rule, t))
			}
		}
	}
	slices.SortFunc(out, func(a, b Case[K]) int {
		return cmp.Or(order(a.Key, b.Key), compare(a.Rule, b.Rule))
	})
	return out
}

// Counts are the objects for which each rule is in quarantine. The zero rule stands for
// those that could not be looked at.
func (w *Ward[K, R]) Counts() map[plan.Rule]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.counts)
}

func caseOf[K, R comparable](key K, rule plan.Rule, t *trial[R]) Case[K] {
	return Case[K]{Key: key, Rule: rule, Err: t.err, Since: t.since, Attempts: t.attempts, Next: t.next, Isolated: t.isolated}
}

func compare(a, b plan.Rule) int {
	return cmp.Or(
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Set, b.Set), cmp.Compare(a.Name, b.Name),
	)
}
