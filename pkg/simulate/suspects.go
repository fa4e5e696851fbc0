package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
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

// suspectsOf lists the rules that did not do what a golden says, first those that matter
// most and of these the earliest, each once for an evaluation. What follows steps that only
// the golden or only the case has is passed over: no rule decides about them. It also tells
// what differs in a line for each field, without what follows from the rest.
func suspectsOf(want, have any, story Story) (out []suspect, lines []string) {
	out, lines = inPhase("", 0, want, have, story.Phase)
	wants, haves := listAt(want, "steps"), listAt(have, "steps")
	for _, p := range compare.Align(wants, haves) {
		switch {
		case p.Want < 0:
			lines = append(lines, fmt.Sprintf("step %q: the golden does not have it", textAt(haves[p.Have], "step")))
		case p.Have < 0:
			lines = append(lines, fmt.Sprintf("step %q: the case does not have it", textAt(wants[p.Want], "step")))
		default:
			more, told := inPhase(fmt.Sprintf("steps[%d].", p.Want), p.Have+1, wants[p.Want], haves[p.Have], story.Steps[p.Have].Phase)
			out = append(out, more...)
			for _, line := range told {
				lines = append(lines, fmt.Sprintf("after %q, %s", story.Steps[p.Have].Step, line))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b suspect) int {
		if a.minor != b.minor {
			return map[bool]int{false: -1, true: 1}[a.minor]
		}
		return cmp.Or(cmp.Compare(a.phase, b.phase), cmp.Compare(a.evaluation, b.evaluation))
	})
	return out, lines
}

// listAt is a list in a map, nil for anything else.
func listAt(tree any, key string) []any {
	fields, _ := tree.(map[string]any)
	list, _ := fields[key].([]any)
	return list
}

// inPhase lists those of a phase in the order of the lists in it: a rule is suspected by
// what it decided before it is by what it wrote. A reason is told only where nothing else
// differs, and a request only where it does not show in its object.
func inPhase(prefix string, phase int, want, have any, is scenario.Phase) (all []suspect, lines []string) {
	found := suspects{phase: phase, is: is}
	var objects, reasons []string // by name, and of decisions that are as they should be
	for _, name := range []string{"objects", "decisions", "writes", "audited", "events", "failures", "lookAgainAt"} {
		wants, haves := listAt(want, name), listAt(have, name)
		for _, p := range compare.Align(wants, haves) {
			of := fmt.Sprintf("%s%s[%d]", prefix, name, p.Index())
			var left, right any
			if p.Want >= 0 {
				left = wants[p.Want]
			}
			if p.Have >= 0 {
				right = haves[p.Have]
			}
			differing := compare.Diff(left, right)
			if len(differing) == 0 {
				continue
			}
			minor := name == "decisions" && left != nil && right != nil && textAt(left, "outcome") == textAt(right, "outcome")
			told := tell(name, left, right, differing)
			switch object := textAt(cmpOr(left, right), "object"); {
			case name == "objects":
				objects = append(objects, object)
				lines = append(lines, told...)
			case minor:
				reasons = append(reasons, told...)
			case name != "writes" || !slices.Contains(objects, object):
				lines = append(lines, told...)
			}
			switch {
			case !slices.Contains([]string{"decisions", "writes", "audited", "events"}, name):
			case right == nil:
				found.missing(of, name, left)
			default:
				found.add(of, right, left, name, p.Have, minor)
			}
		}
	}
	if len(lines) == 0 {
		lines = reasons
	}
	return found.distinct(), lines
}

// cmpOr is the first of the two that is not nil.
func cmpOr(one, other any) any {
	if one != nil {
		return one
	}
	return other
}

// suspects are those of a phase.
type suspects struct {
	phase int
	is    scenario.Phase
	all   []suspect
}

// tell names what differs by its object and rules, and not by its place in the golden.
func tell(list string, want, have any, differing []string) []string {
	title := titleOf(list, cmpOr(want, have))
	if want == nil || have == nil {
		return []string{fmt.Sprintf("%swant %s, have %s", title, brief(list, want), brief(list, have))}
	}
	var out []string
	for _, line := range differing {
		if list == "decisions" && strings.HasPrefix(line, "reason: ") && len(out) > 0 {
			continue // The explanation has it.
		}
		for _, prefix := range []string{"now.", "patch.", "outcome: "} {
			line = strings.TrimPrefix(line, prefix)
		}
		out = append(out, title+line)
	}
	return out
}

// titleOf says what an element of a list is about.
func titleOf(list string, element any) string {
	parts := []string{textAt(element, "object"), strings.Join(rulesOf(element), ", ")}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	if len(parts) == 0 {
		parts = []string{list}
	}
	return strings.Join(parts, ": ") + ": "
}

// brief is an element of a list of a phase in a few words.
func brief(list string, element any) string {
	fields, _ := element.(map[string]any)
	switch {
	case fields == nil:
		return "nothing"
	case list == "decisions":
		return textAt(element, "outcome")
	case list == "writes" || list == "audited":
		return textAt(element, "type")
	case list == "events":
		return fmt.Sprintf("event %s (%s)", textAt(element, "reason"), textAt(element, "message"))
	case list == "lookAgainAt":
		return "another look at " + textAt(element, "at")
	case list == "failures":
		return textAt(element, "error")
	case fields["gone"] != nil:
		return "it gone"
	case fields["patch"] != nil:
		return "it changed: " + compare.Show(fields["patch"])
	default:
		return "it created"
	}
}

// add suspects the rules of what was done instead: of a request that differs, those whose fields do.
func (s *suspects) add(of string, done, want any, list string, at int, minor bool) {
	rules := rulesOf(done)
	var evaluation int
	switch list {
	case "decisions":
		evaluation = s.is.Decisions[at].Evaluation
	case "events":
		evaluation = s.is.Events[at].Evaluation
	default:
		write := s.is.Writes
		if list == "audited" {
			write = s.is.Audited
		}
		evaluation = write[at].Evaluation
		if wrote := deciding(write[at], want); len(wrote) > 0 {
			rules = wrote
		}
	}
	for _, rule := range rules {
		s.all = append(s.all, suspect{of: of, rule: rule, phase: s.phase, evaluation: evaluation, minor: minor})
	}
}

// deciding are the rules that set fields of a request otherwise than another body has them.
func deciding(w scenario.Write, want any) []string {
	fields, _ := want.(map[string]any)
	var out []string
	for _, change := range w.Operation.Changes {
		var wanted any
		switch body := fields["body"].(type) {
		case map[string]any:
			wanted, _ = plan.Lookup(body, change.Path)
		case []any:
			for _, step := range body {
				if fields, is := step.(map[string]any); is && textAt(step, "path") == change.Path.Pointer() {
					wanted = fields["value"]
				}
			}
		}
		if len(compare.Diff(wanted, change.After)) > 0 && !slices.Contains(out, change.Rule.String()) {
			out = append(out, change.Rule.String())
		}
	}
	return out
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
