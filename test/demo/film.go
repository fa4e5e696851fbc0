package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	filmTitle = "dyncontroller in a terminal"
	filmAbout = "A rule has a misspelt field, and validate shows where. Once that is corrected, diff shows what the rule would change, " +
		"and run changes it. Another user sets an even number of PD members again, and the rule makes it odd again within milliseconds. " +
		"All of this was printed in a real run; only the pauses are for readers."
)

// film records what is typed at a terminal and what commands print there. It is the [io.Writer] of these commands, and as such
// safe for concurrent use.
type film struct {
	shell *shell
	stage *stage
	stop  func() error // what goes on running

	mu    sync.Mutex
	shots []shot
	more  chan struct{} // is closed when there is more text
}

// shoot returns an animated SVG of a short run. Nothing that it started runs when it returns.
func shoot(ctx context.Context, o options) (picture []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	root, err := filepath.Abs(o.root)
	if err != nil {
		return nil, err
	}
	setting := setStage(ctx)
	defer func() {
		if closing := setting.strike(); closing != nil {
			err = errors.Join(err, fmt.Errorf("%w: %w", errNotClosed, closing))
		}
	}()
	stage, err := setting.wait()
	if err != nil {
		return nil, err
	}
	f := &film{stage: stage, stop: func() error { return nil }, more: make(chan struct{})}
	f.shell = &shell{dir: filepath.Join(stage.dir, "film"), env: slices.Concat(o.env, stage.env(), []string{
		"ROOT=" + root, "SHELL=/bin/sh", "DYNCONTROLLER_METRICS_BIND_ADDRESS=0", "DYNCONTROLLER_HEALTH_PROBE_BIND_ADDRESS=0",
	})}
	if err := os.Mkdir(f.shell.dir, 0o700); err != nil {
		return nil, err
	}
	if output, code, err := f.shell.run(ctx, furnish); err != nil {
		return nil, err
	} else if code != 0 {
		return nil, fmt.Errorf("preparing the run: exit code %d\n%s", code, output)
	}
	if err := f.play(ctx); err != nil {
		return nil, errors.Join(err, f.stop())
	}
	f.mu.Lock()
	picture = draw(filmTitle, filmAbout, f.shots)
	f.mu.Unlock()
	return picture, f.stop()
}

// furnish has commands be as short as in a document, and makes a mistake in a rule of the README. One cluster that breaks the
// rule is enough.
const furnish = `set -e
mkdir bin
ln -s "$ROOT/bin/dyncontroller" bin
printf '#!/bin/sh\nexec "%s" kubectl "$@"\n' "$ROOT/bin/cluster" >bin/kubectl
chmod +x bin/kubectl
bin/kubectl get crd tidbclusters.pingcap.com -o yaml >tidbclusters.yaml
bin/kubectl delete tidbcluster orders
sed -n '/^# pd-quorum.yaml/,/^\x60/p' "$ROOT/README.md" | sed '1d; $d; s/pd?.replicas/pd?.replcas/' >pd-quorum.yaml`

// play has it all happen.
func (f *film) play(ctx context.Context) error {
	const validate = "dyncontroller validate pd-quorum.yaml --crds tidbclusters.yaml"
	return inOrder(ctx,
		f.shows("cat pd-quorum.yaml", 0, 3*time.Second),
		f.shows(validate, exitFinding, 4*time.Second),
		f.shows("sed -i s/replcas/replicas/ pd-quorum.yaml; sed -n 11p pd-quorum.yaml", 0, time.Second),
		f.shows(validate, 0, 2*time.Second),
		f.says(clearing),
		f.shows("dyncontroller diff --rules pd-quorum.yaml", exitFinding, 4*time.Second),
		f.begins("dyncontroller run --rules pd-quorum.yaml 2>log &", 2*time.Second),
		f.awaitChange,
		f.says("# meanwhile, another user wants an even number again"),
		f.shows(`kubectl patch tidbcluster basic --type=merge -p '{"spec":{"pd":{"replicas":4}}}'`, 0, time.Second),
		f.awaitChange,
		f.measure,
	)
}

// types begins a shot.
func (f *film) types(line string, read time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shots = append(f.shots, shot{typed: line, read: read})
}

// says types what runs nothing.
func (f *film) says(line string) func(context.Context) error {
	return func(context.Context) error {
		f.types(line, 0)
		return nil
	}
}

// shows runs a command to its end. Another exit code than the one wanted is an error.
func (f *film) shows(line string, want int, read time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		f.types(line, read)
		cmd := f.command(ctx, line)
		if err := cmd.Run(); cmd.ProcessState == nil {
			return fmt.Errorf("running %q: %w", line, err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if code := cmd.ProcessState.ExitCode(); code != want {
			return fmt.Errorf("%q ended with exit code %d, not %d", line, code, want)
		}
		return nil
	}
}

// begins runs a command that goes on, until a user presses Ctrl-C.
func (f *film) begins(line string, read time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		f.types(line, read)
		cmd := f.command(ctx, "exec "+strings.TrimSuffix(line, " &"))
		keys, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		f.stop = func() error {
			_, err := io.WriteString(keys, "\x03")
			return errors.Join(err, cmd.Wait())
		}
		return nil
	}
}

// command is to run at a terminal, since commands say other things elsewhere.
func (f *film) command(ctx context.Context, line string) *exec.Cmd {
	cmd := f.shell.command(ctx, `PATH=$PWD/bin:$PATH; exec script --quiet --return --flush --command "$LINE" /dev/null`)
	cmd.Env = append(slices.Clip(cmd.Env), "LINE="+line)
	cmd.Stdout, cmd.Stderr = f, f
	return cmd
}

// Write implements [io.Writer].
func (f *film) Write(text []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shots[len(f.shots)-1].text += string(text)
	close(f.more)
	f.more = make(chan struct{})
	return len(text), nil
}

var changeLine = regexp.MustCompile(` -> .*\n`)

// awaitChange waits until this shot shows the change of a field.
func (f *film) awaitChange(ctx context.Context) error {
	for {
		f.mu.Lock()
		text, more := f.shots[len(f.shots)-1].text, f.more
		f.mu.Unlock()
		if changeLine.MatchString(text) {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return fmt.Errorf("waiting for a change: %w\n%s", context.Cause(ctx), text)
		}
	}
}

// measure says how long the repair took.
func (f *film) measure(ctx context.Context) error {
	took, err := f.stage.audit.waitRepair(ctx, "basic")
	if err == nil {
		f.types(fmt.Sprintf("# put right %d ms after the API server received that patch", took.Milliseconds()), 8*time.Second)
	}
	return err
}
