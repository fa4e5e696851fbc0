package controlplane

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// command is bin/cluster as a user would run it, without this package's help.
func command(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	binary, err := Binary()
	if err != nil {
		t.Fatal(err)
	}
	return exec.CommandContext(t.Context(), binary, arguments...)
}

func TestUpStopsOnSignals(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cluster")
			up := command(t, "up", "--dir", dir)
			stdout, err := up.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := up.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(stdout)
			if line, err := lines.ReadString('\n'); line != "ready\n" {
				t.Fatalf("it said %q, %v", line, err)
			}
			if info, err := os.Stat(filepath.Join(dir, "kubeconfig")); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the kubeconfig when it is ready: %v, %v", info, err)
			}
			if err := up.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			want := "export KUBECONFIG=" + filepath.Join(dir, "kubeconfig") + "\n" // To be pasted.
			if rest, err := io.ReadAll(lines); string(rest) != want || err != nil {
				t.Errorf("after the word it said %q, %v, want %q", rest, err, want)
			}
			if err := up.Wait(); err != nil {
				t.Errorf("being told to stop is no failure: %v", err)
			}
			if !free(dir) {
				t.Error("a component is left when it has ended")
			}
		})
	}
}

// Whoever starts a component alone must not have to look for it afterwards either.
func TestComponentAloneEndsWithItsParent(t *testing.T) {
	t.Parallel()
	anyPort := "http://127.0.0.1:0"
	etcd := command(t, "etcd", "--data-dir="+t.TempDir(), "--initial-cluster=default="+anyPort,
		"--listen-client-urls="+anyPort, "--advertise-client-urls="+anyPort,
		"--listen-peer-urls="+anyPort, "--initial-advertise-peer-urls="+anyPort)
	shell := exec.CommandContext(t.Context(), "/bin/sh", "-c", `"$@" 2>&1 & wait`, "sh")
	shell.Args = append(shell.Args, etcd.Args...)
	output, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(output)
	if line, err := lines.ReadString('\n'); err != nil {
		t.Fatalf("etcd said %q, %v", line, err)
	}
	if err := shell.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// The pipe is etcd's as well, and so ends with it.
	rest, err := io.ReadAll(lines)
	if err != nil || !strings.Contains(string(rest), "the parent process has ended") {
		t.Errorf("etcd's last words: %q, %v", rest[max(0, len(rest)-200):], err)
	}
	_ = shell.Wait()
}

func TestUsage(t *testing.T) {
	tests := map[string]struct {
		reason    string
		arguments []string
		want      string
	}{
		"no directory":      {"There is no good default.", []string{"up"}, `required flag(s) "dir" not set`},
		"no such command":   {"A typing error is named.", []string{"down"}, `unknown command "down"`},
		"no such flag":      {"So it is for the flags of up.", []string{"up", "--dri=x"}, "unknown flag: --dri"},
		"too many words":    {"A flag without its dashes is not ignored.", []string{"up", "--dir=x", "controller-manager"}, "unknown command"},
		"component's flag":  {"It says it itself, once.", []string{"kube-apiserver", "--dri=x"}, "unknown flag: --dri"},
		"kubectl's command": {"It, too.", []string{"kubectl", "down"}, `unknown command "down" for "kubectl"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			cmd := command(t, tc.arguments...)
			cmd.Dir = t.TempDir()
			cmd.Stderr = &stderr
			var exit *exec.ExitError
			if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("%s\n%q: %v, want exit status 1", tc.reason, tc.arguments, err)
			}
			if got := stderr.String(); strings.Count(got, tc.want) != 1 {
				t.Errorf("%s\n%q said\n%s\nwant %q once", tc.reason, tc.arguments, got, tc.want)
			}
		})
	}
}
