package related

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// recordOf returns what is known of an asker, which may be new.
func (x *Index[K]) recordOf(key K) *record[K] {
	a := x.askers[key]
	if a == nil {
		a = &record[K]{key: key}
		x.askers[key] = a
	}
	return a
}

// note notes that somebody asks a question.
func (x *Index[K]) note(a *record[K], d digest, r plan.Read, ways []way) {
	q := x.questions[d]
	if q == nil {
		q = &question[K]{digest: d, from: r.From, by: r.By, matches: r.Filter(), way: x.emptiest(r, ways)}
		x.questions[d] = q
		for from := range selections(r.From) {
			if x.shelves[from] == nil {
				x.shelves[from] = &shelf[K]{places: map[uint64]set[*question[K]]{}}
			}
			x.shelves[from].add(q)
		}
	}
	q.askers.add(a)
	a.asked.add(q)
}

// withdraw takes a question back, which is forgotten with its last asker.
func (x *Index[K]) withdraw(a *record[K], q *question[K]) {
	a.asked.remove(q)
	q.askers.remove(a)
	if q.askers.len() > 0 {
		return
	}
	delete(x.questions, q.digest)
	for from := range selections(q.from) {
		x.shelves[from].remove(q)
		if len(x.shelves[from].places) == 0 {
			delete(x.shelves, from)
		}
	}
}

// emptiest returns the way on which the fewest other questions lie, the first of
// several: what many ask in common tells them apart least.
func (x *Index[K]) emptiest(r plan.Read, ways []way) way {
	return slices.MinFunc(ways, func(a, b way) int { return x.crowd(r, a) - x.crowd(r, b) })
}

func (x *Index[K]) crowd(r plan.Read, w way) int {
	most := 0
	for _, from := range r.From {
		if s := x.shelves[from]; s != nil {
			most = max(most, s.crowd(w))
		}
	}
	return most
}

// selections are those of a question, each once.
func selections(all []plan.Selection) func(yield func(plan.Selection) bool) {
	return func(yield func(plan.Selection) bool) {
		for i, from := range all {
			if !slices.Contains(all[:i], from) && !yield(from) {
				return
			}
		}
	}
}
