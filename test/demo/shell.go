package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// shell runs commands as they are shown.
type shell struct {
	dir string
	env []string
}

// command is a process group of its own, so that Ctrl-C reaches only us and we decide what is stopped when.
func (s *shell) command(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.Dir, cmd.Env = s.dir, s.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd
}

// run returns stdout and stderr together, and the exit code.
func (s *shell) run(ctx context.Context, line string) (output string, code int, err error) {
	cmd := s.command(ctx, line)
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", 0, context.Cause(ctx)
	case err != nil && !errors.As(err, &exit):
		return "", 0, fmt.Errorf("running %q: %w", line, err)
	default:
		return both.String(), cmd.ProcessState.ExitCode(), nil
	}
}

// show runs a command before the eyes of the reader. Another exit code than the one wanted is an error.
func (d *demo) show(ctx context.Context, line string, want int) error {
	d.screen.command(line)
	stop := d.busy("it runs")
	output, code, err := d.shell.run(ctx, line)
	stop()
	if err != nil {
		return err
	}
	d.screen.output(output)
	if code != want {
		return fmt.Errorf("%q ended with exit code %d, not %d", line, code, want)
	}
	return nil
}
