package dependencies

import (
	"crypto/sha256"
	"hash/maphash"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Index has the questions that each asker asked of other objects in its last evaluation. K names an asker. It is safe for
// concurrent use.
type Index[K comparable] struct {
	seed maphash.Seed // immutable

	mu         sync.RWMutex
	askers     map[K]*asker[K]                  // guarded by mu, as is all that follows
	questions  map[digest]*question[K]          // each once, whoever asks it
	selections map[plan.Selection]*selection[K] // the same questions, by what they ask
}

type asker[K comparable] struct {
	key   K
	asked []*question[K]
}

// question has all askers of the same question.
type question[K comparable] struct {
	digest  digest
	from    []plan.Selection // each once
	matches plan.Filter
	at      requirement // the one by which it is found
	askers  sets.Set[*asker[K]]
}

// digest stands for [plan.Read.Key], which is several times as long.
type digest [sha256.Size]byte

func digestOf(q plan.Read) digest {
	var room [256]byte // For most keys.
	return sha256.Sum256(q.AppendKey(room[:0]))
}

// NewIndex returns an empty index.
func NewIndex[K comparable]() *Index[K] {
	return &Index[K]{
		seed: maphash.MakeSeed(), askers: map[K]*asker[K]{}, questions: map[digest]*question[K]{},
		selections: map[plan.Selection]*selection[K]{},
	}
}

// Ask notes a question. It is called before the question is answered: then a change that the answer does not show yet
// finds the asker. The caller must not change what the question refers to.
func (x *Index[K]) Ask(key K, q plan.Read) {
	d := digestOf(q)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.note(key, d, q)
}

// Keep has the asker depend on these questions alone. They are those of the evaluation that has ended.
func (x *Index[K]) Keep(key K, questions []plan.Read) {
	kept := make(map[digest]plan.Read, len(questions))
	for _, q := range questions {
		kept[digestOf(q)] = q
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for d, q := range kept {
		x.note(key, d, q)
	}
	a := x.askers[key]
	if a == nil {
		return
	}
	a.asked = slices.DeleteFunc(a.asked, func(q *question[K]) bool {
		if _, asked := kept[q.digest]; asked {
			return false
		}
		x.withdraw(a, q)
		return true
	})
	if len(a.asked) == 0 {
		delete(x.askers, key)
	}
}

// Forget removes the asker and all that it asked.
func (x *Index[K]) Forget(key K) { x.Keep(key, nil) }

// note adds a question of an asker.
func (x *Index[K]) note(key K, d digest, read plan.Read) {
	a := x.askers[key]
	if a == nil {
		a = &asker[K]{key: key}
		x.askers[key] = a
	}
	q := x.questions[d]
	if q == nil {
		q = x.add(d, read)
	}
	if !q.askers.Has(a) {
		q.askers.Insert(a)
		a.asked = append(a.asked, q)
	}
}

// add adds a new question. It is found by the requirement that the fewest others share, the first of several: a value that
// many ask for separates them least.
func (x *Index[K]) add(d digest, read plan.Read) *question[K] {
	q := &question[K]{digest: d, matches: read.Filter(), askers: sets.Set[*asker[K]]{}}
	for _, from := range read.From {
		if x.selections[from] == nil {
			x.selections[from] = &selection[K]{seed: x.seed, buckets: map[uint64][]*question[K]{}, paths: map[string]*countedPath{}}
		}
		if !slices.Contains(q.from, from) {
			q.from = append(q.from, from)
		}
	}
	crowd := func(at requirement) (most int) {
		for _, from := range q.from {
			for _, bucket := range at.buckets {
				most = max(most, len(x.selections[from].buckets[bucket]))
			}
		}
		return most
	}
	q.at = slices.MinFunc(requirementsOf(x.seed, read), func(a, b requirement) int { return crowd(a) - crowd(b) })
	for _, from := range q.from {
		x.selections[from].add(q)
	}
	x.questions[d] = q
	return q
}

// withdraw removes an asker from a question, and the question with its last asker.
func (x *Index[K]) withdraw(a *asker[K], q *question[K]) {
	if q.askers.Delete(a); q.askers.Len() > 0 {
		return
	}
	delete(x.questions, q.digest)
	for _, from := range q.from {
		if x.selections[from].remove(q); len(x.selections[from].buckets) == 0 {
			delete(x.selections, from)
		}
	}
}

// Asked reports whether there is a question to the selection.
func (x *Index[K]) Asked(from plan.Selection) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.selections[from] != nil
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
	found := sets.Set[*question[K]]{}
	for _, object := range [...]map[string]any{before, after} {
		if object == nil {
			continue
		}
		s.visit(object, func(q *question[K]) {
			if !found.Has(q) && q.matches(object) {
				found.Insert(q)
			}
		})
	}
	return askersOf(found)
}

// Asking returns the askers of any question to the selection, each once and in no order.
func (x *Index[K]) Asking(from plan.Selection) []K {
	x.mu.RLock()
	defer x.mu.RUnlock()
	all := sets.Set[*question[K]]{}
	if s := x.selections[from]; s != nil {
		for _, bucket := range s.buckets {
			all.Insert(bucket...)
		}
	}
	return askersOf(all)
}

// askersOf returns each asker once.
func askersOf[K comparable](questions sets.Set[*question[K]]) (out []K) {
	seen := sets.Set[*asker[K]]{}
	for q := range questions {
		out = slices.Grow(out, q.askers.Len())
		for a := range q.askers {
			if len(questions) > 1 { // An asker asks a question once.
				if seen.Has(a) {
					continue
				}
				seen.Insert(a)
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
	key     plan.IndexKey
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
		out[i].key, out[i].path = required.Key, required.Path
		for _, value := range slices.Compact(slices.Sorted(slices.Values(required.Values))) {
			out[i].buckets = append(out[i].buckets, selectorKey{required.Key, q.Namespace, value}.bucket(seed))
		}
	}
	return out
}

// selection has the questions to one selection, in buckets, and the paths of the fields that they ask for.
type selection[K comparable] struct {
	seed    maphash.Seed
	buckets map[uint64][]*question[K]
	paths   map[string]*countedPath // by their pointers
}

type countedPath struct {
	path      plan.Path
	questions int
}

func (s *selection[K]) add(q *question[K]) {
	for _, b := range q.at.buckets {
		s.buckets[b] = append(s.buckets[b], q)
	}
	if pointer := q.at.key.Of; q.at.key.By == plan.ByFields {
		if s.paths[pointer] == nil {
			s.paths[pointer] = &countedPath{path: q.at.path}
		}
		s.paths[pointer].questions++
	}
}

func (s *selection[K]) remove(q *question[K]) {
	for _, b := range q.at.buckets {
		at := slices.Index(s.buckets[b], q)
		if s.buckets[b] = slices.Delete(s.buckets[b], at, at+1); len(s.buckets[b]) == 0 {
			delete(s.buckets, b)
		}
	}
	if counted := s.paths[q.at.key.Of]; q.at.key.By == plan.ByFields {
		if counted.questions--; counted.questions == 0 {
			delete(s.paths, q.at.key.Of)
		}
	}
}

// visit goes through the questions in the buckets that the object is in. It reads the object as [plan.Read.Matches] does.
func (s *selection[K]) visit(object map[string]any, look func(*question[K])) {
	namespaces := slices.Compact([]string{"", plan.Text(object, "metadata", "namespace")})
	everywhere := func(key plan.IndexKey, value string) {
		for _, namespace := range namespaces {
			for _, q := range s.buckets[selectorKey{key, namespace, value}.bucket(s.seed)] {
				look(q)
			}
		}
	}
	everywhere(plan.IndexKey{By: plan.ByAll}, "")
	everywhere(plan.IndexKey{By: plan.ByName}, plan.Text(object, "metadata", "name"))
	everywhere(plan.IndexKey{By: plan.ByOwner}, string(plan.ControllerUID(object)))
	everywhere(plan.IndexKey{By: plan.ByLabels}, "")
	labels := plan.LabelsOf(object)
	for label := range labels {
		everywhere(plan.IndexKey{By: plan.ByLabels, Of: label, Has: true}, "true")
		everywhere(plan.IndexKey{By: plan.ByLabels, Of: label}, labels.Get(label))
	}
	for pointer, counted := range s.paths {
		if value, found := plan.Lookup(object, counted.path); found {
			everywhere(plan.IndexKey{By: plan.ByFields, Of: pointer}, plan.ScalarText(value))
		}
	}
}
