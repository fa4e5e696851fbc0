package controlplane

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// parentVariable tells "cluster up" whose end to watch for; see test/cluster/internal/parent.
const parentVariable = "DYNCONTROLLER_CLUSTER_PARENT"

// stopTimeout is several times what a slow machine needs to stop three components.
const stopTimeout = 30 * time.Second

// child is a running "cluster up". Its methods may be called concurrently.
type child struct {
	cmd    *exec.Cmd
	stderr tail
	ready  chan struct{}
	exited chan struct{}
	// err is how it ended, once exited is closed.
	err error
}

// startChild uses a process group of its own, so that Ctrl-C reaches only us and we decide what is stopped when. For
// the same reason the child does not end with ctx.
func startChild(ctx context.Context, binary string, arguments, environment []string, output io.Writer) (*child, error) {
	c := &child{
		cmd:    exec.CommandContext(context.WithoutCancel(ctx), binary, arguments...),
		ready:  make(chan struct{}),
		exited: make(chan struct{}),
	}
	// The detectors of client-go are for what is tested: in kube-apiserver, they took an eighth of its time. So did the
	// garbage collector, which may take memory instead.
	c.cmd.Env = append(os.Environ(), parentVariable+"="+strconv.Itoa(os.Getpid()),
		"KUBE_CACHE_MUTATION_DETECTOR=false", "KUBE_WATCHLIST_INCONSISTENCY_DETECTOR=false", "GOGC=400")
	c.cmd.Env = append(c.cmd.Env, environment...)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.cmd.Stderr = &c.stderr
	if output != nil {
		c.cmd.Stderr = io.MultiWriter(&c.stderr, output)
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go c.follow(stdout)
	return c, nil
}

// follow waits for the word "ready" and then for the end.
func (c *child) follow(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	if lines.Scan() && lines.Text() == "ready" {
		close(c.ready)
	}
	_, _ = io.Copy(io.Discard, stdout) // Until the end, which Wait reports.
	if err := c.cmd.Wait(); err != nil {
		c.err = fmt.Errorf("the control plane ended (%w):\n%s", err, c.stderr.text())
	}
	close(c.exited)
}

func (c *child) waitReady(ctx context.Context) error {
	select {
	case <-c.ready:
		return nil
	case <-c.exited:
		return c.ended()
	case <-ctx.Done():
		return fmt.Errorf("the control plane is not ready: %w\n%s", context.Cause(ctx), c.stderr.text())
	}
}

// ended is the error for needing a control plane that has ended.
func (c *child) ended() error {
	if c.err != nil {
		return c.err
	}
	return fmt.Errorf("the control plane was stopped:\n%s", c.stderr.text())
}

// stop is like SIGTERM to any program, and SIGKILL if that does not help.
func (c *child) stop() error {
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // The only error is that it has ended, which the next lines see.
	select {
	case <-c.exited:
		return c.err
	case <-time.After(stopTimeout):
	}
	_ = c.cmd.Process.Kill()
	<-c.exited
	return fmt.Errorf("the control plane did not stop within %s:\n%s", stopTimeout, c.stderr.text())
}

// tailSize is enough for the last lines of a component's log.
const tailSize = 8 << 10

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	t.data = t.data[max(0, len(t.data)-tailSize):]
	return len(p), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.data))
}
