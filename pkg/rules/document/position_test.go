package document

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// place is where an error was found and how long it is.
type place struct{ Line, Column, Length int }

// positionCases have a map with one string under "v", or a list below "l" that
// holds such a map, and a part of its text that must be found again.
var positionCases = map[string]struct {
	source string
	part   string
	want   place
}{
	"plain":                      {"v: a > 0 && bad\n", "bad", place{1, 13, 3}},
	"plain behind unicode":       {"\"é日🙂\": 1\nv: é日🙂 bad\n", "bad", place{2, 8, 3}},
	"plain on two lines":         {"v: a &&\n  bad\n", "bad", place{2, 3, 3}},
	"plain across a fold":        {"v: a\n  b\n", "a b", place{1, 4, 1}},
	"plain with an empty line":   {"v: a\n\n\n  bad\n", "bad", place{4, 3, 3}},
	"plain in a flow map":        {"{u: 1, v: a bad, w: x}\n", "bad", place{1, 13, 3}},
	"single quoted twice":        {"v: 'it''s ''so'' bad'\n", "bad", place{1, 18, 3}},
	"a doubled quote":            {"v: 'it''s'\n", "'", place{1, 7, 2}},
	"behind escapes":             {`v: "\t\\\x41\u00e9\U0001F642 bad"`, "bad", place{1, 30, 3}},
	"an escape":                  {`v: "a\u00e9b"`, "é", place{1, 6, 6}},
	"escaped line break":         {"v: \"a \\\n   bad\"\n", "bad", place{2, 4, 3}},
	"double quoted in a list":    {"l: [{v: \"x\", w: 1}, {v: \"a\\nbad\"}]\n", "bad", place{1, 29, 3}},
	"literal":                    {"v: |\n  a\n  bad\n", "bad", place{3, 3, 3}},
	"literal with deeper lines":  {"v: |-\n    a\n\n      b\n    bad", "bad", place{5, 5, 3}},
	"literal with an indicator":  {"v: |2+\n     a\n   bad\n\n", "bad", place{3, 4, 3}},
	"literal with a comment":     {"v: | # c\n\n  bad\n", "bad", place{3, 3, 3}},
	"literal in a list":          {"l:\n- w: 1\n  v: |\n    a\n    bad\n- x\n", "bad", place{5, 5, 3}},
	"folded":                     {"v: >\n  a\n  bad\n", "bad", place{3, 3, 3}},
	"folded with empty lines":    {"v: >\n  a\n\n\n  bad\n", "bad", place{5, 3, 3}},
	"folded with deeper lines":   {"v: >\n  a\n    b\n  c\n  bad\n", "bad", place{5, 3, 3}},
	"folded with kept lines":     {"v: >+\n  a\n  bad\n\n\nw: 1\n", "bad", place{3, 3, 3}},
	"folded, kept and indented":  {"l:\n- v: >+2\n      a\n    bad\n\n", "bad", place{4, 5, 3}},
	"folded across a fold":       {"v: >\n  a\n  b\n", "a b", place{2, 3, 1}},
	"literal with a hash":        {"v: |\n  all(a, # > 0) # bad\n", "bad", place{2, 19, 3}},
	"literal with tabs":          {"v: |\n  a\t\tbad\n", "bad", place{2, 6, 3}},
	"single quoted, on a line":   {"v:\n  'a ''b''\n  bad'\n", "bad", place{3, 3, 3}},
	"CRLF in quotes":             {"v: \"a \\\r\n  b bad\"\r\n", "bad", place{2, 5, 3}},
	"CRLF and a byte order mark": {"\ufeffu: 1\r\nv: |\r\n  a\r\n  bad\r\n", "bad", place{4, 3, 3}},
	"second document":            {"---\n# nothing\n---\nv: a bad\n", "bad", place{4, 6, 3}},
	"an integer":                 {"v: 12345\n", "345", place{1, 6, 3}},
	"after the end":              {"v: 'a '\n", "", place{1, 6, 1}},
	"after the end of nothing":   {"v: ''\n", "", place{1, 4, 2}},
	"no value":                   {"u: 1\nv:\n", "", place{2, 1, 1}},
}

func TestErrorAt(t *testing.T) {
	for name, tc := range positionCases {
		t.Run(name, func(t *testing.T) {
			roots, errs := Parse(File{Name: "f.yaml", Data: []byte(tc.source)})
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			n := valueOf(roots[0])
			offset := len(n.Text())
			if tc.part != "" {
				offset = strings.Index(n.Text(), tc.part)
			}
			if offset < 0 {
				t.Fatalf("%q is not in %q", tc.part, n.Text())
			}
			err := n.ErrorAt(offset, len(tc.part), "a hint", "a message")
			if diff := cmp.Diff(tc.want, place{err.Line, err.Column, err.Length}); diff != "" {
				t.Errorf("%s\n%s", diff, err.Render())
			}
		})
	}
}

// valueOf finds the node under "v".
func valueOf(root *Node) *Node {
	var found *Node
	walk(root, func(n *Node) {
		if v := n.Get("v"); v != nil {
			found = v
		}
	})
	return found
}
