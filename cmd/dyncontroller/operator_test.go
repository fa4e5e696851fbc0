//go:build operator

package main

import (
	"slices"
	"strings"
	"testing"
)

// TestOperatorsProgram holds that what the program of an image has not got says where it is.
func TestOperatorsProgram(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"validate", "test", "eval", "explain", "schema", "rbac"} {
		command := program(t, name, "--run", "x")
		output, err := command.CombinedOutput()
		if err == nil || command.ProcessState.ExitCode() != 2 || !strings.Contains(string(output), "not part of the operator's program") {
			t.Errorf("%s: want exit code 2 and why, got %v: %s", name, err, output)
		}
	}
	help, err := program(t, "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	_, commands, _ := strings.Cut(string(help), "Available Commands:\n")
	commands, _, _ = strings.Cut(commands, "\n\n")
	for line := range strings.Lines(commands) {
		got = append(got, strings.Fields(line)[0])
	}
	if want := []string{"cleanup", "completion", "help", "run", "version"}; !slices.Equal(got, want) {
		t.Errorf("it has the commands %q, want %q", got, want)
	}
}
