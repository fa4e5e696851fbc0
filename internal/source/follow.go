package source

import (
	"context"
	"log/slog"
	"path/filepath"

	"k8s.io/utils/clock"
)

// Follow calls look at once, and again whenever something may have changed in the
// directories that it returned last, until the context is done. It is for files that
// are not rules, or not only: what look does with them, and whether they did change,
// is its own affair. Calls come one after another, several in place of one change,
// and now and then without any, since not every change is told.
func Follow(ctx context.Context, clock clock.WithTicker, log *slog.Logger, look func() []string) {
	directories := newDirectories(log)
	defer directories.close()
	ticker := clock.NewTicker(poll)
	defer ticker.Stop()
	pause := debounce{clock: clock}
	defer pause.stop()
	for {
		for wanted := look(); directories.watch(wanted); {
			wanted = look()
		}
		if ctx.Err() != nil || !wait(ctx, directories, ticker.C(), &pause) {
			return
		}
	}
}

// Directories lists where a change of a file shows: its own directory, and that of
// what it is a link to.
func Directories(file string) []string {
	out := []string{filepath.Dir(file)}
	if target, err := filepath.EvalSymlinks(file); err == nil && target != file {
		out = append(out, filepath.Dir(target))
	}
	return out
}
