package rules_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/test/archive"
	"github.com/dyncontroller/dyncontroller/test/schemas"
)

// How many cases there are at least.
const (
	wrongTyped = 80
	rightTyped = 60
)

func typed(t testing.TB) rules.Options {
	t.Helper()
	return rules.Options{DefaultNamespace: "default", Schemas: schemas.Catalog(t)}
}

// findings is all that is found in a file whose objects have known types, but for the note that more may be found.
func findings(t testing.TB, text []byte) document.Errors {
	t.Helper()
	return archive.Findings(text, typed(t))
}

// TestTypedWrong is [TestWrong] for mistakes and doubts that only the types of the objects show.
func TestTypedWrong(t *testing.T) {
	testArchives(t, "testdata/typed/wrong", wrongTyped, findings)
}

// TestTypedRight holds that nothing is said of what an expert writes. Where notes are expected, they follow the document. One that
// is not right yet is followed by the reason.
func TestTypedRight(t *testing.T) {
	names, err := filepath.Glob("testdata/typed/right/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, name := range names {
		documents, err := archive.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		beside := map[string]string{}
		for _, file := range documents.Files {
			beside[file.Name] = string(bytes.TrimSpace(file.Data))
		}
		for _, file := range documents.Files {
			title, isRules := strings.CutSuffix(file.Name, ".yaml")
			if !isRules {
				continue
			}
			count++
			t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar")+"/"+title, func(t *testing.T) {
				testRight(t, file.Data, beside[title+".notes"], beside[title+".skip"])
			})
		}
	}
	if count < rightTyped {
		t.Errorf("there are %d right documents, want %d", count, rightTyped)
	}
}

func testRight(t *testing.T, text []byte, want, skip string) {
	t.Helper()
	found := findings(t, text)
	got := strings.TrimSpace(archive.Told(found))
	switch {
	case skip != "" && got != want:
		t.Skip(skip)
	case skip != "":
		t.Errorf("%sit is right now: do not skip it", firstLine(text))
	case got != want:
		t.Errorf("%sit is right, and this is said of it:\n%s\nwant:\n%s", firstLine(text), got, want)
	case len(found.Of(document.Note)) != len(found):
		t.Errorf("%sthere is more than notes", firstLine(text))
	}
}
