package simulate

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/queue"
)

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
	w := &witness{play: play, end: end, hidden: end.hidden}
	for _, one := range result.suspects[:min(len(result.suspects), mostExplained)] {
		if !one.minor || result.suspects[0].minor { // It follows from the others.
			w.questions = append(w.questions, question{suspect: one})
		}
	}
	play.looked = w.looked
	if _, err := play.run(ctx, queue.FIFO); err != nil {
		return // Only who does not want to know any more stops what went well before.
	}
	for i := range w.questions {
		if told := w.answer(&w.questions[i]); told != nil {
			result.Explanations = append(result.Explanations, *told)
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
	hidden     *redact.Values
	questions  []question
	evaluation int
}

// looked is told of each evaluation.
func (w *witness) looked(snapshot rules.Snapshot, decisions []plan.Decision) {
	w.evaluation++
	for i := range w.questions {
		q := &w.questions[i]
		switch {
		case q.evaluation == w.evaluation:
			at := slices.IndexFunc(decisions, func(d plan.Decision) bool { return d.Rule.String() == q.rule })
			if at >= 0 {
				q.told = new(w.set.Explain(snapshot, decisions[at].Rule, w.hidden))
			}
		case q.evaluation == 0 && w.evaluation <= w.end.evaluations(q.phase) && w.hidden.Text(snapshot.Identity().String()) == q.object:
			q.last, q.during = &snapshot, w.evaluation > w.end.evaluations(q.phase-1)
		}
	}
}

// evaluations is how many there were by the end of a phase.
func (e ending) evaluations(phase int) int {
	switch {
	case phase < 0:
		return 0
	case phase == 0:
		return e.story.Evaluations
	default:
		return e.story.Steps[phase-1].Evaluations
	}
}

// answer explains a rule, nil where there is nothing to say.
func (w *witness) answer(q *question) *Explanation {
	out := &Explanation{Of: q.of}
	if q.phase > 0 {
		out.Step = w.of.Steps[q.phase-1].String()
	}
	id := w.named(q.rule)
	object, exists := w.end.states[q.phase][q.object].(map[string]any)
	switch {
	case q.evaluation > 0:
		if q.told == nil {
			return nil
		}
		out.Trace = *q.told
	case q.during || q.last != nil && exists:
		out.Earlier, out.Trace = !q.during, w.set.Explain(*q.last, id, w.hidden)
	default:
		snapshot, known := w.unseen(q, id, object)
		if !known {
			return nil
		}
		out.Trace = w.set.Explain(snapshot, id, w.hidden)
	}
	return out
}

// unseen is a snapshot of an object that no rule ever sees, or that is not there. It is not
// known which resource that would be of where nothing has one of the name.
func (w *witness) unseen(q *question, id plan.Rule, object map[string]any) (snapshot rules.Snapshot, known bool) {
	resource, name, _ := strings.Cut(q.object, " ")
	snapshot = rules.Snapshot{Object: object, Now: w.test.now}
	for _, step := range w.of.Steps[:q.phase] {
		snapshot.Now = snapshot.Now.Add(step.Advance)
	}
	if served, is := w.server.OfKind(kindOf(object)); is {
		snapshot.GVR = served.GVR
	}
	if watched, is := w.watched(id, resource); is && (object == nil || watched.Group == snapshot.GVR.Group) {
		snapshot.GVR = watched
	}
	namespace, last, namespaced := strings.Cut(name, "/")
	if !namespaced {
		namespace, last = "", name
	}
	snapshot.Gone = plan.Object{GVR: snapshot.GVR, Namespace: namespace, Name: last}
	return snapshot, snapshot.GVR.Resource != ""
}

// watched is a resource of the name that a rule watches.
func (w *witness) watched(id plan.Rule, resource string) (schema.GroupVersionResource, bool) {
	for _, rule := range w.set.Rules() {
		for _, gvr := range rule.Watched() {
			if rule.ID == id && gvr.Resource == resource {
				return gvr, true
			}
		}
	}
	return schema.GroupVersionResource{}, false
}

// named is the rule of a name as goldens have it. One that there is not has just the name.
func (w *witness) named(name string) plan.Rule {
	for _, rule := range w.set.Rules() {
		if rule.ID.String() == name {
			return rule.ID
		}
	}
	set, rule, _ := strings.Cut(name, "/")
	return plan.Rule{Set: set, Name: rule}
}
