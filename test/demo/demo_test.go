package main

import (
	"bytes"
	"context"
	"errors"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/test/controlplane"
)

// dyncontroller is the program under test, built by TestMain.
var dyncontroller string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "dyncontroller-demo-test-")
	if err != nil {
		log.Fatal(err)
	}
	dyncontroller = filepath.Join(dir, "dyncontroller")
	// The flag is that of "make build", whose packages are in the build cache then.
	build := exec.Command("go", "build", "-trimpath", "-o", dyncontroller, "../../cmd/dyncontroller")
	if output, err := build.CombinedOutput(); err != nil {
		log.Fatalf("building dyncontroller: %v\n%s", err, output)
	}
	m.Run()
	_ = os.RemoveAll(dir)
}

// newRoot is a repository as far as the demo needs one: with bin/, and with rules that a test may change.
func newRoot(t *testing.T) string {
	t.Helper()
	cluster, err := controlplane.Binary()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, program := range map[string]string{"cluster": cluster, "dyncontroller": dyncontroller} {
		if err := os.Symlink(program, filepath.Join(root, "bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(root, "examples"), os.DirFS("../../examples")); err != nil {
		t.Fatal(err)
	}
	return root
}

// performance is a demo that a test watches.
type performance struct {
	root   string
	cancel context.CancelFunc
	ended  chan struct{}
	err    error

	mu   sync.Mutex
	text bytes.Buffer
	// more is closed when there is more text.
	more chan struct{}
}

func perform(t *testing.T, keep bool) *performance {
	t.Helper()
	// What it makes for itself must be gone in the end, so it gets a place of its own.
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	p := &performance{root: newRoot(t), cancel: cancel, ended: make(chan struct{}), more: make(chan struct{})}
	t.Cleanup(func() {
		cancel()
		<-p.ended
		left, err := os.ReadDir(temporary)
		if err != nil || len(left) > 0 {
			t.Errorf("left over: %v, %v", left, err)
		}
	})
	go func() {
		defer close(p.ended)
		p.err = run(ctx, options{root: p.root, keep: keep, env: os.Environ(), stdout: p, clock: clock.RealClock{}})
	}()
	return p
}

func (p *performance) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.more)
	p.more = make(chan struct{})
	return p.text.Write(text)
}

func (p *performance) seen() (text string, more chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String(), p.more
}

// await returns what was shown before, when the text is shown.
func (p *performance) await(t *testing.T, text string) string {
	t.Helper()
	for {
		seen, more := p.seen()
		if before, _, found := strings.Cut(seen, text); found {
			return before
		}
		select {
		case <-more:
		case <-p.ended:
			t.Fatalf("the demo ended (%v) without %q:\n%s", p.err, text, seen)
		}
	}
}

// TestDemo holds the demo to what it claims.
func TestDemo(t *testing.T) {
	start := time.Now()
	p := perform(t, false)
	<-p.ended
	seen, _ := p.seen()
	if p.err != nil {
		t.Fatalf("%v\n%s", p.err, seen)
	}
	t.Logf("took %s", time.Since(start))
	for reason, pattern := range map[string]string{
		"act 2 shows what would change":       `-    replicas: 4\n.*\+    replicas: 5|\+ +replicas: 5`,
		"act 2 counts it":                     `3 objects looked at: 2 would change`,
		"act 6 shows the mistake":             `\d+:\d+: spec.rules\[2\].when: unknown name "store"\n.*\n.*\^{5}\n +hint: did you mean "stores"\?`,
		"act 6 passes":                        `\d\d passed, 0 failed, 0 in error`,
		"act 3 says that no operator runs":    `No tidb-operator runs, so no Pods appear`,
		"rules share a request":               `basic: 1 request, a merge patch`,
		"changes are beside their rule":       `(?m)pd-quorum +spec.pd.replicas +2 -> 3$`,
		"a component is unpinned":             `pinned-components +spec.tikv.version +nightly -> none`,
		"a list gains only what is missing":   `zone-spread +spec.topologySpreadConstraints\s+gained \{maxSkew: 1, topologyKey: topology.kubernetes.io/zone\}`,
		"what is right is left alone":         `search: no rule matched, no request was sent`,
		"Events are as kubectl shows them":    `Warning +EvenPD +tidbcluster/basic +PD had 2 members, an even number`,
		"act 4 measures":                      `(?s)[1-9]\d*\.\d ms after the API server received.*names\s+the\s+rule,\s+pd-quorum`,
		"act 5 writes nothing":                `\n  0 writes, 0 failures\n`,
		"the API server has counted no write": `counted 0 writes`,
	} {
		if !regexp.MustCompile(pattern).MatchString(seen) {
			t.Errorf("%s: nothing is like %s", reason, pattern)
		}
	}
	if t.Failed() {
		t.Log(seen)
	}
	for line := range strings.Lines(seen) {
		if len(line) > 100 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

func TestDemoKeepsRunning(t *testing.T) {
	p := perform(t, true)
	p.await(t, "what the controller does:")
	p.await(t, "starting")
	rules := filepath.Join(p.root, "examples", "rules", "tidbcluster", "tidb-guardrails.yaml")
	change := func(old, text string) {
		t.Helper()
		data, err := os.ReadFile(rules)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(rules, bytes.Replace(data, []byte(old), []byte(text), 1), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	change("needed: 3", "needed: 5")
	p.await(t, "wrote search: spec.tikv.replicas by tikv-quorum")
	change("stores < needed", "stores < neded")
	p.await(t, `did you mean "needed"?`)
	p.cancel()
	<-p.ended
	if p.err != nil {
		t.Errorf("what ends only when interrupted was not ended well: %v", p.err)
	}
}

func TestDemoIsInterrupted(t *testing.T) {
	for _, moment := range []string{"Act 2", "$ bin/dyncontroller run", "--once"} {
		t.Run(moment, func(t *testing.T) {
			p := perform(t, false)
			p.await(t, moment)
			p.cancel()
			<-p.ended
			if !errors.Is(p.err, context.Canceled) {
				t.Errorf("it ended with %v", p.err)
			}
		})
	}
}

func TestDemoFails(t *testing.T) {
	p := perform(t, false)
	path := filepath.Join(p.root, "examples", "rules", "tidbcluster", "tidb-guardrails.yaml")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	<-p.ended
	if p.err == nil || errors.Is(p.err, context.Canceled) {
		seen, _ := p.seen()
		t.Errorf("without rules, it ended with %v:\n%s", p.err, seen)
	}
}
