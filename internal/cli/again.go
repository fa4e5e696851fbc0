package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/internal/source"
)

// mostChanged is how many paths that have changed are named.
const mostChanged = 3

// again runs all cases, and again whenever a file has changed that was read, until
// the context is done. It returns what became of the last run.
func (t *tests) again(ctx context.Context) error {
	var last error
	var files *recording
	log := slog.New(slog.NewTextHandler(t.Stderr, nil))
	source.Follow(ctx, clock.RealClock{}, log, func() []string {
		if files != nil {
			changed := files.changed()
			if len(changed) == 0 || ctx.Err() != nil {
				return files.directories()
			}
			fmt.Fprintf(t.Stderr, "\nchanged: %s\n\n", someOf(changed))
		}
		files = newRecording(disk{})
		for _, path := range t.crds {
			files.follow(path)
		}
		last = t.run(ctx, files)
		if last != nil && !errors.Is(last, errFinding) {
			show(t.Stderr, last)
		}
		fmt.Fprintf(t.Stderr, "\nwatching %s; Ctrl-C ends\n", count(files.files(), "file"))
		return files.directories()
	})
	if failed, ok := errors.AsType[failure](last); ok {
		return told{failed.code}
	}
	return last
}

func someOf(paths []string) string {
	if more := len(paths) - mostChanged; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:mostChanged], ", "), more)
	}
	return strings.Join(paths, ", ")
}
