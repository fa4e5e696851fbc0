package source

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// TestOutlineIsKept holds that files that have not changed are not parsed again: they
// are looked at every ten seconds.
func TestOutlineIsKept(t *testing.T) {
	directory := t.TempDir()
	write(t, directory, map[string]string{"a.yaml": ruleSet("a", "x", "y", "z"), "b.yaml": ruleTest})
	files := New([]string{directory}, nil, rules.Options{})
	contents := files.read()
	first := files.parse(contents)
	if n := testing.AllocsPerRun(10, func() { files.parse(contents) }); n > 20 || files.parse(files.read()) != first {
		t.Errorf("the same files take %v allocations", n)
	}
	write(t, directory, map[string]string{"b.yaml": ruleSet("b", "x")})
	if again := files.parse(files.read()); again == first || again.tests != 0 {
		t.Errorf("files that have changed are %+v", again)
	}
}

func TestTests(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		files  map[string]string
		want   int
	}{
		"none":    {"Rules may speak of tests.", map[string]string{"a.yaml": ruleSet("a", "x") + "# no RuleTest\n"}, 0},
		"beside":  {"One file has several.", map[string]string{"a.yaml": ruleSet("a", "x"), "t.yaml": ruleTest + "---\n" + ruleTest}, 2},
		"within":  {"A file may have both.", map[string]string{"a.yaml": ruleSet("a", "x") + "---\n" + ruleTest}, 1},
		"no YAML": {"What cannot be read is a mistake.", map[string]string{"a.yaml": "kind: RuleTest\nx: ["}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			write(t, directory, tc.files)
			files := New([]string{directory, filepath.Join(directory, "a.yaml")}, nil, rules.Options{})
			if got := files.Tests(); got != 0 {
				t.Errorf("%d tests before anything is read", got)
			}
			if _, err := files.Load(); err != nil && tc.want > 0 {
				t.Fatal(err)
			}
			if got := files.Tests(); got != tc.want {
				t.Errorf("%s want %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}

// TestFolders holds that a directory that has rules only in its folders is told so.
func TestFolders(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	write(t, directory, map[string]string{"team/": "", ".git/": ""})
	write(t, directory, map[string]string{"team/a.yaml": ruleSet("a", "x")})
	if _, err := New([]string{directory}, nil, rules.Options{}).Load(); err == nil || !strings.Contains(err.Error(), "the directories in it are not searched") {
		t.Errorf("got %v", err)
	}
	if _, err := New([]string{filepath.Join(directory, ".git")}, nil, rules.Options{}).Load(); err == nil || strings.Contains(err.Error(), "folders") {
		t.Errorf("a directory without folders: %v", err)
	}
}
