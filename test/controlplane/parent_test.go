package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// parentDir makes this test binary a program that starts a control plane there and waits to be killed.
const parentDir = "CONTROLPLANE_TEST_PARENT_DIR"

func TestMain(m *testing.M) {
	dir := os.Getenv(parentDir)
	if dir == "" {
		m.Run()
		return
	}
	if _, err := Start(context.Background(), Options{Dir: dir, ControllerManager: true}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	select {}
}

// free says whether no process of the control plane is left: each of them holds the lock.
func free(dir string) bool {
	file, err := os.Open(filepath.Join(dir, "lock"))
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	late := time.After(startTimeout)
	for !condition() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("in vain: ", what)
		}
	}
}

func TestEverythingEndsWithTheParent(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason, file string
	}{
		"running":  {"However the parent ends, nothing must stay behind.", "kubeconfig"},
		"starting": {"Components that are only just starting do not stay either.", "etcd/pid"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cluster")
			parent := exec.CommandContext(t.Context(), os.Args[0])
			parent.Env = append(os.Environ(), parentDir+"="+dir)
			parent.Stderr = os.Stderr
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			await(t, tc.file, func() bool { return exists(filepath.Join(dir, tc.file)) })
			if free(dir) {
				t.Fatal("the processes do not hold the lock by which this test sees them")
			}
			if err := parent.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = parent.Wait()
			await(t, tc.reason, func() bool { return free(dir) })
		})
	}
}

// kill -9 of "cluster up" itself must take the components with it.
func TestComponentsEndWithUp(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cluster")
	c, err := Start(t.Context(), Options{Dir: dir, ControllerManager: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.child.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	await(t, "the components to end", func() bool { return free(dir) })
	var exit *exec.ExitError
	if err := c.Stop(); !errors.As(err, &exit) {
		t.Errorf("Stop says %v, want that the control plane was killed", err)
	}
}
