package footprint

import (
	"cmp"
	"slices"
)

// Shape is what a value can be: any of several parts of objects, a map or a list
// of shapes, or something else that holds no part of an object. It is immutable.
// The zero Shape is no value at all, as omit() gives.
type Shape struct {
	parts []origin
	// fields are the entries of a map whose keys are known, nil if it can be none.
	// values are those whose keys are not known.
	fields map[string]Shape
	values *Shape
	// items is any element of a list.
	items *Shape
	// other says that it can be something else.
	other bool
	// optional says that the map or list around the value may not contain it, as with omit().
	optional bool
	// untracked says that the value, and every value in it, can be any of the parts.
	untracked bool
	// size counts the shapes that it is made of.
	size int
	// read says that the parts are whole objects, all of which is read already.
	read bool
}

// part is a field of an object whose reads go to a tree.
type origin struct {
	tree *Tree
	path Path
}

// Untracked reads all of the value, and returns a shape that is not followed any further: it may be, or contain, any object that s
// contains.
func (s Shape) Untracked() Shape {
	s.Read(Value)
	out := Shape{other: true, untracked: true}
	s.objects(&out.parts)
	return out.measured()
}

// objects collects the whole objects that the value can be, or can have in it.
func (s Shape) objects(found *[]origin) {
	for _, p := range s.parts {
		if len(p.path) == 0 && !slices.ContainsFunc(*found, p.equal) {
			*found = append(*found, p)
		}
	}
	for _, field := range s.fields {
		field.objects(found)
	}
	for _, below := range []*Shape{s.values, s.items} {
		if below != nil {
			below.objects(found)
		}
	}
}

// maxSize keeps the work on one shape small. Expressions that people write stay
// far below.
const maxSize = 200

// Object returns the shape of an object whose reads go to a tree, or to several where it
// can be of several resources. Objects of one resource may share it.
func Object(reads ...*Tree) Shape {
	s := Shape{parts: make([]origin, len(reads)), size: len(reads), read: true}
	for i, tree := range reads {
		s.parts[i].tree = tree
		s.read = s.read && tree.All()
	}
	return s
}

func of(p origin) Shape { return Shape{parts: []origin{p}, size: 1} }

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
		union := OneOf(values...)
		s.values = &union
	}
	return s.measured()
}

// OneOf returns the shape of what is one of several.
func OneOf(shapes ...Shape) Shape {
	values := slices.DeleteFunc(slices.Clone(shapes), func(s Shape) bool { return s.size == 0 })
	if len(values) == 0 {
		return Shape{}
	}
	union, untracked := values[0], values[0].untracked
	union.optional = union.optional || len(values) < len(shapes)
	for _, s := range values[1:] {
		union.parts, union.read = slices.Clip(union.parts), false
		for _, p := range s.parts {
			if !slices.ContainsFunc(union.parts, p.equal) {
				union.parts = append(union.parts, p)
			}
		}
		union.fields = eitherOf(union.fields, s.fields)
		union.values, union.items = either(union.values, s.values), either(union.items, s.items)
		union.other, union.optional, untracked = union.other || s.other, union.optional || s.optional, untracked || s.untracked
	}
	if untracked {
		return union.Untracked()
	}
	return union.measured()
}

// eitherOf are the entries of one of two maps: one that is not in both is optional, as one of the two is no value.
func eitherOf(s, t map[string]Shape) map[string]Shape {
	switch {
	case s == nil:
		return t
	case t == nil:
		return s
	}
	both := make(map[string]Shape, len(s)+len(t))
	for key, field := range s {
		both[key] = OneOf(field, t[key])
	}
	for key, field := range t {
		both[key] = OneOf(s[key], field)
	}
	return both
}

func either(s, t *Shape) *Shape {
	if s == nil || t == nil {
		return cmp.Or(s, t)
	}
	both := OneOf(*s, *t)
	return &both
}

func (p origin) equal(q origin) bool { return p.tree == q.tree && slices.Equal(p.path, q.path) }

