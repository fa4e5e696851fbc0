package supervisor

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const deadline = 20 * time.Second

// sleeper is a component that says which life it lives and then does nothing.
const sleeper = `echo life $$; exec sleep 1000`

func newSupervisor(t *testing.T) *Supervisor {
	t.Helper()
	t.TempDir() // Made first, it is removed last: components write to theirs until they are stopped.
	s := New(slog.New(slog.DiscardHandler), []string{"GREETING=hello"})
	t.Cleanup(s.Stop)
	return s
}

func add(t *testing.T, s *Supervisor, name, script string) Component {
	t.Helper()
	c := Component{Name: name, Dir: filepath.Join(t.TempDir(), name), Command: []string{"/bin/sh", "-c", script}}
	if err := s.Add(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return c
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(deadline)
	for !condition() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("not within %s: %s", deadline, what)
		}
	}
}

// pid waits for a life of the component other than the one given.
func pid(t *testing.T, c Component, other int) int {
	t.Helper()
	var got int
	eventually(t, "a new process of "+c.Name, func() bool {
		data, err := os.ReadFile(c.path("pid"))
		if err != nil {
			return false
		}
		got, err = strconv.Atoi(strings.TrimSpace(string(data)))
		return err == nil && got != other
	})
	return got
}

// life waits for a life of a sleeper other than the one given, and until it is in the log: a process is there before its script runs.
func life(t *testing.T, c Component, other int) int {
	t.Helper()
	got := pid(t, c, other)
	eventually(t, "its life in the log", func() bool { return strings.Contains(logOf(t, c), "life "+strconv.Itoa(got)) })
	return got
}

func logOf(t *testing.T, c Component) string {
	t.Helper()
	data, err := os.ReadFile(c.path("log"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func failure(t *testing.T, s *Supervisor) error {
	t.Helper()
	select {
	case err := <-s.Failed():
		return err
	case <-time.After(deadline):
		t.Fatal("no failure was reported")
		return nil
	}
}

func TestKilledComponentComesBack(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			s := newSupervisor(t)
			c := add(t, s, "c", sleeper)
			first := life(t, c, 0)
			if err := syscall.Kill(first, signal); err != nil {
				t.Fatal(err)
			}
			life(t, c, first)
			if log := logOf(t, c); !strings.Contains(log, "life "+strconv.Itoa(first)) {
				t.Errorf("the log has lost the first life:\n%s", log)
			}
		})
	}
}

func TestDownHoldsAComponent(t *testing.T) {
	s := newSupervisor(t)
	c := add(t, s, "c", sleeper)
	first := life(t, c, 0)
	if err := os.WriteFile(c.path("down"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the process to end", func() bool { return gone(first) })
	eventually(t, "the pid file to go", func() bool {
		_, err := os.Stat(c.path("pid"))
		return errors.Is(err, fs.ErrNotExist)
	})
	if log := logOf(t, c); strings.Count(log, "life") != 1 {
		t.Errorf("it was started while held down:\n%s", log)
	}
	if err := os.Remove(c.path("down")); err != nil {
		t.Fatal(err)
	}
	pid(t, c, first)
}

func TestOwnEndIsAFailure(t *testing.T) {
	tests := map[string]struct {
		reason string
		script string
		want   []string
	}{
		"error":    {"The log's end is what explains it.", "echo bad flag; exit 3", []string{"by itself (exit status 3)", "bad flag"}},
		"success":  {"A server has no business to end.", "echo done", []string{"by itself (exit status 0)", "done"}},
		"long log": {"The end of the log matters, not all of it.", "seq 1000; exit 1", []string{"\n981\n", "\n1000"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSupervisor(t)
			add(t, s, "c", tc.script)
			got := failure(t, s).Error()
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s\ngot %q, want %q in it", tc.reason, got, want)
				}
			}
			if strings.Contains(got, "\n980\n") {
				t.Errorf("%s\nmore than %d lines of the log: %q", tc.reason, tailLines, got)
			}
		})
	}
}

func TestMissingProgramIsAFailure(t *testing.T) {
	s := newSupervisor(t)
	c := Component{Name: "c", Dir: t.TempDir(), Command: []string{filepath.Join(t.TempDir(), "missing")}}
	if err := s.Add(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := failure(t, s); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want a missing file", err)
	}
}

