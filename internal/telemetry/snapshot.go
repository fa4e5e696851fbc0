package telemetry

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Snapshot is what is asked for at each scrape: it has no series of what is gone.
type Snapshot struct {
	Caches []informer.Status
	Loads  []informer.Load
	Rules  []Rule
	// Queued is how many objects wait for a worker.
	Queued int
}

// Standing says whether a rule acts.
type Standing string

// The standings.
const (
	Active    Standing = "active"    // it acts
	Audited   Standing = "audited"   // it only reports
	Suspended Standing = "suspended" // it is not evaluated
	Paused    Standing = "paused"    // it has come to its limits
)

func standings() []Standing { return []Standing{Active, Audited, Suspended, Paused} }

// Rule is how one rule is doing. One that passes from one identity to another may be there
// twice, and of each number the greater holds.
type Rule struct {
	ID       plan.Rule
	Standing Standing
	// Matched is for how many objects its condition holds now, and Failing on how many
	// it fails.
	Matched, Failing int64
	// Quarantined is how many objects it only tries now and then, as it keeps failing.
	Quarantined int64
	// Contested is how many objects it fights over, by who undoes what it does.
	Contested map[string]int64
}

// identify has the labels of a rule go first. A ClusterRuleSet has no namespace, which is
// the same as no label: {set,rule} selects its rules.
func identify(more ...string) []string {
	return append([]string{"set_namespace", "set", "rule"}, more...)
}

func (r Rule) labels(more ...string) []string { return append(labelsOf(r.ID), more...) }

func labelsOf(rule plan.Rule) []string { return []string{rule.Namespace, rule.Set, rule.Name} }

// states adds what is asked for at each scrape.
func (t *table) states() {
	t.pull("queue_length", "Objects that wait for a worker.", func(s Snapshot, out emit) { out(float64(s.Queued)) })
	t.pull("rules", "Rules that there are, by whether they act.", countRules, "state")
	t.pull("rule_matched", "Objects for which the condition of a rule holds now, whether it acts or only reports.", countMatched, identify("mode")...)
	t.pull("rule_failing", "Objects on which a rule fails now.", ofRules(func(r Rule) int64 { return r.Failing }), identify()...)
	t.pull("rule_paused", "1 while a rule has come to its limits, and acts no more.", ofRules(func(r Rule) int64 {
		if r.Standing == Paused {
			return 1
		}
		return 0
	}), identify()...)
	t.pull("quarantined_objects", "Objects that a rule tries only now and then, as it keeps failing on them.",
		ofRules(func(r Rule) int64 { return r.Quarantined }), identify()...)
	t.pull("contested_objects", "Objects on which somebody undoes what a rule does, by who that is.", countContested, identify("rival")...)
	t.pull("informers", "Caches of what rules watch and read, by whether they are complete.", countInformers, "synced")
	t.pull("cached_objects", "Objects in the caches; one that two caches hold counts twice.",
		ofLoads(func(l load) float64 { return float64(l.objects) }), "group", "version", "resource")
	t.pull("cached_bytes", "Memory that the objects in the caches take, estimated.",
		ofLoads(func(l load) float64 { return float64(l.bytes) }), "group", "version", "resource")
	t.pull("watch_last_heard_timestamp_seconds", "When the API server last sent anything for a cache, of all caches of a resource the longest ago.",
		ofLoads(func(l load) float64 { return float64(l.heard.UnixMilli()) / 1000 }), "group", "version", "resource")
}

func ofRules(read func(Rule) int64) func(Snapshot, emit) {
	return func(s Snapshot, out emit) {
		for _, rule := range s.Rules {
			out(float64(read(rule)), rule.labels()...)
		}
	}
}

func countMatched(s Snapshot, out emit) {
	for _, rule := range s.Rules {
		out(float64(rule.Matched), rule.labels(modeOf(rule.Standing == Audited))...)
	}
}

// modeOf is the value of the label mode.
func modeOf(audited bool) string {
	if audited {
		return string(spec.Audit)
	}
	return string(spec.Enforce)
}

func countRules(s Snapshot, out emit) {
	for _, standing := range standings() {
		count := 0
		for _, rule := range s.Rules {
			if rule.Standing == standing {
				count++
			}
		}
		out(float64(count), string(standing))
	}
}

// mostRivals bounds the series of a rule: anybody may choose the name of a field manager.
const mostRivals = 10

// otherRivals is what those are called that are not told apart.
const otherRivals = "others"

func countContested(s Snapshot, out emit) {
	for _, rule := range s.Rules {
		rivals := slices.SortedFunc(maps.Keys(rule.Contested), func(a, b string) int {
			return cmp.Or(cmp.Compare(rule.Contested[b], rule.Contested[a]), cmp.Compare(a, b))
		})
		rest := int64(0)
		for i, rival := range rivals {
			if i < mostRivals && rival != otherRivals {
				out(float64(rule.Contested[rival]), rule.labels(rival)...)
			} else {
				rest += rule.Contested[rival]
			}
		}
		if rest > 0 {
			out(float64(rest), rule.labels(otherRivals)...)
		}
	}
}

func countInformers(s Snapshot, out emit) {
	synced := 0
	for _, status := range s.Caches {
		if status.Synced {
			synced++
		}
	}
	out(float64(synced), "true")
	out(float64(len(s.Caches)-synced), "false")
}

// load is what the caches of one resource hold, of all identities and selectors.
type load struct {
	objects int
	bytes   int64
	heard   time.Time // the longest ago
}

func ofLoads(read func(load) float64) func(Snapshot, emit) {
	return func(s Snapshot, out emit) {
		sums := map[schema.GroupVersionResource]load{}
		for _, one := range s.Loads {
			sum, known := sums[one.Key.GVR]
			sum.objects += one.Objects
			sum.bytes += one.Bytes
			if !known || one.Heard.Before(sum.heard) {
				sum.heard = one.Heard
			}
			sums[one.Key.GVR] = sum
		}
		for gvr, sum := range sums {
			out(read(sum), gvr.Group, gvr.Version, gvr.Resource)
		}
	}
}
