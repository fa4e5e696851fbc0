package related

import (
	"hash/maphash"
	"sync"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Index knows what each asker asked of other objects in its last evaluation. K
// names an asker. It is safe for concurrent use; to ask again what is known
// already, and to look for who is concerned, hinder nobody.
type Index[K comparable] struct {
	hasher hasher

	mu        sync.RWMutex
	askers    map[K]*record[K]
	questions map[digest]*question[K]
	shelves   map[plan.Selection]*shelf[K]
}

// NewIndex returns an index of which nobody has asked anything.
func NewIndex[K comparable]() *Index[K] {
	return &Index[K]{
		hasher:    hasher{maphash.MakeSeed()},
		askers:    map[K]*record[K]{},
		questions: map[digest]*question[K]{},
		shelves:   map[plan.Selection]*shelf[K]{},
	}
}

// Ask notes a question, before it is answered: then a change that the answer does
// not show yet finds the asker. What the question refers to must not change any
// more.
func (x *Index[K]) Ask(asker K, q plan.Read) {
	d := digestOf(q)
	if x.knows(asker, d) {
		return
	}
	ways := x.hasher.ways(q) // Without the lock: it parses selectors.
	x.mu.Lock()
	defer x.mu.Unlock()
	x.note(x.recordOf(asker), d, q, ways)
}

func (x *Index[K]) knows(asker K, d digest) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.has(x.askers[asker], d)
}

func (x *Index[K]) has(a *record[K], d digest) bool {
	q := x.questions[d]
	return a != nil && q != nil && a.asked.has(q)
}

// Keep forgets what the asker asked, apart from these questions, which are those
// of the evaluation that has ended. They are noted where they were not.
func (x *Index[K]) Keep(asker K, questions []plan.Read) {
	asked := make(map[digest]plan.Read, len(questions))
	for _, q := range questions {
		asked[digestOf(q)] = q
	}
	if len(asked) == 0 {
		x.Forget(asker)
		return
	}
	if x.knowsJust(asker, asked) {
		return
	}
	ways := make(map[digest][]way, len(asked))
	for d, q := range asked {
		ways[d] = x.hasher.ways(q)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	a := x.recordOf(asker)
	for d, q := range asked {
		x.note(a, d, q, ways[d])
	}
	for q := range a.asked.all() {
		if _, kept := asked[q.digest]; !kept {
			x.withdraw(a, q)
		}
	}
}

func (x *Index[K]) knowsJust(asker K, asked map[digest]plan.Read) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	a := x.askers[asker]
	if a == nil || a.asked.len() != len(asked) {
		return false
	}
	for d := range asked {
		if !x.has(a, d) {
			return false
		}
	}
	return true
}

// Forget forgets the asker and all that it asked.
func (x *Index[K]) Forget(asker K) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := x.askers[asker]
	if a == nil {
		return
	}
	for q := range a.asked.all() {
		x.withdraw(a, q)
	}
	delete(x.askers, asker)
	if len(x.askers) == 0 { // A map keeps the room that it once needed.
		x.askers, x.questions = map[K]*record[K]{}, map[digest]*question[K]{}
	}
}

// Concerned returns who asked a question that an object in the cache of the
// selection answers or answered, each once and in no order. Before and after are
// the object, nil where it was or is not there. Who asked is concerned even where
// both answer, since it has read the object. Whether the selection selects the
// object is not asked again.
func (x *Index[K]) Concerned(from plan.Selection, before, after map[string]any) []K {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.shelves[from]
	if s == nil {
		return nil
	}
	var found set[*question[K]]
	for _, object := range [...]map[string]any{before, after} {
		if object != nil {
			s.answered(x.hasher, object, &found)
		}
	}
	return keysOf(found)
}

// Asking returns who asked anything of the selection, each once and in no order.
func (x *Index[K]) Asking(from plan.Selection) []K {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.shelves[from]
	if s == nil {
		return nil
	}
	var all set[*question[K]]
	for _, lying := range s.places {
		for q := range lying.all() {
			all.add(q)
		}
	}
	return keysOf(all)
}
