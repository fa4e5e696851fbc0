package footprint

import (
	"cmp"
	"iter"
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

func isName(key string) bool {
	for i, r := range key {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return key != ""
}

// Tree is a set of fields of an object and how strongly each matters. The zero
// Tree is empty. It may be shared once nobody adds to it any more.
type Tree struct{ root Node }

// Node is a field of a tree. The fields below it hold in each other: what is said of all values is
// also in that of each key, and what is said of all items in that of each element.
type Node struct {
	how   Strength
	below map[Step]*Node
}

// Root returns the whole object as a field, for who walks the tree. The nodes are read only.
func (t *Tree) Root() *Node { return &t.root }

// Strength is how much of the field matters, below Exists if it is not in the tree.
func (n *Node) Strength() Strength { return n.how }

// Below are the fields below, by the steps that lead to them. That of a key says all that the one of [Values] says, too, and that of an
// index all that the one of [Items] says.
func (n *Node) Below() map[Step]*Node { return n.below }

// Add adds a field. The fields on the way to it exist thereby.
func (t *Tree) Add(path Path, how Strength) { t.root.add(path, how) }

// Merge adds all fields of other.
func (t *Tree) Merge(other *Tree) { t.root.merge(&other.root) }

// Alias adds what is said of a field of the object for another one too.
func (t *Tree) Alias(from, to string) {
	if n := t.root.below[Key(from)]; n != nil {
		t.root.child(Key(to)).merge(n)
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

// Empty reports whether no field is in the tree.
func (t *Tree) Empty() bool { return t.root.how == unread }

// All reports whether the tree is the whole object.
func (t *Tree) All() bool { return t.root.how == Value }

func (n *Node) add(path Path, how Strength) {
	if len(path) == 0 {
		n.raise(how)
		return
	}
	n.raise(Exists)
	if n.how == Value {
		return
	}
	for child := range n.grow(path[0]) {
		child.add(path[1:], how)
	}
	n.collapse()
}

// raise makes a field matter at least that much. What is below a whole value
// needs no nodes of its own.
func (n *Node) raise(how Strength) {
	if n.how = max(n.how, how); n.how == Value {
		*n = Node{how: Value}
	}
}

// collapse makes one value of a field of which all that can be in it is whole.
func (n *Node) collapse() {
	if values, items := n.below[Values()], n.below[Items()]; values != nil && items != nil && values.how == Value && items.how == Value {
		n.raise(Value)
	}
}

// grow yields the nodes that a step leads to, which it makes where they are
// missing.
func (n *Node) grow(s Step) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		yield(n.child(s))
		for step, child := range n.below {
			if step != s && step.all() == s {
				yield(child)
			}
		}
	}
}

// child returns the node of a step, which it makes where it is missing.
func (n *Node) child(s Step) *Node {
	child := n.below[s]
	if child == nil {
		child = &Node{}
		if all := n.below[s.all()]; all != nil {
			child.merge(all)
		}
		if n.below == nil {
			n.below = map[Step]*Node{}
		}
		n.below[s] = child
	}
	return child
}

func (n *Node) merge(other *Node) {
	n.raise(other.how)
	if n.how == Value {
		return
	}
	for _, all := range [...]Step{Values(), Items()} {
		if from := other.below[all]; from != nil {
			for child := range n.grow(all) {
				child.merge(from)
			}
		}
	}
	for s, child := range other.below {
		if s != s.all() {
			n.child(s).merge(child)
		}
	}
	n.collapse()
}

// at returns the node that a step leads to, or nil.
func (n *Node) at(s Step) *Node {
	if child := n.below[s]; child != nil {
		return child
	}
	return n.below[s.all()]
}
