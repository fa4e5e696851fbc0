package action

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// Write is a field that an action sets on objects that exist.
type Write struct {
	body.Leaf
	// Resources are what it may be set on: several where the rule watches several.
	Resources []schema.GroupVersionResource
	// Target is the name of what it is set on, "" for the watched object.
	Target string
	// Kind is that of the patch.
	Kind plan.Type
	// Merges says that a list is merged with what others write into it.
	Merges bool
	// Loop is the forEach around it, nil where there is none.
	Loop *Loop
}

// Loop is a forEach.
type Loop struct {
	Name string
	List *document.Node
	// Names are those that the list uses.
	Names []string
}

// InLoop reports whether a name is of forEach.
func (l *Loop) InLoop(name string) bool { return l != nil && (name == l.Name || name == indexName) }

// Writes lists the fields that the step sets on objects that exist.
func (s *Step) Writes(t Traces) (out []Write) {
	p, is := s.action.(*patch)
	if !is || p.subresource != "" && p.subresource != "status" {
		return nil
	}
	if s.each != nil {
		t.Shapes = loopShapes{outer: t.Shapes, first: s.each.slot, element: s.each.list.Shape(t.Shapes).Items()}
	}
	var resources []schema.GroupVersionResource
	for _, access := range t.targets(&p.target) {
		resources = append(resources, access.Resource)
	}
	if resources == nil {
		return nil
	}
	for _, leaf := range p.leaves() {
		_, isList := leaf.Value.([]any)
		out = append(out, Write{
			Leaf: leaf, Resources: resources, Target: p.target.name,
			Kind: p.kind, Merges: isList && p.kind == plan.Apply, Loop: s.Loop(),
		})
	}
	return out
}

// leaves are the fields of the patch. What is nil is not applied.
func (p *patch) leaves() []body.Leaf {
	switch p.kind {
	case plan.JSON:
		return p.body.PatchedLeaves()
	case plan.Apply:
		return slices.DeleteFunc(p.body.Leaves(), func(leaf body.Leaf) bool { return leaf.Value == nil })
	default:
		return p.body.Leaves()
	}
}

// When is the condition of the step, nil for always.
func (s *Step) When() *body.Expression { return s.when }

// Loop is the forEach of the step, nil where it has none.
func (s *Step) Loop() *Loop {
	if s.each == nil {
		return nil
	}
	return &Loop{Name: s.each.name, List: s.each.node, Names: s.each.list.Names()}
}
