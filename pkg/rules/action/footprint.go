package action

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint/shape"
)

// Traces is where actions leave what they read and write.
type Traces struct {
	Footprint *footprint.Footprint
	Shapes    expression.Shapes
	Watched   []schema.GroupVersionResource
}

// Footprint adds what the step can read and write.
func (s *Step) Footprint(t Traces) {
	if s.each != nil {
		list := s.each.list.Shape(t.Shapes)
		list.Read(footprint.Length)
		t.Shapes = loopShapes{outer: t.Shapes, first: s.each.slot, element: list.Items()}
	}
	if s.when != nil {
		s.when.Program().Shape(t.Shapes).Read(footprint.Value)
	}
	s.action.Footprint(t)
	for _, r := range s.action.Requests(t) {
		t.access(r.Resource).Allow(r.Name, r.Subresource)
	}
}

// loopShapes is [loop] for shapes.
type loopShapes struct {
	outer   expression.Shapes
	first   int
	element shape.Shape
}

// Shape implements [expression.Shapes].
func (l loopShapes) Shape(slot int) shape.Shape {
	switch slot {
	case l.first:
		return l.element
	case l.first + 1:
		return shape.Other()
	default:
		return l.outer.Shape(slot)
	}
}

func (t Traces) access(gvr schema.GroupVersionResource) *footprint.Access {
	return t.Footprint.Of(gvr, gvr.Resource)
}

// targets returns the access to each resource that a target can be of.
func (t Traces) targets(of *target) []*footprint.Access {
	var out []*footprint.Access
	if of.node == nil {
		for _, gvr := range t.Watched {
			out = append(out, t.access(gvr))
		}
		return out
	}
	value := t.Shapes.Shape(of.slot)
	value.Read(footprint.Exists) // One that is no object is an error.
	value.Items().Read(footprint.Exists)
	return t.Footprint.Reading(value.Objects())
}

// value records that a body is evaluated and leaves the rule.
func (t Traces) value(b *body.Body) {
	if b != nil {
		b.Shape(t.Shapes).Read(footprint.Value)
	}
}
