package dependencies

import "github.com/dyncontroller/dyncontroller/pkg/plan"

// Compared returns how many questions an object is compared with.
func (x *Index[K]) Compared(from plan.Selection, object map[string]any) int {
	s, compared := x.selections[from], 0
	s.visit(object, func(key selectorKey) { compared += s.buckets[key.bucket(x.seed)].len() })
	return compared
}
