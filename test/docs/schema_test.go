package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/editor"
)

// TestReferenceSchema holds the schema for editors that is part of the repository:
// that of the language, without anybody's resources.
func TestReferenceSchema(t *testing.T) {
	path := filepath.Join(root, "docs", "reference", "rules.schema.json")
	want, err := editor.Schema(nil)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if os.Getenv("CI") == "true" {
			t.Fatal("-update is not for CI")
		}
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("run make generate (-want +got):\n%s", diff)
	}
}

var modeline = regexp.MustCompile(`^# yaml-language-server: \$schema=(\S+)\n`)

// TestModelines says that an editor finds the schema of every example.
func TestModelines(t *testing.T) {
	found, err := filepath.Glob(filepath.Join(root, "examples", "rules", "*", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), "apiVersion: dyncontroller.dev/") {
			continue
		}
		match := modeline.FindStringSubmatch(string(data))
		if match == nil {
			t.Errorf("%s does not start with a modeline", path)
			continue
		}
		named := filepath.Join(filepath.Dir(path), filepath.FromSlash(match[1]))
		if want := filepath.Join(root, "docs", "reference", "rules.schema.json"); named != want {
			t.Errorf("%s names %s, want %s", path, named, want)
		}
	}
	if len(found) < 2 {
		t.Errorf("there are %d examples", len(found))
	}
}
