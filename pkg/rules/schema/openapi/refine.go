package openapi

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// refinement is a component with what is said of it where it is referred to.
type refinement struct {
	base *schema.Type
	by   map[string]any
}

// refinedBy returns the type of a place that refers to base. If more is said there,
// it is a copy that is made in the end: a component that contains itself is not yet
// complete.
func (r *Reader) refinedBy(base *schema.Type, by map[string]any) *schema.Type {
	if !flag(by["nullable"]) && by["x-kubernetes-map-type"] == nil {
		return base
	}
	t := &schema.Type{}
	r.refined[t] = refinement{base: base, by: by}
	return t
}

// refine makes the copies.
func (r *Reader) refine() {
	for t := range r.refined {
		r.copyInto(t)
	}
}

func (r *Reader) copyInto(t *schema.Type) {
	from, waiting := r.refined[t]
	if !waiting {
		return
	}
	delete(r.refined, t) // First, as what refers to itself would never end.
	r.copyInto(from.base)
	if from.base.Kinds == 0 {
		*t = *schema.Open()
		return
	}
	*t = *from.base
	if flag(from.by["nullable"]) {
		t.Kinds |= value.Nil
	}
	if kind := from.by["x-kubernetes-map-type"]; kind != nil && t.Map != nil {
		fields := *t.Map
		fields.Atomic = kind == "atomic"
		t.Map = &fields
	}
}
