package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/utils/clock"
)

// event is a change as those see it who watch.
type event struct {
	key     string
	was, is entry // without data where there is nothing
}

// history is what a world remembers of its changes, from the first version that can be watched from on.
type history struct {
	since  uint64
	events []event       // in order, each of a version above since
	more   chan struct{} // closed at the next change, and made anew
}

func (h *history) add(e event) {
	h.events = append(h.events, e)
	close(h.more)
	h.more = make(chan struct{})
}

// Remember has the world remember its changes from now on, so that it can be watched.
func (w *World) Remember() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.log != nil {
		return
	}
	w.log = &history{since: w.version, more: make(chan struct{})}
	if w.version == firstVersion {
		w.log.since = 0 // Nothing has been before.
	}
}

// Compact has the world forget its changes until now, as etcd does: who has not seen them has to list again.
func (w *World) Compact() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.log != nil {
		w.log.since, w.log.events = w.version, nil
	}
}

var (
	errNotRemembered = errors.New("this world remembers no changes, so it cannot be watched")
	errForgotten     = errors.New("too old resource version")
)

func (w *World) remembers() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log != nil
}

// after returns the changes of later versions than one, and a channel that is closed at the next change.
func (w *World) after(version uint64) (events []event, more <-chan struct{}, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if version < w.log.since {
		return nil, nil, fmt.Errorf("%w: %d (%d)", errForgotten, version, w.log.since)
	}
	at, _ := slices.BinarySearchFunc(w.log.events, version+1, func(e event, version uint64) int { return int(e.is.version) - int(version) }) //nolint:gosec // They are small.
	return slices.Clip(w.log.events[at:]), w.log.more, nil
}

// ahead is how many events a watch has ready that nobody has read yet, as that of etcd's store.
const ahead = 100

// untilBookmark is how long a watch that wants bookmarks waits for the next one, as the watch cache of an API server does.
const untilBookmark = time.Minute

// beforeEnd is how long before it ends a watch that wants bookmarks gets one, as the watch cache of an API server sends it.
const beforeEnd = 2 * time.Second

// watcher implements [watch.Interface].
type watcher struct {
	*store
	world   *World
	key     string
	options storage.ListOptions
	begun   uint64 // the version when the watch began, or from which changes are wanted
	version uint64 // up to which changes have been sent
	results chan watch.Event
	ctx     context.Context //nolint:containedctx // It is that of a request, which a watch lasts as long as.
	cancel  context.CancelFunc
}

