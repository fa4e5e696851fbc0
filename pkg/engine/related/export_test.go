package related

import "github.com/dyncontroller/dyncontroller/pkg/plan"

// Compared returns how many questions an object is compared with.
func (x *Index[K]) Compared(from plan.Selection, object map[string]any) int {
	s, compared := x.shelves[from], 0
	s.visit(object, func(p place) { compared += s.places[x.hasher.hash(p)].len() })
	return compared
}
