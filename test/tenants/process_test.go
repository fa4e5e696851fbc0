package tenants

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

// process is a dyncontroller of its own.
type process struct {
	command *exec.Cmd
	output  *buffer
	ended   chan struct{}
	err     error // once ended is closed
}

// buffer may be read while it is written.
type buffer struct {
	mu   sync.Mutex
	data bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.data.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.data.String()
}

// start runs `dyncontroller run` as a process of its own, with the rule sets of a
// cluster; it is stopped at the end of the test.
func start(t *testing.T, on *controlplane.ControlPlane, arguments ...string) *process {
	t.Helper()
	p := launch(t, append([]string{
		"run", "--kubeconfig", on.Kubeconfig(), "--rules-from-cluster", "--metrics-bind-address", "0", "--health-probe-bind-address", "0",
	}, arguments...)...)
	t.Cleanup(func() {
		p.stop(t)
		if t.Failed() {
			t.Logf("dyncontroller %s:\n%s", strings.Join(arguments, " "), p.output)
		}
	})
	return p
}

// launch runs dyncontroller with nothing but these arguments.
func launch(t *testing.T, arguments ...string) *process {
	t.Helper()

	p := &process{command: exec.Command(binary, arguments...), output: &buffer{}, ended: make(chan struct{})}
	p.command.Stdout, p.command.Stderr = p.output, p.output
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		p.err = p.command.Wait()
	}()
	return p
}

// signal sends a signal; a process that has ended gets none.
func (p *process) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := p.command.Process.Signal(signal); err != nil && !p.over() {
		t.Errorf("sending %s: %v", signal, err)
	}
}

func (p *process) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// stop ends the process in order, and reports what the race detector found.
func (p *process) stop(t *testing.T) {
	t.Helper()
	p.signal(t, syscall.SIGCONT)
	p.signal(t, syscall.SIGTERM)
	<-p.ended
	if strings.Contains(p.output.String(), "DATA RACE") {
		t.Error("the race detector found something")
	}
}

// code is what the process ended with, -1 where a signal ended it.
func (p *process) code() int {
	<-p.ended
	var exit *exec.ExitError
	if errors.As(p.err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// eventually waits until the condition holds, as long as a busy machine may need;
// failing says what was waited for.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	within(t, 3*time.Minute, what, condition)
}

// within waits no longer than a promise has it.
func within(t *testing.T, limit time.Duration, what string, condition func() bool) {
	t.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("never came true: %s", what)
		}
	}
}
