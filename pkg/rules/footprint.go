package rules

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint/shape"
)

// Footprint returns all that the rules can read and write.
func (s *Set) Footprint() *footprint.Footprint {
	out := &footprint.Footprint{}
	for _, rule := range s.rules {
		out.Merge(rule.Footprint())
	}
	return out
}

// Footprint returns all that the rule can read and write, known from the rule
// alone.
func (r *Rule) Footprint() *footprint.Footprint { return r.footing().out }

func (r *Rule) footing() *footing {
	f := &footing{rule: r, out: &footprint.Footprint{}, shapes: make([]*shape.Shape, len(r.names.defined))}
	t := action.Traces{Footprint: f.out, Shapes: f, Watched: r.watchedResources()}
	for _, gvr := range t.Watched {
		access := f.out.Of(gvr, gvr.Resource)
		for _, verb := range []string{"get", "list", "watch"} {
			access.Allow(verb, "")
		}
	}
	if r.when != nil {
		r.when.Program().Shape(f).Read(footprint.Value)
	}
	if r.hold != nil && r.hold.computed != nil {
		r.hold.computed.Program().Shape(f).Read(footprint.Value)
	}
	for _, step := range r.steps {
		step.Footprint(t)
	}
	if r.onDelete != nil {
		f.onDelete(t)
	}
	return f
}

// watchedResources lists each resource once, in the order of `watch`.
func (r *Rule) watchedResources() []schema.GroupVersionResource {
	var out []schema.GroupVersionResource
	for _, selection := range r.selections {
		if !slices.Contains(out, selection.GVR) {
			out = append(out, selection.GVR)
		}
	}
	return out
}

// footing is the footprint of a rule while it is drawn. It follows a name when it
// is first used, as an evaluation does.
type footing struct {
	rule   *Rule
	out    *footprint.Footprint
	shapes []*shape.Shape // by slot, counted from firstDefined
}

// Shape implements [expression.Shapes].
func (f *footing) Shape(slot int) shape.Shape {
	switch slot {
	case slotObject:
		var watched []shape.Shape
		for _, gvr := range f.rule.watchedResources() {
			watched = append(watched, shape.Object(&f.out.Of(gvr, gvr.Resource).Reads))
		}
		return shape.Union(watched...)
	case slotRule, slotParams:
		return shape.Other()
	}
	at := &f.shapes[slot-firstDefined]
	if *at == nil {
		followed := f.follow(f.rule.names.defined[slot-firstDefined])
		*at = &followed
	}
	return **at
}

func (f *footing) follow(d *definition) shape.Shape {
	if d.related != nil {
		return d.related.Footprint(f.out, f)
	}
	return d.value.Program().Shape(f)
}

func (f *footing) onDelete(t action.Traces) {
	o := f.rule.onDelete
	for _, step := range o.steps {
		step.Footprint(t)
	}
	if o.done != nil {
		o.done.Program().Shape(f).Read(footprint.Value)
	}
	if !o.hold {
		return
	}
	for _, gvr := range t.Watched {
		access := f.out.Of(gvr, gvr.Resource)
		access.Allow("patch", "")
		access.Writes.Add(footprint.Fields("metadata", "finalizers"), footprint.Value)
	}
}
