package cli

import (
	"strings"
	"testing"
)

// TestTenMistakes holds that all mistakes of a file are told at once, each with
// its place and the line it is on, and that the exit code says so.
func TestTenMistakes(t *testing.T) {
	t.Parallel()
	const file = "../../pkg/rules/testdata/ten-mistakes/rules.yaml"
	code, stdout, stderr := invoke(t, "validate", file)
	shown := stdout + stderr
	if code != 1 || !strings.Contains(shown, "10 mistakes") {
		t.Errorf("ended with %d:\n%s", code, shown)
	}
	places := strings.Count(shown, file+":") - strings.Count(shown, ": note: ")
	if carets := strings.Count(shown, " | "); places != 10 || carets < 20 {
		t.Errorf("%d places and %d lines of excerpts, want 10 and at least 20:\n%s", places, carets, shown)
	}
}
