// Package archive reads archives of documents, each with what is said of it beside it, that begin alike.
package archive

import (
	"bytes"
	"os"
	"strings"

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
