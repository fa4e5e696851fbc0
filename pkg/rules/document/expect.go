package document

import (
	"cmp"
	"regexp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Expect returns an error unless the node is of one of the kinds, or invalid,
// which has been reported.
func (n *Node) Expect(kinds Kind) *Error {
	if n.Kind() == KindInvalid || n.kind&kinds != 0 {
		return nil
	}
	hint := value.Rewriting(kinds, n.kind, n.text)
	if kinds == KindMap && n.kind == KindString {
		hint = cmp.Or(spaced(n.text), hint)
	}
	return n.Errorf(hint, "want %s, have %s", kinds, n.kind).Coded(CodeTypeMismatch)
}

// unspaced is a key and a value without the space that YAML needs between them.
var unspaced = regexp.MustCompile(`^([A-Za-z][\w.-]*):(\S.*)$`)

// spaced is a hint how to write what has no space behind its colon, "" for other texts.
func spaced(text string) string {
	if match := unspaced.FindStringSubmatch(text); match != nil {
		return "put a space after the colon: " + match[1] + ": " + value.Excerpt(match[2])
	}
	return ""
}
