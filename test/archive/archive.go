// Package archive reads archives of documents, each with what is said of it beside it, that begin and end alike.
package archive

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// Parse is [txtar.Parse] for an archive whose first files may be called "beginning" and "ending". Each .yaml file that has no
// apiVersion of its own follows the first, behind the comment that it begins with. Each one without actions has the second behind it.
func Parse(data []byte) *txtar.Archive {
	a := txtar.Parse(data)
	shared := func(name string) (lines []byte) {
		if len(a.Files) > 0 && a.Files[0].Name == name {
			lines, a.Files = a.Files[0].Data, a.Files[1:]
		}
		return lines
	}
	beginning, ending := shared("beginning"), shared("ending")
	for i, file := range a.Files {
		rest := file.Data
		for bytes.HasPrefix(rest, []byte("#")) {
			_, rest, _ = bytes.Cut(rest, []byte("\n"))
		}
		if !strings.HasSuffix(file.Name, ".yaml") {
			continue
		}
		if !bytes.HasPrefix(rest, []byte("apiVersion:")) {
			comment := file.Data[:len(file.Data)-len(rest)]
			a.Files[i].Data = bytes.Join([][]byte{comment, beginning, rest}, nil)
		}
		if !bytes.Contains(rest, []byte("actions")) {
			a.Files[i].Data = slices.Concat(a.Files[i].Data, ending)
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

// Told writes errors as the archives have them: the line, the column and the length of the mistake in place of the name of the
// file and of the marked line, which users see besides.
func Told(errs document.Errors) string {
	var out strings.Builder
	for _, err := range errs {
		text, _, _ := strings.Cut(err.Render(), "\n")
		text = strings.TrimPrefix(text, fmt.Sprintf("%s:%d:%d", err.File, err.Line, err.Column))
		fmt.Fprintf(&out, "%d:%d+%d%s\n", err.Line, err.Column, err.Length, text)
		if err.Hint != "" {
			out.WriteString("  hint: " + err.Hint + "\n")
		}
	}
	return out.String()
}

// Findings are all that is found in a file of rules, but for the note that more may be found.
func Findings(text []byte, options rules.Options) document.Errors {
	set, errs := rules.Load([]document.File{{Name: "rules.yaml", Data: text}}, options)
	if set != nil {
		return set.Warnings()
	}
	return slices.DeleteFunc(errs, func(err *document.Error) bool { return err.Code == document.CodeUnchecked })
}

// Wrong compares what is found in each document of some archives of package rules with what is said of it, for the test of a package
// that lies in it.
func Wrong(t *testing.T, options rules.Options, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		for _, d := range Documents(t, "../testdata/"+pattern+".txtar") {
			want, got := strings.TrimSpace(string(d.Want)), strings.TrimSpace(Told(Findings(d.Text, options)))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", d.Name, diff)
			}
		}
	}
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
