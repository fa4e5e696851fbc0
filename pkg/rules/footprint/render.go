package footprint

import "slices"

// Paths lists the fields in order, each once and without those that another
// includes; the whole object is "*".
func (t *Tree) Paths() []string {
	paths := []string{}
	if t.Empty() {
		return paths
	}
	t.root.list(nil, nil, &paths)
	slices.Sort(paths)
	return slices.Compact(paths)
}

// list appends what n says beyond known, which may be nil: the node of all
// values or items that n is one of.
func (n *Node) list(path Path, known *Node, paths *[]string) {
	if known != nil && known.covers(n) {
		return
	}
	switch {
	case n.how == Value:
		*paths = append(*paths, path.String())
	case n.how == Length && n.values == nil && n.items == nil:
		*paths = append(*paths, "len("+path.String()+")")
	case n.leaf() && len(path) > 0:
		*paths = append(*paths, "exists("+path.String()+")")
	}
	for _, s := range n.steps() {
		n.at(s).list(path.Then(s), n.wider(s, known), paths)
	}
}

// wider returns the node that says what n's child says too: of all values or items
// beside it, or in known.
func (n *Node) wider(s Step, known *Node) *Node {
	switch {
	case s.kind == toKey && n.values != nil:
		return n.values
	case s.kind == toIndex && n.items != nil:
		return n.items
	case known != nil:
		return known.at(s)
	default:
		return nil
	}
}
