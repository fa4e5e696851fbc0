package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// output collects what a command prints. It is safe for concurrent use.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(data)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// invoke runs a command to its end.
func invoke(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out, errOut output
	code = Run(ctx, Process{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errOut, Version: "v1.2.3"})
	return code, out.String(), errOut.String()
}

// running is a `run` that has not ended.
type running struct {
	t              *testing.T
	stdout, stderr output
	stop           context.CancelFunc
	code           chan int
}

func start(t *testing.T, args ...string) *running {
	t.Helper()
	// The fake server's own goroutines end with the test, after this check.
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{t: t, stop: cancel, code: make(chan int, 1)}
	args = append([]string{"run", "--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-address=127.0.0.1:0"}, args...)
	go func() {
		r.code <- Run(ctx, Process{Args: args, Stdin: strings.NewReader(""), Stdout: &r.stdout, Stderr: &r.stderr, Version: "v1.2.3"})
	}()
	t.Cleanup(func() {
		cancel()
		if t.Failed() {
			t.Logf("stderr:\n%s", r.stderr.String())
		}
	})
	return r
}

// eventually waits until the condition holds.
func (r *running) eventually(what string, condition func() bool) {
	r.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(patience)
	for !condition() {
		select {
		case code := <-r.code:
			r.t.Fatalf("%s: ended with %d", what, code)
		case <-timeout:
			r.t.Fatalf("%s: not within %s", what, patience)
		case <-tick.C:
		}
	}
}

func (r *running) says(part string) {
	r.t.Helper()
	r.eventually("the log says "+part, func() bool { return strings.Contains(r.stderr.String(), part) })
}

// finish stops it and expects success.
func (r *running) finish() {
	r.t.Helper()
	r.stop()
	select {
	case code := <-r.code:
		if code != exitClean {
			r.t.Errorf("stopping is a success, got %d", code)
		}
	case <-time.After(patience):
		r.t.Fatal("it does not stop")
	}
}

// get asks one of the servers, whose address is in the log.
func (r *running) get(what, path string) (int, string) {
	r.t.Helper()
	r.says("what=" + what)
	address := regexp.MustCompile("what=" + what + ` address=(\S+)`).FindStringSubmatch(r.stderr.String())[1]
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func (r *running) ready() {
	r.t.Helper()
	r.eventually("ready", func() bool {
		code, _ := r.get("health", "/readyz")
		return code == http.StatusOK
	})
}
