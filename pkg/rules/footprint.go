package rules

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint/shape"
	"github.com/dyncontroller/dyncontroller/pkg/rules/names"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
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
// alone. It is shared: read only.
func (r *Rule) Footprint() *footprint.Footprint { return r.effects().footprint }

// effects is what a rule can do to a cluster.
type effects struct {
	footprint *footprint.Footprint
	steps     []action.Effects // of [Rule.allSteps]
}

func (r *Rule) draw() *effects {
	out := &effects{footprint: &footprint.Footprint{}}
	f := &footing{rule: r, out: out.footprint, shapes: make([]*shape.Shape, r.names.Slots())}
	t := action.Traces{Footprint: f.out, Shapes: f, Watched: r.watchedResources()}
	for _, gvr := range t.Watched {
		access := f.out.Of(gvr, gvr.Resource)
		for _, verb := range []string{"get", "list", "watch"} {
			access.Allow(verb, "")
		}
		if r.holds() {
			access.Allow("patch", "")
			access.Writes.Add(footprint.Fields("metadata", "finalizers"), footprint.Value)
		}
	}
	for _, selection := range r.selections {
		relation.ReadSelectors(f.out.Of(selection.GVR, selection.GVR.Resource), selection)
	}
	conditions := []*body.Expression{r.when}
	if r.hold != nil {
		conditions = append(conditions, r.hold.computed)
	}
	if r.onDelete != nil {
		conditions = append(conditions, r.onDelete.done)
	}
	for _, condition := range conditions {
		if condition != nil {
			condition.Program().Shape(f).Read(footprint.Value)
		}
	}
	for _, step := range r.allSteps() {
		out.steps = append(out.steps, step.Effects(t))
	}
	if secrets := f.out.Lookup(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}); secrets != nil {
		secrets.Writes.Alias("stringData", "data") // The API server makes data of it.
	}
	return out
}

// watchedResources lists each resource once, in the order of `watch`. The slice is
// shared: read only.
func (r *Rule) watchedResources() []schema.GroupVersionResource { return r.watched }

// mostKinds is of how many kinds a rule may watch for it to be followed which fields of
// each it reads. Of those of a rule that watches more, all of them count as read.
const mostKinds = 50

// footing is the footprint of a rule while it is drawn. It follows a name when it
// is first used, as an evaluation does.
type footing struct {
	rule   *Rule
	out    *footprint.Footprint
	shapes []*shape.Shape // by slot
}

// Shape implements [expression.Shapes].
func (f *footing) Shape(slot int) shape.Shape {
	switch slot {
	case names.Object:
		if f.shapes[slot] == nil {
			object := f.object()
			f.shapes[slot] = &object
		}
		return *f.shapes[slot]
	case names.Rule, names.Params:
		return shape.Other()
	}
	at := &f.shapes[slot]
	if *at == nil {
		followed := f.follow(f.rule.names.At(slot))
		*at = &followed
	}
	return **at
}

// object is an object of any of the kinds that the rule watches.
func (f *footing) object() shape.Shape {
	all := f.rule.watchedResources()
	reads := make([]*footprint.Tree, len(all))
	for i, gvr := range all {
		reads[i] = &f.out.Of(gvr, gvr.Resource).Reads
		if len(all) > mostKinds {
			reads[i].Add(nil, footprint.Value)
		}
	}
	return shape.Object(reads...)
}

func (f *footing) follow(d *names.Definition) shape.Shape {
	if d.Related != nil {
		return d.Related.Footprint(f.out, f)
	}
	return d.Value.Program().Shape(f)
}
