package document

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// seeds gives the fuzz targets every input of testdata and the scalars of the
// position tests.
func seeds(f *testing.F) {
	f.Helper()
	inputs, err := filepath.Glob("testdata/*/input.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, input := range inputs {
		data, err := os.ReadFile(input)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, tc := range positionCases {
		f.Add([]byte(tc.source))
	}
}

// FuzzParse holds that no input makes Parse panic, that what it returns lies
// inside the file and can be rendered, and that the bound on nodes holds.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		roots, errs := Parse(File{Name: "fuzz.yaml", Data: data})
		lines := linesOf(data)
		for _, err := range errs {
			checkError(t, lines, err)
		}
		nodes := 0
		for _, root := range roots {
			root.Any()
			walk(root, func(n *Node) {
				nodes++
				inside(t, lines, n.Position())
				checkError(t, lines, n.Errorf("", "whole"))
				for _, part := range [][2]int{{0, 1}, {-1, -1}, {len(n.Text()) / 2, 2}, {len(n.Text()), 1}, {1 << 30, 1 << 30}} {
					checkError(t, lines, n.ErrorAt(part[0], part[1], "", "part"))
				}
				if err := n.CutByComment(); err != nil {
					checkError(t, lines, err)
				}
			})
		}
		if most := density(string(data)); nodes > most+2 {
			t.Errorf("%d nodes in a text of density %d", nodes, most)
		}
	})
}

func linesOf(data []byte) []string {
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	return strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
}

func checkError(t *testing.T, lines []string, err *Error) {
	t.Helper()
	if err.Message == "" || strings.Contains(err.Error(), "\n") {
		t.Errorf("the message %q is not one line", err.Error())
	}
	if err.Line > 0 {
		inside(t, lines, Position{err.Line, err.Column})
	}
	if err.Line > 0 && !strings.Contains(err.Render(), "^") {
		t.Errorf("no caret in %q", err.Render())
	}
}

func inside(t rapid.TB, lines []string, p Position) {
	t.Helper()
	if p.Line < 1 || p.Line > len(lines) {
		t.Fatalf("line %d of %d", p.Line, len(lines))
	}
	if width := utf8.RuneCountInString(lines[p.Line-1]); p.Column < 1 || p.Column > width+1 {
		t.Fatalf("column %d of %d in line %d", p.Column, width, p.Line)
	}
}

func walk(n *Node, visit func(*Node)) {
	visit(n)
	for _, entry := range n.children {
		if entry.Key != nil {
			visit(entry.Key)
		}
		walk(entry.Value, visit)
	}
}
