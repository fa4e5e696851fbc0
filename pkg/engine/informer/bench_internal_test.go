package informer

import (
	"fmt"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// crowd has objects that differ in what is asked for, and have labels that are common
// to all. The namespace of each has it alone.
func crowd(count int) *api {
	server := &api{}
	for i := range count {
		server.put(numbered(i))
	}
	return server
}

func numbered(i int) map[string]any {
	id := strconv.Itoa(i)
	return widget("ns-"+id, "x-"+id,
		labelled("app", "web"), labelled("managed-by", "operator"), labelled("instance", "i-"+id),
		with("node-"+id, "spec", "nodeName"), with(int64(i), "spec", "index"), controlledBy("uid-"+id))
}

// BenchmarkRead asks for one of many.
func BenchmarkRead(b *testing.B) {
	forms := []struct {
		name string
		read plan.Read
	}{
		{"name in a namespace", plan.Read{By: plan.ByName, Namespace: "ns-7", Names: []string{"x-7"}}},
		{"name", plan.Read{By: plan.ByName, Names: []string{"x-7"}}},
		{"owner", plan.Read{By: plan.ByOwner, Owners: owners("uid-7")}},
		{"labels", plan.Read{By: plan.ByLabels, Labels: "app=web,instance=i-7,managed-by=operator"}},
		{"labels in a namespace", plan.Read{By: plan.ByLabels, Namespace: "ns-7", Labels: "app=web"}},
		{"fields", plan.Read{By: plan.ByFields, Fields: []plan.FieldValue{
			{Path: plan.Path{"spec", "index"}, Value: 7.0}, {Path: plan.Path{"spec", "nodeName"}, Value: "node-7"},
		}}},
		{"all in a namespace", plan.Read{By: plan.ByAll, Namespace: "ns-7"}},
	}
	for _, count := range []int{100, 10_000, 50_000} {
		server := crowd(count)
		for _, form := range forms {
			b.Run(fmt.Sprintf("%s/%d", form.name, count), func(b *testing.B) {
				set, synced := begin(b, server, everywhere)
				<-synced
				form.read.From = []plan.Selection{everywhere}
				b.ReportAllocs()
				for b.Loop() {
					if got, err := set.Read(form.read); err != nil || len(got) != 1 {
						b.Fatalf("found %d %v", len(got), err)
					}
				}
			})
		}
	}
}

// BenchmarkAddIndex builds an index over three labels, during which the cache is
// locked.
func BenchmarkAddIndex(b *testing.B) {
	const count = 50_000
	keys, _ := plan.Read{By: plan.ByLabels, Labels: "app=web,instance=i-7,managed-by=operator"}.Requirements()
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for i := range count {
		if err := store.Add(&unstructured.Unstructured{Object: numbered(i)}); err != nil {
			b.Fatal(err)
		}
	}
	for i := 0; b.Loop(); i++ {
		// Each is one more, that nobody looks into.
		if err := store.AddIndexers(cache.Indexers{strconv.Itoa(i): indexOver(keys)}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUpdate changes an object of a cache that has indexes.
func BenchmarkUpdate(b *testing.B) {
	keys, _ := plan.Read{By: plan.ByLabels, Labels: "app=web,instance=i-7,managed-by=operator"}.Requirements()
	for _, count := range []int{0, 1, maxIndexes} {
		b.Run(fmt.Sprintf("%d indexes", count), func(b *testing.B) {
			store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
			for i := range count {
				if err := store.AddIndexers(cache.Indexers{strconv.Itoa(i): indexOver(keys)}); err != nil {
					b.Fatal(err)
				}
			}
			object := &unstructured.Unstructured{Object: numbered(7)}
			for b.Loop() {
				if err := store.Update(object); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCount tells how many objects a cache has, which a limit that is a share asks for once a second
// while it holds its lock: by their names, and as it does.
func BenchmarkCount(b *testing.B) {
	const count = 10_000
	set, synced := begin(b, crowd(count), everywhere)
	<-synced
	for _, form := range []struct {
		name string
		of   func() int
	}{
		{"names", func() int { return len(set.Names(everywhere)) }},
		{"count", func() int { return set.Count(everywhere) }},
	} {
		b.Run(form.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got := form.of(); got != count {
					b.Fatalf("counted %d", got)
				}
			}
		})
	}
}
