package simulate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/queue"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/scenario"
)

// suspect is a rule that did not do to an object what is expected.
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
}

// comparison is how a golden and a story differ, for people.
type comparison struct {
	// lines are a line for each field, without what follows from the rest.
	lines []string
	// suspects are the rules that did not do what the golden says, and minor those that came to the
	// same for another reason. Each is there once for an evaluation.
	suspects, minor []suspect
}

// compareStories compares phase by phase. What follows steps that only the golden or only the case has is
// passed over: no rule decides about them.
func compareStories(want, have any, story Story) (out comparison) {
	out.phase("", "", 0, want, have, story.Phase)
	wants, haves := listAt(want, "steps"), listAt(have, "steps")
	for _, p := range compare.Align(wants, haves) {
		switch {
		case p.Want < 0:
			out.lines = append(out.lines, fmt.Sprintf("step %q: the golden does not have it", textAt(haves[p.Have], "step")))
		case p.Have < 0:
			out.lines = append(out.lines, fmt.Sprintf("step %q: the case does not have it", textAt(wants[p.Want], "step")))
		default:
			chapter := story.Steps[p.Have]
			out.phase(fmt.Sprintf("steps[%d].", p.Want), fmt.Sprintf("after %q, ", chapter.Step), p.Have+1, wants[p.Want], haves[p.Have], chapter.Phase)
		}
	}
	return out
}

// phase compares one. A reason is told only where nothing else differs, and a request only where it
// does not show in its object.
func (c *comparison) phase(prefix, after string, phase int, want, have any, is scenario.Phase) {
	var lines, objects, reasons []string
	found := map[bool][]suspect{} // those that are minor, and the others
	for _, list := range []string{"objects", "decisions", "writes", "audited", "events", "waiting", "paused", "failures", "lookAgainAt"} {
		wants, haves := listAt(want, list), listAt(have, list)
		for _, p := range compare.Align(wants, haves) {
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
			minor := list == "decisions" && left != nil && right != nil && textAt(left, "outcome") == textAt(right, "outcome")
			told := tell(list, left, right, differing)
			switch object := cmp.Or(textAt(left, "object"), textAt(right, "object")); {
			case list == "objects":
				objects = append(objects, object)
				lines = append(lines, told...)
			case minor:
				reasons = append(reasons, told...)
			case list != "writes" || !slices.Contains(objects, object):
				lines = append(lines, told...)
			}
			for _, s := range suspects(list, left, p.Have, is) {
				s.of, s.phase = fmt.Sprintf("%s%s[%d]", prefix, list, p.Index()), phase
				found[minor] = append(found[minor], s)
			}
		}
	}
	if len(lines) == 0 {
		lines = reasons
	}
	for _, line := range lines {
		c.lines = append(c.lines, after+line)
	}
	for _, all := range found {
		slices.SortStableFunc(all, func(a, b suspect) int { return cmp.Compare(a.evaluation, b.evaluation) })
	}
	c.suspects, c.minor = addSuspects(c.suspects, found[false]...), addSuspects(c.minor, found[true]...)
}

// addSuspects has each rule once for an evaluation, or for an object where it did nothing.
func addSuspects(to []suspect, more ...suspect) []suspect {
	for _, s := range more {
		if !slices.ContainsFunc(to, func(known suspect) bool { known.of = s.of; return known == s }) {
			to = append(to, s)
		}
	}
	return to
}

// suspects are the rules of an element of a list of a phase that is not as wanted: of a decision, of an
// Event, and of a request those whose fields differ. Of what was not done at all they are known by what
// they decided instead, if anything.
func suspects(list string, want any, at int, is scenario.Phase) (out []suspect) {
	add := func(evaluation int, object string, rules ...string) {
		for _, rule := range rules {
			out = append(out, suspect{rule: rule, object: object, evaluation: evaluation})
		}
	}
	switch writes := map[string][]scenario.Write{"writes": is.Writes, "audited": is.Audited}[list]; {
	case at >= 0 && list == "decisions":
		add(is.Decisions[at].Evaluation, "", is.Decisions[at].Rule)
	case at >= 0 && list == "events":
		add(is.Events[at].Evaluation, "", is.Events[at].Rule)
	case at >= 0 && writes != nil:
		rules := deciding(writes[at], want)
		if len(rules) == 0 {
			rules = writes[at].Rules
		}
		add(writes[at].Evaluation, "", rules...)
	case at < 0 && slices.Contains([]string{"decisions", "writes", "audited", "events"}, list):
		object := textAt(want, "object")
		for _, rule := range rulesOf(want) {
			instead := slices.IndexFunc(is.Decisions, func(d scenario.Decision) bool { return d.Rule == rule && d.Object == object })
			if instead < 0 && list != "decisions" {
				instead = slices.IndexFunc(is.Decisions, func(d scenario.Decision) bool { return d.Rule == rule })
			}
			if instead >= 0 {
				add(is.Decisions[instead].Evaluation, "", rule)
			} else if list == "decisions" {
				add(0, object, rule)
			}
		}
	}
	return out
}

