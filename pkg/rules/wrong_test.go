package rules_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/test/archive"
)

// wrongDocuments is how many the table has at least.
const wrongDocuments = 500

// TestWrong holds what every single mistake is answered with, word for word and
// with its place. In testdata/wrong an archive per part of the language has each
// document, whose first line says what it is about, next to what is said.
func TestWrong(t *testing.T) {
	testArchives(t, "testdata/wrong", wrongDocuments, func(t testing.TB, written []byte) document.Errors {
		t.Helper()
		set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: written}}, rules.Options{DefaultNamespace: "default"})
		if set != nil {
			return nil
		}
		return errs
	})
}

// testArchives compares what is found in each document of the archives of a folder with what follows it.
func testArchives(t *testing.T, folder string, least int, find func(testing.TB, []byte) document.Errors) {
	t.Helper()
	archives, err := filepath.Glob(folder + "/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, name := range archives {
		documents, err := archive.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		count += len(documents.Files) / 2
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) { testWrong(t, name, documents.Files, find) })
	}
	if count < least {
		t.Errorf("there are %d wrong documents, want %d", count, least)
	}
}

func testWrong(t *testing.T, name string, files []txtar.File, find func(testing.TB, []byte) document.Errors) {
	answers := map[string][]byte{}
	for i := 0; i+1 < len(files); i += 2 {
		written, want := files[i], files[i+1]
		title, isYAML := strings.CutSuffix(written.Name, ".yaml")
		if !isYAML || want.Name != title+".want" {
			t.Fatalf("%s is followed by %s, want %s.yaml and %s.want", written.Name, want.Name, title, title)
		}
		t.Run(title, func(t *testing.T) {
			got := answer(t, written.Data, find(t, written.Data))
			if *update {
				answers[want.Name] = []byte(got + "\n")
				return
			}
			if diff := cmp.Diff(strings.Split(strings.TrimSuffix(string(want.Data), "\n"), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s(-want +got):\n%s", firstLine(written.Data), diff)
			}
		})
	}
	if *update {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		writeGolden(t, name, archive.Replace(data, answers))
	}
}

// answer is all that is said of a document with one mistake.
func answer(t *testing.T, written []byte, errs document.Errors) string {
	t.Helper()
	if len(errs) == 0 {
		t.Fatalf("%sthe rules were accepted", firstLine(written))
	}
	if len(errs) > 1 {
		t.Errorf("%sthere is one mistake, and %d are told of:\n%s", firstLine(written), len(errs), errs.Render())
	}
	for _, err := range errs {
		if err.File != "rules.yaml" || err.Line < 1 || err.Column < 1 {
			t.Errorf("%snot located: %+v", firstLine(written), err)
		}
	}
	return archive.Told(errs)
}

func firstLine(text []byte) string {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return string(line) + "\n"
}

func writeGolden(t *testing.T, path string, data []byte) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal("goldens are not written in CI")
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
