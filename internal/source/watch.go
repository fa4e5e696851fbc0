package source

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

const (
	// quiet is how long nothing may happen before files are read: an editor
	// writes in several steps.
	quiet = 100 * time.Millisecond
	// longest bounds the wait in a directory that never comes to rest.
	longest = time.Second
	// quietInPlace and longestInPlace are the same for rule files that are written in place: half of
	// one may read as one with fewer rules.
	quietInPlace   = time.Second
	longestInPlace = 10 * time.Second
	// poll finds changes without a notification: network file systems, links far
	// away, a queue of the kernel that overflowed.
	poll = 10 * time.Second
)

// Watch reads the files again whenever they may have changed, until the context
// is done. If they have, it calls changed with the new set, or with the error
// of [Files.Load]. It starts with a read, since a change may have come between
// Load and Watch. Contents count once two reads have found the same. Otherwise
// a file that is just being replaced would be taken for gone.
//
// It asks the schemas too, and calls changed when they have changed. If the files are wrong, or do not fit the
// schemas any more, changed gets an error and a set: the rules in effect, compiled again with the new
// schemas and unchecked. So the rules stay in effect, and use nothing of a schema that is out of date.
func (f *Files) Watch(ctx context.Context, clock clock.WithTicker, log *slog.Logger, changed func(*rules.Set, error)) {
	w := newWatcher(clock, log, !f.polled)
	defer w.close()
	w.careful = true
	before := f.loaded
	for {
		contents := f.read()
		now := f.parse(contents)
		steady := !w.watch(directoriesOf(contents)) && now == before
		if !steady {
			w.event(quiet, longest)
		}
		if steady || now == f.loaded {
			f.reload(ctx, now, changed)
		}
		before = now
		var schemas <-chan struct{}
		if f.schemas != nil {
			schemas = f.schemas.Changed()
		}
		if !w.wait(ctx, schemas) {
			return
		}
	}
}

// reload calls changed if the contents or their schemas have changed.
func (f *Files) reload(ctx context.Context, now *parsed, changed func(*rules.Set, error)) {
	known, otherSchemas := f.options.Schemas, false
	if f.schemas != nil {
		known, otherSchemas = f.schemas.Ask(ctx, f.named(now))
	}
	if now == f.loaded && !otherSchemas {
		return
	}
	good := f.good
	set, err := f.load(now, known)
	if wrong, is := errors.AsType[*Error](err); is && otherSchemas && good != nil {
		wrong.Unfit = good == now
		options := f.options
		options.Schemas, options.Unchecked = known, true
		set, _ = rules.Load(good.files, options) // They had no mistakes.
	}
	changed(set, err)
}

// named lists the resources that the files name, and those that the rules in effect name.
func (f *Files) named(now *parsed) []apischema.GroupVersionResource {
	out := slices.Clone(now.resources)
	if f.good == nil || f.good == now {
		return out
	}
	for _, gvr := range f.good.resources {
		if !slices.Contains(out, gvr) {
			out = append(out, gvr)
		}
	}
	return out
}

// directoriesOf lists the directories in which a change of the contents shows: of the paths, and those that links
// lead to, as in a mounted ConfigMap.
func directoriesOf(contents []content) []string {
	var out []string
	for _, c := range contents {
		if c.path == "" || c.path == Stdin {
			continue
		}
		out = append(out, filepath.Dir(c.path))
		if c.directory {
			out = append(out, c.path)
		}
		for _, file := range c.files {
			out = append(out, Directories(file.Name)...)
		}
	}
	return out
}

// Follow calls look at once, and again whenever something may have changed in the
// directories that it returned last, until the context is done. It is for files other than
// rules. Look finds out whether they did change. Calls come one after another. Several changes
// may lead to one call, and calls come now and then without a change, since not every change is notified.
func Follow(ctx context.Context, clock clock.WithTicker, log *slog.Logger, look func() []string) {
	w := newWatcher(clock, log, true)
	defer w.close()
	for {
		for wanted := look(); w.watch(wanted); {
			wanted = look()
		}
		if ctx.Err() != nil || !w.wait(ctx, nil) {
			return
		}
	}
}

