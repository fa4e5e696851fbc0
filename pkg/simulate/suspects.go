package simulate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/golden"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/scenario"
)

// suspect is a rule that did not do to an object what the golden says.
type suspect struct {
	// of is where in the golden that is, such as steps[1].decisions[0], or in the story
	// where only that has it.
	of   string
	rule string
	// object is the one that is watched, empty where only the evaluation tells.
	object string
	// phase is that of the story in which it should have been, or was.
	phase int
	// evaluation is the one in which the rule did something else, 0 where it did nothing.
	evaluation int
	// minor says that the rule came to the same, for another reason.
	minor bool
}

// rank is lower for what matters more.
func (s suspect) rank() int {
	if s.minor {
		return 1
	}
	return 0
}

// suspectsOf lists the rules that did not do what a golden says, first those that matter
// most and of these the earliest, each once for an evaluation. What follows steps that only
// the golden or only the case has is passed over: no rule decides about them.
func suspectsOf(want, have any, story Story) []suspect {
	out := inPhase("", 0, want, have, story.Phase)
	wants, haves := listAt(want, "steps"), listAt(have, "steps")
	for _, p := range golden.Align(wants, haves) {
		if p.Want >= 0 && p.Have >= 0 {
			prefix := fmt.Sprintf("steps[%d].", p.Want)
			out = append(out, inPhase(prefix, p.Have+1, wants[p.Want], haves[p.Have], story.Steps[p.Have].Phase)...)
		}
	}
	slices.SortStableFunc(out, func(a, b suspect) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.phase, b.phase), cmp.Compare(a.evaluation, b.evaluation))
	})
	return out
}

// listAt is a list in a map, nil for anything else.
func listAt(tree any, key string) []any {
	fields, _ := tree.(map[string]any)
	list, _ := fields[key].([]any)
	return list
}

// inPhase lists those of a phase in the order of the lists in it: a rule is suspected by
// what it decided before it is by what it wrote.
func inPhase(prefix string, phase int, want, have any, is scenario.Phase) []suspect {
	found := suspects{phase: phase, is: is}
	lists := []struct {
		name       string
		evaluation func(i int) int
	}{
		{"decisions", func(i int) int { return is.Decisions[i].Evaluation }},
		{"writes", func(i int) int { return is.Writes[i].Evaluation }},
		{"audited", func(i int) int { return is.Audited[i].Evaluation }},
		{"events", func(i int) int { return is.Events[i].Evaluation }},
	}
	for _, list := range lists {
		wants, haves := listAt(want, list.name), listAt(have, list.name)
		for _, p := range golden.Align(wants, haves) {
			of := fmt.Sprintf("%s%s[%d]", prefix, list.name, p.Index())
			switch {
			case p.Have < 0:
				found.missing(of, list.name, wants[p.Want])
			case p.Want < 0:
				found.add(of, haves[p.Have], list.evaluation(p.Have), false)
			case len(golden.Diff(wants[p.Want], haves[p.Have])) > 0:
				minor := list.name == "decisions" && textAt(wants[p.Want], "outcome") == textAt(haves[p.Have], "outcome")
				found.add(of, haves[p.Have], list.evaluation(p.Have), minor)
			}
		}
	}
	return found.distinct()
}

// suspects are those of a phase.
type suspects struct {
	phase int
	is    scenario.Phase
	all   []suspect
}

// add suspects the rules of what was done.
func (s *suspects) add(of string, done any, evaluation int, minor bool) {
	for _, rule := range rulesOf(done) {
		s.all = append(s.all, suspect{of: of, rule: rule, phase: s.phase, evaluation: evaluation, minor: minor})
	}
}

// missing suspects the rules of what was not done: of a decision in the phase as a whole,
// and else by what they decided in it instead, if anything.
func (s *suspects) missing(of, list string, undone any) {
	object := textAt(undone, "object")
	for _, rule := range rulesOf(undone) {
		if instead := s.decided(rule, object); instead >= 0 && (list != "decisions" || s.is.Decisions[instead].Object == object) {
			s.all = append(s.all, suspect{of: of, rule: rule, phase: s.phase, evaluation: s.is.Decisions[instead].Evaluation})
		} else if list == "decisions" {
			s.all = append(s.all, suspect{of: of, rule: rule, object: object, phase: s.phase})
		}
	}
}

// decided is the decision of a rule in the phase that may be the one about the object, or
// else the first one, or -1.
func (s *suspects) decided(rule, object string) int {
	isOf := func(d scenario.Decision) bool { return d.Rule == rule }
	about := slices.IndexFunc(s.is.Decisions, func(d scenario.Decision) bool { return isOf(d) && d.Object == object })
	if about >= 0 {
		return about
	}
	return slices.IndexFunc(s.is.Decisions, isOf)
}

// distinct has each rule once for an evaluation, or for an object where it did nothing.
func (s *suspects) distinct() []suspect {
	type identity struct {
		rule, object string
		evaluation   int
	}
	seen := map[identity]int{}
	var out []suspect
	for _, one := range s.all {
		of := identity{one.rule, one.object, one.evaluation}
		at, known := seen[of]
		switch {
		case !known:
			seen[of] = len(out)
			out = append(out, one)
		case out[at].minor && !one.minor:
			out[at] = one
		}
	}
	return out
}

// rulesOf names the rules of an element of a list.
func rulesOf(element any) []string {
	if rule := textAt(element, "rule"); rule != "" {
		return []string{rule}
	}
	var out []string
	for _, rule := range listAt(element, "rules") {
		if text, is := rule.(string); is {
			out = append(out, text)
		}
	}
	return out
}

// textAt is a text in a map, empty for anything else.
func textAt(tree any, key string) string {
	fields, _ := tree.(map[string]any)
	return stringAt(fields, key)
}
