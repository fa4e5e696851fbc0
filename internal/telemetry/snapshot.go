package telemetry

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Snapshot is what is asked for at each scrape: it has no series of what is gone.
type Snapshot struct {
	Caches []informer.Status
	Rules  []Rule
	// Queued is how many objects wait for a worker.
	Queued int

	series []Rule // those of withSeries, once they are needed
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

// mostRules bounds for how many rules there are series, of each namespace of sets: whoever may write sets there may write thousands of
// rules. The rules beyond that are told together.
const mostRules = 500

// otherRules stands for the rules of sets of a namespace that are told together. No set has an empty name.
func otherRules(namespace string) plan.Rule { return plan.Rule{Namespace: namespace, Name: "others"} }

// withSeries are the rules that have series: the first of each namespace, in the order of the snapshot, and the others added up.
func (s Snapshot) withSeries() []Rule {
	var out []Rule
	known := map[string]map[plan.Rule]bool{}
	others := map[string][2]Rule{} // by namespace: one that acts, with all counts, and the matches of those that only report
	for _, rule := range s.Rules {
		namespace := rule.ID.Namespace
		if known[namespace] == nil {
			known[namespace] = map[plan.Rule]bool{}
		}
		if known[namespace][rule.ID] || len(known[namespace]) < mostRules {
			known[namespace][rule.ID] = true
			out = append(out, rule)
			continue
		}
		sums, begun := others[namespace]
		if !begun {
			sums = [2]Rule{{ID: otherRules(namespace), Standing: Active}, {ID: otherRules(namespace), Standing: Audited}}
		}
		if rule.Standing == Audited {
			sums[1].Matched += rule.Matched
		} else {
			sums[0].Matched += rule.Matched
		}
		if rule.Standing == Paused {
			sums[0].Standing = Paused
		}
		sums[0].Failing += rule.Failing
		sums[0].Quarantined += rule.Quarantined
		for rival, count := range rule.Contested {
			if sums[0].Contested == nil {
				sums[0].Contested = map[string]int64{}
			}
			sums[0].Contested[rival] += count
		}
		others[namespace] = sums
	}
	for _, sums := range others {
		out = append(out, sums[:]...)
	}
	return out
}

// identify has the labels of a rule go first. A ClusterRuleSet has no namespace, which is
// the same as no label: {set,rule} selects its rules.
func identify(more ...string) []string {
	return append([]string{"set_namespace", "set", "rule"}, more...)
}

func labelsOf(rule plan.Rule, more ...string) []string {
	return append([]string{rule.Namespace, rule.Set, rule.Name}, more...)
}

// pulled is a gauge that is asked for at each scrape.
type pulled struct {
	desc *prometheus.Desc
	read func(Snapshot, emit)
}

// emit gives a gauge a value for these labels.
type emit func(value float64, labels ...string)

// states adds what is asked for at each scrape.
func (m *Metrics) states() {
	pull := func(name, help string, read func(Snapshot, emit), labels ...string) {
		m.describe("gauge", name, help, labels...)
		m.pulled = append(m.pulled, pulled{prometheus.NewDesc(namespace+"_"+name, help, labels, nil), read})
	}
	pull("queue_length", "Objects that wait for a worker.", func(s Snapshot, out emit) { out(float64(s.Queued)) })
	pull("rules", "Rules that there are, by whether they act.", func(s Snapshot, out emit) {
		counts := map[Standing]int{Active: 0, Audited: 0, Suspended: 0, Paused: 0}
		for _, rule := range s.Rules {
			counts[rule.Standing]++
		}
		for standing, n := range counts {
			out(float64(n), string(standing))
		}
	}, "state")
	pull("rule_matched", "Objects for which the condition of a rule holds now, whether it acts or only reports.", func(s Snapshot, out emit) {
		for _, rule := range s.series {
			out(float64(rule.Matched), labelsOf(rule.ID, modeOf(rule.Standing == Audited))...)
		}
	}, identify("mode")...)
	pull("rule_failing", "Objects on which a rule fails now.", ofRules(func(r Rule) float64 { return float64(r.Failing) }), identify()...)
	pull("rule_paused", "1 while a rule has come to its limits, and acts no more.",
		ofRules(func(r Rule) float64 { return oneIf(r.Standing == Paused) }), identify()...)
	pull("quarantined_objects", "Objects that a rule tries only now and then, as it keeps failing on them.",
		ofRules(func(r Rule) float64 { return float64(r.Quarantined) }), identify()...)
	pull("contested_objects", "Objects on which somebody undoes what a rule does, by who that is.", countContested, identify("rival")...)
	pull("informers", "Caches of what rules watch and read, by whether they are complete.", func(s Snapshot, out emit) {
		synced := 0
		for _, status := range s.Caches {
			if status.Synced {
				synced++
			}
		}
		out(float64(synced), "true")
		out(float64(len(s.Caches)-synced), "false")
	}, "synced")
	pull("cached_objects", "Objects in the caches; one that two caches hold counts twice.",
		ofResources(func(s informer.Status) float64 { return float64(s.Objects) }), "group", "version", "resource")
	pull("cached_bytes", "Memory that the objects in the caches take, estimated.",
		ofResources(func(s informer.Status) float64 { return float64(s.Bytes) }), "group", "version", "resource")
	pull("watch_last_heard_timestamp_seconds", "When the API server last sent anything for a cache, of all caches of a resource the longest ago.",
		ofResources(func(s informer.Status) float64 { return float64(s.Heard.UnixMilli()) / 1000 }), "group", "version", "resource")
}

func ofRules(read func(Rule) float64) func(Snapshot, emit) {
	return func(s Snapshot, out emit) {
		for _, rule := range s.series {
			out(read(rule), labelsOf(rule.ID)...)
		}
	}
}

// modeOf is the value of the label mode.
func modeOf(audited bool) string {
	if audited {
		return string(spec.Audit)
	}
	return string(spec.Enforce)
}

// mostRivals bounds the series of a rule: anybody may choose the name of a field manager.
const mostRivals = 10

// otherRivals is what those are called that are not told apart.
const otherRivals = "others"

func countContested(s Snapshot, out emit) {
	for _, rule := range s.series {
		rivals := slices.SortedFunc(maps.Keys(rule.Contested), func(a, b string) int {
			return cmp.Or(cmp.Compare(rule.Contested[b], rule.Contested[a]), cmp.Compare(a, b))
		})
		rest := int64(0)
		for i, rival := range rivals {
			if i < mostRivals && rival != otherRivals {
				out(float64(rule.Contested[rival]), labelsOf(rule.ID, rival)...)
			} else {
				rest += rule.Contested[rival]
			}
		}
		if rest > 0 {
			out(float64(rest), labelsOf(rule.ID, otherRivals)...)
		}
	}
}

// ofResources sums up what the caches of each resource hold, of all identities and selectors, but for those that are denied.
// Heard is the longest ago.
func ofResources(read func(informer.Status) float64) func(Snapshot, emit) {
	return func(s Snapshot, out emit) {
		sums := map[schema.GroupVersionResource]informer.Status{}
		for _, one := range s.Caches {
			if one.Heard.IsZero() {
				continue
			}
			sum, known := sums[one.Key.GVR]
			sum.Objects += one.Objects
			sum.Bytes += one.Bytes
			if !known || one.Heard.Before(sum.Heard) {
				sum.Heard = one.Heard
			}
			sums[one.Key.GVR] = sum
		}
		for gvr, sum := range sums {
			out(read(sum), gvr.Group, gvr.Version, gvr.Resource)
		}
	}
}

// scrape collects the evaluations, and asks once for all that is pulled.
type scrape struct{ *Metrics }

// Describe implements [prometheus.Collector].
func (s scrape) Describe(descs chan<- *prometheus.Desc) {
	s.evaluations.Describe(descs)
	for _, p := range s.pulled {
		descs <- p.desc
	}
}

// Collect implements [prometheus.Collector].
func (s scrape) Collect(metrics chan<- prometheus.Metric) {
	state := s.evaluations.sweep(s.ask)
	state.series = state.withSeries()
	s.evaluations.Collect(metrics)
	for _, p := range s.pulled {
		// Labels are there once, or the scrape would fail: of several values, as of a rule that passes from one identity to
		// another, the greatest holds, since what they count are the same objects.
		values, series := map[string]float64{}, map[string][]string{}
		p.read(state, func(value float64, labels ...string) {
			for i := range labels {
				labels[i] = strings.ToValidUTF8(labels[i], "\ufffd") // Others may be refused together with it.
			}
			key := strings.Join(labels, "\xff") // Which no label has now.
			if _, twice := series[key]; twice {
				value = max(value, values[key])
			}
			values[key], series[key] = value, labels
		})
		for key, labels := range series {
			metrics <- prometheus.MustNewConstMetric(p.desc, prometheus.GaugeValue, values[key], labels...)
		}
	}
}
