package footprint

import (
	"hash/fnv"
	"math"
)

// Covers reports whether whoever has the fields of t has all of other. It may
// miss that it does, never that it does not.
func (t *Tree) Covers(other *Tree) bool { return t.root.covers(&other.root) }

func (n *Node) covers(other *Node) bool {
	switch {
	case n == nil:
		return false
	case n.how == Value:
		return true
	case n.how < other.how:
		return false
	}
	for _, s := range other.steps() {
		if !n.at(s).covers(other.at(s)) {
			return false
		}
	}
	return true
}

// Touches reports whether it matters to the tree that something at path came,
// went or changed. Steps to all items or values stand for any of them.
func (t *Tree) Touches(path Path) bool { return t.root.touches(path) }

func (n *Node) touches(path Path) bool {
	switch {
	case n.how == Value, len(path) == 0:
		return n.how != unread
	case len(path) == 1 && n.counts(path[0]):
		return true
	}
	s := path[0]
	for _, child := range n.meets(s) {
		if child.touches(path[1:]) {
			return true
		}
	}
	return false
}

// counts reports whether it matters that the entry at a step comes or goes, or
// that it changes without being looked into.
func (n *Node) counts(s Step) bool {
	if s.kind == toKey || s.kind == toValues {
		return n.how >= Length || alwaysKept(s.key)
	}
	return n.how >= Length || n.items != nil || len(n.elements) > 0 || len(n.fields) > 0
}

// meets returns the nodes of fields that a step can lead to too.
func (n *Node) meets(s Step) []*Node {
	var met []*Node
	if child := n.at(s); child != nil {
		met = append(met, child)
	}
	switch s.kind {
	case toValues:
		for _, child := range n.fields {
			met = append(met, child)
		}
	case toItems:
		for _, child := range n.elements {
			met = append(met, child)
		}
	default:
	}
	return met
}

// Overlap lists in order where a change of the fields of one tree can matter to
// the other.
func (t *Tree) Overlap(other *Tree) []string {
	return t.root.overlap(&other.root, nil).Paths()
}

// Mask says by its bits which fields near the top are in the tree: of two trees whose masks
// have no bit in common, nothing overlaps.
func (t *Tree) Mask() uint64 {
	const anything = math.MaxUint64
	if !t.root.keyed() {
		return anything
	}
	var mask uint64
	for key, field := range t.root.fields {
		if !field.keyed() {
			return anything
		}
		for below := range field.fields {
			hash := fnv.New32a()
			hash.Write([]byte(key + "\x00" + below))
			mask |= 1 << (hash.Sum32() % 64)
		}
	}
	return mask
}

// keyed reports whether only single keys of a field are in the tree.
func (n *Node) keyed() bool {
	return len(n.fields) > 0 && n.how < Length && n.values == nil && n.items == nil && len(n.elements) == 0
}

// overlap returns the fields below path that are in both trees.
func (n *Node) overlap(other *Node, path Path) *Tree {
	common := &Tree{}
	if n.how == unread || other.how == unread {
		return common
	}
	if n.meetsHere(other) || other.meetsHere(n) {
		common.Add(path, Value)
		return common
	}
	for _, s := range n.steps() {
		for _, o := range other.meeting(s) {
			both := s
			if s.kind == toValues || s.kind == toItems {
				both = o // Which says no less.
			}
			common.Merge(n.at(s).overlap(other.at(o), path.Then(both)))
		}
	}
	return common
}

// meeting returns the steps of n that can lead to what a step of another tree leads to.
func (n *Node) meeting(s Step) []Step {
	if s.IntoList() {
		return meeting(s, n.items != nil, n.elements, s.index, Items(), Index)
	}
	return meeting(s, n.values != nil, n.fields, s.key, Values(), Key)
}

// meeting is for the entries of a map or a list: all is the step to all of them, where there
// is one, and to leads to a single one.
func meeting[K comparable](s Step, hasAll bool, single map[K]*Node, key K, all Step, to func(K) Step) (met []Step) {
	if hasAll {
		met = append(met, all)
	}
	if s != all {
		if single[key] != nil {
			met = append(met, s)
		}
		return met
	}
	for key := range single {
		met = append(met, to(key))
	}
	return met
}

// meetsHere reports whether a change of other's fields matters to n itself, not
// only to what is below it.
func (n *Node) meetsHere(other *Node) bool {
	return n.how == Value || n.leaf() || n.how == Length && (!other.leaf() || other.how == Value)
}

func (n *Node) leaf() bool {
	return len(n.fields) == 0 && len(n.elements) == 0 && n.values == nil && n.items == nil
}

// alwaysKept reports whether a key stays in every map of which something is kept: a map that has both is an object, whose spec
// and status read as empty maps where they are absent.
func alwaysKept(key string) bool { return key == "apiVersion" || key == "kind" }
