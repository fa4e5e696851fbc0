package related

import (
	"hash/maphash"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// selectionIndex has the questions that were asked of one selection, in buckets.
type selectionIndex[K comparable] struct {
	buckets map[uint64]set[*question[K]]
	labels  int // questions by labels
	paths   pathTree
}

// crowd is how many questions an object is compared with at the worst of the
// buckets.
func (s *selectionIndex[K]) crowd(r requirement) int {
	most := 0
	for _, b := range r.buckets {
		bucket := s.buckets[b]
		most = max(most, bucket.len())
	}
	return most
}

func (s *selectionIndex[K]) add(q *question[K]) {
	for _, b := range q.at.buckets {
		bucket := s.buckets[b]
		bucket.add(q)
		s.buckets[b] = bucket
	}
	switch q.by {
	case plan.ByLabels:
		s.labels++
	case plan.ByFields:
		s.paths.add(q.at.path)
	default:
	}
}

func (s *selectionIndex[K]) remove(q *question[K]) {
	for _, b := range q.at.buckets {
		bucket := s.buckets[b]
		bucket.remove(q)
		if bucket.len() > 0 {
			s.buckets[b] = bucket
		} else {
			delete(s.buckets, b)
		}
	}
	switch q.by {
	case plan.ByLabels:
		s.labels--
	case plan.ByFields:
		s.paths.remove(q.at.path)
	default:
	}
}

// answered adds the questions to found that the object answers.
func (s *selectionIndex[K]) answered(seed maphash.Seed, object map[string]any, found *set[*question[K]]) {
	s.visit(object, func(key selectorKey) {
		if bucket, ok := s.buckets[key.bucket(seed)]; ok { // Mostly there is none, and that costs no memory.
			for q := range bucket.all() {
				if !found.has(q) && q.matches(object) {
					found.add(q)
				}
			}
		}
	})
}

// visit goes to the key of each bucket that the object is in. It reads the object as
// [plan.Read.Matches] does.
func (s *selectionIndex[K]) visit(object map[string]any, look func(selectorKey)) {
	own := plan.Text(object, "metadata", "namespace")
	everywhere := func(key selectorKey) {
		look(key)
		if own != "" {
			key.namespace = own
			look(key)
		}
	}
	everywhere(selectorKey{by: plan.ByAll})
	everywhere(selectorKey{by: plan.ByName, value: plan.Text(object, "metadata", "name")})
	if uid := plan.ControllerUID(object); uid != "" {
		everywhere(selectorKey{by: plan.ByOwner, value: string(uid)})
	}
	if s.labels > 0 {
		everywhere(selectorKey{by: plan.ByLabels})
		labels := plan.LabelsOf(object)
		for key := range labels {
			everywhere(selectorKey{by: plan.ByLabels, key: key, exists: true})
			everywhere(selectorKey{by: plan.ByLabels, key: key, value: labels.Get(key)})
		}
	}
	s.paths.walk(object, func(pointer string, value any) {
		everywhere(selectorKey{by: plan.ByFields, key: pointer, value: plan.ScalarText(value)})
	})
}
