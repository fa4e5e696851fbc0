package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
)

// observer watches the metadata of objects, to see when what is done for them. Its methods may be called concurrently.
type observer struct {
	done func(schema.GroupVersionResource, *metav1.PartialObjectMetadata, string) (string, bool)

	mu      sync.Mutex
	want    string               // guarded by mu
	matched map[string]time.Time // when a TidbCluster first was as it should be, by its name; guarded by mu
	created map[string]time.Time // when a TidbCluster was created; guarded by mu
	changed chan struct{}        // closed at the next event; guarded by mu
	failed  error                // guarded by mu
}

// observe begins to watch, until the context ends.
func observe(ctx context.Context, client metadata.Interface, j job) (*observer, error) {
	o := &observer{done: j.done, changed: make(chan struct{})}
	o.expect("")
	for _, resource := range j.watched() {
		from, err := client.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", resource.Resource, err)
		}
		w, err := client.Resource(resource).Watch(ctx, metav1.ListOptions{
			ResourceVersion: from.ResourceVersion, TimeoutSeconds: new(int64(24 * 60 * 60)),
		})
		if err != nil {
			return nil, fmt.Errorf("watching %s: %w", resource.Resource, err)
		}
		go func() {
			defer w.Stop()
			for event := range w.ResultChan() {
				o.take(resource, event)
			}
			o.fail(errors.New("the watch of the bench has ended"))
		}()
	}
	return o, nil
}

// expect forgets what was seen, and looks for another value from now on.
func (o *observer) expect(want string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.want, o.matched, o.created = want, map[string]time.Time{}, map[string]time.Time{}
}

func (o *observer) take(resource schema.GroupVersionResource, event watch.Event) {
	now := time.Now()
	object, is := event.Object.(*metav1.PartialObjectMetadata)
	if !is {
		o.fail(fmt.Errorf("the watch of the bench got %s: %v", event.Type, event.Object))
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if event.Type == watch.Added && resource == tidbClusters() {
		o.created[object.Name] = now
	}
	if cluster, done := o.done(resource, object, o.want); done && event.Type != watch.Deleted && o.matched[cluster].IsZero() {
		o.matched[cluster] = now
	}
	close(o.changed)
	o.changed = make(chan struct{})
}

func (o *observer) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed == nil {
		o.failed = err
		close(o.changed)
		o.changed = make(chan struct{})
	}
}

// wait waits until the condition, which is asked under the lock, holds. It gives up when nothing happens for a minute,
// or when the process has ended that is to make it happen.
func (o *observer) wait(ctx context.Context, of *process, condition func() bool) error {
	for {
		o.mu.Lock()
		holds, changed, err := condition(), o.changed, o.failed
		o.mu.Unlock()
		switch {
		case err != nil:
			return err
		case holds:
			return nil
		}
		timeout := time.NewTimer(time.Minute)
		select {
		case <-changed:
		case <-of.exited:
			return of.ended(nil)
		case <-timeout.C:
			return fmt.Errorf("nothing has happened for a minute\n%s", tail(of.log))
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		timeout.Stop()
	}
}

// waitMatched waits until so many TidbClusters are as they should be. It returns when they were, in order.
func (o *observer) waitMatched(ctx context.Context, of *process, n int) ([]time.Time, error) {
	if err := o.wait(ctx, of, func() bool { return len(o.matched) >= n }); err != nil {
		return nil, fmt.Errorf("waiting for %d objects, have %d: %w", n, o.count(), err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.SortedFunc(maps.Values(o.matched), time.Time.Compare), nil
}

func (o *observer) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.matched)
}

// waitLatency waits for one TidbCluster, and returns the time from its creation to what was done for it, as both were seen by the watch.
func (o *observer) waitLatency(ctx context.Context, of *process, name string) (time.Duration, error) {
	err := o.wait(ctx, of, func() bool { return !o.matched[name].IsZero() && !o.created[name].IsZero() })
	if err != nil {
		return 0, fmt.Errorf("waiting for %s: %w", name, err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.matched[name].Sub(o.created[name]), nil
}
