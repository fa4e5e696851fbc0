package footprint

import (
	"iter"
	"maps"
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

// Tree is a set of fields of an object and how strongly each matters. The zero
// Tree is empty. It may be shared once nobody adds to it any more.
type Tree struct{ root Node }

// Node is a field of a tree. The fields below it hold in each other: what values says is
// also in every one of fields, and what items says in every one of elements.
type Node struct {
	how      Strength
	fields   map[string]*Node
	values   *Node
	elements map[int]*Node
	items    *Node
}

// Root returns the whole object as a field, for who walks the tree. The nodes are read only.
func (t *Tree) Root() *Node { return &t.root }

// Strength is how much of the field matters, below Exists if it is not in the tree.
func (n *Node) Strength() Strength { return n.how }

// Fields are the fields of a map, by key. Each says all that Values says, too.
func (n *Node) Fields() iter.Seq2[string, *Node] { return maps.All(n.fields) }

// Elements are the elements of a list, by index. Each says all that Items says, too.
func (n *Node) Elements() iter.Seq2[int, *Node] { return maps.All(n.elements) }

// Values stands for the values of all keys of a map that are not among Fields. It is nil where nothing of them matters.
func (n *Node) Values() *Node { return n.values }

// Items stands for all elements of a list that are not among Elements. It is nil where nothing of them matters.
func (n *Node) Items() *Node { return n.items }

// Add adds a field. The fields on the way to it exist thereby.
func (t *Tree) Add(path Path, how Strength) { t.root.add(path, how) }

// Merge adds all fields of other.
func (t *Tree) Merge(other *Tree) { t.root.merge(&other.root) }

// Alias adds what is said of a field of the object for another one too.
func (t *Tree) Alias(from, to string) {
	if n := t.root.fields[from]; n != nil {
		t.root.field(to).merge(n)
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
	for _, child := range n.grow(path[0]) {
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
	if n.values != nil && n.items != nil && n.values.how == Value && n.items.how == Value {
		n.raise(Value)
	}
}

// grow returns the nodes that a step leads to, which it makes where they are
// missing.
func (n *Node) grow(s Step) []*Node {
	var reached []*Node
	switch s.kind {
	case toKey:
		return []*Node{n.field(s.key)}
	case toIndex:
		return []*Node{n.element(s.index)}
	case toValues:
		if n.values == nil {
			n.values = &Node{}
		}
		reached = append(reached, n.values)
		for _, child := range n.fields {
			reached = append(reached, child)
		}
	case toItems:
		if n.items == nil {
			n.items = &Node{}
		}
		reached = append(reached, n.items)
		for _, child := range n.elements {
			reached = append(reached, child)
		}
	}
	return reached
}

func (n *Node) field(key string) *Node {
	child := n.fields[key]
	if child == nil {
		child = n.values.clone()
		if n.fields == nil {
			n.fields = map[string]*Node{}
		}
		n.fields[key] = child
	}
	return child
}

func (n *Node) element(i int) *Node {
	child := n.elements[i]
	if child == nil {
		child = n.items.clone()
		if n.elements == nil {
			n.elements = map[int]*Node{}
		}
		n.elements[i] = child
	}
	return child
}

// clone returns a copy; of no node it is an empty one.
func (n *Node) clone() *Node {
	copied := &Node{}
	if n != nil {
		copied.merge(n)
	}
	return copied
}

func (n *Node) merge(other *Node) {
	n.raise(other.how)
	if n.how == Value {
		return
	}
	if other.values != nil {
		for _, child := range n.grow(Values()) {
			child.merge(other.values)
		}
	}
	if other.items != nil {
		for _, child := range n.grow(Items()) {
			child.merge(other.items)
		}
	}
	for key, child := range other.fields {
		n.field(key).merge(child)
	}
	for i, child := range other.elements {
		n.element(i).merge(child)
	}
	n.collapse()
}

// at returns the node that a step leads to, or nil.
func (n *Node) at(s Step) *Node {
	switch s.kind {
	case toKey:
		if child := n.fields[s.key]; child != nil {
			return child
		}
		return n.values
	case toIndex:
		if child := n.elements[s.index]; child != nil {
			return child
		}
		return n.items
	case toValues:
		return n.values
	default:
		return n.items
	}
}

// steps returns the steps that lead to nodes.
func (n *Node) steps() []Step {
	steps := make([]Step, 0, len(n.fields)+len(n.elements)+2)
	for key := range maps.Keys(n.fields) {
		steps = append(steps, Key(key))
	}
	for i := range maps.Keys(n.elements) {
		steps = append(steps, Index(i))
	}
	if n.values != nil {
		steps = append(steps, Values())
	}
	if n.items != nil {
		steps = append(steps, Items())
	}
	return steps
}
