package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asProgram has the test binary be the program.
const asProgram = "RUN_AS_DYNCONTROLLER"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	m.Run()
}

func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	command := exec.CommandContext(ctx, os.Args[0], args...)
	command.Env = append(os.Environ(), asProgram+"=1")
	return command
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const rules = `apiVersion: dyncontroller.dev/v1alpha1
kind: RuleSet
metadata: {name: r}
spec:
  resources: {pods: {version: v1, resource: pods}}
  rules:
  - name: r
    watch: pods
    actions: [{event: {reason: Seen, message: hello}}]
`

const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c}}]
current-context: c
`

func TestSignalsStopGracefully(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			command := program(t, "run", "--rules", write(t, "r.yaml", rules), "--kubeconfig", write(t, "k", kubeconfig),
				"--metrics-bind-address=0", "--health-probe-bind-address=0")
			stderr, err := command.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(stderr)
			for lines.Scan() {
				if strings.Contains(lines.Text(), "waiting for the API server") {
					if err := command.Process.Signal(signal); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := command.Wait(); err != nil {
				t.Errorf("want exit code 0, got %v", err)
			}
		})
	}
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	command := program(t, "nonsense")
	output, err := command.CombinedOutput()
	if err == nil || command.ProcessState.ExitCode() != 2 {
		t.Errorf("want exit code 2, got %v: %s", err, output)
	}
}

// TestVersion holds that a binary which was built without a version, as by go install, tells that of its module.
func TestVersion(t *testing.T) {
	t.Parallel()
	build, _ := debug.ReadBuildInfo()
	output, err := program(t, "version").Output()
	if want := "dyncontroller " + build.Main.Version + " go"; err != nil || !strings.HasPrefix(string(output), want) {
		t.Errorf("got %v: %s, want %s...", err, output, want)
	}
}
