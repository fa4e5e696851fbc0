package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestShellRun(t *testing.T) {
	s := &shell{dir: t.TempDir(), env: append(os.Environ(), "WORD=hello")}
	if err := os.WriteFile(filepath.Join(s.dir, "file"), []byte("here\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		reason string
		line   string
		output string
		code   int
	}{
		"stdout and stderr": {"They come together, as on a terminal.", "echo a; echo b >&2; echo c", "a\nb\nc\n", 0},
		"exit code":         {"A failure is an answer.", "echo no; exit 3", "no\n", 3},
		"environment":       {"Commands see what was exported.", "echo $WORD", "hello\n", 0},
		"folder":            {"They run where the reader would type them.", "cat file", "here\n", 0},
		"continued":         {"A command may go on, on the next line.", "echo a \\\nb", "a b\n", 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			output, code, err := s.run(t.Context(), tc.line)
			if err != nil {
				t.Fatal(err)
			}
			if output != tc.output || code != tc.code {
				t.Errorf("%s\nhave %q and %d", tc.reason, output, code)
			}
		})
	}
}

func TestShellRunFails(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := (&shell{}).run(ctx, "echo a"); !errors.Is(err, context.Canceled) {
		t.Errorf("the error of an interrupted command is %v", err)
	}
	if _, _, err := (&shell{dir: "/nonexistent"}).run(t.Context(), "echo a"); err == nil {
		t.Error("a command ran in a folder that is not there")
	}
}

func TestShellKillsWhatACommandStarted(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := (&shell{}).command(ctx, "sleep 1000 & echo started >&3; wait")
	cmd.ExtraFiles = []*os.File{writer}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = writer.Close()
	lines := bufio.NewReader(reader)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	_ = cmd.Wait() // It was killed.
	if _, err := io.ReadAll(lines); err != nil {
		t.Error(err) // The end comes only when nobody has the other end any more.
	}
}

// script makes an executable that stands for dyncontroller.
func script(t *testing.T, text string) *shell {
	t.Helper()
	s := &shell{dir: t.TempDir(), env: os.Environ()}
	if err := os.WriteFile(filepath.Join(s.dir, "fake"), []byte("#!/bin/sh\n"+text), 0o700); err != nil { //nolint:gosec // It is to be run.
		t.Fatal(err)
	}
	return s
}

const endless = "echo '" + writeLine + "' >&2; while :; do sleep 0.05; done"

func TestControllerStops(t *testing.T) {
	s := script(t, `trap 'echo "{\"msg\":\"stopped\"}" >&2; exit 0' INT; `+endless)
	var heard []string
	ctx, cancel := context.WithCancel(t.Context())
	c, err := s.start(ctx, "./fake", func(r record) { heard = append(heard, r.Message) })
	if err != nil {
		t.Fatal(err)
	}
	if err := c.log.wait(ctx, func(writes []record) bool { return len(writes) == 1 }); err != nil {
		t.Fatal(err)
	}
	cancel() // An interrupted demo still stops it in order.
	for range 2 {
		if err := c.stop(); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(heard, " "); got != "wrote stopped" {
		t.Errorf("heard %q", got)
	}
}

func TestControllerStopFails(t *testing.T) {
	s := script(t, `trap 'echo "panic: oh no" >&2; exit 2' INT; `+endless)
	c, err := s.start(t.Context(), "./fake", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.log.wait(t.Context(), func(writes []record) bool { return len(writes) == 1 }); err != nil {
		t.Fatal(err)
	}
	if err := c.stop(); err == nil || !strings.Contains(err.Error(), "panic: oh no") {
		t.Errorf("the error of a controller that crashed is %v", err)
	}
}

func TestControllerThatDoesNotStart(t *testing.T) {
	c, err := script(t, "").start(t.Context(), "./none", nil)
	if err != nil {
		t.Fatal(err)
	}
	err = c.log.wait(t.Context(), func([]record) bool { return false })
	if err == nil || !strings.Contains(err.Error(), "./none") {
		t.Errorf("the error does not say what is missing: %v", err)
	}
	if err := c.stop(); err == nil {
		t.Error("it stopped well")
	}
}
