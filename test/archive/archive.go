// Package archive reads archives of documents, each with what is said of it beside it, that begin alike.
package archive

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// beginning is the file with the lines that documents begin with.
const beginning = "beginning"

// Parse is [txtar.Parse] for an archive whose first file may be called "beginning". Each .yaml file that has no apiVersion of its
// own follows that, behind the comment that it begins with.
func Parse(data []byte) *txtar.Archive {
	a := txtar.Parse(data)
	if len(a.Files) == 0 || a.Files[0].Name != beginning {
		return a
	}
	lines := a.Files[0].Data
	a.Files = a.Files[1:]
	for i, file := range a.Files {
		rest := file.Data
		for bytes.HasPrefix(rest, []byte("#")) {
			_, rest, _ = bytes.Cut(rest, []byte("\n"))
		}
		if strings.HasSuffix(file.Name, ".yaml") && !bytes.HasPrefix(rest, []byte("apiVersion:")) {
			comment := file.Data[:len(file.Data)-len(rest)]
			a.Files[i].Data = bytes.Join([][]byte{comment, lines, rest}, nil)
		}
	}
	return a
}

// ParseFile is [Parse] for a file.
func ParseFile(name string) (*txtar.Archive, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return Parse(data), nil
}

// Document is a document of an archive, and what is said of it.
type Document struct {
	// Name is that of its archive and its own.
	Name       string
	Text, Want []byte
}

// Documents returns those of the archives that match a pattern, of which there must be one. One that nothing is said of is not
// followed by a file for that.
func Documents(t testing.TB, pattern string) (out []Document) {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("the archives %s: %v, %v", pattern, names, err)
	}
	for _, name := range names {
		a, err := ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, file := range a.Files {
			title, is := strings.CutSuffix(file.Name, ".yaml")
			if !is {
				continue
			}
			one := Document{Name: filepath.Base(name) + "/" + title, Text: file.Data}
			if i+1 < len(a.Files) && a.Files[i+1].Name == title+".want" {
				one.Want = a.Files[i+1].Data
			}
			out = append(out, one)
		}
	}
	return out
}

// Replace returns the archive with other contents of some files.
func Replace(data []byte, contents map[string][]byte) []byte {
	a := txtar.Parse(data)
	for i, file := range a.Files {
		if replaced, is := contents[file.Name]; is {
			a.Files[i].Data = replaced
		}
	}
	return txtar.Format(a)
}
