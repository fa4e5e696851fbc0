package telemetry

import (
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// namespace begins the names of our metrics.
const namespace = "dyncontroller"

// Metrics counts what the engine does. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	evaluations  *prometheus.CounterVec
	writes       *prometheus.CounterVec
	events       *prometheus.CounterVec
	reloads      *prometheus.CounterVec
	rules        *prometheus.GaugeVec
	build        *prometheus.GaugeVec
	spared       *prometheus.CounterVec
	settling     *prometheus.HistogramVec
	queueLength  prometheus.Gauge
	reloadFailed prometheus.Gauge
}

var _ engine.Observer = (*Metrics)(nil)

// NewMetrics returns metrics of a build. Informers is asked at every scrape.
func NewMetrics(version string, informers func() []informer.Status) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.registry.MustRegister(m.table(informers)...)
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

// table has one row for each metric.
func (m *Metrics) table(informers func() []informer.Status) []prometheus.Collector {
	return []prometheus.Collector{
		counters(&m.evaluations, "evaluations_total", "Evaluations of a rule on an object.", "set", "rule", "outcome", "mode"),
		counters(&m.writes, "writes_total", "Operations on objects, by what the API server answered or why they were not sent.", "group", "resource", "class"),
		counters(&m.events, "events_total", "Attempts to record an Event.", "result"),
		counters(&m.reloads, "rules_reload_total", "Attempts to load rules that had changed.", "result"),
		counters(&m.spared, "noops_avoided_total", "Changes that rules wanted and that were not sent, as they are known to have no effect.", "group", "resource"),
		histograms(&m.settling, "settle_duration_seconds", "From the first change of an object, or of what its rules read, until its rules had done with it.", "group", "resource"),
		gauges(&m.rules, "rules", "Rules in effect.", "state"),
		gauges(&m.build, "build_info", "Always 1; the labels say what runs.", "version", "go_version"),
		gauge(&m.queueLength, "queue_length", "Objects that wait for a worker."),
		gauge(&m.reloadFailed, "rules_reload_failed", "1 while the rules on disk are not in effect because they are wrong."),
		countInformers(informers, true),
		countInformers(informers, false),
	}
}

func counters(into **prometheus.CounterVec, name, help string, labels ...string) prometheus.Collector {
	*into = prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	return *into
}

// settleBuckets reach from a write without a wait to an object that is tried again for
// some minutes, in seconds.
func settleBuckets() []float64 { return prometheus.ExponentialBucketsRange(0.002, 600, 18) }

func histograms(into **prometheus.HistogramVec, name, help string, labels ...string) prometheus.Collector {
	*into = prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: settleBuckets()}, labels)
	return *into
}

func gauges(into **prometheus.GaugeVec, name, help string, labels ...string) prometheus.Collector {
	*into = prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, labels)
	return *into
}

func gauge(into *prometheus.Gauge, name, help string) prometheus.Collector {
	*into = prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help})
	return *into
}

func countInformers(informers func() []informer.Status, synced bool) prometheus.Collector {
	label := "false"
	if synced {
		label = "true"
	}
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace:   namespace,
		Name:        "informers",
		Help:        "Caches of what rules watch, by whether they are complete.",
		ConstLabels: prometheus.Labels{"synced": label},
	}, func() float64 {
		count := 0
		for _, status := range informers() {
			if status.Synced == synced {
				count++
			}
		}
		return float64(count)
	})
}

// Evaluated implements [engine.Observer].
func (m *Metrics) Evaluated(_ engine.Key, decision plan.Decision) {
	mode := spec.Enforce
	if decision.Audited {
		mode = spec.Audit
	}
	m.evaluations.WithLabelValues(decision.Rule.Set, decision.Rule.Name, string(decision.Outcome), string(mode)).Inc()
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

// Queued implements [engine.Observer].
func (m *Metrics) Queued(length int) { m.queueLength.Set(float64(length)) }

// Recorded implements [engine.Observer].
func (m *Metrics) Recorded(_ plan.Event, err error) { m.events.WithLabelValues(resultOf(err)).Inc() }

// RulesChanged says how many rules are in effect from now on. What was counted
// of the removed ones is dropped, or every rule that ever was would be scraped
// for ever.
func (m *Metrics) RulesChanged(active int, removed []plan.Rule) {
	m.rules.WithLabelValues("active").Set(float64(active))
	for _, rule := range removed {
		m.evaluations.DeletePartialMatch(prometheus.Labels{"set": rule.Set, "rule": rule.Name})
	}
}

// Reloaded counts an attempt to load rules that had changed.
func (m *Metrics) Reloaded(err error) {
	m.reloads.WithLabelValues(resultOf(err)).Inc()
	m.reloadFailed.Set(0)
	if err != nil {
		m.reloadFailed.Set(1)
	}
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}
