package shape

import "github.com/dyncontroller/dyncontroller/pkg/rules/footprint"

// Key returns the shape of the value of a key, of which nothing is read yet.
func (s Shape) Key(key string) Shape {
	field, known := s.fields[key]
	return s.into(footprint.Key(key), s.other || !known, &field, s.values)
}

// Index returns the shape of an element, counted from the end where i is negative.
func (s Shape) Index(i int) Shape {
	if i < 0 {
		return Union(s.Items(), Other())
	}
	return s.into(footprint.Index(i), true, s.items)
}

// Items returns the shape of any element of a list.
func (s Shape) Items() Shape { return s.into(footprint.Items(), s.other, s.items) }

// Values returns the shape of the value of any key of a map.
func (s Shape) Values() Shape {
	built := []*Shape{s.values}
	for _, field := range s.fields {
		built = append(built, &field)
	}
	return s.into(footprint.Values(), s.other, built...)
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
		return Union(s.Items(), s.Values(), Other())
	}
}

// into goes a step into each part, which is an error if it has the wrong kind, so that its kind matters, and joins what
// expressions build there. Of objects that are read as a whole nothing more can be read, so that they are not followed any
// further.
func (s Shape) into(step footprint.Step, other bool, built ...*Shape) Shape {
	below := make([]Shape, 0, len(s.parts)+len(built)+1)
	if s.read && len(s.parts) > 0 {
		other = true
	} else {
		for _, p := range s.parts {
			if len(p.path) == 0 && step.IntoList() {
				continue // An object is always a map.
			}
			p.tree.Add(p.path, footprint.Exists)
			below = append(below, of(part{tree: p.tree, path: p.path.Then(step)}))
		}
	}
	for _, b := range built {
		if b != nil {
			below = append(below, *b)
		}
	}
	if other {
		below = append(below, Other())
	}
	return Union(below...)
}

// Typed records that it matters whether the value is an object, with apiVersion
// and kind. Parts of objects always keep both.
func (s Shape) Typed() {
	built := s
	built.parts = nil
	for _, key := range [...]string{"apiVersion", "kind"} {
		built.Key(key).Read(footprint.Exists)
	}
}

// Has records that it matters whether a map has a key, or a list that string.
func (s Shape) Has(key string) {
	for _, p := range s.parts {
		p.tree.Add(p.path.Then(footprint.Key(key)), footprint.Exists)
	}
	if s.items != nil {
		s.items.Read(footprint.Value)
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
		items.Items().Read(footprint.Value)
	}
	return Union(flat...)
}

// Written adds to a tree what a patch writes that has the value at a path: the
// entries of the maps that the expression builds, the whole path otherwise. A
// map without entries writes that there is one.
func (s Shape) Written(writes *footprint.Tree, path footprint.Path) {
	if s.fields == nil || s.items != nil || s.other || len(s.parts) > 0 {
		if s.size > 0 {
			writes.Add(path, footprint.Value)
		}
		return
	}
	writes.Add(path, footprint.Exists)
	for key, field := range s.fields {
		field.Written(writes, path.Then(footprint.Key(key)))
	}
	if s.values != nil {
		s.values.Written(writes, path.Then(footprint.Values()))
	}
}
