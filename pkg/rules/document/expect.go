package document

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Expect returns an error unless the node is of one of the kinds, or invalid,
// which has been reported.
func (n *Node) Expect(kinds ...Kind) *Error {
	if n.Kind() == KindInvalid || slices.Contains(kinds, n.kind) {
		return nil
	}
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = kind.String()
	}
	return n.Errorf(n.expected(kinds[0]), "want %s, have %s", strings.Join(names, " or "), n.kind).Coded(CodeTypeMismatch)
}

// unspaced is a key and a value without the space that YAML needs between them.
var unspaced = regexp.MustCompile(`^([A-Za-z][\w.-]*):(\S.*)$`)

// expected says how to write a node of the kind, best with what is there.
func (n *Node) expected(kind Kind) string {
	value, _, _ := Resolve(n.text)
	match := unspaced.FindStringSubmatch(n.text)
	switch {
	case n.kind == KindNull:
		return "give it a value or remove it"
	case kind == KindString && n.kind < KindList:
		return "put it in quotes: " + quote(n.text)
	case n.kind == KindString && kind < KindString && kindOf(value) == kind:
		return "write it without quotes: " + n.text
	case kind == KindMap && n.kind == KindString && match != nil:
		return fmt.Sprintf("put a space after the colon: %s: %s", match[1], shorten(match[2]))
	default:
		return map[Kind]string{
			KindNull:   "remove the value",
			KindBool:   "write true or false",
			KindInt:    "write a whole number like 3",
			KindFloat:  "write a number like 0.5",
			KindString: "write text",
			KindList:   `write "- " before each element, or [a, b]`,
			KindMap:    "write lines of key: value, or {key: value}",
		}[kind]
	}
}
