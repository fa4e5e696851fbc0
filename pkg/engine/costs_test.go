package engine_test

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/compact"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	types "github.com/dyncontroller/dyncontroller/pkg/rules/schema"
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
func driven(b testing.TB, c *cluster, text string) *engine.Engine {
	b.Helper()
	c.tune = func(o *engine.Options) { o.Queue = queue.New[engine.Key](queue.FIFO) }
	e := c.engine()
	if err := e.Start(families(b, text)); err != nil {
		b.Fatal(err)
	}
	drain(b, e)
	return e
}

func drain(b testing.TB, e *engine.Engine) {
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

// crowd are ten rules for each of so many resources, the last of which is the widgets, in a set for each resource. They are joined
// as those of set objects are. Of each ten one reads what one of each ten reads, and one waits for time to pass.
func crowd(b *testing.B, resources int, when string) *rules.Set {
	b.Helper()
	var sets []*rules.Set
	for i := range resources {
		resource := widgets.Resource
		if i < resources-1 {
			resource = fmt.Sprintf("r%d", i)
		}
		var text strings.Builder
		fmt.Fprintf(&text, "apiVersion: dyncontroller.dev/v1alpha1\nkind: ClusterRuleSet\nmetadata: {name: set-%d}\nspec:\n  resources:\n", i)
		fmt.Fprintf(&text, "    watched: {group: example.com, version: v1, resource: %s}\n", resource)
		text.WriteString("    items: {group: example.com, version: v1, resource: items}\n  rules:\n")
		for j := range 10 {
			with, when := "", when
			switch j {
			case 0:
				with, when = "with: {it: {resource: items, namespace: ns, name: common}}, ", when+" || it != nil"
			case 1:
				with = "for: 1h, "
			}
			fmt.Fprintf(&text, "  - {name: rule-%d, watch: watched, %swhen: %s, actions: [{patch: {merge: {spec: {field%d: 1}}}}]}\n", j, with, when, j)
		}
		sets = append(sets, compile(b, rules.Options{Schemas: types.NewCatalog(kinds{})}, text.String()))
	}
	return rules.Join(sets...)
}

// quickCaches look the widget a up as fast as the caches of a process do, however many there are.
type quickCaches struct {
	cachesOf
	widget *compact.Object
}

func (c *quickCaches) View(key informer.Key, _, _ string) informer.View {
	if key.GVR != widgets {
		return informer.View{Synced: true}
	}
	return informer.View{Synced: true, Object: c.widget}
}

// finishes is told when an engine begins to work, and each time that rules have done with what has changed.
type finishes struct {
	engine.NopObserver
	began, settled chan struct{}
}

func (f finishes) Looked(rules.Snapshot, []plan.Decision) {
	select {
	case f.began <- struct{}{}:
	default:
	}
}

func (f finishes) Settled(engine.Key, time.Duration) { f.settled <- struct{}{} }

// cpuTime is that of the process, which others on the machine disturb less than the time that passes.
func cpuTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkCrowd is an event on an object that ten rules watch, alone and among 10,000 rules that watch 1,000 resources, from the cache
// to the end: it is queued, a worker evaluates its rules, and they want nothing.
func BenchmarkCrowd(b *testing.B) {
	for name, when := range conditions {
		for _, resources := range []int{1, 1000} {
			b.Run(fmt.Sprintf("%s/%d", name, 10*resources), func(b *testing.B) {
				c := newCluster()
				c.put(b, widgetWith("a", 10))
				told := finishes{began: make(chan struct{}, 1), settled: make(chan struct{})}
				caches := &quickCaches{cachesOf{c}, compact.New(c.get("a"))}
				c.tune = func(o *engine.Options) {
					o.Caches = func(handler informer.Handler) engine.Caches {
						c.handler = handler
						return caches
					}
					o.Observer = told
				}
				e := c.engine()
				defer start(b, e, crowd(b, resources, when))()
				<-told.began
				event := informer.Event{Key: informer.Key{GVR: widgets}, Namespace: "ns", Name: "a", After: caches.widget}
				heap() // What loading has left is not collected meanwhile.
				b.ReportAllocs()
				before := cpuTime()
				for b.Loop() {
					c.handler.Changed(event)
					<-told.settled
				}
				b.ReportMetric(float64(cpuTime()-before)/float64(b.N), "cpu-ns/op")
				if c.count() > 0 {
					b.Fatal("it has written")
				}
			})
		}
	}
}
