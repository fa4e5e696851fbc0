package e2e

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/internal/cli"
	"github.com/dyncontroller/dyncontroller/test/virtual"
)

// process is a dyncontroller that runs in this process, from its command line.
type process struct {
	stop   context.CancelFunc
	done   chan struct{}
	code   int // once done is closed
	output *buffer
	cut    chan struct{} // closed when a process of virtual time is killed
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

// start runs `dyncontroller run` on the test's cluster without opening ports, beside others of its instance;
// it is stopped at the end of the test.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p := &process{stop: cancel, done: make(chan struct{}), output: &buffer{}, cut: make(chan struct{})}
	command := []string{
		"run", "--kubeconfig", cluster(t).Kubeconfig(), "--metrics-bind-address", "0", "--health-probe-bind-address", "0", "--force",
	}
	carrier := transport(t)
	if through := carrier; through != nil {
		carrier = roundTripper(func(r *http.Request) (*http.Response, error) {
			select {
			case <-p.cut:
				return nil, errKilled
			default:
				return through.RoundTrip(r)
			}
		})
	}
	go func() {
		defer close(p.done)
		p.code = cli.Run(ctx, cli.Process{
			Args: append(command, args...), Stdin: strings.NewReader(""), Stdout: p.output, Stderr: p.output, Version: "test", Transport: carrier,
			Listen: virtual.Listen(cluster(t)),
		})
	}()
	t.Cleanup(func() {
		p.wait(t)
		if t.Failed() {
			t.Logf("dyncontroller %s:\n%s", strings.Join(args, " "), p.output)
		}
	})
	return p
}

var errKilled = errors.New("the process has been killed")

// mortal is a process that can be killed: from one moment to the next nothing that it sends arrives.
type mortal interface{ kill(t *testing.T) }

// startMortal starts one: in virtual time in this process, else of its own.
func startMortal(t *testing.T, args ...string) mortal {
	t.Helper()
	if transport(t) != nil {
		return start(t, args...)
	}
	return launch(t, program(t), args...)
}

// kill implements [mortal] in virtual time.
func (p *process) kill(t *testing.T) {
	t.Helper()
	close(p.cut)
	p.wait(t)
}

// wait stops the process and returns its exit code.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	p.stop()
	<-p.done
	return p.code
}

// once runs with --once and returns what it printed and its exit code.
func once(t *testing.T, args ...string) (output string, code int) {
	t.Helper()
	p := start(t, append([]string{"--once"}, args...)...)
	<-p.done
	return p.output.String(), p.code
}

// eventually waits until the condition holds, as long as a busy machine may
// need; failing says what was waited for.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	within(t, 2*time.Minute, what, condition)
}

// rulesFile writes a rule file for the test. NAMESPACE stands for the test's
// namespace.
func rulesFile(t *testing.T, namespace, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rules.yaml")
	writeFile(t, path, strings.ReplaceAll(text, "NAMESPACE", namespace))
	return path
}

// writeFile replaces a file at once, as editors do.
func writeFile(t *testing.T, path, text string) {
	t.Helper()
	temporary := path + ".tmp"
	if err := os.WriteFile(temporary, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temporary, path); err != nil {
		t.Fatal(err)
	}
}
