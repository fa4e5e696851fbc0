package dependencies

import (
	"crypto/sha256"
	"hash/maphash"
	"iter"
	"slices"
	"sync"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Index has the questions that each asker asked of other objects in its last evaluation. K names an asker. It is safe for
// concurrent use. Concerned, and Ask and Keep of known questions, take a read lock only.
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

// question has all askers of the same question.
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

func digestOf(q plan.Read) digest { return sha256.Sum256([]byte(q.Key())) }

// NewIndex returns an empty index.
func NewIndex[K comparable]() *Index[K] {
	return &Index[K]{
		seed: maphash.MakeSeed(), askers: map[K]*asker[K]{}, questions: map[digest]*question[K]{},
		selections: map[plan.Selection]*selectionIndex[K]{},
	}
}

// Ask notes a question. It is called before the question is answered: then a change that the answer does not show yet
// finds the asker. The caller must not change what the question refers to.
func (x *Index[K]) Ask(key K, q plan.Read) {
	d := digestOf(q)
	x.mu.RLock()
	known := x.asks(x.askers[key], d)
	x.mu.RUnlock()
	if known {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.note(key, d, q)
}

func (x *Index[K]) asks(a *asker[K], d digest) bool {
	q := x.questions[d]
	return a != nil && q != nil && a.asked.has(q)
}

// Keep has the asker depend on these questions alone. They are those of the evaluation that has ended.
func (x *Index[K]) Keep(key K, questions []plan.Read) {
	asked := make(map[digest]plan.Read, len(questions))
	for _, q := range questions {
		asked[digestOf(q)] = q
	}
	x.mu.RLock()
	a := x.askers[key]
	same := a != nil && a.asked.len() == len(asked)
	for d := range asked {
		same = same && x.asks(a, d)
	}
	x.mu.RUnlock()
	if same {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for d, q := range asked {
		x.note(key, d, q)
	}
	a = x.askers[key]
	if a == nil {
		return
	}
	for q := range a.asked.all() {
		if _, kept := asked[q.digest]; !kept {
			x.withdraw(a, q)
		}
	}
	if len(asked) == 0 {
		delete(x.askers, key)
	}
	if len(x.askers) == 0 { // A map keeps the room that it once needed.
		x.askers, x.questions = map[K]*asker[K]{}, map[digest]*question[K]{}
	}
}

// Forget removes the asker and all that it asked.
func (x *Index[K]) Forget(key K) { x.Keep(key, nil) }

// note adds a question of an asker. A new question is found by the requirement that the fewest others share, the first of
// several: a value that many ask for separates them least.
func (x *Index[K]) note(key K, d digest, read plan.Read) {
	a := x.askers[key]
	if a == nil {
		a = &asker[K]{key: key}
		x.askers[key] = a
	}
	q := x.questions[d]
	if q == nil {
		q = &question[K]{digest: d, from: read.From, by: read.By, matches: read.Filter()}
		q.at = slices.MinFunc(requirementsOf(x.seed, read), func(a, b requirement) int { return x.crowd(q, a) - x.crowd(q, b) })
		x.questions[d] = q
		for i, from := range q.from {
			if slices.Contains(q.from[:i], from) {
				continue
			}
			if x.selections[from] == nil {
				x.selections[from] = &selectionIndex[K]{buckets: map[uint64]set[*question[K]]{}}
			}
			x.selections[from].change(q, 1)
		}
	}
	q.askers.add(a)
	a.asked.add(q)
}

// crowd is the size of the largest bucket that a question would be in.
func (x *Index[K]) crowd(q *question[K], at requirement) (most int) {
	for _, from := range q.from {
		if s := x.selections[from]; s != nil {
			for _, b := range at.buckets {
				most = max(most, s.buckets[b].len())
			}
		}
	}
	return most
}

// withdraw removes an asker from a question, and the question with its last asker.
func (x *Index[K]) withdraw(a *asker[K], q *question[K]) {
	a.asked.remove(q)
	q.askers.remove(a)
	if q.askers.len() > 0 {
		return
	}
	delete(x.questions, q.digest)
	for i, from := range q.from {
		if slices.Contains(q.from[:i], from) {
			continue
		}
		x.selections[from].change(q, -1)
		if len(x.selections[from].buckets) == 0 {
			delete(x.selections, from)
		}
	}
}

// Concerned returns the askers of questions that an object in the cache of the selection answers or answered, each once and
// in no order. Before and after are the object, nil where it was or is not there. An asker is concerned even if both answer,
// since it has read the object. The caller knows that the selection selects the object.
func (x *Index[K]) Concerned(from plan.Selection, before, after map[string]any) []K {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.selections[from]
	if s == nil {
		return nil
	}
	var found set[*question[K]]
	for _, object := range [...]map[string]any{before, after} {
		if object == nil {
			continue
		}
		s.visit(object, func(key selectorKey) {
			if bucket, ok := s.buckets[key.bucket(x.seed)]; ok { // Mostly there is none, and that costs no memory.
				for q := range bucket.all() {
					if !found.has(q) && q.matches(object) {
						found.add(q)
					}
				}
			}
		})
	}
	return askersOf(found)
}

// Asking returns the askers of any question to the selection, each once and in no order.
func (x *Index[K]) Asking(from plan.Selection) []K {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var all set[*question[K]]
	if s := x.selections[from]; s != nil {
		for _, bucket := range s.buckets {
			for q := range bucket.all() {
				all.add(q)
			}
		}
	}
	return askersOf(all)
}

// askersOf returns each asker once.
func askersOf[K comparable](questions set[*question[K]]) (out []K) {
	seen := map[*asker[K]]bool{}
	for q := range questions.all() {
		out = slices.Grow(out, q.askers.len())
		for a := range q.askers.all() {
			if questions.len() > 1 { // An asker asks a question once.
				if seen[a] {
					continue
				}
				seen[a] = true
			}
			out = append(out, a.key)
		}
	}
	return out
}

// selectorKey is a property of objects: those that have it may answer the questions in its bucket.
type selectorKey struct {
	plan.IndexKey        // ByLabels without a label: any object, for selectors that no label can find
	namespace     string // empty for all
	value         string
}

// bucket is a hash of the key. Two keys with the same hash share their questions, which costs time and changes no answer.
func (k selectorKey) bucket(seed maphash.Seed) uint64 { return maphash.Comparable(seed, k) }

// requirement has the buckets of one [plan.Requirement]: an object that answers the question is in one of them.
type requirement struct {
	path    plan.Path // of ByFields
	buckets []uint64
}

// requirementsOf returns at least one, with at least one bucket.
func requirementsOf(seed maphash.Seed, q plan.Read) []requirement {
	all, possible := q.Requirements()
	// An object is looked for by the labels that it has, and better by their values.
	byValue := slices.ContainsFunc(all, func(r plan.Requirement) bool { return !r.Key.Has })
	all = slices.DeleteFunc(all, func(r plan.Requirement) bool { return r.Key.Has && (byValue || r.Values[0] == "false") })
	switch {
	case !possible: // Nothing is in this bucket.
		all = []plan.Requirement{{Values: []string{""}}}
	case len(all) == 0:
		all = []plan.Requirement{{Key: plan.IndexKey{By: q.By}, Values: []string{""}}}
	}
	out := make([]requirement, len(all))
	for i, required := range all {
		out[i].path = required.Path
		for _, value := range required.Values {
			out[i].buckets = append(out[i].buckets, selectorKey{required.Key, q.Namespace, value}.bucket(seed))
		}
	}
	return out
}

// selectionIndex has the questions to one selection, in buckets.
type selectionIndex[K comparable] struct {
	buckets map[uint64]set[*question[K]]
	labels  int // questions by labels
	paths   pathTree
}

// change adds a question, n is 1, or removes it, n is -1.
func (s *selectionIndex[K]) change(q *question[K], n int) {
	for _, b := range q.at.buckets {
		bucket := s.buckets[b]
		if n > 0 {
			bucket.add(q)
		} else {
			bucket.remove(q)
		}
		s.buckets[b] = bucket
		if bucket.len() == 0 {
			delete(s.buckets, b)
		}
	}
	switch q.by {
	case plan.ByLabels:
		s.labels += n
	case plan.ByFields:
		s.paths.count(q.at.path, n)
	default:
	}
}

// visit calls look with the key of each bucket that the object is in. It reads the object as [plan.Read.Matches] does.
func (s *selectionIndex[K]) visit(object map[string]any, look func(selectorKey)) {
	own := plan.Text(object, "metadata", "namespace")
	everywhere := func(by plan.By, of string, has bool, value string) {
		key := selectorKey{IndexKey: plan.IndexKey{By: by, Of: of, Has: has}, value: value}
		look(key)
		if own != "" {
			key.namespace = own
			look(key)
		}
	}
	everywhere(plan.ByAll, "", false, "")
	everywhere(plan.ByName, "", false, plan.Text(object, "metadata", "name"))
	if uid := plan.ControllerUID(object); uid != "" {
		everywhere(plan.ByOwner, "", false, string(uid))
	}
	if s.labels > 0 {
		everywhere(plan.ByLabels, "", false, "")
		labels := plan.LabelsOf(object)
		for label := range labels {
			everywhere(plan.ByLabels, label, true, "true")
			everywhere(plan.ByLabels, label, false, labels.Get(label))
		}
	}
	s.paths.walk(object, func(pointer string, value any) { everywhere(plan.ByFields, pointer, false, plan.ScalarText(value)) })
}

// pathTree has the paths to fields that questions ask for. With it an object costs no more than the fields that it has, even
// if every asker names a field of its own.
type pathTree struct {
	pointer string
	ends    int // questions with the path to here
	below   map[string]*pathTree
}

// count adds n questions with the path.
func (t *pathTree) count(path plan.Path, n int) {
	if len(path) == 0 {
		t.ends += n
		return
	}
	next := t.below[path[0]]
	if next == nil {
		next = &pathTree{pointer: t.pointer + path[:1].Pointer()}
		if t.below == nil {
			t.below = map[string]*pathTree{}
		}
		t.below[path[0]] = next
	}
	next.count(path[1:], n)
	if next.ends == 0 && len(next.below) == 0 {
		delete(t.below, path[0])
	}
}

// walk visits the values that paths lead to.
func (t *pathTree) walk(value any, visit func(pointer string, value any)) {
	if t.ends > 0 {
		visit(t.pointer, value)
	}
	if fields, ok := value.(map[string]any); ok && len(fields) < len(t.below) {
		for step, field := range fields {
			if next := t.below[step]; next != nil {
				next.walk(field, visit)
			}
		}
		return
	}
	for step, next := range t.below {
		if field, ok := plan.Lookup(value, plan.Path{step}); ok {
			next.walk(field, visit)
		}
	}
}

// set holds its first element in itself, since most sets here have one element. The zero value is empty; the zero T cannot be
// an element.
type set[T comparable] struct {
	first T
	rest  map[T]struct{}
}

func (s set[T]) has(element T) bool {
	_, ok := s.rest[element]
	return ok || s.first == element
}

func (s *set[T]) add(element T) {
	var none T
	switch {
	case s.has(element):
	case s.first == none:
		s.first = element
	default:
		if s.rest == nil {
			s.rest = map[T]struct{}{}
		}
		s.rest[element] = struct{}{}
	}
}

// remove leaves first empty rather than fill it from the rest: finding some element of a map that was large takes long.
func (s *set[T]) remove(element T) {
	var none T
	if s.first == element {
		s.first = none
	}
	delete(s.rest, element)
	if len(s.rest) == 0 {
		s.rest = nil
	}
}

func (s set[T]) len() int {
	var none T
	if s.first == none {
		return len(s.rest)
	}
	return len(s.rest) + 1
}

// all is in no order. An element may be removed once it has been seen.
func (s set[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) {
		var none T
		if s.first != none && !yield(s.first) {
			return
		}
		for element := range s.rest {
			if !yield(element) {
				return
			}
		}
	}
}
