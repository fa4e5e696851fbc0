package shape

import (
	"cmp"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// Shape is what a value can be: any of several parts of objects, a map or a list
// of shapes, or something else that holds no part of an object. It is immutable.
// The zero Shape is no value at all, as omit() gives.
type Shape struct {
	parts []part
	// fields are the entries of a map whose keys are known, nil if it can be none.
	// values are those whose keys are not known.
	fields map[string]Shape
	values *Shape
	// items is any element of a list.
	items *Shape
	// other says that it can be something else.
	other bool
	// size counts the shapes that it is made of.
	size int
	// read says that the parts are whole objects, all of which is read already.
	read bool
}

// part is a field of an object whose reads go to a tree.
type part struct {
	tree *footprint.Tree
	path footprint.Path
}

// maxSize keeps the work on one shape small. Expressions that people write stay
// far below.
const maxSize = 200

// Object returns the shape of an object whose reads go to a tree, or to several where it
// can be of several resources. Objects of one resource may share it.
func Object(reads ...*footprint.Tree) Shape {
	s := Shape{parts: make([]part, len(reads)), size: len(reads), read: true}
	for i, tree := range reads {
		s.parts[i].tree = tree
		s.read = s.read && tree.All()
	}
	return s
}

func of(p part) Shape { return Shape{parts: []part{p}, size: 1} }

// Other returns the shape of what holds no part of an object: a number, a new
// string, nil.
func Other() Shape { return Shape{other: true, size: 1} }

// List returns the shape of a list with elements of that shape.
func List(items Shape) Shape { return Shape{items: &items}.measured() }

// Map returns the shape of a map with these entries and, under keys that are not
// known, these values.
func Map(fields map[string]Shape, values ...Shape) Shape {
	s := Shape{fields: fields}
	if fields == nil {
		s.fields = map[string]Shape{}
	}
	if len(values) > 0 {
		union := Union(values...)
		s.values = &union
	}
	return s.measured()
}

// Union returns the shape of what is one of several.
func Union(shapes ...Shape) Shape {
	var union Shape
	several := 0
	for _, s := range shapes {
		if s.size > 0 {
			union = s
			several++
		}
	}
	if several < 2 {
		return union
	}
	union = Shape{}
	for _, s := range shapes {
		for _, p := range s.parts {
			if !slices.ContainsFunc(union.parts, p.equal) {
				union.parts = append(union.parts, p)
			}
		}
		union.other = union.other || s.other
		union.values, union.items = either(union.values, s.values), either(union.items, s.items)
		if s.fields != nil && union.fields == nil {
			union.fields = make(map[string]Shape, len(s.fields))
		}
		for key, field := range s.fields {
			union.fields[key] = Union(union.fields[key], field)
		}
	}
	return union.measured()
}

func either(s, t *Shape) *Shape {
	if s == nil || t == nil {
		return cmp.Or(s, t)
	}
	both := Union(*s, *t)
	return &both
}

func (p part) equal(q part) bool { return p.tree == q.tree && slices.Equal(p.path, q.path) }

// measured returns s with its size, which grows with everything that [Union]
// adds, or gives up what is too large.
func (s Shape) measured() Shape {
	s.size = len(s.parts)
	if s.other {
		s.size++
	}
	if s.fields != nil {
		s.size++
	}
	for _, field := range s.fields {
		s.size += 1 + field.size
	}
	if s.values != nil {
		s.size += 1 + s.values.size
	}
	if s.items != nil {
		s.size += 1 + s.items.size
	}
	if s.size <= maxSize {
		return s
	}
	s.Read(footprint.Value)
	return Other()
}

// Same reports whether t, which must be a [Union] of s and something, says no more
// than s.
func (s Shape) Same(t Shape) bool { return s.size == t.size }

// Read records how much of the value matters. What expressions build is read only
// by value: its kind, its length and its keys are known.
func (s Shape) Read(how footprint.Strength) {
	for _, p := range s.parts {
		p.tree.Add(p.path, how)
	}
	if how < footprint.Value {
		return
	}
	for _, field := range s.fields {
		field.Read(how)
	}
	if s.values != nil {
		s.values.Read(how)
	}
	if s.items != nil {
		s.items.Read(how)
	}
}

// Objects returns the trees of the whole objects that the value can be, or that
// the elements of the list can be.
func (s Shape) Objects() []*footprint.Tree {
	var trees []*footprint.Tree
	add := func(parts []part) {
		for _, p := range parts {
			if len(p.path) == 0 && !slices.Contains(trees, p.tree) {
				trees = append(trees, p.tree)
			}
		}
	}
	add(s.parts)
	if s.items != nil {
		add(s.items.parts)
	}
	return trees
}
