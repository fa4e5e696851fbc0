package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// buffer may be written while it is read.
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

func TestWatchCountsAndPassesOn(t *testing.T) {
	tests := map[string]struct {
		reason               string
		stderr               string
		downloaded, compiled int
		passed               string
	}{
		"packages": {
			"These are what go build -v prints.",
			"internal/goos\ngithub.com/a/b/v2\nk8s.io/api/core/v1\ngopkg.in/yaml.v3\nfmt", 0, 5, "",
		},
		"downloads": {
			"They come first and take as long.",
			"go: downloading k8s.io/api v0.37.1\ngo: downloading k8s.io/kubernetes v1.37.1", 2, 0, "",
		},
		"messages": {
			"A compile error must reach the reader.",
			"# a/b\n./x.go:1:2: undefined: y\ngo: updates to go.mod needed", 0, 0,
			"# a/b\n./x.go:1:2: undefined: y\ngo: updates to go.mod needed\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out buffer
			c := &counter{out: &out}
			script := `echo result; printf '%s\n' "$1" >&2`
			stdout, err := c.watch(exec.CommandContext(t.Context(), "/bin/sh", "-c", script, "sh", tc.stderr))
			if err != nil || stdout != "result\n" {
				t.Fatalf("watch = %q, %v", stdout, err)
			}
			if c.downloaded != tc.downloaded || c.compiled != tc.compiled || out.String() != tc.passed {
				t.Errorf("%s\ndownloaded %d, compiled %d, passed on %q; want %d, %d, %q", tc.reason,
					c.downloaded, c.compiled, out.String(), tc.downloaded, tc.compiled, tc.passed)
			}
		})
	}
}

func TestWatchFailsWithTheCommand(t *testing.T) {
	var out buffer
	c := &counter{out: &out}
	if _, err := c.watch(exec.CommandContext(t.Context(), "/bin/sh", "-c", "echo 'build failed: x' >&2; exit 1")); err == nil {
		t.Error("no error for exit status 1")
	}
	if out.String() != "build failed: x\n" {
		t.Errorf("passed on %q", out.String())
	}
	if _, err := c.watch(exec.CommandContext(t.Context(), "/nonexistent/go")); err == nil {
		t.Error("no error for a missing command")
	}
}

func TestReportPrintsRegularlyAndAtTheEnd(t *testing.T) {
	var out buffer
	c := &counter{out: &out, started: time.Now()}
	stop := c.report(time.Millisecond)
	late := time.After(20 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for strings.Count(out.String(), "\n") < 2 {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("no two reports: %q", out.String())
		}
	}
	c.line("go: downloading x v1")
	c.expect([]string{"fmt", "x", "main"})
	c.line("fmt")
	c.print()
	c.line("main")
	stop()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, want := range []string{
		"1 modules downloaded  1 of at most 3 packages compiled",
		"1 modules downloaded  2 of at most 3 packages compiled, linking",
	} {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasSuffix(line, want) }) {
			t.Errorf("no report ends with %q: %q", want, lines)
		}
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRunBuildsAModule(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "go.mod", "module example.com/hello\n\ngo 1.26.0\n")
	write(t, dir, "main.go", "package main\n\nfunc main() { println(\"hello\") }\n")
	t.Chdir(dir)
	var out buffer
	if err := run(t.Context(), []string{"-o", "hello", "."}, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	said, err := exec.CommandContext(t.Context(), "./hello").CombinedOutput()
	if err != nil || string(said) != "hello\n" {
		t.Errorf("the program said %q, %v", said, err)
	}
	write(t, dir, "main.go", "package main\n\nfunc main() { missing() }\n")
	if err := run(t.Context(), []string{"-o", "hello", "."}, &out); err == nil || !strings.Contains(out.String(), "undefined: missing") {
		t.Errorf("a program that does not compile: %v\n%s", err, out.String())
	}
}
