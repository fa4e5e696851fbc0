package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// program builds the program.
func program(t *testing.T) (path string) {
	t.Helper()
	path, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// buildProgram is done once, into a directory that TestMain makes.
var buildProgram = sync.OnceValues(func() (string, error) {
	path := filepath.Join(programs, "dyncontroller")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", path, "../../cmd/dyncontroller").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return path, nil
})

// child is a dyncontroller in a process of its own.
type child struct {
	command *exec.Cmd
	output  *buffer
	ended   chan struct{}
}

// launch runs the program on the test's cluster until it is killed, at the end of the test at the latest.
func launch(t *testing.T, path string, args ...string) *child {
	t.Helper()
	c := &child{output: &buffer{}, ended: make(chan struct{})}
	c.command = exec.CommandContext(t.Context(), path, append([]string{
		"run", "--kubeconfig", cluster(t).Kubeconfig(), "--metrics-bind-address", "0", "--health-probe-bind-address", "0", "--force",
	}, args...)...)
	c.command.Stdout, c.command.Stderr = c.output, c.output
	if err := c.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.ended)
		_ = c.command.Wait() // It is killed.
	}()
	t.Cleanup(func() {
		_ = c.command.Process.Kill() // It has ended, unless the test failed.
		<-c.ended
	})
	return c
}

// kill ends the process from one moment to the next.
func (c *child) kill(t *testing.T) {
	t.Helper()
	_ = c.command.Process.Kill() // The only error is that it has ended.
	<-c.ended
	if status, is := c.command.ProcessState.Sys().(syscall.WaitStatus); !is || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the process has ended by itself: %s\n%s", c.command.ProcessState, c.output)
	}
}
