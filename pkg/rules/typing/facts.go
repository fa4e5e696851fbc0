package typing

import "maps"

// Facts say which paths are not nil where an expression is evaluated, and of some which text is there. A path begins
// at a root, a number that whoever checks has given to a name. Facts are immutable,
// and the same pointer says the same; nil says nothing.
type Facts struct{ roots map[int]*presence }

// With adds that what is at a path, and all that leads there, is not nil. It returns
// f itself where that is known.
func (f *Facts) With(root int, path ...string) *Facts { return f.Is("", root, path...) }

// Is is [Facts.With] for what is this text, if it is a text and this is not "".
func (f *Facts) Is(text string, root int, path ...string) *Facts {
	if text == "" && f.Has(root, path...) {
		return f
	}
	old := f.of(root)
	sum := old.plus(at(path, text))
	if sum == old {
		return f
	}
	more := &Facts{roots: map[int]*presence{}}
	if f != nil {
		maps.Copy(more.roots, f.roots)
	}
	more.roots[root] = sum
	return more
}

// Common returns what both say, as either holds where one of two conditions does. It
// returns f itself where g says all of it too.
func (f *Facts) Common(g *Facts) *Facts {
	if f == nil || g == nil {
		return nil
	}
	both, all := &Facts{roots: map[int]*presence{}}, true
	for root, present := range f.roots {
		shared := present.common(g.roots[root])
		if shared != nil {
			both.roots[root] = shared
		}
		all = all && shared == present
	}
	switch {
	case all:
		return f
	case len(both.roots) == 0:
		return nil
	default:
		return both
	}
}

// Has reports whether it is known that what is at a path is not nil.
func (f *Facts) Has(root int, path ...string) bool {
	present := f.of(root)
	for _, key := range path {
		present = present.child(key)
	}
	return present != nil
}

// Apply returns the type of a root with what is known of it.
func (f *Facts) Apply(root int, t Type) Type { return t.refined(f.of(root)) }

func (f *Facts) of(root int) *presence {
	if f == nil {
		return nil
	}
	return f.roots[root]
}
