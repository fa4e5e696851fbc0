package engine

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// source answers the questions of one evaluation from the caches, each question
// the same way throughout. It implements [relation.Source].
type source struct {
	engine  *Engine
	asker   Key
	watched map[string]any // the object of the asker, nil where it is gone
	answers map[string]answer
	asked   []plan.Read
	// aside says that nobody has to be told when the answers change.
	aside bool
	// unasked are the rules of caches of which it is not known whether they hold the object.
	unasked []plan.Rule
	// hidden is what must not be told of the evaluation, once that is over.
	hidden *masker
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
	s.answers[key] = found
	s.asked = append(s.asked, q)
	return found.objects, found.err
}

// found are the uids that the evaluation was decided by. What was not asked in these
// words are the names among others of which there was nothing.
func (s *source) found(q plan.Read) []types.UID { return uids(s.answers[q.Key()].objects) }

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

// done forgets what the asker asked in earlier evaluations only.
func (s *source) done() { s.engine.related.Keep(s.asker, s.asked) }

// whole reports whether every question had an answer.
func (s *source) whole() bool {
	for _, known := range s.answers {
		if known.err != nil {
			return false
		}
	}
	return true
}
