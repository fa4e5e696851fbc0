package relation

import (
	"strings"

	"k8s.io/apimachinery/pkg/fields"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint/shape"
)

// ReadFootprint adds that objects of a declaration are read: from a cache, and
// live where that could be wrong. Whether an object is one of them is judged again
// when a rule makes it.
func ReadFootprint(out *footprint.Footprint, d *Declaration) *footprint.Access {
	access := out.Of(d.GVR, d.GVR.Resource)
	for _, verb := range []string{"get", "list", "watch"} {
		access.Allow(verb, "")
	}
	for _, selection := range d.Selections {
		ReadSelectors(access, selection)
	}
	return access
}

// ReadSelectors adds that the selectors of a selection are read. The engine asks of an object in one cache whether another has it.
func ReadSelectors(access *footprint.Access, selection plan.Selection) {
	if selection.LabelSelector != "" {
		access.Reads.Add(footprint.Fields("metadata", "labels"), footprint.Value)
	}
	if parsed, err := fields.ParseSelector(selection.FieldSelector); err == nil {
		for _, requirement := range parsed.Requirements() {
			access.Reads.Add(dotted(requirement.Field), footprint.Value)
		}
	}
}

func dotted(path string) footprint.Path { return footprint.Fields(strings.Split(path, ".")...) }

// Footprint adds what finding the objects reads, and returns what the value of the
// relation can be.
func (r *Relation) Footprint(out *footprint.Footprint, names expression.Shapes) shape.Shape {
	access := ReadFootprint(out, r.declaration)
	for _, template := range r.Templates() {
		template.Shape(names).Read(footprint.Value)
	}
	switch r.form.by {
	case plan.ByLabels:
		access.Reads.Add(footprint.Fields("metadata", "labels"), footprint.Value)
	case plan.ByFields:
		r.readCompared(access)
	case plan.ByOwner:
		owners := names.Shape(r.chosen.slot)
		for _, owner := range []shape.Shape{owners, owners.Items()} {
			owner.Key("metadata").Key("uid").Read(footprint.Value)
		}
	default: // Names are always there.
	}
	found := shape.Object(&access.Reads)
	if r.form.single {
		return shape.Union(found, shape.Other())
	}
	return shape.List(found)
}

func (r *Relation) readCompared(access *footprint.Access) {
	paths, known := r.Compared()
	if !known {
		access.Reads.Add(nil, footprint.Value)
	}
	for _, path := range paths {
		access.Reads.Add(footprint.Fields(path...), footprint.Value)
	}
}
