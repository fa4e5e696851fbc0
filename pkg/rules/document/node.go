package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Kind is what a node holds.
type Kind = value.Kind

// The kinds. KindInvalid is a value that Parse has already reported, such as a
// plain "no": there is nothing more to say about it.
const (
	KindInvalid = Kind(0)
	KindNull    = value.Nil
	KindBool    = value.Bool
	KindInt     = value.Int
	KindFloat   = value.Float
	KindString  = value.String
	KindList    = value.List
	KindMap     = value.Map
)

// style is how a scalar was written, which decides how its text maps back to
// the source.
type style uint8

const (
	plain style = iota
	singleQuoted
	doubleQuoted
	block // literal or folded
)

// Node is one value of a document. It never changes and may be read by any
// number of goroutines. All methods but the constructors of errors may be
// called on a nil Node, which is an invalid one.
type Node struct {
	kind     Kind
	style    style
	text     string  // of a scalar
	scalar   any     // of a number or a boolean
	children []Entry // the elements of a list have no key
	parent   *Node
	key      *Node // the key itself, for keys and values of a map
	index    int   // in a list
	at       int   // where it begins in the source
	source   *source
}

// Entry is one key of a map with its value.
type Entry struct {
	Key   *Node
	Value *Node
}

// Kind returns what the node holds.
func (n *Node) Kind() Kind {
	if n == nil {
		return KindInvalid
	}
	return n.kind
}

// Value returns a scalar as nil, bool, int64, float64 or string, and nil for
// everything else.
func (n *Node) Value() any {
	switch {
	case n == nil:
		return nil
	case n.kind == KindString:
		return n.text
	default:
		return n.scalar
	}
}

// Text returns the text of a scalar before it got a type: "true" for a plain
// true as well as for a quoted one. Offsets of [Node.ErrorAt] count in it.
func (n *Node) Text() string {
	if n == nil {
		return ""
	}
	return n.text
}

// Plain reports whether a scalar was written without quotes.
func (n *Node) Plain() bool {
	return n.Kind() != KindInvalid && n.kind != KindList && n.kind != KindMap && n.style == plain
}

// Any returns the whole subtree as map[string]any, []any and the types of
// [Node.Value]. The caller owns it. Invalid values are nil.
func (n *Node) Any() any {
	switch n.Kind() {
	case KindMap:
		result := make(map[string]any, len(n.children))
		for _, entry := range n.children {
			result[entry.Key.text] = entry.Value.Any()
		}
		return result
	case KindList:
		result := make([]any, len(n.children))
		for i, entry := range n.children {
			result[i] = entry.Value.Any()
		}
		return result
	default:
		return n.Value()
	}
}

// Entries returns what a map holds in the order written. The caller owns the
// slice. A key may be invalid, if Parse has reported it.
func (n *Node) Entries() []Entry {
	if n.Kind() != KindMap {
		return nil
	}
	return slices.Clone(n.children)
}

// Elements returns the elements of a list. The caller owns the slice.
func (n *Node) Elements() []*Node {
	if n.Kind() != KindList {
		return nil
	}
	elements := make([]*Node, len(n.children))
	for i, entry := range n.children {
		elements[i] = entry.Value
	}
	return elements
}

func (n *Node) entry(key string) Entry {
	if n.Kind() != KindMap {
		return Entry{}
	}
	for _, entry := range n.children {
		if entry.Key.text == key {
			return entry
		}
	}
	return Entry{}
}

// Get returns the value of a key of a map, or nil.
func (n *Node) Get(key string) *Node { return n.entry(key).Value }

// Key returns the key of a map as a node, for errors about the key itself, or nil.
func (n *Node) Key(name string) *Node { return n.entry(name).Key }

// Position returns where the value starts. A value that is not written, as in
// "when:", is where its key is.
func (n *Node) Position() Position {
	if n == nil {
		return Position{}
	}
	return n.source.position(n.shown().at)
}

