package plan

import (
	"fmt"
	"slices"
)

// ledger is what the accepted rules want.
type ledger struct {
	stored   storage
	accepted []Wish
	trees    map[place]*claimTree
	// last is the place that was asked for last, which most wishes share, with its tree.
	last     place
	lastTree *claimTree
	// deleted has the first rule that deletes an object, unless that is on its
	// way out already: whoever writes to it then contradicts nobody, and may
	// have to for it to go.
	deleted map[Object]Rule
}

// accept drops the rules that lose a conflict, and what a rule still wants of
// an object that it deletes. Until it drops something, accepted is the beginning
// of the wishes: appending the next one stores what is there.
func accept(wishes []Wish, stored storage) (accepted []Wish, refused []Decision) {
	if len(wishes) == 1 && wishes[0].hasFields() { // As in most plans: nothing can be wrong with it.
		return wishes, nil
	}
	l := &ledger{stored: stored, accepted: wishes[:0], trees: map[place]*claimTree{}, deleted: map[Object]Rule{}}
	for _, group := range byRule(wishes) {
		claims, refusal := l.claims(group)
		if refusal != nil {
			refused = append(refused, *refusal)
			l.accepted = slices.Clip(l.accepted)
			continue
		}
		for i, wish := range group {
			if _, gone := l.deleted[wish.Target]; gone && wish.Type != Delete {
				l.accepted = slices.Clip(l.accepted)
				continue
			}
			l.enter(wish, claims[i])
		}
	}
	return l.accepted, refused
}

// claims are those of a rule's wishes, or it says why the rule cannot have them.
func (l *ledger) claims(group []Wish) ([][]claim, *Decision) {
	out := make([][]claim, len(group))
	for i, wish := range group {
		var err error
		if out[i], err = wish.claims(); err != nil {
			return nil, &Decision{Rule: wish.Rule, Outcome: Failed, Reason: err.Error(), Err: err}
		}
		if lost := l.conflict(wish, out[i]); lost != nil {
			return nil, &Decision{Rule: wish.Rule, Outcome: Withheld, Reason: lost.Error()}
		}
	}
	return out, nil
}

// conflict is what an earlier rule decides otherwise, nil where there is none.
func (l *ledger) conflict(wish Wish, all []claim) error {
	if rule, gone := l.deleted[wish.Target]; gone {
		if wish.Type == Delete || rule == wish.Rule {
			return nil
		}
		return fmt.Errorf("%s is deleted by rule %s, which comes first", wish.Target, rule)
	}
	if wish.deletesLiving() {
		// A rule that has what it wants needs no object to write it to.
		writes := func(w Wish) bool {
			return w.Rule != wish.Rule && w.Target == wish.Target && w.writes() && w.changesCurrent(l.stored)
		}
		if i := slices.IndexFunc(l.accepted, writes); i >= 0 {
			return fmt.Errorf("%s is written by rule %s, which comes first", wish.Target, l.accepted[i].Rule)
		}
	}
	tree := l.tree(wish.place())
	for _, c := range all {
		if lost := tree.conflict(wish.Rule, c); lost != nil {
			return lost
		}
	}
	return nil
}

// writes reports whether a wish wants something written to an object that is there, or has a name. A finalizer does not
// count: it is there for the day on which the object is deleted.
func (w Wish) writes() bool { return w.Type != Finalize && w.Type != Delete && !w.unnamed() }

// enter records an accepted wish.
func (l *ledger) enter(wish Wish, all []claim) {
	l.accepted = append(l.accepted, wish)
	switch {
	case wish.deletesLiving():
		if _, known := l.deleted[wish.Target]; !known {
			l.deleted[wish.Target] = wish.Rule
		}
		return
	case wish.unnamed():
		return
	}
	tree := l.tree(wish.place())
	for _, c := range all {
		tree.add(wish.Rule, c)
	}
}

// tree is what the accepted rules want at a place.
func (l *ledger) tree(at place) *claimTree {
	if l.lastTree != nil && l.last == at {
		return l.lastTree
	}
	if l.trees[at] == nil {
		l.trees[at] = &claimTree{}
	}
	l.last, l.lastTree = at, l.trees[at]
	return l.lastTree
}

// byRule splits the wishes, which come rule by rule, into one slice a rule.
func byRule(wishes []Wish) [][]Wish {
	var out [][]Wish
	for begin, i := 0, 1; i <= len(wishes); i++ {
		if i == len(wishes) || wishes[i].Rule != wishes[begin].Rule {
			out = append(out, wishes[begin:i])
			begin = i
		}
	}
	return out
}

func without(wishes []Wish, rules map[Rule]bool) []Wish {
	return slices.DeleteFunc(slices.Clone(wishes), func(w Wish) bool { return rules[w.Rule] })
}
