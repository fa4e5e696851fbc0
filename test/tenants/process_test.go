package tenants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/internal/access"
	"github.com/dyncontroller/dyncontroller/internal/cli"
	"github.com/dyncontroller/dyncontroller/test/controlplane"
	"github.com/dyncontroller/dyncontroller/test/virtual"
)

// asDyncontroller is the variable of the environment that has the binary of these tests be dyncontroller. It holds the
// [access.Intervals] as JSON.
const asDyncontroller = "TENANTS_AS_DYNCONTROLLER"

// dyncontroller does what the program does, and returns its exit code.
func dyncontroller(intervals string) int {
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, restore)
	p := cli.Process{
		Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Version: "test", KubernetesLog: cli.KubernetesLog,
	}
	if err := json.Unmarshal([]byte(intervals), &p.Access); err != nil {
		return failed(err)
	}
	return cli.Run(ctx, p)
}

// command is dyncontroller with these arguments, with the race detector where the tests have it.
func command(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := exec.Command(path, arguments...)
	out.Args[0] = "dyncontroller" // By which the API server knows it.
	out.Env = append(os.Environ(), asDyncontroller+"={}")
	return out
}

// process is a dyncontroller: of its own, or in virtual time in this one.
type process struct {
	command *exec.Cmd // nil in virtual time
	output  *buffer
	ended   chan struct{}
	status  int // what it ended with, of a process of its own -1 where a signal ended it; once ended is closed

	stopped context.CancelFunc // in virtual time: ends it in order
	cut     atomic.Bool        // in virtual time: nothing that it sends arrives
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

// start runs `dyncontroller run` with the rule sets of a cluster; it is stopped at the end of the test.
func start(t *testing.T, on virtual.Cluster, arguments ...string) *process {
	t.Helper()
	return startLooking(t, on, access.Intervals{}, arguments...)
}

// often has a process look at accounts every few seconds, for tests that are not about how soon it does.
var often = access.Intervals{
	Calm: 5 * time.Second, Troubled: 2 * time.Second, Standby: time.Minute, Latest: 10 * time.Second,
	Gather: 500 * time.Millisecond, Apart: time.Second,
}

// startLooking does the same with a process that looks at accounts at intervals.
func startLooking(t *testing.T, on virtual.Cluster, intervals access.Intervals, arguments ...string) *process {
	t.Helper()
	arguments = append([]string{
		"run", "--kubeconfig", on.Kubeconfig(), "--rules-from-cluster", "--metrics-bind-address", "0", "--health-probe-bind-address", "0",
	}, arguments...)
	p := launchLooking(t, on, intervals, arguments...)
	t.Cleanup(func() {
		p.stop(t)
		if t.Failed() {
			t.Logf("dyncontroller %s:\n%s", strings.Join(arguments, " "), p.output)
		}
	})
	return p
}

// launch runs dyncontroller with nothing but these arguments.
func launch(t *testing.T, on virtual.Cluster, arguments ...string) *process {
	t.Helper()
	return launchLooking(t, on, access.Intervals{}, arguments...)
}

func launchLooking(t *testing.T, on virtual.Cluster, intervals access.Intervals, arguments ...string) *process {
	t.Helper()
	to := virtual.Transport(on)
	if to == nil {
		text, err := json.Marshal(intervals)
		if err != nil {
			t.Fatal(err)
		}
		program := command(t, arguments...)
		program.Env = append(program.Env, asDyncontroller+"="+string(text))
		return run(t, program)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	p := &process{output: &buffer{}, ended: make(chan struct{}), stopped: cancel}
	go func() {
		defer close(p.ended)
		p.status = cli.Run(ctx, cli.Process{
			Args: arguments, Stdin: strings.NewReader(""), Stdout: p.output, Stderr: p.output, Version: "test", Access: intervals,
			Listen: virtual.Listen(on),
			Transport: carrier(func(r *http.Request) (*http.Response, error) {
				if p.cut.Load() {
					return nil, errKilled
				}
				r = r.Clone(r.Context())
				r.Header.Set("User-Agent", "dyncontroller") // The binary of the tests has another name.
				return to.RoundTrip(r)
			}),
		})
	}()
	return p
}

var errKilled = errors.New("the process has been killed")

// carrier is a function as a transport.
type carrier func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

// run runs a command until it ends.
func run(t *testing.T, command *exec.Cmd) *process {
	t.Helper()
	p := &process{command: command, output: &buffer{}, ended: make(chan struct{})}
	p.command.Stdout, p.command.Stderr = p.output, p.output
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		var exit *exec.ExitError
		if err := p.command.Wait(); errors.As(err, &exit) {
			p.status = exit.ExitCode()
		}
	}()
	return p
}

// signal sends a signal; a process that has ended gets none. In virtual time it is SIGKILL or SIGTERM.
func (p *process) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	switch {
	case p.command != nil:
	case signal == syscall.SIGKILL:
		p.cut.Store(true)
		p.stopped()
		return
	case signal == syscall.SIGTERM:
		p.stopped()
		return
	default:
		t.Fatalf("in virtual time there is no %s", signal)
	}
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
	if p.command != nil {
		p.signal(t, syscall.SIGCONT)
	}
	p.signal(t, syscall.SIGTERM)
	<-p.ended
	if strings.Contains(p.output.String(), "DATA RACE") {
		t.Error("the race detector found something")
	}
}

// code is what the process ended with.
func (p *process) code() int {
	<-p.ended
	return p.status
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
	if !controlplane.Wait(limit, condition) {
		t.Fatalf("never came true: %s", what)
	}
}