// Place says in a message about another node where the node is, such as "on line 7" or "in other.yaml:7". In a text that nobody has, it is
// a path.
func (n *Node) Place(from *Node) string {
	switch name, line := n.source.name, n.Position().Line; {
	case n.source.unseen && n.parent == nil:
		return "in " + name
	case n.source.unseen && name == from.source.name:
		return "at " + n.Path()
	case n.source.unseen:
		return "at " + n.Path() + " of " + name
	case name == from.source.name:
		return fmt.Sprintf("on line %d", line)
	default:
		return fmt.Sprintf("in %s:%d", name, line)
	}
}

// Path returns the way from the root of the document, such as
// spec.rules[0].when, which is also the path of the key. It is empty at the
// root.
func (n *Node) Path() string {
	if n == nil || n.parent == nil {
		return ""
	}
	path := n.parent.Path()
	switch {
	case n.key == nil:
		return fmt.Sprintf("%s[%d]", path, n.index)
	case n.key.text == "" && n.key.kind == KindInvalid:
		return path
	case !isName(n.key.text):
		return fmt.Sprintf("%s[%s]", path, quote(n.key.text))
	case path == "":
		return n.key.text
	default:
		return path + "." + n.key.text
	}
}

// isName tells whether a key can follow a dot in a path without doubt.
func isName(key string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	return key != "" && len(key) <= 63 && strings.Trim(key, letters) == ""
}

// Errorf returns an error about the whole value.
func (n *Node) Errorf(hint, format string, args ...any) *Error {
	start, end := n.shown().extent()
	return n.errorBetween(start, end, hint, format, args...)
}

// ErrorAt returns an error about a part of a scalar: offset and length count
// the bytes of [Node.Text]. Where the text comes from escapes or folded lines,
// the whole escape or the line break is meant. An offset behind the last
// character, white space aside, is the place after it.
func (n *Node) ErrorAt(offset, length int, hint, format string, args ...any) *Error {
	start, end := n.span(offset, length)
	return n.errorBetween(start, end, hint, format, args...)
}

// Pastable gives a hint about an expression the quotes that can be written within those around the scalar, or escapes them.
func (n *Node) Pastable(hint string) string {
	switch {
	case n.style == singleQuoted:
		return strings.ReplaceAll(hint, "'", "''")
	case n.style != doubleQuoted:
		return hint
	case strings.ContainsAny(hint, `'\`):
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(hint)
	default:
		return strings.ReplaceAll(hint, `"`, "'")
	}
}

func (n *Node) errorBetween(start, end int, hint, format string, args ...any) *Error {
	err := n.source.errorBetween(start, end, hint, format, args...)
	err.Path = n.Path()
	return err
}

// CutByComment returns an error if a comment follows a plain scalar on its
// line, for scalars that are expressions or templates, and nil otherwise.
func (n *Node) CutByComment() *Error {
	if !n.Plain() {
		return nil
	}
	_, end := n.extent()
	rest := firstLine(n.source.text[end:])
	comment := strings.TrimLeft(rest, " \t")
	if !strings.HasPrefix(comment, "#") || len(comment) == len(rest) {
		return nil
	}
	end += len(rest)
	return n.errorBetween(end-len(comment), end, cutHint, cutText)
}

// At returns the node at a path of keys and indexes, or what is written around it.
func At[T any](n *Node, path ...T) *Node {
	for _, step := range path {
		var next *Node
		switch step := any(step).(type) {
		case string:
			next = n.Get(step)
		case int:
			if elements := n.Elements(); step < len(elements) {
				next = elements[step]
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// KeyAt returns the key of the entry at a path that is not empty, or what [At] returns where it is not written.
func KeyAt(n *Node, path ...any) *Node {
	last := len(path) - 1
	name, _ := path[last].(string)
	return cmp.Or(At(n, path[:last]...).Key(name), At(n, path...))
}
