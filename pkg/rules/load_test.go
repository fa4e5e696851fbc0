package rules_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

var update = flag.Bool("update", false, "write the goldens anew")

// TestLoadErrors holds every message that wrong files get, word for word. Each
// case is a folder of rule files.
func TestLoadErrors(t *testing.T) {
	folders, err := filepath.Glob("testdata/*/errors.golden")
	if err != nil || len(folders) < 2 && !*update {
		t.Fatalf("found %d cases, err %v", len(folders), err)
	}
	cases, _ := filepath.Glob("testdata/*/rules.yaml")
	for _, first := range cases {
		folder := filepath.Dir(first)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			set, errs := rules.Load(readFolder(t, folder), rules.Options{DefaultNamespace: "default"})
			if set != nil || len(errs) == 0 {
				t.Fatal("the rules were accepted")
			}
			compareGolden(t, filepath.Join(folder, "errors.golden"), errs.Render())
		})
	}
}

func TestTenMistakes(t *testing.T) {
	_, errs := rules.Load(readFolder(t, "testdata/ten-mistakes"), rules.Options{})
	lines := map[int]bool{}
	for _, err := range errs {
		if err.File != "rules.yaml" || err.Line == 0 || err.Column == 0 {
			t.Errorf("not located: %+v", err)
		}
		lines[err.Line] = true
	}
	if len(errs) != 10 || len(lines) != 10 {
		t.Errorf("found %d mistakes on %d lines, want ten on ten:\n%s", len(errs), len(lines), errs.Render())
	}
}

func readFolder(t *testing.T, folder string) []document.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var files []document.File
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, document.File{Name: filepath.Base(name), Data: data})
	}
	return files
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		writeGolden(t, path, []byte(got))
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("reading the golden: %v (run with -update)", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