// deciding are the rules that set fields of a request otherwise than another body has them, as far as that is no JSON patch.
func deciding(w scenario.Write, want any) (out []string) {
	for _, change := range w.Operation.Changes {
		wanted, _ := plan.Lookup(want, append(plan.Path{"body"}, change.Path...))
		if len(compare.Diff(wanted, change.After)) > 0 && !slices.Contains(out, change.Rule.String()) {
			out = append(out, change.Rule.String())
		}
	}
	return out
}

// behind are the rules that have made an object what it is after a phase: the first that decided about it there, or else those of the
// last request to it until then. A rule or an object of no name is any.
func behind(story Story, phase int, rule, object string) (out []suspect) {
	for i := phase; i >= 0 && rule+object != ""; i-- {
		of := story.phases()[i]
		for _, d := range of.Decisions {
			if i == phase && (rule == "" || rule == d.Rule) && (object == "" || object == d.Object) {
				return []suspect{{rule: d.Rule, phase: i, evaluation: d.Evaluation}}
			}
		}
		for _, w := range slices.Backward(of.Writes) {
			if object != w.Object || rule != "" && !slices.Contains(w.Rules, rule) {
				continue
			}
			for _, r := range w.Rules {
				out = append(out, suspect{rule: r, phase: i, evaluation: w.Evaluation})
			}
			return out
		}
	}
	return nil
}

// expected judges a case by what it expects itself.
func (c *Case) expected(end ending, result *Result) {
	for i, phase := range end.story.phases() {
		expect, prefix := c.expect, ""
		if i > 0 {
			expect, prefix = c.Steps[i-1].expect, fmt.Sprintf("after %q, ", c.Steps[i-1])
		}
		happened, _ := scenario.Plain(phase).(map[string]any)
		objects := []any{}
		for _, name := range slices.Sorted(maps.Keys(end.states[i])) {
			if now, is := end.states[i][name].(map[string]any); is {
				objects = append(objects, map[string]any{"object": name, "now": now})
			}
		}
		happened["objects"] = objects
		fail := func(element any, line string) {
			result.Status = Fail
			result.Differences = append(result.Differences, prefix+line)
			for _, s := range behind(end.story, i, textAt(element, "rule"), textAt(element, "object")) {
				if !slices.ContainsFunc(result.suspects, func(o suspect) bool { return s.rule == o.rule && s.evaluation == o.evaluation }) {
					s.of = prefix + line
					result.suspects = append(result.suspects, s)
				}
			}
		}
		for _, each := range spec.Expectable {
			for _, element := range listAt(expect.has, each.List) {
				for _, line := range compare.Missing([]any{element}, happened[each.List]) {
					line = strings.TrimPrefix(strings.TrimPrefix(line, "[0]"), ": ")
					fail(element, tell(each.List, element, element, []string{strings.TrimPrefix(line, ".")})[0])
				}
			}
			for _, element := range listAt(expect.hasNot, each.List) {
				if slices.ContainsFunc(listAt(happened, each.List), func(have any) bool { return len(compare.Missing(element, have)) == 0 }) {
					fail(element, titleOf(each.List, element)+"want nothing like "+compare.Show(element))
				}
			}
		}
	}
}

// tell names what differs by its object and rules, and not by its place in the golden.
func tell(list string, want, have any, differing []string) (out []string) {
	if want == nil || have == nil {
		return []string{fmt.Sprintf("%swant %s, have %s", titleOf(list, cmp.Or(want, have)), brief(list, want), brief(list, have))}
	}
	for _, line := range differing {
		if list == "decisions" && strings.HasPrefix(line, "reason: ") && len(out) > 0 {
			continue // The explanation has it.
		}
		for _, prefix := range []string{"now.", "patch.", "outcome: "} {
			line = strings.TrimPrefix(line, prefix)
		}
		out = append(out, titleOf(list, want)+line)
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
	case list == "events":
		return fmt.Sprintf("event %s (%s)", textAt(element, "reason"), textAt(element, "message"))
	case list == "lookAgainAt":
		return "another look at " + textAt(element, "at")
	case fields["gone"] != nil:
		return "it gone"
	case fields["patch"] != nil:
		return "it changed: " + compare.Show(fields["patch"])
	case list == "objects":
		return "it created"
	default: // decisions, writes and failures
		return cmp.Or(textAt(element, "outcome"), textAt(element, "type"), textAt(element, "error"))
	}
}

// listAt is a list in a map, nil for anything else.
func listAt(tree any, key string) []any {
	fields, _ := tree.(map[string]any)
	list, _ := fields[key].([]any)
	return list
}

// textAt is a text in a map, empty for anything else.
func textAt(tree any, key string) string {
	fields, _ := tree.(map[string]any)
	return plan.Text(fields, key)
}

// rulesOf names the rules of an element of a list.
func rulesOf(element any) (out []string) {
	if rule := textAt(element, "rule"); rule != "" {
		return []string{rule}
	}
	for _, rule := range listAt(element, "rules") {
		if text, is := rule.(string); is {
			out = append(out, text)
		}
	}
	return out
}

