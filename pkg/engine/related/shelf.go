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
	switch q.read.By {
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
	switch q.read.By {
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
				if !found.has(q) && q.read.Matches(object) {
					found.add(q)
				}
			}
		}
	})
}

// visit goes to each place that the object is at. It reads the object as
// [plan.Read.Matches] does.
func (s *shelf[K]) visit(object map[string]any, look func(place)) {
	metadata, _ := object["metadata"].(map[string]any)
	own := textOf(metadata, "namespace")
	everywhere := func(p place) {
		look(p)
		if own != "" {
			p.namespace = own
			look(p)
		}
	}
	everywhere(place{by: plan.ByAll})
	everywhere(place{by: plan.ByName, kind: text, value: textOf(metadata, "name")})
	if uid := controllerOf(metadata); uid != "" {
		everywhere(place{by: plan.ByOwner, kind: text, value: uid})
	}
	if s.labels > 0 {
		visitLabels(metadata, everywhere)
	}
	s.paths.walk(object, func(pointer string, value any) {
		kind, written := kindOf(value)
		everywhere(place{by: plan.ByFields, key: pointer, kind: kind, value: written})
	})
}

func visitLabels(metadata map[string]any, look func(place)) {
	look(place{by: plan.ByLabels})
	labels, _ := metadata["labels"].(map[string]any)
	for key := range labels {
		look(place{by: plan.ByLabels, key: key, kind: present})
		look(place{by: plan.ByLabels, key: key, kind: text, value: textOf(labels, key)})
	}
}

// controllerOf is the uid of the controller, empty where there is none.
func controllerOf(metadata map[string]any) string {
	references, _ := metadata["ownerReferences"].([]any)
	for _, element := range references {
		reference, _ := element.(map[string]any)
		if controls, _ := reference["controller"].(bool); controls {
			return textOf(reference, "uid")
		}
	}
	return ""
}

func textOf(from map[string]any, key string) string {
	text, _ := from[key].(string)
	return text
}
