package plan

import "slices"

// accept drops the rules that lose a conflict.
func accept(wishes []Wish) (accepted []Wish, refused []Decision) {
	trees := map[place]*claimTree{}
	for _, group := range byRule(wishes) {
		if decision := refusal(trees, group); decision != nil {
			refused = append(refused, *decision)
			continue
		}
		for _, wish := range group {
			tree := trees[wish.place()]
			if tree == nil {
				tree = &claimTree{}
				trees[wish.place()] = tree
			}
			all, _ := wish.claims() // refusal has seen the error
			for _, c := range all {
				tree.add(wish.Rule, c)
			}
		}
		accepted = append(accepted, group...)
	}
	return accepted, refused
}

func refusal(trees map[place]*claimTree, group []Wish) *Decision {
	for _, wish := range group {
		all, err := wish.claims()
		if err != nil {
			return &Decision{Rule: wish.Rule, Outcome: Failed, Reason: err.Error(), Err: err}
		}
		if tree := trees[wish.place()]; tree != nil {
			for _, c := range all {
				if lost := tree.conflict(wish.Rule, c); lost != nil {
					return &Decision{Rule: wish.Rule, Outcome: Withheld, Reason: lost.Error()}
				}
			}
		}
	}
	return nil
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

func without(wishes []Wish, rule Rule) []Wish {
	return slices.DeleteFunc(slices.Clone(wishes), func(w Wish) bool { return w.Rule == rule })
}