// Watch implements [storage.Interface] as the watch cache of an API server does: without a version, or from version 0, it
// begins with what is there. What cannot be watched is shown as an event, too, but for a version that is none.
func (s *store) Watch(ctx context.Context, key string, options storage.ListOptions) (watch.Interface, error) {
	from, err := s.versioner.ParseResourceVersion(options.ResourceVersion)
	if err != nil {
		return nil, err
	}
	world := From(ctx)
	if !world.remembers() {
		return nil, errNotRemembered
	}
	if options.Recursive && !strings.HasSuffix(key, "/") {
		key += "/"
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{
		store: s, world: world, key: key, options: options, version: from, results: make(chan watch.Event, ahead), ctx: ctx, cancel: cancel,
	}
	initial := options.SendInitialEvents
	var first []watch.Event
	if initial == nil && from == 0 || initial != nil && *initial {
		if first, err = w.present(initial != nil && options.Predicate.AllowWatchBookmarks); err != nil {
			cancel()
			w.results <- watch.Event{Type: watch.Error, Object: statusOf(err)} // There is room.
			close(w.results)
			return w, nil
		}
	} else if from == 0 {
		w.version = world.Version()
	}
	w.begun = max(w.version, world.Version())
	go w.run(first, world.clock.NewTicker(untilBookmark))
	return w, nil
}

// Stop implements [watch.Interface].
func (w *watcher) Stop() { w.cancel() }

// ResultChan implements [watch.Interface].
func (w *watcher) ResultChan() <-chan watch.Event { return w.results }

// present are events of what there is now, with a bookmark that ends them.
func (w *watcher) present(marked bool) (out []watch.Event, err error) {
	keys, found, now := w.world.below(w.key)
	if err := w.tooNew(w.options.ResourceVersion, now); err != nil {
		return nil, err
	}
	w.version = now
	for _, key := range keys {
		if !w.watches(key) {
			continue
		}
		object, matches, err := w.match(key, found[key], found[key].version)
		if err != nil {
			return nil, err
		}
		if matches {
			out = append(out, watch.Event{Type: watch.Added, Object: object})
		}
	}
	if !marked {
		return out, nil
	}
	bookmark, err := w.bookmark()
	if err != nil {
		return nil, err
	}
	return append(out, bookmark), storage.AnnotateInitialEventsEndBookmark(bookmark.Object)
}

// run sends events, and what changes, until the watch ends.
func (w *watcher) run(first []watch.Event, bookmarks clock.Ticker) {
	defer close(w.results)
	defer bookmarks.Stop()
	defer w.cancel()
	for _, e := range first {
		if !w.send(e) {
			return
		}
	}
	nearEnd, stop := w.nearEnd()
	defer stop()
	for {
		events, more, err := w.world.after(w.version)
		for _, e := range events {
			var out watch.Event
			if out, err = w.eventOf(e); err != nil || out.Object != nil && !w.send(out) {
				break
			}
			w.version = e.is.version
		}
		if err != nil {
			w.send(watch.Event{Type: watch.Error, Object: statusOf(err)})
			return
		}
		select {
		case <-more:
			continue
		case <-bookmarks.C():
		case <-nearEnd:
			nearEnd = nil
		case <-w.ctx.Done():
			return
		}
		if !w.options.Predicate.AllowWatchBookmarks || w.version <= w.begun {
			continue // Nothing has happened that a bookmark would tell.
		}
		if bookmark, err := w.bookmark(); err == nil && !w.send(bookmark) {
			return
		}
	}
}

// nearEnd is closed shortly before the watch ends. It is nil if the watch has no end, or ends sooner.
func (w *watcher) nearEnd() (<-chan struct{}, context.CancelFunc) {
	end, ends := w.ctx.Deadline()
	if !ends {
		return nil, func() {}
	}
	ctx, cancel := context.WithDeadline(w.ctx, end.Add(-beforeEnd))
	if ctx.Err() != nil {
		return nil, cancel
	}
	return ctx.Done(), cancel
}

func (w *watcher) send(e watch.Event) bool {
	select {
	case w.results <- e:
		return true
	case <-w.ctx.Done():
		return false
	}
}

// eventOf is what a change is to who watches, without an object where it is nothing.
func (w *watcher) eventOf(e event) (out watch.Event, err error) {
	if !w.watches(e.key) {
		return out, nil
	}
	was, matched, err := w.match(e.key, e.was, e.is.version)
	if err != nil {
		return out, err
	}
	is, matches, err := w.match(e.key, e.is, e.is.version)
	switch {
	case err != nil:
		return out, err
	case matched && matches:
		return watch.Event{Type: watch.Modified, Object: is}, nil
	case matches:
		return watch.Event{Type: watch.Added, Object: is}, nil
	case matched: // It is shown as it was, in the version in which it went.
		return watch.Event{Type: watch.Deleted, Object: was}, nil
	default:
		return out, nil
	}
}

func (w *watcher) watches(key string) bool {
	return key == w.key || w.options.Recursive && strings.HasPrefix(key, w.key)
}

// match decodes what was stored, and says whether it is what is watched. What the predicate cannot judge is not.
func (w *watcher) match(key string, stored entry, version uint64) (object runtime.Object, matches bool, err error) {
	if stored.data == nil {
		return nil, false, nil
	}
	object = w.newObject()
	if err := w.decode(stored.data, version, object); err != nil {
		return nil, false, fmt.Errorf("%s: %w", changeOf(key), err)
	}
	matches, err = w.options.Predicate.Matches(object)
	return object, matches && err == nil, nil
}

// bookmark says up to which version all has been sent.
func (w *watcher) bookmark() (watch.Event, error) {
	object := w.newObject()
	return watch.Event{Type: watch.Bookmark, Object: object}, w.versioner.UpdateObject(object, w.version)
}

// statusOf is how a watch ends with an error.
func statusOf(err error) runtime.Object {
	var answer *apierrors.StatusError
	switch {
	case errors.As(err, &answer):
	case errors.Is(err, errForgotten):
		answer = apierrors.NewResourceExpired(err.Error())
	default:
		answer = apierrors.NewInternalError(err)
	}
	return &answer.ErrStatus
}
