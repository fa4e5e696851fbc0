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
	*into = newCounters(name, help, labels)
	t.add("counter", name, help, labels, *into)
}

// evaluations are collected together with what is pulled.
func (t *table) evaluations(into *evaluations, name, help string, labels ...string) {
	into.CounterVec = newCounters(name, help, labels)
	t.describes("counter", name, help, labels)
}

func newCounters(name, help string, labels []string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
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
	t.describes("gauge", name, help, labels)
}

func (t *table) add(kind, name, help string, labels []string, c prometheus.Collector) {
	t.describes(kind, name, help, labels)
	t.collectors = append(t.collectors, c)
}

func (t *table) describes(kind, name, help string, labels []string) {
	t.rows = append(t.rows, Description{Name: namespace + "_" + name, Kind: kind, Labels: labels, Help: help})
}

// describe lists the metrics by name.
func (t *table) describe() []Description {
	return slices.SortedFunc(slices.Values(t.rows), func(a, b Description) int { return strings.Compare(a.Name, b.Name) })
}

// collector asks once for all that is pulled at a scrape.
type collector struct {
	pulled      []pulled
	evaluations *evaluations
	ask         func() Snapshot
}

// Describe implements [prometheus.Collector].
func (c collector) Describe(descs chan<- *prometheus.Desc) {
	c.evaluations.Describe(descs)
	for _, p := range c.pulled {
		descs <- p.desc
	}
}

// Collect implements [prometheus.Collector].
func (c collector) Collect(metrics chan<- prometheus.Metric) {
	state := c.evaluations.sweep(c.ask)
	c.evaluations.Collect(metrics)
	for _, p := range c.pulled {
		for _, one := range p.samples(state) {
			metrics <- prometheus.MustNewConstMetric(p.desc, prometheus.GaugeValue, one.value, one.labels...)
		}
	}
}

// sample is one series of a gauge.
type sample struct {
	value  float64
	labels []string
}

// samples reads a gauge. Labels are there once, or the scrape would fail: of several values,
// as of a rule that passes from one identity to another, the greatest holds, since what
// they count are the same objects.
func (p pulled) samples(state Snapshot) []sample {
	var out []sample
	at := map[string]int{}
	p.read(state, func(value float64, labels ...string) {
		for i := range labels {
			labels[i] = strings.ToValidUTF8(labels[i], "�") // Others may be refused together with it.
		}
		key := strings.Join(labels, "\xff") // Which no label has now.
		if i, twice := at[key]; twice {
			out[i].value = max(out[i].value, value)
			return
		}
		at[key] = len(out)
		out = append(out, sample{value, labels})
	})
	return out
}
