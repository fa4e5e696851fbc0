package source

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

// followed reports each look at a directory, which may grow, until the test ends.
func followed(t *testing.T, clock clock.WithTicker, directories func() []string) <-chan struct{} {
	t.Helper()
	looks := make(chan struct{}, 100)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		Follow(ctx, clock, slog.New(slog.DiscardHandler), func() []string {
			looks <- struct{}{}
			return directories()
		})
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return looks
}

func looksAgain(t *testing.T, looks <-chan struct{}, reason string) {
	t.Helper()
	select {
	case <-looks:
	case <-time.After(patience):
		t.Fatalf("%s: no look within %s", reason, patience)
	}
}

func TestFollow(t *testing.T) {
	folder := t.TempDir()
	looks := followed(t, clock.RealClock{}, func() []string { return []string{folder} })
	looksAgain(t, looks, "the first look")
	looksAgain(t, looks, "what changed before the directory was watched is not known")
	if err := os.WriteFile(filepath.Join(folder, "a"), []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	looksAgain(t, looks, "a new file")
}

func TestFollowPolls(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Now())
	missing := filepath.Join(t.TempDir(), "not there")
	looks := followed(t, clock, func() []string { return []string{missing} })
	looksAgain(t, looks, "the first look")
	clock.Step(poll)
	looksAgain(t, looks, "what nobody tells of is found by looking")
}

func TestDirectories(t *testing.T) {
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(folder, "far", "a.yaml")
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(target, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(folder, "a.yaml")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if got := Directories(link); !slices.Equal(got, []string{folder, filepath.Dir(target)}) {
		t.Errorf("of a link: %q", got)
	}
	if got := Directories(target); !slices.Equal(got, []string{filepath.Dir(target)}) {
		t.Errorf("of a file: %q", got)
	}
	if got := Directories(filepath.Join(folder, "none", "b")); !slices.Equal(got, []string{filepath.Join(folder, "none")}) {
		t.Errorf("of what is not there: %q", got)
	}
}