// Directories lists where a change of a file shows: its own directory, and that of
// the file that it links to.
func Directories(file string) []string {
	out := []string{filepath.Dir(file)}
	if target, err := filepath.EvalSymlinks(file); err == nil && target != file {
		out = append(out, filepath.Dir(target))
	}
	return out
}

// watcher waits for changes in directories, by notifications of the kernel and by polling. It does not watch
// files: an editor replaces them, and the notification stays with the old one. A burst of notifications is
// one change.
type watcher struct {
	clock   clock.WithTicker
	log     *slog.Logger
	careful bool // with rule files that are written in place

	notify *fsnotify.Watcher // nil where the kernel sends no notifications
	events <-chan fsnotify.Event
	errors <-chan error
	ticker clock.Ticker

	// first is the time of the first event of a burst, until when it will be over, timer nil without a burst.
	first, until time.Time
	timer        clock.Timer
}

func newWatcher(clock clock.WithTicker, log *slog.Logger, notified bool) *watcher {
	w := &watcher{clock: clock, log: log, ticker: clock.NewTicker(poll)}
	if !notified {
		return w
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		log.Warn("rule files are only polled", "every", poll.String(), "err", err)
		return w
	}
	w.notify, w.events, w.errors = notify, notify.Events, notify.Errors
	return w
}

func (w *watcher) close() {
	w.stop()
	w.ticker.Stop()
	if w.notify != nil {
		_ = w.notify.Close() // Nothing reads from it any more.
	}
}

// watch watches the wanted directories and no others. It reports whether one is
// new: earlier changes there are not known.
func (w *watcher) watch(wanted []string) (isNew bool) {
	if w.notify == nil {
		return false
	}
	watched := w.notify.WatchList()
	for _, directory := range watched {
		if !slices.Contains(wanted, directory) {
			_ = w.notify.Remove(directory) // The directory may be gone, and the watch with it.
		}
	}
	for _, directory := range wanted {
		err := w.notify.Add(directory) // A directory that cannot be watched is polled.
		isNew = isNew || err == nil && !slices.Contains(watched, directory)
	}
	return isNew
}

// wait returns true when there may be changes, in directories or for another reason, false when the context is done.
func (w *watcher) wait(ctx context.Context, changed <-chan struct{}) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-changed:
			if w.timer == nil { // A burst ends by itself.
				return true
			}
		case event := <-w.events:
			switch {
			case !w.careful || !event.Has(fsnotify.Write):
				w.event(quiet, longest)
			case isRuleFile(filepath.Base(event.Name)):
				w.event(quietInPlace, longestInPlace)
			default: // A log beside the rules may be written all the time. Rules in a file with another name are polled.
			}
		case err := <-w.errors:
			w.log.Warn("some changes of rule files may have been missed", "err", err)
			w.event(quiet, longest)
		case <-w.over():
			w.stop()
			return true
		case <-w.ticker.C():
			if w.timer == nil { // A burst ends by itself.
				return true
			}
		}
	}
}

// event starts a burst, or prolongs it: there must be rest for a while, unless the burst
// has lasted for too long. It never shortens the wait.
func (w *watcher) event(rest, most time.Duration) {
	now := w.clock.Now()
	if w.timer == nil {
		w.first, w.until = now, now
	}
	over := now.Add(rest)
	if end := w.first.Add(most); end.Before(over) {
		over = end
	}
	if over.After(w.until) {
		w.stop()
		w.until, w.timer = over, w.clock.NewTimer(over.Sub(now))
	}
}

// over is ready once the burst is over.
func (w *watcher) over() <-chan time.Time {
	if w.timer == nil {
		return nil
	}
	return w.timer.C()
}

func (w *watcher) stop() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}
