package source

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// patience is how long a reload may take before a test gives up.
const patience = 20 * time.Second

// reload is what a watch reported.
type reload struct {
	rules []string
	err   error
}

// watched loads the paths and watches them until the test ends.
func watched(t *testing.T, stdin string, paths ...string) <-chan reload {
	t.Helper()
	files := New(paths, strings.NewReader(stdin), rules.Options{})
	if _, err := files.Load(); err != nil {
		t.Fatal(err)
	}
	reloads := make(chan reload, 100)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		files.Watch(ctx, clock.RealClock{}, slog.New(slog.DiscardHandler), func(set *rules.Set, err error) {
			reloads <- reload{ruleNames(set), err}
		})
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return reloads
}

// expect waits for the reload with these rules. Those that an intermediate
// state led to are passed over.
func expect(t *testing.T, reloads <-chan reload, want ...string) {
	t.Helper()
	var last reload
	timeout := time.After(patience)
	for {
		select {
		case last = <-reloads:
			if last.err == nil && cmp.Equal(want, last.rules) {
				return
			}
		case <-timeout:
			t.Fatalf("want rules %q, last reload: %q, %v", want, last.rules, last.err)
		}
	}
}

// expectError waits for a reload that failed and returns why.
func expectError(t *testing.T, reloads <-chan reload) *Error {
	t.Helper()
	select {
	case got := <-reloads:
		var failed *Error
		if !errors.As(got.err, &failed) {
			t.Fatalf("want a failed reload, got %q, %v", got.rules, got.err)
		}
		return failed
	case <-time.After(patience):
		t.Fatal("no reload")
		return nil
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWatchFile(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	path := filepath.Join(directory, "r.yaml")
	write(t, directory, map[string]string{"r.yaml": ruleSet("a", "x")})
	reloads := watched(t, "", path)

	write(t, directory, map[string]string{"r.yaml": ruleSet("a", "y")})
	expect(t, reloads, "a/y")

	// An editor writes a new file and puts it in place of the old, twice, to
	// see that the watch is not lost with the first.
	for _, name := range []string{"z", "x"} {
		write(t, directory, map[string]string{"r.yaml~": ruleSet("a", name)})
		must(t, os.Rename(path+"~", path))
		expect(t, reloads, "a/"+name)
	}

	must(t, os.Remove(path))
	if failed := expectError(t, reloads); !errors.Is(failed, os.ErrNotExist) {
		t.Errorf("a file that is gone is an error, got %v", failed)
	}
	write(t, directory, map[string]string{"r.yaml": ruleSet("a", "x")})
	expect(t, reloads, "a/x")
}

func TestWatchIsAllOrNothing(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	write(t, directory, map[string]string{"a.yaml": ruleSet("a", "x"), "b.yaml": ruleSet("b", "x")})
	reloads := watched(t, "", directory)

	write(t, directory, map[string]string{"a.yaml~": "kind: RuleSte\n"})
	must(t, os.Rename(filepath.Join(directory, "a.yaml~"), filepath.Join(directory, "a.yaml")))
	if failed := expectError(t, reloads); len(failed.Mistakes) != 1 || failed.Mistakes[0].Line != 1 {
		t.Errorf("one located mistake, got %v", failed)
	}

	// A good file does not make up for the bad one.
	write(t, directory, map[string]string{"c.yaml~": ruleSet("c", "x")})
	must(t, os.Rename(filepath.Join(directory, "c.yaml~"), filepath.Join(directory, "c.yaml")))
	if failed := expectError(t, reloads); len(failed.Mistakes) != 1 {
		t.Errorf("the mistake is still there, got %v", failed)
	}

	write(t, directory, map[string]string{"a.yaml": ruleSet("a", "y")})
	expect(t, reloads, "a/y", "b/x", "c/x")

	must(t, os.Remove(filepath.Join(directory, "b.yaml")))
	expect(t, reloads, "a/y", "c/x")
}

// TestWatchConfigMap does what the kubelet does: the files are links through
// ..data, which is swapped.
func TestWatchConfigMap(t *testing.T) {
	t.Parallel()
	for _, path := range []string{".", "r.yaml"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			mount := t.TempDir()
			publish := func(version, text string) {
				write(t, mount, map[string]string{"..v" + version + "/": ""})
				write(t, mount, map[string]string{"..v" + version + "/r.yaml": text})
				must(t, os.Symlink("..v"+version, filepath.Join(mount, "..data_tmp")))
				must(t, os.Rename(filepath.Join(mount, "..data_tmp"), filepath.Join(mount, "..data")))
			}
			publish("1", ruleSet("a", "x"))
			must(t, os.Symlink("..data/r.yaml", filepath.Join(mount, "r.yaml")))
			reloads := watched(t, "", filepath.Join(mount, path))

			publish("2", ruleSet("a", "y"))
			must(t, os.RemoveAll(filepath.Join(mount, "..v1")))
			expect(t, reloads, "a/y")

			publish("3", "")
			if failed := expectError(t, reloads); len(failed.Unusable) != 1 {
				t.Errorf("an empty file removes nothing, got %v", failed)
			}

			publish("4", ruleSet("a", "z"))
			expect(t, reloads, "a/z")
		})
	}
}