// measured returns s with its size, which grows with everything that [OneOf]
// adds, or gives up what is too large.
func (s Shape) measured() Shape {
	s.size = len(s.parts)
	for _, more := range []bool{s.other, s.optional} {
		if more {
			s.size++
		}
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
	if s.size <= maxSize || s.untracked {
		return s
	}
	return s.Untracked()
}

// Same reports whether t, which must be a [OneOf] of s and something, says no more
// than s.
func (s Shape) Same(t Shape) bool { return s.size == t.size }

// Read records how much of the value matters. What expressions build is read only
// by value: its kind, its length and its keys are known.
func (s Shape) Read(how Strength) {
	for _, p := range s.parts {
		p.tree.Add(p.path, how)
	}
	if how < Value {
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
func (s Shape) Objects() []*Tree {
	var trees []*Tree
	add := func(parts []origin) {
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

// Key returns the shape of the value of a key, of which nothing is read yet.
func (s Shape) Key(key string) Shape {
	field, known := s.fields[key]
	other := s.other || !known || field.optional
	field.optional = false
	return s.into(Key(key), other, &field, s.values)
}

// Index returns the shape of an element, counted from the end where i is negative.
func (s Shape) Index(i int) Shape {
	if i < 0 {
		return OneOf(s.Items(), Other())
	}
	return s.into(Index(i), true, s.items)
}

// Items returns the shape of any element of a list.
func (s Shape) Items() Shape { return s.into(Items(), s.other, s.items) }

// Values returns the shape of the value of any key of a map.
func (s Shape) Values() Shape {
	built := []*Shape{s.values}
	for _, field := range s.fields {
		built = append(built, &field)
	}
	return s.into(Values(), s.other, built...)
}

// At returns the shape of what is at a key or index, which is nil if it is not
// known.
func (s Shape) At(key any) Shape {
	switch key := key.(type) {
	case string:
		return s.Key(key)
	case int64:
		return s.Index(int(key))
	default:
		return OneOf(s.Items(), s.Values(), Other())
	}
}

// into goes a step into each part, which is an error if it has the wrong kind, so that its kind matters, and joins what
// expressions build there. Of objects that are read as a whole nothing more can be read, so that they are not followed any
// further.
func (s Shape) into(step Step, other bool, built ...*Shape) Shape {
	if s.untracked {
		return s
	}
	below := make([]Shape, 0, len(s.parts)+len(built)+1)
	if s.read && len(s.parts) > 0 {
		other = true
	} else {
		for _, p := range s.parts {
			if len(p.path) == 0 && step.IntoList() {
				continue // An object is always a map.
			}
			p.tree.Add(p.path, Exists)
			below = append(below, of(origin{tree: p.tree, path: p.path.Then(step)}))
		}
	}
	for _, b := range built {
		if b != nil && b.size > 0 {
			below = append(below, *b)
		}
	}
	if other {
		below = append(below, Other())
	}
	return OneOf(below...)
}

// Typed records that it matters whether the value is an object, with apiVersion
// and kind. Parts of objects always keep both.
func (s Shape) Typed() {
	built := s
	built.parts = nil
	for _, key := range [...]string{"apiVersion", "kind"} {
		built.Key(key).Read(Exists)
	}
}

// Has records that it matters whether a map has a key, or a list that string.
func (s Shape) Has(key string) {
	for _, p := range s.parts {
		p.tree.Add(p.path.Then(Key(key)), Exists)
	}
	if s.items != nil {
		s.items.Read(Value)
	}
}

// Flat returns the shape of any element of a list in which the lists, at any depth,
// are replaced by their elements.
func (s Shape) Flat() Shape {
	elements := s.Items()
	single := elements
	single.items = nil
	flat := []Shape{single.measured()}
	if elements.items != nil {
		flat = append(flat, Shape{items: elements.items}.Flat())
	}
	for _, p := range elements.parts {
		items := of(p).Items()
		flat = append(flat, items)
		// Lists in those lists are too rare to follow.
		items.Items().Read(Value)
	}
	return OneOf(flat...)
}

// Written adds to a tree what a patch writes that has the value at a path: the
// entries of the maps that the expression builds, the whole path otherwise. A
// map without entries writes that there is one.
func (s Shape) Written(writes *Tree, path Path) {
	if s.fields == nil || s.items != nil || s.other || len(s.parts) > 0 {
		if s.size > 0 {
			writes.Add(path, Value)
		}
		return
	}
	writes.Add(path, Exists)
	for key, field := range s.fields {
		field.Written(writes, path.Then(Key(key)))
	}
	if s.values != nil {
		s.values.Written(writes, path.Then(Values()))
	}
}