// mostExplained is how many rules are explained for each case: what differs first has the
// rest differ.
const mostExplained = 3

// Explanation is how a rule came to what the golden of a case does not say.
type Explanation struct {
	// Of is what differs, as [Result.Differences] name it, such as steps[1].decisions[0].
	Of string `json:"of"`
	// Step is the name of the step after which it differs, empty for what comes before the first one.
	Step string `json:"step,omitempty"`
	// Earlier says that the object was not evaluated again where the golden has it: the trace
	// is of the last time before.
	Earlier bool `json:"earlier,omitempty"`
	// Trace is of the evaluation in which the rule did it. Of a rule that did nothing it is
	// of the last one until the end of the step, or says what keeps it from the object.
	Trace trace.Trace `json:"trace"`
}

// explain plays a case that has failed once more, to see how its rules came to what they did.
func (r *run) explain(ctx context.Context, p pending, end ending, result *Result) {
	if len(result.suspects) == 0 {
		return
	}
	play, errs := r.prepare(p)
	if len(errs) > 0 {
		return // The files are others by now: what they were cannot be explained any more.
	}
	w := &witness{play: play, end: end}
	for _, one := range result.suspects[:min(len(result.suspects), mostExplained)] {
		w.questions = append(w.questions, question{suspect: one})
	}
	play.looked = w.looked
	if _, err := play.run(ctx, queue.FIFO); err != nil {
		return // Only who does not want to know any more stops what went well before.
	}
	for _, q := range w.questions {
		if explained, known := w.answer(q); known {
			result.Explanations = append(result.Explanations, explained)
		}
	}
}

// question is a suspect, and what was seen of it.
type question struct {
	suspect
	told *trace.Trace
	// last is how its object was seen last before the end of the phase.
	last *rules.Snapshot
	// during says that this was in the phase.
	during bool
}

// witness sees a case being played again, of which it is known how it ends.
type witness struct {
	play
	end        ending
	questions  []question
	evaluation int
}

// looked is told of each evaluation.
func (w *witness) looked(snapshot rules.Snapshot, decisions []plan.Decision) {
	w.evaluation++
	for i := range w.questions {
		q := &w.questions[i]
		switch phases := w.end.story.phases(); {
		case q.evaluation == w.evaluation:
			at := slices.IndexFunc(decisions, func(d plan.Decision) bool { return d.Rule.String() == q.rule })
			if at >= 0 {
				q.told = new(w.test.set.Explain(snapshot, decisions[at].Rule, w.end.hidden))
			}
		case q.evaluation == 0 && w.evaluation <= phases[q.phase].Evaluations && w.end.hidden.Text(snapshot.Identity().String()) == q.object:
			q.last, q.during = &snapshot, q.phase == 0 || w.evaluation > phases[q.phase-1].Evaluations
		}
	}
}

// answer explains a rule, if there is anything to say.
func (w *witness) answer(q question) (out Explanation, known bool) {
	out.Of = q.of
	if q.phase > 0 {
		out.Step = w.of.Steps[q.phase-1].String()
	}
	if q.evaluation > 0 {
		if q.told != nil {
			out.Trace = *q.told
		}
		return out, q.told != nil
	}
	id, watches := w.watching(q.rule)
	object, exists := w.end.states[q.phase][q.object].(map[string]any)
	if q.during || q.last != nil && exists {
		out.Earlier, out.Trace = !q.during, w.test.set.Explain(*q.last, id, w.end.hidden)
		return out, true
	}
	// No rule ever sees the object, or it is not there.
	snapshot := rules.Snapshot{Object: object, Now: w.test.now}
	for _, step := range w.of.Steps[:q.phase] {
		snapshot.Now = snapshot.Now.Add(step.Advance)
	}
	if served, is := w.server.OfKind(kindOf(object)); is {
		snapshot.GVR = served.GVR
	}
	resource, name, _ := strings.Cut(q.object, " ")
	for _, gvr := range watches {
		if gvr.Resource == resource && (object == nil || gvr.Group == snapshot.GVR.Group) {
			snapshot.GVR = gvr
		}
	}
	namespace, last, namespaced := strings.Cut(name, "/")
	if !namespaced {
		namespace, last = "", name
	}
	snapshot.Gone = plan.Object{GVR: snapshot.GVR, Namespace: namespace, Name: last}
	if snapshot.GVR.Resource == "" {
		return out, false // It is not known which resource that would be of.
	}
	out.Trace = w.test.set.Explain(snapshot, id, w.end.hidden)
	return out, true
}

// watching is the rule of a name as goldens have it, and what it watches. One that there is not has just the name.
func (w *witness) watching(name string) (plan.Rule, []schema.GroupVersionResource) {
	for _, rule := range w.test.set.Rules() {
		if rule.ID.String() == name {
			return rule.ID, rule.Watched()
		}
	}
	set, rule, _ := strings.Cut(name, "/")
	return plan.Rule{Set: set, Name: rule}, nil
}
