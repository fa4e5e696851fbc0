package source

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// still is a watch over paths under a clock that stands still while files change, so that
// nothing is read in the midst of it.
type still struct {
	t       *testing.T
	clock   *clocktesting.FakeClock
	reloads chan reload
}

func watchStill(t *testing.T, paths ...string) *still {
	t.Helper()
	s := &still{t: t, clock: clocktesting.NewFakeClock(time.Now()), reloads: make(chan reload, 100)}
	files := New(paths, nil, rules.Options{})
	_, err := files.Load()
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		files.Watch(ctx, s.clock, slog.New(slog.DiscardHandler), func(set *rules.Set, err error) {
			s.reloads <- reload{ruleNames(set), err}
		})
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return s
}

// next is the first reload after what has happened by now.
func (s *still) next() reload {
	s.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		s.clock.Step(quiet)
		select {
		case got := <-s.reloads:
			return got
		case <-time.After(time.Millisecond):
		}
	}
	s.t.Fatal("no reload")
	return reload{}
}

// becomes expects these rules at once.
func (s *still) becomes(reason string, want ...string) {
	s.t.Helper()
	if got := s.next(); got.err != nil || !cmp.Equal(want, got.rules) {
		s.t.Errorf("%s: want rules %q, got %q, %v", reason, want, got.rules, got.err)
	}
}

// fails expects an error that says all of these.
func (s *still) fails(reason string, parts ...string) error {
	s.t.Helper()
	got := s.next()
	if got.err == nil || got.rules != nil {
		s.t.Fatalf("%s: want an error, got rules %q", reason, got.rules)
	}
	for _, part := range parts {
		if !strings.Contains(got.err.Error(), part) {
			s.t.Errorf("%s: the error does not say %q: %v", reason, part, got.err)
		}
	}
	return got.err
}

// TestReloadOfAnEditor goes through the ways in which editors and scripts replace a file.
func TestReloadOfAnEditor(t *testing.T) {
	t.Parallel()
	whole := ruleSet("a", "x", "y")
	cases := map[string]struct {
		reason string
		change func(t *testing.T, directory string)
	}{
		"Rename": {"sed -i and kubectl cp put a new file in place.", func(t *testing.T, directory string) {
			write(t, directory, map[string]string{".r.yaml.123": whole})
			must(t, os.Rename(filepath.Join(directory, ".r.yaml.123"), filepath.Join(directory, "r.yaml")))
		}},
		"Backup": {"vim takes the file away first.", func(t *testing.T, directory string) {
			path := filepath.Join(directory, "r.yaml")
			write(t, directory, map[string]string{"4913": "", ".r.yaml.swp": "x"})
			must(t, os.Remove(filepath.Join(directory, "4913")))
			must(t, os.Rename(path, path+"~"))
			write(t, directory, map[string]string{"r.yaml": whole})
			must(t, os.Remove(path+"~"))
		}},
		"Over": {"cp writes over it, which empties it first.", func(t *testing.T, directory string) {
			write(t, directory, map[string]string{"r.yaml": ""})
			write(t, directory, map[string]string{"r.yaml": whole})
		}},
		"Halves": {"What is written in steps may read as rules at each.", func(t *testing.T, directory string) {
			file, err := os.Create(filepath.Join(directory, "r.yaml"))
			must(t, err)
			for _, part := range strings.SplitAfter(whole, "\n") {
				_, err := file.WriteString(part)
				must(t, err)
			}
			must(t, file.Close())
		}},
		"Moved": {"A set moves to another file.", func(t *testing.T, directory string) {
			write(t, directory, map[string]string{"z.yaml": whole})
			must(t, os.Remove(filepath.Join(directory, "r.yaml")))
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			write(t, directory, map[string]string{"r.yaml": ruleSet("a", "x"), "s.yaml": ruleSet("b", "x")})
			s := watchStill(t, directory)
			tc.change(t, directory)
			s.becomes(tc.reason, "a/x", "a/y", "b/x")
		})
	}
}

