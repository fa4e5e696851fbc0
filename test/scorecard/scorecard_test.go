package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCodeLines(t *testing.T) {
	tests := map[string]struct {
		reason, text string
		want         int
	}{
		"code":            {"each line with something in it counts", "package a\n\nvar b = 1\n\n", 2},
		"comments":        {"comments do not count, unless code is before them", "// Package a.\npackage a // Yes.\n\t// No.\n", 1},
		"long comments":   {"a comment ends where it says so, and takes its last line with it", "/* a\nb\n\nc */\npackage a\n/* d */\n", 1},
		"without newline": {"the last line counts", "package a", 1},
		"nothing":         {"an empty file has no lines", "", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := codeLines(test.text); got != test.want {
				t.Errorf("want %d, have %d: %s", test.want, got, test.reason)
			}
		})
	}
}

// TestCountLines counts in a repository with files that count and files that do not.
func TestCountLines(t *testing.T) {
	dir := t.TempDir()
	for path, text := range map[string]string{
		".gitignore":                           "ignored.go\n",
		"pkg/engine/engine.go":                 "package engine\n\nvar a int\n",
		"pkg/engine/lane/lane.go":              "package lane\n",
		"pkg/engine/engine_test.go":            "package engine\n",
		"pkg/engine/ignored.go":                "package engine\n",
		"pkg/engine/notes.txt":                 "package engine\n",
		"pkg/api/v1alpha1/zz_generated.api.go": "package v1alpha1\n",
		"test/a.go":                            "package a\n",
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := countLines(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"pkg/engine": 3, "test": 1}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestBenchmarks(t *testing.T) {
	const module = "pkg: github.com/dyncontroller/dyncontroller/"
	before, now := results{}, results{}
	before.read("goos: linux\n" + module + "pkg/plan\nBenchmarkBuild/many-16-2 \t 10\t 200 ns/op\t 30 B/op\t 4 allocs/op\nPASS\nok  \tx\t1s\n")
	now.read(module + "pkg/plan\nBenchmarkBuild/many-16-2 \t 10\t 120.0 ns/op\t 0 B/op\t 5 allocs/op\n" + module + "internal/source\nBenchmarkNew \t 1\t 7 sets/s\n")
	now.read(module + "pkg/plan\nBenchmarkBuild/many-16-2 \t 10\t 100 ns/op\t 0 B/op\t 5 allocs/op\n")
	var out strings.Builder
	if err := printBenchmarks(&out, []side{{name: "76dec87"}, {name: "now"}}, []results{before, now}); err != nil {
		t.Fatal(err)
	}
	want := `
benchmark                unit        76dec87   now
internal/source New      sets/s      -         7
pkg/plan Build/many-16   B/op        30        0
pkg/plan Build/many-16   allocs/op   4         5     x 1.25
pkg/plan Build/many-16   ns/op       200       100   x 0.50
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("the least time of each side (-want +got)\n%s", diff)
	}
}

func TestCards(t *testing.T) {
	var out strings.Builder
	err := printCards(&out, []side{{name: "76dec87"}, {name: "now"}}, []card{
		{{what: "lines", value: "200"}, {what: "against", value: ""}},
		{{what: "lines", value: "100"}, {what: "against", value: "40"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `what      76dec87   now
lines     200       100
against   -         40
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("what is not known of a side is a dash (-want +got)\n%s", diff)
	}
}
