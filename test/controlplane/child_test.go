package controlplane

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

func startScript(t *testing.T, script string) *child {
	t.Helper()
	c, err := startChild(t.Context(), "/bin/sh", []string{"-c", script}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		<-c.exited
	})
	return c
}

func TestWaitReady(t *testing.T) {
	tests := map[string]struct {
		reason, script string
		timeout        time.Duration
		want           []string
	}{
		"ready":         {"Only this word counts.", "echo ready; exec sleep 1000", time.Minute, nil},
		"ends":          {"What it said last explains it.", "echo no port >&2; exit 3", time.Minute, []string{"exit status 3", "no port"}},
		"ends in peace": {"Ended is not ready either.", "exit 0", time.Minute, []string{"was stopped"}},
		"another word":  {"A greeting is not the word.", "echo hello; exit 1", time.Minute, []string{"exit status 1"}},
		"takes too long": {
			"What it said so far may explain it.", "echo slow >&2; exec sleep 1000",
			100 * time.Millisecond,
			[]string{"not ready", "deadline exceeded"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), tc.timeout)
			defer cancel()
			err := startScript(t, tc.script).waitReady(ctx)
			if (err != nil) != (len(tc.want) > 0) {
				t.Fatalf("%s\ngot %v", tc.reason, err)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s\ngot %v, want %q in it", tc.reason, err, want)
				}
			}
		})
	}
}

func TestStop(t *testing.T) {
	polite := startScript(t, `trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done`)
	if err := polite.waitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := polite.stop(); err != nil {
		t.Errorf("stopping a running control plane: %v", err)
	}
	failed := startScript(t, `echo oh >&2; exit 1`)
	<-failed.exited
	if err := failed.stop(); err == nil || !strings.Contains(err.Error(), "oh") {
		t.Errorf("stopping one that has failed: %v, want its last words", err)
	}
}

func TestOutputIsPassedOn(t *testing.T) {
	var output bytes.Buffer
	c, err := startChild(t.Context(), "/bin/sh", []string{"-c", "echo news >&2"}, nil, &output)
	if err != nil {
		t.Fatal(err)
	}
	<-c.exited
	if output.String() != "news\n" {
		t.Errorf("output = %q", output.String())
	}
}

func TestStartChildTellsItsParent(t *testing.T) {
	var output bytes.Buffer
	c, err := startChild(t.Context(), "/bin/sh", []string{"-c", `test "$DYNCONTROLLER_CLUSTER_PARENT" = $PPID || echo wrong >&2`}, nil, &output)
	if err != nil {
		t.Fatal(err)
	}
	<-c.exited
	if output.Len() > 0 {
		t.Error("the child was told another pid than its parent's")
	}
}

// TestStartChildWithVariables holds that what the caller sets goes before what is set for all.
func TestStartChildWithVariables(t *testing.T) {
	var output bytes.Buffer
	c, err := startChild(t.Context(), "/bin/sh", []string{"-c", `echo $GOGC $GOMEMLIMIT >&2`}, []string{"GOGC=50", "GOMEMLIMIT=4GiB"}, &output)
	if err != nil {
		t.Fatal(err)
	}
	<-c.exited
	if output.String() != "50 4GiB\n" {
		t.Errorf("output = %q", output.String())
	}
}

func TestStartChildWithoutProgram(t *testing.T) {
	if _, err := startChild(t.Context(), "/nonexistent/cluster", nil, nil, nil); err == nil {
		t.Error("no error for a missing program")
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var last tail
	for range 100 {
		if n, err := last.Write(bytes.Repeat([]byte("x"), 1000)); n != 1000 || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
	}
	_, _ = last.Write([]byte("the end\n"))
	if got := last.text(); len(got) > tailSize || !strings.HasSuffix(got, "xthe end") {
		t.Errorf("%d bytes, ending with %q", len(got), got[max(0, len(got)-20):])
	}
}
