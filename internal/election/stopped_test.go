//go:build unix

package election

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// writeTo is the variable that makes a test binary the process which is stopped.
const writeTo = "ELECTION_TEST_WRITE_TO"

// TestStopped holds that a process which was stopped for longer than the renew deadline writes no more when it goes on: of
// each connection, one write at most may have passed the fence when the process was stopped.
func TestStopped(t *testing.T) {
	t.Parallel()
	var late atomic.Bool
	var early, tooLate atomic.Int64
	many := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		switch {
		case late.Load():
			tooLate.Add(1)
		case early.Add(1) == 100:
			close(many)
		}
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	child := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestWriter$", "-test.count=1")
	child.Env = append(os.Environ(), writeTo+"="+server.URL)
	var output strings.Builder
	child.Stdout, child.Stderr = &output, &output
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-many:
	case <-ctx.Done():
		t.Error("the process wrote too little")
	}
	if err := child.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	// What the process has sent arrives meanwhile.
	<-time.After(stoppedDeadline + time.Second)
	late.Store(true)
	if err := child.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err != nil {
		t.Errorf("the process ended with %v:\n%s", err, output.String())
	}
	t.Logf("%d writes before, %d after", early.Load(), tooLate.Load())
	if n := tooLate.Load(); n > 1 {
		t.Errorf("%d writes arrived after the process had gone on", n)
	}
}

// stoppedDeadline is far more than a hundred writes take.
const stoppedDeadline = 2 * time.Second

// TestWriter is the process that is stopped. It writes for as long as it may.
func TestWriter(t *testing.T) {
	url := os.Getenv(writeTo)
	if url == "" {
		t.Skip("only another test runs this")
	}
	f := NewFence(stoppedDeadline)
	client, err := rest.HTTPClientFor(f.Guard(&rest.Config{}))
	if err != nil {
		t.Fatal(err)
	}
	f.renewed(time.Now())
	for {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, url, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(r)
		switch {
		case errors.Is(err, ErrFenced), errors.Is(err, ErrCutOff):
			return
		case err != nil:
			t.Fatal(err)
		}
		_ = response.Body.Close()
	}
}