// TestReloadFails holds that what cannot be used is an error that says where, told once,
// and that it passes.
func TestReloadFails(t *testing.T) {
	t.Parallel()
	good := ruleSet("a", "x")
	cases := map[string]struct {
		reason string
		spoil  func(t *testing.T, directory string)
		says   []string
	}{
		"Half": {"Half a file is wrong.", func(t *testing.T, directory string) {
			write(t, directory, map[string]string{"r.yaml": good[:strings.Index(good, "actions")]})
		}, []string{"r.yaml:8:"}},
		"Cut": {"So is one cut within a line.", func(t *testing.T, directory string) {
			write(t, directory, map[string]string{"r.yaml": good[:len(good)-5]})
		}, []string{"r.yaml:"}},
		"Several": {"Every mistake of every file is named.", func(t *testing.T, directory string) {
			write(t, directory, map[string]string{"r.yaml": "kind: Rule\n", "s.yaml": strings.Replace(ruleSet("b", "x"), "watch: pods", "watch: pod", 1)})
		}, []string{"r.yaml:1:", "s.yaml:9:"}},
		"Huge": {"A file that is too large is not cut short.", func(t *testing.T, directory string) {
			write(t, directory, map[string]string{"r.yaml": good + strings.Repeat("# filled up\n", MaxFile/10)})
		}, []string{"r.yaml: the file has 4194304 bytes"}},
		"Emptied": {"An empty file removes nothing.", func(t *testing.T, directory string) {
			write(t, directory, map[string]string{"r.yaml": "", "s.yaml": ""})
		}, []string{"holds no RuleSet"}},
		"Deleted": {"Nor does an empty directory.", func(t *testing.T, directory string) {
			must(t, os.Remove(filepath.Join(directory, "r.yaml")))
			must(t, os.Remove(filepath.Join(directory, "s.yaml")))
		}, []string{"no *.yaml"}},
		"Unreadable": {"Nor does a file that cannot be read.", func(t *testing.T, directory string) {
			path := filepath.Join(directory, "r.yaml")
			must(t, os.Remove(path))
			must(t, os.Symlink("r.yaml", path)) // To itself: permissions do not stop root.
		}, []string{"r.yaml"}},
		"Locked": {"Nor does a directory that may not be read any more.", func(t *testing.T, directory string) {
			if os.Geteuid() == 0 {
				t.Skip("root may read everything")
			}
			must(t, os.Chmod(directory, 0))
			t.Cleanup(func() { must(t, os.Chmod(directory, 0o700)) })
		}, []string{"permission denied"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			write(t, directory, map[string]string{"r.yaml": good, "s.yaml": ruleSet("b", "x")})
			s := watchStill(t, directory)
			tc.spoil(t, directory)
			_ = s.fails(tc.reason, tc.says...)
			if err := os.Chmod(directory, 0o700); err != nil {
				t.Fatal(err)
			}
			must(t, os.RemoveAll(filepath.Join(directory, "r.yaml")))
			write(t, directory, map[string]string{"r.yaml": ruleSet("a", "y"), "s.yaml": ruleSet("b", "x")})
			s.becomes("It passes, and was told once.", "a/y", "b/x")
		})
	}
}

// TestReloadOfADirectory holds that a directory that is taken away and put back removes
// nothing, and is not read before all its files are there.
func TestReloadOfADirectory(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "rules")
	fill := func(name string) {
		must(t, os.Mkdir(directory, 0o700))
		write(t, directory, map[string]string{"r.yaml": ruleSet("a", name), "s.yaml": ruleSet("b", name)})
	}
	fill("x")
	s := watchStill(t, directory)
	must(t, os.RemoveAll(directory))
	if err := s.fails("It is gone."); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	fill("y")
	s.becomes("It is back.", "a/y", "b/y")
	write(t, directory, map[string]string{"r.yaml": ruleSet("a", "z")})
	s.becomes("It is still watched.", "a/z", "b/y")
}

