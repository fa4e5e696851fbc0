package footprint

import (
	"cmp"
	"iter"
	"regexp"
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

// all is the step to all keys or elements of which the step leads to one.
func (s Step) all() Step {
	if s.IntoList() {
		return Items()
	}
	return Values()
}

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
			text.WriteString(cmp.Or(s.key, "*"))
		}
	}
	return text.String()
}

// Key is the key that the step leads to, empty for any other step.
func (s Step) Key() string { return s.key }

// Index is the index that the step leads to.
func (s Step) Index() int { return s.index }

var isName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString

// Tree is a set of fields of an object, or of what is below a field, and how strongly each matters. What is said of all values is
// also in the tree of each key, and what is said of all items in that of each element. The zero Tree is empty. It may be shared
// once nobody adds to it any more.
type Tree struct {
	how   Strength
	below map[Step]*Tree
}

// Strength is how much of the field itself matters, below Exists if it is not in the tree.
func (t *Tree) Strength() Strength { return t.how }

// Below are the fields below, by the steps that lead to them. That of a key says all that the one of [Values] says, too, and that of an
// index all that the one of [Items] says. It is read only.
func (t *Tree) Below() map[Step]*Tree { return t.below }

// Empty reports whether no field is in the tree.
func (t *Tree) Empty() bool { return t.how == unread }

// All reports whether the tree is the whole object.
func (t *Tree) All() bool { return t.how == Value }

// Alias adds what is said of a field of the object for another one too.
func (t *Tree) Alias(from, to string) {
	if n := t.below[Key(from)]; n != nil {
		t.child(Key(to)).Merge(n)
	}
}

// Union returns the fields of all trees as a new one.
func Union(trees ...*Tree) *Tree {
	union := &Tree{}
	for _, t := range trees {
		union.Merge(t)
	}
	return union
}

// Add adds a field. The fields on the way to it exist thereby.
func (t *Tree) Add(path Path, how Strength) {
	if len(path) == 0 {
		t.raise(how)
		return
	}
	t.raise(Exists)
	if t.how == Value {
		return
	}
	for child := range t.grow(path[0]) {
		child.Add(path[1:], how)
	}
	t.collapse()
}

// Merge adds all fields of other.
func (t *Tree) Merge(other *Tree) {
	t.raise(other.how)
	if t.how == Value {
		return
	}
	for _, all := range [...]Step{Values(), Items()} {
		if from := other.below[all]; from != nil {
			for child := range t.grow(all) {
				child.Merge(from)
			}
		}
	}
	for s, child := range other.below {
		if s != s.all() {
			t.child(s).Merge(child)
		}
	}
	t.collapse()
}

// raise makes a field matter at least that much. What is below a whole value
// needs no trees of its own.
func (t *Tree) raise(how Strength) {
	if t.how = max(t.how, how); t.how == Value {
		*t = Tree{how: Value}
	}
}

// collapse makes one value of a field of which all that can be in it is whole.
func (t *Tree) collapse() {
	if values, items := t.below[Values()], t.below[Items()]; values != nil && items != nil && values.how == Value && items.how == Value {
		t.raise(Value)
	}
}

// grow yields the trees that a step leads to, which it makes where they are
// missing.
func (t *Tree) grow(s Step) iter.Seq[*Tree] {
	return func(yield func(*Tree) bool) {
		yield(t.child(s))
		for step, child := range t.below {
			if step != s && step.all() == s {
				yield(child)
			}
		}
	}
}

// child returns the tree of a step, which it makes where it is missing.
func (t *Tree) child(s Step) *Tree {
	child := t.below[s]
	if child == nil {
		child = &Tree{}
		if all := t.below[s.all()]; all != nil {
			child.Merge(all)
		}
		if t.below == nil {
			t.below = map[Step]*Tree{}
		}
		t.below[s] = child
	}
	return child
}

// at returns the tree that a step leads to, or nil.
func (t *Tree) at(s Step) *Tree { return cmp.Or(t.below[s], t.below[s.all()]) }
