package informer

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// TestIndexAddedOnce holds that several may ask the same for the first time.
func TestIndexAddedOnce(t *testing.T) {
	server := &api{}
	server.put(widget("a", "x", labelled("k", "v")))
	set, synced := begin(t, server, everywhere)
	<-synced
	for i := range maxIndexes {
		q := plan.Read{From: []plan.Selection{everywhere}, By: plan.ByLabels, Labels: fmt.Sprintf("k=v,!k%d", i)}
		var askers, ready sync.WaitGroup
		ready.Add(8)
		set.running[everywhere].indexing.Lock() // They come to it together.
		for range 8 {
			askers.Go(func() {
				ready.Done()
				if got, err := set.Read(q); err != nil || len(got) != 1 {
					t.Errorf("%s: %v %v", q.Key(), names(got), err)
				}
			})
		}
		ready.Wait()
		set.running[everywhere].indexing.Unlock()
		askers.Wait()
	}
}

// TestReadWhileWritten has indexes added, by several at a time, while objects change
// and are read.
func TestReadWhileWritten(t *testing.T) {
	const rounds = 60
	server := &api{}
	for i := range 50 {
		server.put(widget("a", fmt.Sprint(i), labelled("k0", "v"), labelled("own", strconv.Itoa(i))))
	}
	set, synced := begin(t, server, everywhere, Key{GVR: widgets, Namespace: "a"})
	<-synced
	<-synced
	from := []plan.Selection{everywhere, {GVR: widgets, Namespace: "a"}}
	var all sync.WaitGroup
	all.Go(func() {
		for i := range rounds * 10 {
			server.put(widget("a", "moving", labelled("k0", "v"), labelled("move", []string{"here", "there"}[i%2])))
			server.put(widget("a", "passing", labelled("own", "0"), with(int64(i), "spec", "n")))
			server.remove(types.NamespacedName{Namespace: "a", Name: "passing"})
		}
	})
	for range 4 {
		all.Go(func() {
			for i := range rounds {
				for _, q := range []plan.Read{
					{By: plan.ByLabels, Labels: fmt.Sprintf("own=1,!key-%d", i)},
					{By: plan.ByLabels, Namespace: "a", Labels: "own=1"},
					{By: plan.ByName, Names: []string{"1", "none"}},
					{By: plan.ByFields, Fields: []plan.FieldValue{{Path: plan.Path{"metadata", "labels", "own"}, Value: "1"}}},
				} {
					q.From = from
					if got, err := set.Read(q); err != nil || len(got) != 1 {
						t.Errorf("%s: %v %v", q.Key(), names(got), err)
						return
					}
				}
			}
		})
	}
	all.Wait()
}

// TestReadIsOfOneMoment holds that an object that goes from one value to another is
// found by a question for either, always.
func TestReadIsOfOneMoment(t *testing.T) {
	const moves = 2000
	server := &api{}
	move := func(i int) string {
		return server.put(widget("a", "x", labelled("at", []string{"here", "there"}[i%2])))
	}
	move(0)
	set, synced := begin(t, server, everywhere)
	<-synced
	var last string
	var writer sync.WaitGroup
	done := make(chan struct{})
	writer.Go(func() {
		defer close(done)
		for i := range moves {
			last = move(i + 1)
		}
	})
	q := plan.Read{From: []plan.Selection{everywhere}, By: plan.ByLabels, Labels: "at in (here, there)"}
	for at := ""; !t.Failed(); at = set.Version(everywhere) {
		got, err := set.Read(q)
		if err != nil || len(got) != 1 {
			t.Errorf("found %v %v", names(got), err)
		}
		select {
		case <-done:
			if at == last {
				return
			}
		default:
		}
	}
	writer.Wait()
}
