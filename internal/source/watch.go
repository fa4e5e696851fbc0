package source

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

const (
	// quiet is how long nothing may happen before files are read: an editor
	// writes in several steps.
	quiet = 100 * time.Millisecond
	// longest bounds the wait in a directory that never comes to rest.
	longest = time.Second
	// calm and latest are the same for rule files that are written in place: half of
	// one may read as one with fewer rules.
	calm   = time.Second
	latest = 10 * time.Second
	// poll finds what no notification tells: network file systems, links far
	// away, a queue of the kernel that overflowed.
	poll = 10 * time.Second
)

// Watch reads the files again whenever they may have changed, until the context
// is done. If they have, it calls changed with the new set, or with the error
// of [Files.Load]. It starts with a look, since a change may have come between
// Load and Watch. Contents count once they have been read twice and were the same, or
// a file that is just being put in place of another would be taken for gone.
//
// It asks the schemas too, and calls changed where they have news. Where rules that
// were right do not fit them, there is an error and a set: the same rules, by what
// the options say alone. Nothing takes them out of effect, and nothing goes by what
// is known no longer to be so.
func (f *Files) Watch(ctx context.Context, clock clock.WithTicker, log *slog.Logger, changed func(*rules.Set, error)) {
	directories := newDirectories(log)
	defer directories.close()
	ticker := clock.NewTicker(poll)
	defer ticker.Stop()
	pause := debounce{clock: clock, careful: true}
	defer pause.stop()
	before := f.seen
	for {
		contents := f.read()
		now := f.outlined(contents).of
		steady := !directories.watch(wantedDirectories(contents)) && now == before
		if !steady {
			pause.event(quiet, longest)
		}
		if steady || now == f.seen {
			f.look(ctx, contents, changed)
		}
		before = now
		if !wait(ctx, directories, ticker.C(), &pause) {
			return
		}
	}
}

// look tells of what has become of the contents, or of what is known of their
// objects.
func (f *Files) look(ctx context.Context, contents []content, changed func(*rules.Set, error)) {
	known, news := f.options.Schemas, false
	if f.schemas != nil {
		known, news = f.schemas.Ask(ctx, f.outlined(contents).named)
	}
	if f.outlined(contents).of != f.seen {
		changed(f.load(contents, known))
		return
	}
	if !news {
		return
	}
	set, err := f.compile(contents, known)
	if err == nil {
		f.sound = true
	} else if f.sound {
		set, _ = f.compile(contents, f.options.Schemas)
	}
	changed(set, err)
}

// wait returns when it is time to look again, false when it never will be.
func wait(ctx context.Context, directories *directories, tick <-chan time.Time, pause *debounce) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case event := <-directories.events:
			if pause.careful && event.Has(fsnotify.Write) && isRuleFile(filepath.Base(event.Name)) {
				pause.event(calm, latest)
			} else {
				pause.event(quiet, longest)
			}
		case err := <-directories.errors:
			directories.log.Warn("some changes of rule files may have been missed", "err", err)
			pause.event(quiet, longest)
		case <-pause.over():
			pause.stop()
			return true
		case <-tick:
			if pause.over() == nil { // Something is under way otherwise.
				return true
			}
		}
	}
}

// debounce turns a burst of events into one. The zero value with a clock waits
// for the first event.
type debounce struct {
	clock   clock.WithTicker
	careful bool // of rule files that are being written
	first   time.Time
	until   time.Time // the burst that began with the first event is over
	timer   clock.Timer
}

// event starts the wait, or prolongs it: there must be rest for a while, unless the burst
// has lasted for too long. What another event has asked for is not cut short.
func (d *debounce) event(rest, most time.Duration) {
	now := d.clock.Now()
	if d.timer == nil {
		d.first, d.until = now, now
	}
	over := now.Add(rest)
	if end := d.first.Add(most); end.Before(over) {
		over = end
	}
	if !over.After(d.until) {
		return
	}
	d.stop()
	d.until, d.timer = over, d.clock.NewTimer(over.Sub(now))
}

// over is ready once the burst is.
func (d *debounce) over() <-chan time.Time {
	if d.timer == nil {
		return nil
	}
	return d.timer.C()
}

func (d *debounce) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}

// directories are what the kernel notifies about. Files themselves are not
// watched: an editor replaces them, and the notification stays with the old.
type directories struct {
	log     *slog.Logger
	watcher *fsnotify.Watcher // nil where the kernel notifies of nothing
	events  <-chan fsnotify.Event
	errors  <-chan error
}

// newDirectories always returns something that can be waited for.
func newDirectories(log *slog.Logger) *directories {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		log.Warn("rule files are only polled", "every", poll.String(), "err", err)
		return &directories{log: log}
	}
	return &directories{log: log, watcher: watcher, events: watcher.Events, errors: watcher.Errors}
}

// watch goes over to the directories that are wanted. It reports whether one is
// new: what changed there before is not known.
func (d *directories) watch(wanted []string) (news bool) {
	if d.watcher == nil {
		return false
	}
	watched := d.watcher.WatchList()
	for _, directory := range watched {
		if !slices.Contains(wanted, directory) {
			// It may be gone, and with it the watch.
			_ = d.watcher.Remove(directory)
		}
	}
	for _, directory := range wanted {
		// What cannot be watched is polled.
		err := d.watcher.Add(directory)
		news = news || err == nil && !slices.Contains(watched, directory)
	}
	return news
}

// wantedDirectories are those in which a change of the contents shows: of the paths, and those that links lead to, as
// in a mounted ConfigMap.
func wantedDirectories(contents []content) []string {
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
			if target, err := filepath.EvalSymlinks(file.Name); err == nil {
				out = append(out, filepath.Dir(target))
			}
		}
	}
	return out
}

func (d *directories) close() {
	if d.watcher != nil {
		// Nobody listens any more, so there is nothing to say.
		_ = d.watcher.Close()
	}
}
