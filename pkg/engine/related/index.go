package related

import (
	"crypto/sha256"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Index knows what each asker asked of other objects in its last evaluation. K
// names an asker. It is safe for concurrent use; to ask again what is known
// already, and to look for who is concerned, hinder nobody.
type Index[K comparable] struct {
	seed maphash.Seed

	mu         sync.RWMutex
	askers     map[K]*asker[K]
	questions  map[digest]*question[K]
	selections map[plan.Selection]*selectionIndex[K]
}

type asker[K comparable] struct {
	key   K
	asked set[*question[K]]
}

// question is what several askers may have asked in the same words.
type question[K comparable] struct {
	digest  digest
	from    []plan.Selection
	by      plan.By
	matches plan.Filter
	at      requirement // the one by which it is found
	askers  set[*asker[K]]
}

// digest stands for [plan.Read.Key], which is several times as long.
type digest [sha256.Size]byte

func digestOf(r plan.Read) digest { return sha256.Sum256([]byte(r.Key())) }

// NewIndex returns an index of which nobody has asked anything.
func NewIndex[K comparable]() *Index[K] {
	return &Index[K]{
		seed:       maphash.MakeSeed(),
		askers:     map[K]*asker[K]{},
		questions:  map[digest]*question[K]{},
		selections: map[plan.Selection]*selectionIndex[K]{},
	}
}

// Ask notes a question, before it is answered: then a change that the answer does
// not show yet finds the asker. What the question refers to must not change any
// more.
func (x *Index[K]) Ask(key K, q plan.Read) {
	d := digestOf(q)
	x.mu.RLock()
	known := x.has(x.askers[key], d)
	x.mu.RUnlock()
	if known {
		return
	}
	parsed := x.parse(d, q) // Without the lock.
	x.mu.Lock()
	defer x.mu.Unlock()
	x.note(x.askerOf(key), parsed)
}

func (x *Index[K]) has(a *asker[K], d digest) bool {
	q := x.questions[d]
	return a != nil && q != nil && a.asked.has(q)
}

// Keep forgets what the asker asked, apart from these questions, which are those
// of the evaluation that has ended. They are noted where they were not.
func (x *Index[K]) Keep(key K, questions []plan.Read) {
	asked := make(map[digest]plan.Read, len(questions))
	for _, q := range questions {
		asked[digestOf(q)] = q
	}
	if len(asked) == 0 {
		x.Forget(key)
		return
	}
	if x.knowsJust(key, asked) {
		return
	}
	parsed := make([]parsed[K], 0, len(asked))
	for d, q := range asked {
		parsed = append(parsed, x.parse(d, q))
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	a := x.askerOf(key)
	for _, q := range parsed {
		x.note(a, q)
	}
	for q := range a.asked.all() {
		if _, kept := asked[q.digest]; !kept {
			x.withdraw(a, q)
		}
	}
}

func (x *Index[K]) knowsJust(key K, asked map[digest]plan.Read) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	a := x.askers[key]
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
func (x *Index[K]) Forget(key K) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := x.askers[key]
	if a == nil {
		return
	}
	for q := range a.asked.all() {
		x.withdraw(a, q)
	}
	delete(x.askers, key)
	if len(x.askers) == 0 { // A map keeps the room that it once needed.
		x.askers, x.questions = map[K]*asker[K]{}, map[digest]*question[K]{}
	}
}

// parsed is a question that may be new, and the requirements of which one will find it.
type parsed[K comparable] struct {
	*question[K]
	requirements []requirement
}

func (x *Index[K]) parse(d digest, r plan.Read) parsed[K] {
	return parsed[K]{&question[K]{digest: d, from: r.From, by: r.By, matches: r.Filter()}, requirementsOf(x.seed, r)}
}

// askerOf returns what is known of an asker, which may be new.
func (x *Index[K]) askerOf(key K) *asker[K] {
	a := x.askers[key]
	if a == nil {
		a = &asker[K]{key: key}
		x.askers[key] = a
	}
	return a
}

// note notes that somebody asks a question. A new one is found by the requirement that the fewest others share, the first
// of several: what many ask in common tells them apart least.
func (x *Index[K]) note(a *asker[K], p parsed[K]) {
	q := x.questions[p.digest]
	if q == nil {
		q = p.question
		q.at = slices.MinFunc(p.requirements, func(a, b requirement) int { return x.crowd(q, a) - x.crowd(q, b) })
		x.questions[q.digest] = q
		for from := range q.selections {
			if x.selections[from] == nil {
				x.selections[from] = &selectionIndex[K]{buckets: map[uint64]set[*question[K]]{}}
			}
			x.selections[from].add(q)
		}
	}
	q.askers.add(a)
	a.asked.add(q)
}

func (x *Index[K]) crowd(q *question[K], r requirement) int {
	most := 0
	for _, from := range q.from {
		if s := x.selections[from]; s != nil {
			most = max(most, s.crowd(r))
		}
	}
	return most
}

// withdraw takes a question back, which is forgotten with its last asker.
func (x *Index[K]) withdraw(a *asker[K], q *question[K]) {
	a.asked.remove(q)
	q.askers.remove(a)
	if q.askers.len() > 0 {
		return
	}
	delete(x.questions, q.digest)
	for from := range q.selections {
		x.selections[from].remove(q)
		if len(x.selections[from].buckets) == 0 {
			delete(x.selections, from)
		}
	}
}

// selections goes through those of a question, each once.
func (q *question[K]) selections(yield func(plan.Selection) bool) {
	for i, from := range q.from {
		if !slices.Contains(q.from[:i], from) && !yield(from) {
			return
		}
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
	s := x.selections[from]
	if s == nil {
		return nil
	}
	var found set[*question[K]]
	for _, object := range [...]map[string]any{before, after} {
		if object != nil {
			s.answered(x.seed, object, &found)
		}
	}
	return keysOf(found)
}

// Asking returns who asked anything of the selection, each once and in no order.
func (x *Index[K]) Asking(from plan.Selection) []K {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.selections[from]
	if s == nil {
		return nil
	}
	var all set[*question[K]]
	for _, bucket := range s.buckets {
		for q := range bucket.all() {
			all.add(q)
		}
	}
	return keysOf(all)
}

// keysOf returns each asker once.
func keysOf[K comparable](questions set[*question[K]]) []K {
	most := 0
	for q := range questions.all() {
		most = max(most, q.askers.len())
	}
	if most == 0 {
		return nil
	}
	out := make([]K, 0, most)
	seen := map[*asker[K]]struct{}{}
	for q := range questions.all() {
		for a := range q.askers.all() {
			if questions.len() > 1 { // Nobody asks one question twice.
				if _, twice := seen[a]; twice {
					continue
				}
				seen[a] = struct{}{}
			}
			out = append(out, a.key)
		}
	}
	return out
}
