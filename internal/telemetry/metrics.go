package telemetry

import (
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// namespace begins the names of our metrics.
const namespace = "dyncontroller"

// Metrics counts what the engine does. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	rows     []Description

	evaluations  evaluations
	writes       *prometheus.CounterVec
	events       *prometheus.CounterVec
	reloads      *prometheus.CounterVec
	build        *prometheus.GaugeVec
	spared       *prometheus.CounterVec
	settling     *prometheus.HistogramVec
	reloadFailed prometheus.Gauge
}

var _ engine.Observer = (*Metrics)(nil)

// NewMetrics returns metrics of a build. Ask is called at every scrape; what was counted of
// rules that are not in its answer is dropped.
func NewMetrics(version string, ask func() Snapshot) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	var all table
	m.fill(&all)
	all.states()
	m.rows = all.describe()
	m.registry.MustRegister(all.collectors...)
	m.registry.MustRegister(collector{all.pulled, &m.evaluations, ask})
	m.build.WithLabelValues(version, runtime.Version()).Set(1)
	// Both results exist from the start, so that a rate sees the first one.
	for _, result := range []string{success, failure} {
		m.reloads.WithLabelValues(result)
		m.events.WithLabelValues(result)
	}
	return m
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

// fill has one row for each metric that is told of what happens.
func (m *Metrics) fill(t *table) {
	t.evaluations(&m.evaluations, "evaluations_total", "Evaluations of a rule on an object.", identify("outcome", "mode")...)
	t.counters(&m.writes, "writes_total", "Operations on objects, by what the API server answered or why they were not sent.", "group", "resource", "class")
	t.counters(&m.spared, "noops_avoided_total", "Changes that rules wanted and that were not sent, as they are known to have no effect.", "group", "resource")
	t.histograms(&m.settling, "settle_duration_seconds", "From the first change of an object, or of what its rules read, until its rules had done with it.", "group", "resource")
	t.counters(&m.events, "events_total", "Attempts to record an Event.", "result")
	t.counters(&m.reloads, "rules_reload_total", "Attempts to load rules that had changed.", "result")
	t.gauge(&m.reloadFailed, "rules_reload_failed", "1 while the rules on disk are not in effect because they are wrong.")
	t.gauges(&m.build, "build_info", "Always 1; the labels say what runs.", "version", "go_version")
}

// Descriptions lists our own metrics by name, those included that have no series yet.
func (m *Metrics) Descriptions() []Description { return slices.Clone(m.rows) }

// Evaluated implements [engine.Observer].
func (m *Metrics) Evaluated(_ engine.Key, decision plan.Decision) {
	m.evaluations.add(series(append(labelsOf(decision.Rule), string(decision.Outcome), modeOf(decision.Audited))))
}

// Wrote implements [engine.Observer].
func (m *Metrics) Wrote(operation plan.Operation, class write.Class) {
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
	m.reloadFailed.Set(0)
	if err != nil {
		m.reloadFailed.Set(1)
	}
}

// Handler serves the metrics, and those of the Kubernetes client. What cannot be gathered
// does not keep the rest from being served.
func (m *Metrics) Handler() http.Handler {
	all := prometheus.Gatherers{m.registry, kubernetes()}
	return promhttp.HandlerFor(all, promhttp.HandlerOpts{Registry: m.registry, ErrorHandling: promhttp.ContinueOnError})
}
