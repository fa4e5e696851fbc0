package engine_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/queue"
)

// manyRules are rules that watch all widgets, and want what [widgetWith] has.
func manyRules(n int, when string) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "\n  - {name: rule-%d, watch: widgets, when: %s, actions: [{patch: {merge: {spec: {field%d: 1}}}}]}\n", i, when, i)
	}
	return text.String()
}

func widgetWith(name string, fields int) string {
	var text strings.Builder
	for i := range fields {
		fmt.Fprintf(&text, ", field%d: 1", i)
	}
	return fmt.Sprintf(`{metadata: {namespace: ns, name: %s, labels: {app: x}}, spec: {size: 1%s}}`, name, text.String())
}

// conditions are for rules that do not match, and for those that match and want nothing more.
var conditions = map[string]string{"unmatched": "object.spec.size > 100", "matched": "object.spec.size > 0"}

// driven is an engine that counts evaluations, and does nothing by itself.
func driven(b *testing.B, c *cluster, text string) *engine.Engine {
	b.Helper()
	c.tune = func(o *engine.Options) { o.Queue = queue.New[engine.Key](queue.FIFO) }
	e := c.engine()
	if err := e.Start(families(b, text)); err != nil {
		b.Fatal(err)
	}
	drain(b, e)
	return e
}

func drain(b *testing.B, e *engine.Engine) {
	b.Helper()
	if report, err := e.Drain(b.Context()); err != nil || len(report.Failures) > 0 {
		b.Fatal(err, report)
	}
}

// BenchmarkState is what is kept of each object and each rule that watches it.
func BenchmarkState(b *testing.B) {
	const objects = 1000
	kept := func(b *testing.B, rules int, when string) float64 {
		c := newCluster()
		for i := range objects {
			c.put(b, widgetWith(fmt.Sprintf("w-%d", i), 101))
		}
		set := families(b, manyRules(rules, when))
		before := heap()
		e := c.engine()
		if _, err := e.Settle(b.Context(), set); err != nil {
			b.Fatal(err)
		}
		after := heap()
		runtime.KeepAlive(set)
		runtime.KeepAlive(e)
		return float64(after-before) / objects
	}
	for name, when := range conditions {
		b.Run(name, func(b *testing.B) {
			var one, many float64
			for b.Loop() {
				one, many = kept(b, 1, when), kept(b, 101, when)
			}
			b.ReportMetric(one, "B/object")
			b.ReportMetric((many-one)/100, "B/(object*rule)")
		})
	}
}

func heap() int64 {
	for range 3 {
		runtime.GC()
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc) //nolint:gosec // Nobody has so much.
}

// BenchmarkReload is what is looked at again when a rule over one object is edited, beside 50 others over 1,000 objects.
func BenchmarkReload(b *testing.B) {
	c := newCluster()
	for i := range 1000 {
		c.put(b, widgetWith(fmt.Sprintf("w-%d", i), 0))
	}
	c.put(b, `{apiVersion: example.com/v1, kind: Item, metadata: {namespace: ns, name: only}, spec: {size: 1}}`)
	text := func(edit int) string {
		return manyRules(50, conditions["unmatched"]) +
			fmt.Sprintf("\n  - {name: items, watch: items, when: object.spec.size > %d, actions: [{patch: {merge: {spec: {x: 1}}}}]}\n", 100+edit)
	}
	e := driven(b, c, text(0))
	before, edits := c.seen.of(&c.seen.evaluated), 0
	for b.Loop() {
		edits++
		b.StopTimer()
		set := families(b, text(edits))
		b.StartTimer()
		e.SetRules(set)
		drain(b, e)
	}
	b.ReportMetric(float64(c.seen.of(&c.seen.evaluated)-before)/float64(edits), "evaluations/op")
}

// BenchmarkEvent is an event on an object that 101 rules watch.
func BenchmarkEvent(b *testing.B) {
	for name, when := range conditions {
		b.Run(name, func(b *testing.B) {
			c := newCluster()
			c.put(b, widgetWith("a", 101))
			e := driven(b, c, manyRules(101, when))
			key := keyOf(c.get("a"))
			b.ReportAllocs()
			for b.Loop() {
				e.Look(b.Context(), key)
			}
			if c.count() > 0 {
				b.Fatal("it has written")
			}
		})
	}
}

// BenchmarkSelections is an event on an object that one of 500 rules watches, each of which selects by a label of its own.
func BenchmarkSelections(b *testing.B) {
	resources, all := "", ""
	for i := range 500 {
		resources += fmt.Sprintf("    team-%d: {group: example.com, version: v1, resource: widgets, labelSelector: 'tier in (front,back),team=t-%d'}\n", i, i)
		all += fmt.Sprintf("  - {name: rule-%d, watch: team-%d, when: object.spec.size > 100, actions: [{patch: {merge: {spec: {x: 1}}}}]}\n", i, i)
	}
	c := newCluster()
	c.put(b, `{metadata: {namespace: ns, name: a, labels: {tier: front, team: t-7}}, spec: {size: 1}}`)
	c.tune = func(o *engine.Options) { o.Queue = queue.New[engine.Key](queue.FIFO) }
	e := c.engine()
	if err := e.Start(compile(b, rules.Options{}, head+resources+"  rules:\n"+all)); err != nil {
		b.Fatal(err)
	}
	drain(b, e)
	key := keyOf(c.get("a"))
	b.ReportAllocs()
	for b.Loop() {
		e.Look(b.Context(), key)
	}
}
