package telemetry

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/restclient" // counts requests
	_ "k8s.io/component-base/metrics/prometheus/workqueue"  // counts what is queued

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// namespace begins the names of our metrics.
const namespace = "dyncontroller"

// Description is what a reference says of one of our metrics.
type Description struct {
	Name   string
	Kind   string // counter, gauge or histogram
	Labels []string
	Help   string
}

// Metrics counts what the engine does. It is safe for concurrent use.
type Metrics struct {
	engine.NopObserver
	registry *prometheus.Registry
	rows     []Description
	ask      func() Snapshot
	pulled   []pulled

	evaluations evaluations
	writes      *prometheus.CounterVec
	spared      *prometheus.CounterVec
	settling    *prometheus.HistogramVec
	events      *prometheus.CounterVec
	reloads     *prometheus.CounterVec
	// reloadFailed has one series, without labels.
	reloadFailed *prometheus.GaugeVec
	// leading and slowPath have the names that Kubernetes' own components give them.
	leading  *prometheus.GaugeVec
	slowPath *prometheus.CounterVec
}

var _ engine.Observer = (*Metrics)(nil)

// NewMetrics returns metrics of a build. Ask is called at every scrape; what was counted of
// rules that are not in its answer is dropped.
func NewMetrics(version string, ask func() Snapshot) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), ask: ask}
	m.evaluations.CounterVec = m.counters("evaluations_total", "Evaluations of a rule on an object.", identify("outcome", "mode")...)
	m.evaluations.rules = map[string]map[string]bool{}
	m.writes = m.counters("writes_total", "Operations on objects, by what the API server answered or why they were not sent.", "group", "resource", "class")
	m.spared = m.counters("noops_avoided_total", "Changes that rules wanted and that were not sent, as they are known to have no effect.", "group", "resource")
	settled := m.describe("histogram", "settle_duration_seconds", "From the first change of an object, or of what its rules read, until its rules had done with it.", "group", "resource")
	m.settling = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: settled.Namespace, Name: settled.Name, Help: settled.Help,
		// From a write without a wait to an object that is tried again for some minutes, in seconds.
		Buckets: prometheus.ExponentialBucketsRange(0.002, 600, 18),
	}, []string{"group", "resource"})
	m.events = m.counters("events_total", "Attempts to record an Event.", "result")
	m.reloads = m.counters("rules_reload_total", "Attempts to load rules that had changed.", "result")
	m.reloadFailed = m.gauges("rules_reload_failed", "1 while the rules on disk are not in effect because they are wrong.")
	m.leading = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "leader_election_master_status", Help: "1 where the process has the lease of that name, 0 where it waits for it.",
	}, []string{"name"})
	m.slowPath = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "leader_election_slowpath_total", Help: "Renewals of the lease that had to read it first.",
	}, []string{"name"})
	build := m.gauges("build_info", "Always 1; the labels say what runs.", "version", "go_version")
	m.states()
	m.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.writes, m.spared, m.settling, m.events, m.reloads, m.reloadFailed, m.leading, m.slowPath, build, scrape{m},
	)
	build.WithLabelValues(version, runtime.Version()).Set(1)
	m.reloadFailed.WithLabelValues().Set(0)
	// Both results exist from the start, so that a rate sees the first one.
	for _, result := range []string{success, failure} {
		m.reloads.WithLabelValues(result)
		m.events.WithLabelValues(result)
	}
	return m
}

func (m *Metrics) describe(kind, name, help string, labels ...string) prometheus.Opts {
	m.rows = append(m.rows, Description{Name: namespace + "_" + name, Kind: kind, Labels: labels, Help: help})
	return prometheus.Opts{Namespace: namespace, Name: name, Help: help}
}

func (m *Metrics) counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts(m.describe("counter", name, help, labels...)), labels)
}

func (m *Metrics) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts(m.describe("gauge", name, help, labels...)), labels)
}

// Descriptions lists our own metrics by name, those included that have no series yet.
func (m *Metrics) Descriptions() []Description {
	return slices.SortedFunc(slices.Values(m.rows), func(a, b Description) int { return strings.Compare(a.Name, b.Name) })
}

// The values of the label result.
const (
	success = "success"
	failure = "failure"
)

func resultOf(err error) string {
	if err != nil {
		return failure
	}
	return success
}

// oneIf is the value of a gauge that says whether something is so.
func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// Evaluated implements [engine.Observer].
func (m *Metrics) Evaluated(_ engine.Key, decision plan.Decision) {
	m.evaluations.add(series(append(labelsOf(decision.Rule), string(decision.Outcome), modeOf(decision.Audited))))
}