func TestWatchLinkElsewhere(t *testing.T) {
	t.Parallel()
	here, there := t.TempDir(), t.TempDir()
	write(t, there, map[string]string{"r.yaml": ruleSet("a", "x")})
	link := filepath.Join(here, "r.yaml")
	must(t, os.Symlink(filepath.Join(there, "r.yaml"), link))
	reloads := watched(t, "", link)

	write(t, there, map[string]string{"r.yaml": ruleSet("a", "y")})
	expect(t, reloads, "a/y")
}

func TestWatchReplacedDirectory(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	directory := filepath.Join(parent, "rules")
	write(t, parent, map[string]string{"rules/": "", "next/": ""})
	write(t, parent, map[string]string{"rules/r.yaml": ruleSet("a", "x"), "next/r.yaml": ruleSet("a", "y")})
	reloads := watched(t, "", directory)

	must(t, os.Rename(directory, directory+".old"))
	must(t, os.Rename(filepath.Join(parent, "next"), directory))
	expect(t, reloads, "a/y")

	write(t, directory, map[string]string{"r.yaml": ruleSet("a", "z")})
	expect(t, reloads, "a/z")
}

func TestWatchKeepsStdin(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	path := filepath.Join(directory, "r.yaml")
	write(t, directory, map[string]string{"r.yaml": ruleSet("a", "x")})
	reloads := watched(t, ruleSet("in", "x"), path, "-")

	write(t, directory, map[string]string{"r.yaml": ruleSet("a", "y")})
	expect(t, reloads, "a/y", "in/x")
}

func TestWatchSeesWhatCameBefore(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	path := filepath.Join(directory, "r.yaml")
	write(t, directory, map[string]string{"r.yaml": ruleSet("a", "x")})
	files := New([]string{path}, nil, rules.Options{})
	_, err := files.Load()
	must(t, err)
	write(t, directory, map[string]string{"r.yaml": ruleSet("a", "y")})

	ctx, cancel := context.WithCancel(t.Context())
	var got []string
	files.Watch(ctx, clock.RealClock{}, slog.New(slog.DiscardHandler), func(set *rules.Set, _ error) {
		got = ruleNames(set)
		cancel()
	})
	if diff := cmp.Diff([]string{"a/y"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWatchPolls(t *testing.T) {
	t.Parallel()
	// Without notifications only the ticker is left.
	fake := clocktesting.NewFakeClock(time.Now())
	w := &watcher{clock: fake, ticker: fake.NewTicker(poll)}
	fake.Step(poll)
	if !w.wait(t.Context(), nil) {
		t.Error("a tick is time to look again")
	}
}

func TestDebounce(t *testing.T) {
	t.Parallel()
	fake := clocktesting.NewFakeClock(time.Now())
	pause := watcher{clock: fake}
	over := func() bool {
		select {
		case <-pause.over():
			return true
		default:
			return false
		}
	}
	if over() {
		t.Error("nothing has begun")
	}
	event := func() { pause.event(quiet, longest) }
	event()
	fake.Step(quiet - 1)
	event()
	fake.Step(quiet - 1)
	if over() {
		t.Error("an event within the pause prolongs it")
	}
	fake.Step(1)
	if !over() {
		t.Error("the burst is over")
	}
	pause.stop()

	start := fake.Now()
	for event(); !over(); event() {
		fake.Step(quiet / 2)
		if fake.Since(start) > longest {
			t.Fatal("a directory that never rests is read all the same")
		}
	}
	if got := fake.Since(start); got < longest-quiet {
		t.Errorf("the wait was cut short after %s", got)
	}
}

func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil //nolint:reassign // They pause, by the virtual clock of another test, which does not end.
	goleak.VerifyTestMain(m)
}
