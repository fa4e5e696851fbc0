package telemetry

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Description is what a reference says of one of our metrics.
type Description struct {
	Name   string
	Kind   string // counter, gauge or histogram
	Labels []string
	Help   string
}

// table makes metrics, and describes them.
type table struct {
	rows       []Description
	collectors []prometheus.Collector
	pulled     []pulled
}

// pulled is a gauge that is asked for at each scrape.
type pulled struct {
	desc *prometheus.Desc
	read func(Snapshot, emit)
}

// emit gives a gauge a value for these labels.
type emit func(value float64, labels ...string)

func (t *table) counters(into **prometheus.CounterVec, name, help string, labels ...string) {
	*into = prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	t.add("counter", name, help, labels, *into)
}

// settleBuckets reach from a write without a wait to an object that is tried again for
// some minutes, in seconds.
func settleBuckets() []float64 { return prometheus.ExponentialBucketsRange(0.002, 600, 18) }

func (t *table) histograms(into **prometheus.HistogramVec, name, help string, labels ...string) {
	*into = prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: settleBuckets()}, labels)
	t.add("histogram", name, help, labels, *into)
}

func (t *table) gauges(into **prometheus.GaugeVec, name, help string, labels ...string) {
	*into = prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, labels)
	t.add("gauge", name, help, labels, *into)
}

func (t *table) gauge(into *prometheus.Gauge, name, help string) {
	*into = prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help})
	t.add("gauge", name, help, nil, *into)
}

func (t *table) pull(name, help string, read func(Snapshot, emit), labels ...string) {
	t.pulled = append(t.pulled, pulled{prometheus.NewDesc(namespace+"_"+name, help, labels, nil), read})
	t.rows = append(t.rows, Description{Name: namespace + "_" + name, Kind: "gauge", Labels: labels, Help: help})
}

func (t *table) add(kind, name, help string, labels []string, c prometheus.Collector) {
	t.rows = append(t.rows, Description{Name: namespace + "_" + name, Kind: kind, Labels: labels, Help: help})
	t.collectors = append(t.collectors, c)
}

// describe lists the metrics by name.
func (t *table) describe() []Description {
	return slices.SortedFunc(slices.Values(t.rows), func(a, b Description) int { return strings.Compare(a.Name, b.Name) })
}

// collector asks once for all that is pulled at a scrape.
type collector struct {
	pulled []pulled
	ask    func() Snapshot
}

// Describe implements [prometheus.Collector].
func (c collector) Describe(descs chan<- *prometheus.Desc) {
	for _, p := range c.pulled {
		descs <- p.desc
	}
}

// Collect implements [prometheus.Collector].
func (c collector) Collect(metrics chan<- prometheus.Metric) {
	state := c.ask()
	for _, p := range c.pulled {
		p.read(state, func(value float64, labels ...string) {
			for i := range labels {
				labels[i] = strings.ToValidUTF8(labels[i], "�") // Others may be refused together with it.
			}
			metrics <- prometheus.MustNewConstMetric(p.desc, prometheus.GaugeValue, value, labels...)
		})
	}
}