// Wrote implements [engine.Observer].
func (m *Metrics) Wrote(_ engine.Key, operation plan.Operation, class write.Class) {
	gvr := operation.Target.GVR
	m.writes.WithLabelValues(gvr.Group, gvr.Resource, string(class)).Inc()
}

// Settled implements [engine.Observer].
func (m *Metrics) Settled(key engine.Key, took time.Duration) {
	m.settling.WithLabelValues(key.GVR.Group, key.GVR.Resource).Observe(took.Seconds())
}

// Spared implements [engine.Observer].
func (m *Metrics) Spared(key engine.Key, changes int) {
	m.spared.WithLabelValues(key.GVR.Group, key.GVR.Resource).Add(float64(changes))
}

// Recorded implements [engine.Observer].
func (m *Metrics) Recorded(_ plan.Event, err error) { m.events.WithLabelValues(resultOf(err)).Inc() }

// Reloaded counts an attempt to load rules that had changed.
func (m *Metrics) Reloaded(err error) {
	m.reloads.WithLabelValues(resultOf(err)).Inc()
	m.reloadFailed.WithLabelValues().Set(oneIf(err != nil))
}

// Leading sets whether this process has a lease.
func (m *Metrics) Leading(lease string, leads bool) {
	m.leading.WithLabelValues(lease).Set(oneIf(leads))
}

// SlowPath counts a renewal of a lease that had to read it first.
func (m *Metrics) SlowPath(lease string) { m.slowPath.WithLabelValues(lease).Inc() }

// Handler serves the metrics, and those of the Kubernetes client. What cannot be gathered
// does not keep the rest from being served.
func (m *Metrics) Handler() http.Handler {
	all := prometheus.Gatherers{m.registry, kubernetes()}
	return promhttp.HandlerFor(all, promhttp.HandlerOpts{Registry: m.registry, ErrorHandling: promhttp.ContinueOnError})
}

// kubernetes gathers what the Kubernetes client counts, of the whole process, under the names of Kubernetes' own components,
// whose dashboards and alerts fit them. The libraries register much more there: of an API server, and of the runtime once more.
func kubernetes() prometheus.Gatherer {
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		all, err := legacyregistry.DefaultGatherer.Gather()
		if err != nil {
			return nil, fmt.Errorf("gathering the metrics of the Kubernetes client: %w", err)
		}
		return slices.DeleteFunc(all, func(family *dto.MetricFamily) bool {
			return !slices.ContainsFunc([]string{"workqueue_", "rest_client_"}, func(prefix string) bool {
				return strings.HasPrefix(family.GetName(), prefix)
			})
		}), nil
	})
}

// evaluations counts for each rule, and forgets those that are gone, or every rule that
// ever was would be scraped for ever. It is safe for concurrent use.
type evaluations struct {
	*prometheus.CounterVec
	known sync.Map // the series that there are: each has an entry, or is about to

	mu    sync.Mutex
	rules map[string]map[string]bool // by the namespace of their sets, those that have series of their own; guarded by mu
}

// series are the labels of a rule, and what came of its evaluation.
type series [5]string

// add counts one evaluation.
func (e *evaluations) add(of series) {
	if _, known := e.known.Load(of); !known && !e.admit(of) {
		of = series(append(labelsOf(otherRules(of[0])), of[3:]...))
	}
	e.WithLabelValues(of[:]...).Inc()
	// Afterwards: a counter that is made while its entry is taken away would have none.
	e.known.LoadOrStore(of, struct{}{})
}

// admit reports whether a rule may have series of its own: [mostRules] of each namespace have.
func (e *evaluations) admit(of series) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	named := e.rules[of[0]]
	rule := of[1] + "/" + of[2]
	switch {
	case named[rule]:
	case len(named) >= mostRules:
		return false
	case named == nil:
		e.rules[of[0]] = map[string]bool{rule: true}
	default:
		named[rule] = true
	}
	return true
}

// forget makes room for another rule.
func (e *evaluations) forget(of series) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if delete(e.rules[of[0]], of[1]+"/"+of[2]); len(e.rules[of[0]]) == 0 {
		delete(e.rules, of[0])
	}
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
	rules := make(map[[3]string]bool, len(now.Rules)) // by their labels
	for _, rule := range now.Rules {
		rules[[3]string(labelsOf(rule.ID))] = true
	}
	for _, rule := range now.withSeries() {
		rules[[3]string(labelsOf(rule.ID))] = true
	}
	for _, key := range before {
		if of, is := key.(series); is && !rules[[3]string(of[:3])] {
			e.forget(of)
			e.known.Delete(of)
			e.DeleteLabelValues(of[:]...)
		}
	}
	return now
}
