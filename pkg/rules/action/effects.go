package action

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	types "github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// Traces is where actions leave what they read and write.
type Traces struct {
	Footprint *footprint.Footprint
	Shapes    expression.Shapes
	Watched   []schema.GroupVersionResource
	Schemas   *types.Catalog // nil for none
}

// applied adds to an access what an apply writes. An atomic map is written as a whole: what the apply has not is gone.
func (t Traces) applied(access *footprint.Access, writes *footprint.Tree) {
	access.Writes.Merge(writes)
	if found := t.Schemas.Resource(access.Resource); found != nil {
		for _, path := range atomicMaps(nil, nil, writes, found.Type) {
			access.Writes.Add(path, footprint.Value)
		}
	}
}

// atomicMaps appends the paths of the atomic maps in which something is written.
func atomicMaps(out []footprint.Path, at footprint.Path, writes *footprint.Tree, of *types.Type) []footprint.Path {
	if of == nil || of.Map == nil || writes.All() {
		return out
	}
	if of.Map.Atomic {
		return append(out, at)
	}
	for step, below := range writes.Below() {
		if !step.IntoList() {
			f, _ := of.Field(step.Key()) // Of all values of a map it is that of an entry.
			out = atomicMaps(out, at.Then(step), below, f.Type)
		}
	}
	return out
}

// Effects is what an action can do to a cluster, known from the rule alone. Rights, the inventory, sensitive kinds and warnings go by it.
type Effects struct {
	// Requests are those that it can send, each once.
	Requests []Request
	// Leaves is what it can leave on objects, without the rule and the namespace.
	Leaves []plan.Leftover
	// Writes are the fields that it sets on objects that exist.
	Writes []Write
	// Bodies are the templates of what it writes or tells.
	Bodies []*template.Body
	// Restores is where it says that it changes fields for a while, nil where it does not.
	Restores *document.Node
}

// Shapes adds the names of forEach to those of the rule. It may be called of a nil step.
func (s *Step) Shapes(names expression.Shapes) expression.Shapes {
	if s == nil || s.each == nil {
		return names
	}
	list := s.each.List.Shape(names)
	list.Read(footprint.Length)
	return loopShapes{outer: names, first: s.each.slot, element: list.Items()}
}

// Effects tells what the step can do, and adds what it can read and write to the footprint.
func (s *Step) Effects(t Traces) Effects {
	t.Shapes = s.Shapes(t.Shapes)
	if s.when != nil {
		s.when.Program().Shape(t.Shapes).Read(footprint.Value)
	}
	out := s.action.Effects(t)
	for _, r := range out.Requests {
		t.access(r.Resource).Allow(r.Name, r.Subresource)
	}
	for i := range out.Writes {
		out.Writes[i].Loop = s.Loop()
	}
	return out
}

// loopShapes is [loop] for shapes.
type loopShapes struct {
	outer   expression.Shapes
	first   int
	element footprint.Shape
}

// Shape implements [expression.Shapes].
func (l loopShapes) Shape(slot int) footprint.Shape {
	switch slot {
	case l.first:
		return l.element
	case l.first + 1:
		return footprint.Other()
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
func (t Traces) value(b *template.Body) {
	if b != nil {
		b.Shape(t.Shapes).Read(footprint.Value)
	}
}

// Request is a kind of request that a step can cause, as rights are given for it.
// Reads by with are not among them.
type Request struct {
	footprint.Verb
	Resource schema.GroupVersionResource
	// About is the resource of the object that the request is for: another one where an
	// Event about it is recorded.
	About schema.GroupVersionResource
	// Watched says that the object is one that the rule watches.
	Watched bool
	// Nameless says that the API server is not told the name of the object, so that the
	// request cannot be allowed for one name.
	Nameless bool
	// From are the selections that have the object, where it is not watched; nil for any
	// of About that the rule reads.
	From []plan.Selection
}

// Writes reports whether the request changes something. The right to update
// finalizers of an owner is asked for, but nothing is sent there.
func (r Request) Writes() bool {
	return r.Name != "get" && r.Verb != forOwners
}

// forOwners is what blockOwnerDeletion takes, where the API server checks it.
var forOwners = footprint.Verb{Name: "update", Subresource: "finalizers"}

// events is where Events are recorded.
var events = schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"}

// send are requests about some objects, with each of the verbs.
func send(about []Request, verbs ...footprint.Verb) (out []Request) {
	for _, r := range about {
		for _, r.Verb = range verbs {
			out = append(out, r)
		}
	}
	return out
}

// record are the requests that make an Event about each of some objects, or raise the count of one that is there.
func record(about []Request) []Request {
	out := send(about, footprint.Verb{Name: "get"}, footprint.Verb{Name: "create"}, footprint.Verb{Name: "update"})
	for i := range out {
		out[i].Resource = events
	}
	return out
}

// about is what requests about a target have in common.
func (t *target) about(of []*footprint.Access) (out []Request) {
	for _, access := range of {
		out = append(out, Request{Resource: access.Resource, About: access.Resource, Watched: t.node == nil})
	}
	return out
}

// requests are those that making a child takes, with the verbs that the action sends.
func (c *child) requests(t Traces, verbs ...footprint.Verb) []Request {
	of := c.declaration
	out := send([]Request{{Resource: of.GVR, About: of.GVR, From: of.Selections}}, verbs...)
	if c.owned {
		out = append(out, send(t.watching(), forOwners)...)
	}
	return out
}

// watching is what requests about the watched objects have in common.
func (t Traces) watching() []Request {
	watched := &target{}
	return watched.about(t.targets(watched))
}

// Write is a field that an action sets on objects that exist.
type Write struct {
	template.Leaf
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
