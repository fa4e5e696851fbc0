package action

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

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

// Requests lists what the step can send, each once.
func (s *Step) Requests(t Traces) []Request {
	if s.each != nil {
		t.Shapes = loopShapes{outer: t.Shapes, first: s.each.slot, element: s.each.list.Shape(t.Shapes).Items()}
	}
	return s.action.Requests(t)
}

// forOwners is what blockOwnerDeletion takes, where the API server checks it.
var forOwners = footprint.Verb{Name: "update", Subresource: "finalizers"}

// events is where Events are recorded.
var events = schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"}

func (t Traces) requests(of *target, verbs ...footprint.Verb) (out []Request) {
	for _, access := range t.targets(of) {
		for _, verb := range verbs {
			out = append(out, Request{Verb: verb, Resource: access.Resource, About: access.Resource, Watched: of.node == nil})
		}
	}
	return out
}

// recordings are the requests that make an Event about each of the objects that
// others are about, or raise the count of one that is there.
func recordings(about []Request) (out []Request) {
	for _, of := range about {
		for _, verb := range []string{"get", "create", "update"} {
			of.Verb, of.Resource = footprint.Verb{Name: verb}, events
			out = append(out, of)
		}
	}
	return out
}

// watching is a request for each resource that the rule watches.
func (t Traces) watching(verb footprint.Verb) (out []Request) {
	for _, gvr := range t.Watched {
		out = append(out, Request{Verb: verb, Resource: gvr, About: gvr, Watched: true})
	}
	return out
}

// requests are those that making a child takes, with the verbs that the action sends.
func (c *child) requests(t Traces, verbs ...string) (out []Request) {
	of := c.declaration
	for _, verb := range verbs {
		out = append(out, Request{Verb: footprint.Verb{Name: verb}, Resource: of.GVR, About: of.GVR, From: of.Selections})
	}
	if c.owned {
		out = append(out, t.watching(forOwners)...)
	}
	return out
}

// Requests implements [Action].
func (c *create) Requests(t Traces) []Request {
	out := c.requests(t, "create")
	out[0].Nameless = true
	return out
}

// Requests implements [Action]. The API server asks for the right to create where an
// apply makes the object. Of an object that is not ours an Event tells.
func (a *apply) Requests(t Traces) []Request {
	verbs := []string{"create", "patch"}
	if a.prune {
		verbs = append(verbs, "delete")
	}
	out := a.requests(t, verbs...)
	if a.existing == keepExisting {
		return out
	}
	return slices.Concat(out, recordings(t.watching(footprint.Verb{})))
}

// Requests implements [Action]. What an apply gives up and leaves is found in
// managedFields, and dropped there.
func (p *patch) Requests(t Traces) []Request {
	verbs := []footprint.Verb{{Name: "patch", Subresource: p.subresource}}
	if p.kind == plan.Apply && p.release == plan.OrphanFields {
		verbs = append(verbs, footprint.Verb{Name: "get"})
		if p.subresource != "" {
			verbs = append(verbs, footprint.Verb{Name: "patch"})
		}
	}
	return t.requests(&p.target, verbs...)
}

// Requests implements [Action].
func (r *removal) Requests(t Traces) []Request {
	return t.requests(&r.target, footprint.Verb{Name: "delete"})
}

// Requests implements [Action].
func (e *event) Requests(t Traces) []Request {
	return recordings(t.requests(&e.target, footprint.Verb{}))
}
