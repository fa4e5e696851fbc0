package footprint

import (
	"slices"
	"strconv"
	"strings"
)

// Strength is how much of a field matters.
type Strength uint8

// The strengths, each of which includes those before it.
const (
	unread Strength = iota
	// Exists is whether the field is there, and the kind of its value.
	Exists
	// Length is how many elements a list has, or which keys a map has.
	Length
	// Value is all of it.
	Value
)

// Path leads from an object to a field.
type Path []Step

// Step leads from a map or a list into it.
type Step struct {
	kind  stepKind
	key   string
	index int
}

type stepKind uint8

const (
	toKey stepKind = iota
	toIndex
	toValues
	toItems
)

// Key leads to the value of a key. On a list it means whether an element is that
// string, as "in" asks for either.
func Key(key string) Step { return Step{kind: toKey, key: key} }

// Index leads to an element of a list, counted from 0.
func Index(i int) Step { return Step{kind: toIndex, index: i} }

// Values leads to the values of all keys of a map, and nowhere on a list.
func Values() Step { return Step{kind: toValues} }

// Items leads to all elements of a list, and nowhere on a map.
func Items() Step { return Step{kind: toItems} }

// Fields is the path of these keys.
func Fields(keys ...string) Path {
	path := make(Path, len(keys))
	for i, key := range keys {
		path[i] = Key(key)
	}
	return path
}

// IntoList reports whether the step leads nowhere but on a list.
func (s Step) IntoList() bool { return s.kind == toIndex || s.kind == toItems }

// Keys returns the keys of a path that goes through maps alone.
func (p Path) Keys() (keys []string, through bool) {
	for _, s := range p {
		if s.kind != toKey {
			return nil, false
		}
		keys = append(keys, s.key)
	}
	return keys, true
}

// Then returns the path with one more step. It shares nothing with p that a
// later Then could change.
func (p Path) Then(s Step) Path { return append(slices.Clip(p), s) }

// String writes the path as users do in an expression, with [*] for all elements
// of a list and .* for all values of a map; the whole object is "*".
func (p Path) String() string {
	if len(p) == 0 {
		return "*"
	}
	var text strings.Builder
	for i, s := range p {
		switch {
		case s.kind == toIndex:
			text.WriteString("[" + strconv.Itoa(s.index) + "]")
		case s.kind == toItems:
			text.WriteString("[*]")
		case s.kind == toKey && !isName(s.key):
			text.WriteString("[" + strconv.Quote(s.key) + "]")
		default:
			if i > 0 {
				text.WriteByte('.')
			}
			text.WriteString(s.name())
		}
	}
	return text.String()
}

func (s Step) name() string {
	if s.kind == toValues {
		return "*"
	}
	return s.key
}

func isName(key string) bool {
	for i, r := range key {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return key != ""
}
