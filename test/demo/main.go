// Command demo shows in six acts what rules do: on a real API server, with real TidbClusters and the real
// dyncontroller. "make demo" builds what it needs and runs it from the root of the repository. "make terminal" has it draw
// a shorter run, for README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/utils/clock"
)

func main() {
	keep := flag.Bool("keep", false, "leave everything running in the end, until interrupted")
	picture := flag.String("picture", "", "show nothing, and draw a short run as an animated SVG into this `FILE`")
	fast := flag.Bool("fast", false, "do not wait for a reader, at a terminal either")
	flag.Parse()
	stop := time.Duration(0)
	if isTerminal(os.Stdout) && !*fast {
		stop = reading
	}
	// A broken pipe is among them, so that "make demo | head" cleans up too. No signal is let through later on either:
	// to stop takes seconds and must not be cut short.
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	err := present(ctx, *picture, options{
		root:   ".",
		keep:   *keep,
		env:    os.Environ(),
		stdout: os.Stdout,
		stdin:  os.Stdin,
		pause:  stop,
		colour: wantsColour(os.Stdout, os.Getenv),
		clock:  clock.RealClock{},
	})
	interrupted := ctx.Err() != nil
	restore()
	os.Exit(report(os.Stderr, err, interrupted))
}

// present shows the demo, or draws.
func present(ctx context.Context, picture string, o options) error {
	if picture == "" {
		return run(ctx, o)
	}
	drawn, err := shoot(ctx, o)
	if err != nil {
		return err
	}
	return os.WriteFile(picture, drawn, 0o644) //nolint:gosec // A document is for everybody.
}

// report tells an interruption, which is nobody's mistake, from a failure, and returns the exit code.
func report(out io.Writer, err error, interrupted bool) int {
	switch {
	case err == nil:
		return 0
	case interrupted && errors.Is(err, context.Canceled) && !errors.Is(err, errNotClosed):
		fmt.Fprintln(out, "\ninterrupted: nothing is left running")
		return 130
	default:
		fmt.Fprintf(out, "\nthe demo failed: %v\n", err)
		return 1
	}
}

// reading is how long a reader has for an act who does not press Enter.
const reading = 20 * time.Second

func isTerminal(out *os.File) bool {
	info, err := out.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// wantsColour goes by https://no-color.org.
func wantsColour(out *os.File, env func(string) string) bool {
	return isTerminal(out) && env("NO_COLOR") == "" && env("TERM") != "dumb"
}
