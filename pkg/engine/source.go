package engine

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/mask"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// source answers the questions of one evaluation from the caches, each question
// the same way throughout. It implements [lookup.Source].
type source struct {
	engine  *core
	asker   Key
	watched map[string]any // the object of the asker, nil where it is gone
	answers map[string]answer
	asked   []plan.Read
	// unanswered says that a question had no answer.
	unanswered bool
	// aside says that nobody has to be told when the answers change.
	aside bool
}

type answer struct {
	objects []map[string]any
	err     error
}

// Read notes who asks before it looks: a change that comes between the two would
// concern nobody otherwise.
func (s *source) Read(q plan.Read) ([]map[string]any, error) {
	key := q.Key()
	if known, ok := s.answers[key]; ok {
		return known.objects, known.err
	}
	if !s.aside {
		s.engine.related.Ask(s.asker, q)
	}
	var found answer
	found.objects, found.err = s.engine.caches.Read(q)
	if s.answers == nil {
		s.answers = map[string]answer{}
	}
	s.answers[key], s.unanswered = found, s.unanswered || found.err != nil
	s.asked = append(s.asked, q)
	return found.objects, found.err
}

// inputs are the objects that the evaluation was decided by, the watched one first.
func (s *source) inputs() []guard.Input {
	var out []guard.Input
	if s.watched != nil {
		out = append(out, guard.Input{Object: s.asker.Object(), UID: uidOf(s.watched), Version: versionOf(s.watched)})
	}
	for _, q := range s.asked {
		for _, object := range s.answers[q.Key()].objects {
			out = append(out, guard.Input{Object: guard.KeyOf(objectOf(q, object)).Object(), UID: uidOf(object), Version: versionOf(object)})
		}
	}
	return out
}

// showed reports whether an object was among the answers.
func (s *source) showed(uid types.UID) bool {
	for _, known := range s.answers {
		if slices.ContainsFunc(known.objects, func(object map[string]any) bool { return uidOf(object) == uid }) {
			return true
		}
	}
	return false
}

// evaluate evaluates the rules. What they decide tells no values of Secrets.
func (s *source) evaluate(now *active, seen *observation) (plan.Plan, *mask.Masker) {
	seen.Related, seen.Explain = s, s.engine.options.Explain
	decided := now.Evaluate(seen.Snapshot)
	masker := s.masker(decided)
	masker.Plan(&decided)
	return decided, masker
}

// masker returns what hides the values of Secrets that were read, or that a plan writes.
func (s *source) masker(decided plan.Plan) *mask.Masker {
	if s.engine.options.Unmasked {
		return nil
	}
	of := mask.Evaluation{GVR: s.asker.GVR, Watched: s.watched, Operations: decided.Operations, Audited: decided.Audited}
	for _, q := range s.asked {
		if q.IsSecret() {
			known := s.answers[q.Key()]
			of.Secrets = append(of.Secrets, known.objects...)
			of.Blind = of.Blind || known.err != nil
		}
	}
	return mask.New(of)
}

// objectOf names an object that answers a question.
func objectOf(q plan.Read, object map[string]any) plan.Object {
	return plan.Object{
		GVR: q.From[0].GVR, Namespace: plan.Text(object, "metadata", "namespace"), Name: plan.Text(object, "metadata", "name"),
		UID: uidOf(object), ResourceVersion: versionOf(object),
	}
}