// TestReloadOfAConfigMap goes through all that the kubelet does, in its order, where a key
// goes and another comes.
func TestReloadOfAConfigMap(t *testing.T) {
	t.Parallel()
	mount := t.TempDir()
	at := func(name string) string { return filepath.Join(mount, name) }
	swap := func(version string, files map[string]string) {
		must(t, os.Mkdir(at(version), 0o700))
		write(t, at(version), files)
		must(t, os.Symlink(version, at("..data_tmp")))
		must(t, os.Rename(at("..data_tmp"), at("..data")))
	}
	swap("..1", map[string]string{"r.yaml": ruleSet("a", "x"), "s.yaml": ruleSet("b", "x")})
	must(t, os.Symlink("..data/r.yaml", at("r.yaml")))
	must(t, os.Symlink("..data/s.yaml", at("s.yaml")))
	s := watchStill(t, mount)

	swap("..2", map[string]string{"s.yaml": ruleSet("b", "y"), "t.yaml": ruleSet("c", "x")})
	must(t, os.Symlink("..data/t.yaml", at("t.yaml")))
	must(t, os.Remove(at("r.yaml")))
	must(t, os.RemoveAll(at("..1")))
	s.becomes("One key went, one changed, one came.", "b/y", "c/x")

	swap("..3", map[string]string{"s.yaml": ruleSet("b", "z"), "t.yaml": ruleSet("c", "z")})
	must(t, os.RemoveAll(at("..2")))
	s.becomes("The directory behind the link is watched.", "b/z", "c/z")

	swap("..4", map[string]string{"s.yaml": ruleSet("b", "z")})
	_ = s.fails("A link whose key is gone leads nowhere for a moment.", "t.yaml")
	must(t, os.Remove(at("t.yaml")))
	s.becomes("It is taken away.", "b/z")
}

// TestWaitForWriters holds that a rule file that is being written is left alone for
// longer, and what else happens is not.
func TestWaitForWriters(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		events  []fsnotify.Event
		hasty   bool
		longest time.Duration
	}{
		"Written": {
			reason: "Somebody writes.", longest: quietInPlace,
			events: []fsnotify.Event{{Name: "/d/r.yaml", Op: fsnotify.Write}},
		},
		"WrittenAndTouched": {
			reason: "What comes afterwards does not cut it short.", longest: quietInPlace,
			events: []fsnotify.Event{{Name: "/d/r.yaml", Op: fsnotify.Write}, {Name: "/d/r.yaml", Op: fsnotify.Chmod}},
		},
		"Renamed": {
			reason: "A file that is put in place is whole.", longest: quiet,
			events: []fsnotify.Event{{Name: "/d/.tmp", Op: fsnotify.Write}, {Name: "/d/r.yaml", Op: fsnotify.Create}},
		},
		"Hasty": {
			reason: "Who only tests is not made to wait.", longest: quiet, hasty: true,
			events: []fsnotify.Event{{Name: "/d/r.yaml", Op: fsnotify.Write}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := clocktesting.NewFakeClock(time.Now())
			events, over, tick := make(chan fsnotify.Event), make(chan bool), make(ticks)
			w := &watcher{clock: fake, careful: !tc.hasty, events: events, ticker: tick}
			go func() { over <- w.wait(t.Context(), nil) }()
			for _, event := range tc.events {
				events <- event
			}
			tick <- fake.Now() // It is received when they are dealt with.
			fake.Step(tc.longest - 1)
			if fake.Waiters() != 1 {
				t.Fatalf("%s: the wait is over too early", tc.reason)
			}
			fake.Step(quiet)
			if !<-over {
				t.Errorf("%s: it is time to look", tc.reason)
			}
		})
	}
}

// TestWaitPassesOverLogs holds that what is written all the time beside the rules does not have them read all the time.
func TestWaitPassesOverLogs(t *testing.T) {
	t.Parallel()
	events, over, tick := make(chan fsnotify.Event), make(chan bool), make(ticks)
	w := &watcher{clock: clocktesting.NewFakeClock(time.Now()), careful: true, events: events, ticker: tick}
	go func() { over <- w.wait(t.Context(), nil) }()
	events <- fsnotify.Event{Name: "/d/run.log", Op: fsnotify.Write}
	tick <- time.Time{}
	select {
	case <-over: // The poll finds a file of rules that has another name.
	case tick <- time.Time{}:
		t.Error("a burst has begun")
	}
}

// ticks is a ticker that a test steps.
type ticks chan time.Time

func (t ticks) C() <-chan time.Time { return t }
func (t ticks) Stop()               {}

// TestWaitIsNotCutShort holds that a poll does not read what is being written.
func TestWaitIsNotCutShort(t *testing.T) {
	t.Parallel()
	fake := clocktesting.NewFakeClock(time.Now())
	tick := make(ticks)
	w := &watcher{clock: fake, careful: true, ticker: tick}
	w.event(quietInPlace, longestInPlace)
	over := make(chan bool)
	go func() { over <- w.wait(t.Context(), nil) }()
	for range 2 { // The second is received when the first is dealt with.
		select {
		case tick <- fake.Now():
		case <-over:
			t.Fatal("it is read all the same")
		}
	}
	fake.Step(quietInPlace)
	if !<-over {
		t.Error("it is time to look")
	}
}
