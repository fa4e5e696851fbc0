package plan

import (
	"fmt"
	"slices"
)

// claimTree is what the accepted rules want of one object. It answers
// whether a further rule agrees with all of them.
type claimTree struct {
	children map[string]*claimTree
	claim    *claim
	rule     Rule
}

// Conflict says that two rules want different values for a field.
type Conflict struct {
	Path   Path
	Winner Rule
}

func (c Conflict) Error() string {
	if len(c.Path) == 3 && slices.Contains([]string{LabelSet, LabelRule, LabelOwnerUID}, c.Path[2]) {
		// Nobody wrote the label: it says whose child the object is.
		return fmt.Sprintf("the object is made by rule %s, which comes first", c.Winner)
	}
	return fmt.Sprintf("%s is decided by rule %s, which comes first", c.Path, c.Winner)
}

// conflict returns the first disagreement of another rule with c, or nil. What
// a rule wants twice itself is no conflict: its later action wins.
func (t *claimTree) conflict(rule Rule, c claim) *Conflict {
	at := t
	for i, step := range c.path {
		if at.disagrees(rule, c, c.path[i:]) {
			return &Conflict{Path: c.path, Winner: at.rule}
		}
		if mixed := at.mixes(rule, c, i); mixed != nil {
			return mixed
		}
		if at = at.children[step]; at == nil {
			return nil
		}
	}
	return at.conflictBelow(rule, c, nil)
}

// conflictBelow compares c with what is claimed at and under its own path.
func (t *claimTree) conflictBelow(rule Rule, c claim, below Path) *Conflict {
	if t.claim != nil && t.rule != rule && !agree(c, below, *t.claim) {
		return &Conflict{Path: t.claim.path, Winner: t.rule}
	}
	for _, step := range sortedKeys(t.children) {
		if found := t.children[step].conflictBelow(rule, c, below.child(step)); found != nil {
			return found
		}
	}
	return nil
}

func (t *claimTree) disagrees(rule Rule, c claim, below Path) bool {
	return t.claim != nil && t.rule != rule && !agree(*t.claim, below, c)
}

// mixes reports that one rule counts the elements of a list and another names
// them, which moves them.
func (t *claimTree) mixes(rule Rule, c claim, depth int) *Conflict {
	if depth != len(finalizersPath) || !c.path.hasPrefix(finalizersPath) {
		return nil
	}
	for _, step := range sortedKeys(t.children) {
		child := t.children[step]
		if child.claim != nil && child.rule != rule && child.claim.member != c.member {
			return &Conflict{Path: finalizersPath, Winner: child.rule}
		}
	}
	return nil
}

// agree compares what one claim wants at a path under it with what the other,
// which is for that path, wants there.
func agree(a claim, below Path, b claim) bool {
	switch {
	case a.merged && b.merged:
		return true
	case a.opaque || b.opaque:
		return false
	case a.merged && b.member && !b.absent:
		return true // The API server merges finalizers as a set.
	}
	left, leftOK := Lookup(a.value, below)
	if b.member {
		left, leftOK = memberAt(a.value, below)
	}
	leftOK, rightOK := leftOK && !a.absent, !b.absent
	return leftOK == rightOK && (!leftOK || Equal(left, b.value))
}

// memberAt is lookup where the last step, if there is one, names an element of
// a list.
func memberAt(value any, path Path) (found any, ok bool) {
	if len(path) == 0 {
		return value, true
	}
	name := path[len(path)-1]
	parent, _ := Lookup(value, path[:len(path)-1])
	list, _ := parent.([]any)
	return name, slices.Contains(list, any(name))
}

// add records an accepted claim. The first rule to claim a place stays its
// owner; a rule's own later claim replaces its earlier ones above and below.
func (t *claimTree) add(rule Rule, c claim) {
	at := t
	for _, step := range c.path {
		if at.rule == rule {
			at.claim = nil
		}
		next := at.children[step]
		if next == nil {
			next = &claimTree{}
			if at.children == nil {
				at.children = map[string]*claimTree{}
			}
			at.children[step] = next
		}
		at = next
	}
	at.drop(rule)
	if at.claim == nil {
		at.claim, at.rule = &c, rule
	}
}

// drop forgets the claims of a rule at and below a place.
func (t *claimTree) drop(rule Rule) {
	if t.rule == rule {
		t.claim = nil
	}
	for _, child := range t.children {
		child.drop(rule)
	}
}
