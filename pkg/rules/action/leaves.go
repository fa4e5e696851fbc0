package action

import "github.com/dyncontroller/dyncontroller/pkg/plan"

// Leaves lists what the step may leave on objects, without the rule and the
// namespace.
func (s *Step) Leaves(t Traces) []plan.Leftover {
	switch a := s.action.(type) {
	case *patch:
		return s.fields(a, t)
	case *apply:
		return []plan.Leftover{{GVR: a.declaration.GVR, Kind: plan.LeftChildren, Prune: a.prune}}
	case *create:
		return []plan.Leftover{{GVR: a.declaration.GVR, Kind: plan.LeftCreated}}
	default:
		return nil
	}
}

// fields are owned by the rule only where it applies them.
func (s *Step) fields(p *patch, t Traces) (out []plan.Leftover) {
	if p.kind != plan.Apply {
		return nil
	}
	if s.each != nil {
		t.Shapes = loopShapes{outer: t.Shapes, first: s.each.slot, element: s.each.list.Shape(t.Shapes).Items()}
	}
	for _, access := range t.targets(&p.target) {
		out = append(out, plan.Leftover{GVR: access.Resource, Kind: plan.LeftFields, Release: p.release})
	}
	return out
}
