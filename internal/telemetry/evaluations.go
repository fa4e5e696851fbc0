package telemetry

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// evaluations counts for each rule, and forgets those that are gone, or every rule that
// ever was would be scraped for ever. It is safe for concurrent use.
type evaluations struct {
	*prometheus.CounterVec
	known sync.Map // the series that there are: each has an entry, or is about to
}

// series are the labels of a rule, and what came of its evaluation.
type series [5]string

// identity is by which labels a rule is known.
type identity [3]string

func identityOf(rule plan.Rule) identity { return identity(labelsOf(rule)) }

// add counts one evaluation.
func (e *evaluations) add(of series) {
	e.WithLabelValues(of[:]...).Inc()
	// Afterwards: a counter that is made while its entry is taken away would have none.
	e.known.LoadOrStore(of, struct{}{})
}

// sweep asks what there is, and forgets the rules that are not there. Rules go on for some
// seconds after they are removed, so it is done at each scrape, and not once. Those that
// come while it asks are not yet among the series that it looks at.
func (e *evaluations) sweep(ask func() Snapshot) Snapshot {
	var before []any // of series, in the boxes in which the map has them
	e.known.Range(func(key, _ any) bool {
		before = append(before, key)
		return true
	})
	now := ask()
	rules := make(map[identity]bool, len(now.Rules))
	for _, rule := range now.Rules {
		rules[identityOf(rule.ID)] = true
	}
	for _, key := range before {
		if of, is := key.(series); is && !rules[identity(of[:3])] {
			e.known.Delete(of)
			e.DeleteLabelValues(of[:]...)
		}
	}
	return now
}
