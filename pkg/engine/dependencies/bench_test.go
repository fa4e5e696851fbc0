package dependencies_test

import (
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/dependencies"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// key is as large as the engine's.
type key struct {
	gvr             schema.GroupVersionResource
	namespace, name string
}

func asker(i int) key {
	gvr := schema.GroupVersionResource{Group: "pingcap.com", Version: "v1alpha1", Resource: "tidbclusters"}
	return key{gvr, "namespace", "cluster-" + strconv.Itoa(i)}
}

var sizes = []int{100, 10_000, 100_000}

// forms are what the i-th asker asks.
var forms = []struct {
	name string
	ask  func(i int) plan.Read
}{
	{"Name", func(i int) plan.Read { return byName("namespace", "pod-"+strconv.Itoa(i)) }},
	{"NameAnywhere", func(i int) plan.Read { return byName("", "pod-"+strconv.Itoa(i)) }},
	{"Namespace", func(i int) plan.Read { return all(namespace(i)) }},
	{"Labels", func(i int) plan.Read { return byLabels("namespace", "app=app-"+strconv.Itoa(i)) }},
	{"LabelsInCommon", func(i int) plan.Read {
		return byLabels("namespace", "component in (tikv,pd),instance=app-"+strconv.Itoa(i)+",managed-by=tidb")
	}},
	{"LabelExists", func(i int) plan.Read { return byLabels("", "of-"+strconv.Itoa(i)) }},
	{"LabelAbsent", func(i int) plan.Read { return byLabels(namespace(i), "!hidden") }},
	{"Field", func(i int) plan.Read { return byField("namespace", "node-"+strconv.Itoa(i), "spec", "nodeName") }},
	{"Owner", func(i int) plan.Read { return byOwner("namespace", types.UID("uid-"+strconv.Itoa(i))) }},
}

func namespace(i int) string {
	if i == 0 {
		return "namespace"
	}
	return "namespace-" + strconv.Itoa(i)
}

// pod answers what the first asker asks, in each form.
func pod(version string) object {
	return object{
		"metadata": object{
			"namespace": "namespace", "name": "pod-0", "resourceVersion": version,
			"labels": object{
				"app": "app-0", "of-0": "", "component": "tikv", "instance": "app-0", "managed-by": "tidb",
				"a": "1", "b": "2", "c": "3",
			},
			"ownerReferences": []any{object{"uid": "uid-0", "controller": true}},
		},
		"spec": object{"nodeName": "node-0", "field-0": "v", "a": "1", "b": "2"},
	}
}

// BenchmarkConcerned has one asker concerned: neither the time nor the memory may
// depend on how many others there are.
func BenchmarkConcerned(b *testing.B) {
	before, after := pod("1"), pod("2")
	for _, form := range forms {
		for _, n := range sizes {
			b.Run(fmt.Sprintf("%s/%d", form.name, n), func(b *testing.B) {
				index := dependencies.NewIndex[key]()
				for i := range n {
					index.Ask(asker(i), form.ask(i))
				}
				b.ReportAllocs()
				for b.Loop() {
					if got := index.Concerned(pods, before, after); len(got) != 1 {
						b.Fatal(len(got), "are concerned")
					}
				}
			})
		}
	}
}

// BenchmarkNotConcerned is an event that concerns nobody, among all forms of
// questions.
func BenchmarkNotConcerned(b *testing.B) {
	before, after := pod("1"), pod("2")
	for _, n := range sizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			index := dependencies.NewIndex[key]()
			for i := 1; i <= n; i++ {
				index.Ask(asker(i), forms[i%len(forms)].ask(i))
			}
			b.ReportAllocs()
			for b.Loop() {
				if got := index.Concerned(pods, before, after); got != nil {
					b.Fatal(len(got), "are concerned")
				}
			}
		})
	}
}

// BenchmarkShared is a question of all askers: the time is that of writing down
// who they are.
func BenchmarkShared(b *testing.B) {
	before, after := pod("1"), pod("2")
	for _, n := range sizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			index := dependencies.NewIndex[key]()
			for i := range n {
				index.Ask(asker(i), all(""))
			}
			b.ReportAllocs()
			for b.Loop() {
				index.Concerned(pods, before, after)
			}
		})
	}
}

// three are the questions of an ordinary asker. What they are asked of was
// declared once, by the rules.
func three(i int) []plan.Read {
	out := []plan.Read{forms[0].ask(i), forms[4].ask(i), forms[8].ask(i)}
	for i := range out {
		out[i].From = declared
	}
	return out
}

var declared = of(pods)

// BenchmarkAgain is the usual evaluation, which asks what it asked before.
func BenchmarkAgain(b *testing.B) {
	index, questions := dependencies.NewIndex[key](), three(0)
	b.ReportAllocs()
	for b.Loop() {
		for _, q := range questions {
			index.Ask(asker(0), q)
		}
		index.Keep(asker(0), questions)
	}
}

// BenchmarkNew is the first evaluation of an asker, and the end of one.
func BenchmarkNew(b *testing.B) {
	index := dependencies.NewIndex[key]()
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		for _, q := range three(i) {
			index.Ask(asker(i), q)
		}
		index.Keep(asker(i), three(i))
		if i++; i > 1000 {
			index.Forget(asker(i - 1000))
		}
	}
}

// BenchmarkParallel has events of all informers at once, and among ten of them an
// evaluation that asks something new.
func BenchmarkParallel(b *testing.B) {
	index := dependencies.NewIndex[key]()
	for i := range sizes[1] {
		for _, q := range three(i) {
			index.Ask(asker(i), q)
		}
	}
	before, after := pod("1"), pod("2")
	var worker atomic.Int64
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		me := asker(int(-worker.Add(1)))
		for i := 0; pb.Next(); i++ {
			if i%10 == 0 {
				index.Keep(me, three(i))
			}
			index.Concerned(pods, before, after)
		}
	})
}

// BenchmarkMemory reports what 100,000 askers take, their questions included.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		n := sizes[2]
		before := heap()
		index := dependencies.NewIndex[key]()
		for i := range n {
			index.Keep(asker(i), three(i))
		}
		b.ReportMetric(float64(heap()-before)/float64(n), "bytes/asker")
		for i := range n {
			index.Forget(asker(i))
		}
		b.ReportMetric(max(0, float64(heap())-float64(before)), "bytes-left")
		runtime.KeepAlive(index)
	}
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
