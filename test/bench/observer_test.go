package main

import (
	"errors"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// TestObserver holds what counts as done, and from when to when it took.
func TestObserver(t *testing.T) {
	o := &observer{done: jobOf("label").done, changed: make(chan struct{})}
	see := func(event watch.EventType, name, tier string) {
		o.take(tidbClusters(), watch.Event{Type: event, Object: &metav1.PartialObjectMetadata{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": tier}},
		}})
	}
	p := &process{exited: make(chan struct{})}
	o.expect("r2")
	see(watch.Added, "a", "r1")
	see(watch.Deleted, "b", "r2") // What it was when it went is not done.
	if n := o.count(); n != 0 {
		t.Fatalf("%d are done, want none", n)
	}
	see(watch.Modified, "a", "r2")
	matched, err := o.waitMatched(t.Context(), p, 1)
	if err != nil || len(matched) != 1 || matched[0].IsZero() {
		t.Fatalf("got %v and %v", matched, err)
	}
	took, err := o.waitLatency(t.Context(), p, "a")
	if err != nil || took < 0 || took > time.Since(o.created["a"]) {
		t.Errorf("it took %v, and %v", took, err)
	}
	see(watch.Modified, "a", "r2") // An update that does not matter.
	if again, err := o.waitMatched(t.Context(), p, 1); err != nil || !slices.Equal(again, matched) {
		t.Errorf("it was done at %v, and then at %v; %v", matched, again, err)
	}

	gone := errors.New("the watch is gone")
	o.fail(gone)
	if _, err := o.waitMatched(t.Context(), p, 2); !errors.Is(err, gone) {
		t.Errorf("got %v, want what the watch says", err)
	}
}
