package dependencies

import "github.com/dyncontroller/dyncontroller/pkg/plan"

// Compared returns how many questions an object is compared with.
func (x *Index[K]) Compared(from plan.Selection, object map[string]any) (compared int) {
	x.selections[from].visit(object, func(*question[K]) { compared++ })
	return compared
}
