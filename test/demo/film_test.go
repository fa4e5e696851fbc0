package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPicture says that the picture in the README is what happens today, but for the time that it takes.
func TestPicture(t *testing.T) {
	if output, err := exec.Command("script", "--version").Output(); err != nil || !strings.Contains(string(output), "util-linux") {
		t.Skip("the script command of util-linux is not here")
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	root := newRoot(t)
	readme, err := filepath.Abs("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(readme, filepath.Join(root, "README.md")); err != nil {
		t.Fatal(err)
	}
	now, err := shoot(t.Context(), options{root: root, env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	then, err := os.ReadFile("../../docs/terminal.svg")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(timeless(t, then), timeless(t, now)); diff != "" {
		t.Errorf("docs/terminal.svg is out of date, run make terminal (-then +now):\n%s", diff)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

// timeless are the lines of a picture without times. Their order depends on times too.
func timeless(t *testing.T, svg []byte) []string {
	t.Helper()
	out := texts(t, svg)
	for i, line := range out {
		out[i] = regexp.MustCompile(`\d+ ms`).ReplaceAllString(line, "N ms")
	}
	slices.Sort(out)
	return out
}
