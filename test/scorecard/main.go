// Command scorecard prints what must not get worse while other things get better: lines of code, how pkg/engine hangs
// together, and benchmarks. "make scorecard" runs it from the root of the repository.
//
// With -base, the same is measured of another commit and printed beside it. Without, the newest tag is the base; a
// repository without tags has none.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	base := flag.String("base", "", "the commit to compare with (default the newest tag, if there is one)")
	bench := flag.String("bench", "", "run the benchmarks that match this regular expression, too")
	flag.Parse()
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout, *base, *bench)
	restore()
	if err != nil {
		fmt.Fprintln(os.Stderr, "scorecard:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, base, bench string) (err error) {
	if base == "" {
		tag, _ := git(ctx, ".", "describe", "--tags", "--abbrev=0") // Fails without tags.
		base = strings.TrimSpace(tag)
	}
	sides := []side{{name: "now", dir: "."}}
	if base != "" {
		before, remove, err := checkOut(ctx, base)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, remove()) }()
		sides = []side{before, sides[0]}
	}
	var cards []card
	for _, s := range sides {
		measured, err := measure(ctx, s.dir)
		if err != nil {
			return fmt.Errorf("measuring %s: %w", s.name, err)
		}
		cards = append(cards, measured)
	}
	if err := printCards(out, sides, cards); err != nil || bench == "" {
		return err
	}
	results, err := benchmark(ctx, sides, bench)
	if err != nil {
		return err
	}
	return printBenchmarks(out, sides, results)
}

// side is a state of the repository that is measured.
type side struct{ name, dir string }

// checkOut puts a commit into a folder of its own.
func checkOut(ctx context.Context, ref string) (s side, remove func() error, err error) {
	commit, err := git(ctx, ".", "rev-parse", "--short", "--verify", ref+"^{commit}")
	if err != nil {
		return side{}, nil, err
	}
	parent, err := os.MkdirTemp("", "scorecard-")
	if err != nil {
		return side{}, nil, err
	}
	s = side{name: strings.TrimSpace(commit), dir: filepath.Join(parent, "base")}
	remove = func() error {
		_, err := git(context.WithoutCancel(ctx), ".", "worktree", "remove", "--force", s.dir)
		return errors.Join(err, os.RemoveAll(parent))
	}
	if _, err := git(ctx, ".", "worktree", "add", "--detach", s.dir, s.name); err != nil {
		return side{}, nil, errors.Join(err, os.RemoveAll(parent))
	}
	return s, remove, nil
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	return output(ctx, dir, "git", args...)
}

// output runs a program and returns what it prints.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("running %q: %w\n%s%s", cmd, err, stderr.String(), out)
	}
	return string(out), nil
}
