package related

import "github.com/dyncontroller/dyncontroller/pkg/plan"

// shelf has the questions that were asked of one selection.
type shelf[K comparable] struct {
	places map[uint64]set[*question[K]]
	labels int // questions by labels
	paths  branch
}

// crowd is how many questions an object is compared with at the worst of the
// places.
func (s *shelf[K]) crowd(w way) int {
	most := 0
	for _, p := range w.places {
		lying := s.places[p]
		most = max(most, lying.len())
	}
	return most
}

func (s *shelf[K]) add(q *question[K]) {
	for _, p := range q.way.places {
		lying := s.places[p]
		lying.add(q)
		s.places[p] = lying
	}
	switch q.by {
	case plan.ByLabels:
		s.labels++
	case plan.ByFields:
		s.paths.add(q.way.path)
	default:
	}
}

func (s *shelf[K]) remove(q *question[K]) {
	for _, p := range q.way.places {
		lying := s.places[p]
		lying.remove(q)
		if lying.len() > 0 {
			s.places[p] = lying
		} else {
			delete(s.places, p)
		}
	}
	switch q.by {
	case plan.ByLabels:
		s.labels--
	case plan.ByFields:
		s.paths.remove(q.way.path)
	default:
	}
}

// answered adds the questions to found that the object answers.
func (s *shelf[K]) answered(h hasher, object map[string]any, found *set[*question[K]]) {
	s.visit(object, func(p place) {
		if lying, ok := s.places[h.hash(p)]; ok { // Mostly nothing is, and that costs no memory.
			for q := range lying.all() {
				if !found.has(q) && q.matches(object) {
					found.add(q)
				}
			}
		}
	})
}

// visit goes to each place that the object is at. It reads the object as
// [plan.Read.Matches] does.
func (s *shelf[K]) visit(object map[string]any, look func(place)) {
	own := plan.Text(object, "metadata", "namespace")
	everywhere := func(p place) {
		look(p)
		if own != "" {
			p.namespace = own
			look(p)
		}
	}
	everywhere(place{by: plan.ByAll})
	everywhere(place{by: plan.ByName, kind: text, value: plan.Text(object, "metadata", "name")})
	if uid := plan.ControllerUID(object); uid != "" {
		everywhere(place{by: plan.ByOwner, kind: text, value: string(uid)})
	}
	if s.labels > 0 {
		visitLabels(object, everywhere)
	}
	s.paths.walk(object, func(pointer string, value any) {
		kind, written := kindOf(value)
		everywhere(place{by: plan.ByFields, key: pointer, kind: kind, value: written})
	})
}

func visitLabels(object map[string]any, look func(place)) {
	look(place{by: plan.ByLabels})
	found, _ := plan.Lookup(object, plan.Path{"metadata", "labels"})
	labels, _ := found.(map[string]any)
	for key := range labels {
		look(place{by: plan.ByLabels, key: key, kind: present})
		look(place{by: plan.ByLabels, key: key, kind: text, value: plan.Text(labels, key)})
	}
}
