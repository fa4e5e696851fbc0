package informer

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// The reflector lists and watches through these methods, by which the informer knows how each request went, and each event
// of a watch. The reflector keeps some failures to itself: a streamed first list that is refused a connection, or told to
// slow down, is tried again without a word to the watch error handler. A request that goes on from an earlier version,
// although the cache has to be listed anew, is answered here.

func (r *running) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	first := !r.informer.HasSynced() && options.ResourceVersionMatch != metav1.ResourceVersionMatchExact // As client-go checks a list.
	end, err := r.firstList(ctx, first, options)
	if err != nil {
		return nil, err
	}
	defer end()
	if !r.begin(options) {
		return nil, errListAnew
	}
	list, err := r.resource.List(ctx, r.selecting(options))
	r.answered(err)
	r.asked(true, err)
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		if first {
			r.arrived(&list.Items[i])
		}
	}
	if options.ResourceVersion == "" && list.GetContinue() == "" {
		r.listed(list.GetResourceVersion())
	}
	return list, nil
}

func (r *running) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	first := options.SendInitialEvents != nil && !r.informer.HasSynced()
	end, err := r.firstList(ctx, first, options)
	if err != nil {
		return nil, err
	}
	if !r.begin(options) {
		end()
		return nil, errListAnew
	}
	w, err := r.resource.Watch(ctx, r.selecting(options))
	r.answered(err)
	r.asked(false, err)
	if err != nil {
		end()
		return nil, err
	}
	if options.SendInitialEvents == nil && r.informer.HasSynced() {
		go r.ask() // It goes on from a version that the API server may not have come to.
	}
	return r.hear(w, options.ResourceVersion == "", first, end), nil
}

func (r *running) selecting(options metav1.ListOptions) metav1.ListOptions {
	options.LabelSelector, options.FieldSelector = r.key.LabelSelector, r.key.FieldSelector
	return options
}

// observedWatch is a watch that tells its informer of each event but errors, bookmarks included. What
// stops it need not read it to its end.
type observedWatch struct {
	watch.Interface
	of      *running
	opened  time.Time
	quorum  bool   // it begins with a list of a quorum
	first   bool   // the first list is under way; of the goroutine that passes events alone
	end     func() // that list is complete, or has failed; may be called several times
	out     chan watch.Event
	stop    sync.Once
	stopped chan struct{}
}

func (r *running) hear(w watch.Interface, quorum, first bool, end func()) watch.Interface {
	h := &observedWatch{
		Interface: w, of: r, opened: r.load.clock.Now(), quorum: quorum, first: first, end: end,
		out: make(chan watch.Event), stopped: make(chan struct{}),
	}
	r.watching.Store(h)
	if r.bound.outdated() { // Since it was asked for.
		h.Stop()
	}
	go h.pass()
	return h
}

// ResultChan implements [watch.Interface].
func (h *observedWatch) ResultChan() <-chan watch.Event { return h.out }

// Stop implements [watch.Interface].
func (h *observedWatch) Stop() {
	h.stop.Do(func() { close(h.stopped) })
	h.Interface.Stop()
}

func (h *observedWatch) pass() {
	defer close(h.out)
	defer h.end()
	for {
		var event watch.Event
		var open bool
		select {
		case event, open = <-h.Interface.ResultChan():
		case <-h.stopped:
		}
		if !open {
			return
		}
		if event.Type != watch.Error {
			h.of.heard()
		}
		switch event.Type {
		case watch.Bookmark:
			h.bookmark(event.Object)
		case watch.Added:
			if u, ok := event.Object.(*unstructured.Unstructured); ok && h.first {
				h.of.arrived(u)
			}
		default:
		}
		select {
		case h.out <- event:
		case <-h.stopped:
			return
		}
	}
}

// bookmark notes that there are bookmarks, and the one that ends the list at the beginning.
func (h *observedWatch) bookmark(object runtime.Object) {
	h.of.load.bookmarks.Store(true)
	of, err := meta.Accessor(object)
	if err != nil || of.GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true" {
		return
	}
	h.first = false
	h.end()
	if h.quorum {
		h.of.listed(of.GetResourceVersion())
	}
}
