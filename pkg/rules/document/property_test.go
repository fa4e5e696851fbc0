package document

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/test/generate"
)

// written holds that a value is read as it was written, whatever the style, and
// that every part of its texts is found again in the file.
func written(t *rapid.T) {
	value := generate.Value().Draw(t, "value")
	source := generate.YAML(t, value)
	if rapid.Bool().Draw(t, "CRLF") {
		source = strings.ReplaceAll(source, "\n", "\r\n")
	}
	roots, errs := Parse(File{Name: "f.yaml", Data: []byte(source)})
	if len(errs) > 0 || len(roots) != 1 {
		t.Fatalf("%d documents, and mistakes:\n%s\n%s", len(roots), errs.Render(), source)
	}
	if diff := cmp.Diff(value, roots[0].Any()); diff != "" {
		t.Fatalf("%s\nof:\n%s", diff, source)
	}
	lines := linesOf([]byte(source))
	walk(roots[0], func(n *Node) {
		for offset := range len(n.Text()) + 1 {
			err := n.ErrorAt(offset, 1, "", "here")
			inside(t, lines, Position{err.Line, err.Column})
		}
	})
}

func TestWritten(t *testing.T) { rapid.Check(t, written) }

func FuzzWritten(f *testing.F) {
	generate.Seeds(f)
	f.Fuzz(rapid.MakeFuzz(written))
}