// needy ends by itself unless the file "there" exists, as kube-apiserver does without etcd.
func needy(there string) string {
	return "test -e '" + there + "' || exit 1; " + sleeper
}

func TestOwnEndIsExcusedByTheLackOfAnother(t *testing.T) {
	s := newSupervisor(t)
	there := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	store := add(t, s, "store", sleeper)
	pid(t, store, 0)
	server := add(t, s, "server", "echo start; "+needy(there))
	first := life(t, server, 0)

	if err := errors.Join(os.WriteFile(store.path("down"), nil, 0o600), os.Remove(there)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the store to go", func() bool {
		_, err := os.Stat(store.path("pid"))
		return errors.Is(err, fs.ErrNotExist)
	})
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "repeated starts", func() bool { return strings.Count(logOf(t, server), "start") >= 3 })

	if err := errors.Join(os.WriteFile(there, nil, 0o600), os.Remove(store.path("down"))); err != nil {
		t.Fatal(err)
	}
	pid(t, store, 0)
	eventually(t, "a life that lasts", func() bool { return strings.Count(logOf(t, server), "life") == 2 })
	select {
	case err := <-s.Failed():
		t.Errorf("the lack of a store was reported as %v", err)
	default:
	}
}

// TestOwnEndIsExcusedByTheStartOfAnother holds that a component which gives up is started again where one that it needs began shortly before it,
// and not for ever.
func TestOwnEndIsExcusedByTheStartOfAnother(t *testing.T) {
	s := newSupervisor(t)
	gate := filepath.Join(t.TempDir(), "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	add(t, s, "store", sleeper)
	server := add(t, s, "server", "echo start; cat '"+gate+"'; exit 1")
	pid(t, server, 0)
	before := time.Since(begin)
	eventually(t, "the server to have run for longer than the store did before it", func() bool { return time.Since(begin) > 3*before })
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another start", func() bool { return strings.Count(logOf(t, server), "start") == 2 })
	eventually(t, "a failure", func() bool {
		select {
		case err := <-s.Failed():
			if !strings.Contains(err.Error(), "server ended by itself") {
				t.Errorf("got %v", err)
			}
			return true
		default:
			if f, err := os.OpenFile(gate, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil { // The server reads it.
				_ = f.Close()
			}
			return false
		}
	})
}

func TestOwnEndIsNotExcusedByALaterComponent(t *testing.T) {
	s := newSupervisor(t)
	gate := filepath.Join(t.TempDir(), "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	add(t, s, "store", "cat '"+gate+"'; exit 1")
	server := add(t, s, "server", sleeper)
	pid(t, server, 0)
	if err := os.WriteFile(gate, nil, 0o600); err != nil { // The store ends after the server was started.
		t.Fatal(err)
	}
	if err := failure(t, s); !strings.Contains(err.Error(), "store ended by itself") {
		t.Errorf("got %v", err)
	}
}

func TestStopEndsAllLastFirst(t *testing.T) {
	s := newSupervisor(t)
	order := filepath.Join(t.TempDir(), "order")
	polite := func(name string) string {
		return `trap 'echo ` + name + ` >> "` + order + `"; exit 0' TERM; echo armed; while :; do sleep 0.01; done`
	}
	for _, name := range []string{"first", "second"} {
		c := add(t, s, name, polite(name))
		eventually(t, name+" to be armed", func() bool { return strings.Contains(logOf(t, c), "armed") })
	}
	stubborn := add(t, s, "stubborn", `trap '' TERM; echo armed; while :; do sleep 0.01; done`)
	eventually(t, "the stubborn one to be armed", func() bool { return strings.Contains(logOf(t, stubborn), "armed") })
	last := pid(t, stubborn, 0)
	s.Stop()
	if !gone(last) {
		t.Error("a component that ignores SIGTERM survived")
	}
	got, err := os.ReadFile(order)
	if want := "second\nfirst\n"; err != nil || string(got) != want {
		t.Errorf("stopped in the order %q, %v; want %q", got, err, want)
	}
}

func TestStopEndsAHeldDownComponent(t *testing.T) {
	s := newSupervisor(t)
	c := add(t, s, "c", sleeper)
	pid(t, c, 0)
	if err := os.WriteFile(c.path("down"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Stop()
}
