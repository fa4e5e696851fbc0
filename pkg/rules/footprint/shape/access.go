package shape

import "github.com/dyncontroller/dyncontroller/pkg/rules/footprint"

// Key returns the shape of the value of a key, of which nothing is read yet.
func (s Shape) Key(key string) Shape {
	below := s.below(footprint.Key(key))
	field, known := s.fields[key]
	if known {
		below = append(below, field)
	}
	if s.values != nil {
		below = append(below, *s.values)
	}
	if !known || s.other {
		below = append(below, Other())
	}
	return Union(below...)
}

// Index returns the shape of an element, counted from the end where i is negative.
func (s Shape) Index(i int) Shape {
	if i < 0 {
		return Union(s.Items(), Other())
	}
	below := s.below(footprint.Index(i))
	if s.items != nil {
		below = append(below, *s.items)
	}
	return Union(append(below, Other())...)
}

// Items returns the shape of any element of a list.
func (s Shape) Items() Shape {
	below := s.below(footprint.Items())
	if s.items != nil {
		below = append(below, *s.items)
	}
	if s.other {
		below = append(below, Other())
	}
	return Union(below...)
}

// Values returns the shape of the value of any key of a map.
func (s Shape) Values() Shape {
	below := s.below(footprint.Values())
	for _, field := range s.fields {
		below = append(below, field)
	}
	if s.values != nil {
		below = append(below, *s.values)
	}
	if s.other {
		below = append(below, Other())
	}
	return Union(below...)
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

// below goes a step into each part, which is an error if it has the wrong kind,
// so that its kind matters. Of objects that are read as a whole nothing more can be read, so
// that they are not followed any further.
func (s Shape) below(step footprint.Step) []Shape {
	if s.read && len(s.parts) > 0 {
		return []Shape{Other()}
	}
	below := make([]Shape, 0, len(s.parts)+2)
	for _, p := range s.parts {
		if len(p.path) == 0 && step.IntoList() {
			continue // An object is always a map.
		}
		p.tree.Add(p.path, footprint.Exists)
		below = append(below, of(part{tree: p.tree, path: p.path.Then(step)}))
	}
	return below
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
	single := Shape{parts: elements.parts, fields: elements.fields, values: elements.values, other: elements.other}
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
