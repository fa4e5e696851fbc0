package plan

import (
	"fmt"
	"slices"
)

// ledger is what the accepted rules want.
type ledger struct {
	stored storage
	trees  map[place]*claimTree
	// deleted has the first rule that deletes an object, unless that is on its
	// way out already: whoever writes to it then contradicts nobody, and may
	// have to for it to go.
	deleted map[Object]Rule
	// written has what rules want written to an object, in order. A finalizer
	// does not count: it is there for the day on which the object is deleted.
	written map[Object][]Wish
}

// accept drops the rules that lose a conflict, and what a rule still wants of
// an object that it deletes.
func accept(wishes []Wish, stored storage) (accepted []Wish, refused []Decision) {
	l := ledger{stored: stored, trees: map[place]*claimTree{}, deleted: map[Object]Rule{}, written: map[Object][]Wish{}}
	for _, group := range byRule(wishes) {
		if decision := l.refusal(group); decision != nil {
			refused = append(refused, *decision)
			continue
		}
		for _, wish := range group {
			if _, gone := l.deleted[wish.Target]; gone && wish.Type != Delete {
				continue
			}
			l.enter(wish)
			accepted = append(accepted, wish)
		}
	}
	return accepted, refused
}

// refusal says why a rule cannot have its wishes, nil where it can.
func (l ledger) refusal(group []Wish) *Decision {
	for _, wish := range group {
		all, err := wish.claims()
		if err != nil {
			return &Decision{Rule: wish.Rule, Outcome: Failed, Reason: err.Error(), Err: err}
		}
		if lost := l.conflict(wish, all); lost != nil {
			return &Decision{Rule: wish.Rule, Outcome: Withheld, Reason: lost.Error()}
		}
	}
	return nil
}

// conflict is what an earlier rule decides otherwise, nil where there is none.
func (l ledger) conflict(wish Wish, all []claim) error {
	if rule, gone := l.deleted[wish.Target]; gone {
		if wish.Type == Delete || rule == wish.Rule {
			return nil
		}
		return fmt.Errorf("%s is deleted by rule %s, which comes first", wish.Target, rule)
	}
	if wish.deletesLiving() {
		// A rule that has what it wants needs no object to write it to.
		others := l.written[wish.Target]
		if i := slices.IndexFunc(others, func(w Wish) bool { return w.Rule != wish.Rule && w.changesCurrent(l.stored) }); i >= 0 {
			return fmt.Errorf("%s is written by rule %s, which comes first", wish.Target, others[i].Rule)
		}
	}
	tree := l.trees[wish.place()]
	if tree == nil {
		return nil
	}
	for _, c := range all {
		if lost := tree.conflict(wish.Rule, c); lost != nil {
			return lost
		}
	}
	return nil
}

// enter records an accepted wish.
func (l ledger) enter(wish Wish) {
	switch {
	case wish.deletesLiving():
		if _, known := l.deleted[wish.Target]; !known {
			l.deleted[wish.Target] = wish.Rule
		}
		return
	case wish.unnamed():
		return
	case wish.Type != Finalize && wish.Type != Delete:
		l.written[wish.Target] = append(l.written[wish.Target], wish)
	}
	tree := l.trees[wish.place()]
	if tree == nil {
		tree = &claimTree{}
		l.trees[wish.place()] = tree
	}
	all, _ := wish.claims() // refusal has seen the error
	for _, c := range all {
		tree.add(wish.Rule, c)
	}
}

// byRule splits the wishes, which come rule by rule, into one slice a rule.
func byRule(wishes []Wish) [][]Wish {
	var out [][]Wish
	for i, wish := range wishes {
		if i > 0 && wishes[i-1].Rule == wish.Rule {
			out[len(out)-1] = append(out[len(out)-1], wish)
			continue
		}
		out = append(out, []Wish{wish})
	}
	return out
}

func without(wishes []Wish, rules map[Rule]bool) []Wish {
	return slices.DeleteFunc(slices.Clone(wishes), func(w Wish) bool { return rules[w.Rule] })
}
