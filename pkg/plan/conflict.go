package plan

import "fmt"

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
		if at = at.children[step]; at == nil {
			return nil
		}
	}
	return at.conflictBelow(rule, c, nil)
}

// conflictBelow compares c with what is claimed at and under its own path.
func (t *claimTree) conflictBelow(rule Rule, c claim, below Path) *Conflict {
	if t.claim != nil && t.rule != rule && !agree(c, below, *t.claim, nil) {
		return &Conflict{Path: t.claim.path, Winner: t.rule}
	}
	for step, child := range t.children {
		if found := child.conflictBelow(rule, c, below.child(step)); found != nil {
			return found
		}
	}
	return nil
}

func (t *claimTree) disagrees(rule Rule, c claim, below Path) bool {
	return t.claim != nil && t.rule != rule && !agree(*t.claim, below, c, nil)
}

// agree compares what one claim wants at a path under it with what the other
// wants at a path under it.
func agree(a claim, below Path, b claim, belowB Path) bool {
	if a.merged && b.merged {
		return true
	}
	if a.opaque || b.opaque {
		return false
	}
	left, leftOK := lookup(a.value, below)
	right, rightOK := lookup(b.value, belowB)
	leftOK, rightOK = leftOK && !a.absent, rightOK && !b.absent
	return leftOK == rightOK && (!leftOK || equal(left, right))
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
