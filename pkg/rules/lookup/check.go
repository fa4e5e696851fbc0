package lookup

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// Type returns what the name of the lookup stands for.
func (r *Lookup) Type(related *schema.Resource) typing.Type {
	object := typing.Of(value.Map)
	if related != nil && related.Type.Known() {
		object = typing.Object(related.Type)
		for _, g := range r.declaration.Selections[0].Guarantees() { // All have the same selectors.
			object = object.Is(g.Text, g.Path...)
		}
	}
	if r.form.single {
		return object.Nilable()
	}
	return typing.List(object)
}

// Check returns what the schemas show to be wrong with the lookup. Nothing is known of a resource that is nil.
func (r *Lookup) Check(c template.Context, watched, related *schema.Resource) document.Errors {
	errs := r.checkScope(watched, related)
	if r.at != nil {
		_, wrong := r.namespace.Check(c, schema.Field{Type: text, Required: true}, schema.Whole)
		errs = append(errs, wrong...)
	}
	if r.body == nil {
		return append(errs, r.checkOwner(c)...)
	}
	place := r.form.takes
	if r.form.name == "matchLabels" || r.form.name == "matchFields" {
		var wrong document.Errors
		place, wrong = r.place(related)
		errs = append(errs, wrong...)
	}
	_, wrong := r.body.Check(c, schema.Field{Type: place, Required: place.Kinds&value.Nil == 0}, schema.Whole)
	way, all := strings.CutSuffix(r.node.Text(), ".matchLabels}")
	for _, err := range wrong {
		if all && err.Code == document.CodeMayBeAbsent && r.form.name == "matchLabels" {
			err.Hint = `write selector: "` + way + `}", which takes all of it`
		}
	}
	return append(errs, wrong...)
}

// place is the type of labels or fields to select by. Those that are written have to have a value: without one the selection would be
// wider. Fields that the related objects do not have are mistakes.
func (r *Lookup) place(related *schema.Resource) (*schema.Type, document.Errors) {
	var errs document.Errors
	written := map[string]schema.Field{}
	for _, entry := range r.node.Entries() {
		key := entry.Key.Text()
		if strings.Contains(key, "${") {
			continue // A template decides.
		}
		at := schema.Field{Type: r.form.takes.Map.Values, Required: true}
		if path := strings.Split(key, "."); r.form.by == plan.ByFields && related != nil {
			of := related.Type
			for _, step := range path {
				below, _ := of.Field(step)
				of = below.Type
			}
			at.Type = of
			for _, v := range related.Type.ValidatePath(path...) {
				errs = append(errs, entry.Key.Errorf(v.Hint, "%s", v.Message).Coded(v.Code))
			}
		}
		written[key] = at
	}
	return &schema.Type{Kinds: value.Map, Map: &schema.Map{Values: r.form.takes.Map.Values, Fields: written}}, errs
}

// checkOwner wants an object, or a list of objects.
func (r *Lookup) checkOwner(c template.Context) document.Errors {
	owner := c.Facts.Apply(r.slot, c.Names.Type(r.slot, c.Facts))
	kinds := owner.Kinds()
	if kinds == value.List {
		kinds = owner.Items().Kinds()
	}
	if !owner.Known() || kinds == 0 || kinds&value.Map != 0 {
		return nil
	}
	return document.Errors{r.node.Errorf("write object, or a name of with",
		"ownedBy takes an object or a list of objects, have %s", owner).Coded(document.CodeTypeMismatch)}
}

// checkScope compares the namespace that is written, or is not, with the scopes of the resources.
func (r *Lookup) checkScope(watched, related *schema.Resource) document.Errors {
	if related == nil {
		return nil
	}
	at := cmp.Or(r.at, r.whole)
	wrong := CheckScope(r.declaration, related.Namespaced, watched != nil && !watched.Namespaced, r.at != nil)
	if wrong == nil {
		return nil
	}
	return document.Errors{at.Errorf(wrong.Hint, "%s", wrong.Message).Coded(document.CodeWrongScope)}
}

// Finds reports whether the lookup finds an object that a manifest makes among the objects of a declaration, as far as both are
// written out. Of what only an evaluation knows it assumes that it does not, but the same template gives the same.
func (r *Lookup) Finds(manifest *document.Node, into *Declaration, owned bool) bool {
	draft, metadata := template.Draft(manifest), manifest.Get("metadata")
	admits := func(s plan.Selection) bool { surely, _ := Fits(s, draft); return surely }
	if r.declaration.GVR != into.GVR || r.declaration != into && !slices.ContainsFunc(r.declaration.Selections, admits) {
		return false
	}
	if r.at.Text() != EveryNamespace && ownOr(r.at) != ownOr(metadata.Get("namespace")) {
		return false
	}
	name := metadata.Get("name").Text()
	switch r.form.name {
	case "all":
		return true
	case "name":
		return r.node.Text() == name
	case "names":
		return slices.ContainsFunc(r.node.Elements(), func(element *document.Node) bool { return element.Text() == name })
	case "matchLabels":
		return len(r.node.Entries()) > 0 && !slices.ContainsFunc(r.node.Entries(), func(e document.Entry) bool {
			have := metadata.Get("labels").Get(e.Key.Text())
			return have == nil || have.Text() != e.Value.Text()
		})
	case "ownedBy":
		return owned && r.node.Text() == "object"
	default:
		return false
	}
}

// ownOr returns the text of a namespace, "" for that of the watched object.
func ownOr(n *document.Node) string {
	text := strings.Join(strings.Fields(n.Text()), "")
	if text == "${object.metadata.namespace}" {
		return ""
	}
	return text
}

// Selections are those of the declaration, narrowed by what is written out here: all that the lookup finds is among them.
func (r *Lookup) Selections() []plan.Selection {
	out := slices.Clone(r.declaration.Selections)
	for i := range out {
		s := &out[i]
		if namespace, known := template.Draft(r.at).(string); known && namespace != EveryNamespace && s.Namespace == "" {
			s.Namespace = namespace
		}
		if r.form.single && len(r.known.Names) > 0 {
			s.FieldSelector = joined(s.FieldSelector, fields.OneTermEqualSelector("metadata.name", r.known.Names[0]).String())
		}
		s.LabelSelector = joined(s.LabelSelector, r.known.Labels)
	}
	return out
}

// joined is a selector of what both select.
func joined(a, b string) string { return strings.Trim(a+","+b, ",") }

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
	if parsed, err := labels.ParseToRequirements(selection.LabelSelector); err == nil {
		for _, requirement := range parsed {
			access.Reads.Add(footprint.Fields("metadata", "labels", requirement.Key()), footprint.Value)
		}
	}
	if parsed, err := fields.ParseSelector(selection.FieldSelector); err == nil {
		for _, requirement := range parsed.Requirements() {
			access.Reads.Add(dotted(requirement.Field), footprint.Value)
		}
	}
}

func dotted(path string) footprint.Path { return footprint.Fields(strings.Split(path, ".")...) }

// labels are the labels that are asked for: all of them unless each is named.
func (r *Lookup) labels() (out []footprint.Path) {
	all := footprint.Fields("metadata", "labels")
	for _, e := range r.node.Entries() {
		if r.form.name != "matchLabels" || strings.Contains(e.Key.Text(), "${") {
			return []footprint.Path{all}
		}
		out = append(out, footprint.Fields("metadata", "labels", e.Key.Text()))
	}
	if len(out) == 0 { // One template gives them.
		return []footprint.Path{all}
	}
	return out
}

// Footprint adds what finding the objects reads, and returns what the value of the lookup can be.
func (r *Lookup) Footprint(out *footprint.Footprint, names expression.Shapes) footprint.Shape {
	access := ReadFootprint(out, r.declaration)
	for _, part := range r.templates() {
		part.Shape(names).Read(footprint.Value)
	}
	switch r.form.by {
	case plan.ByLabels:
		for _, path := range r.labels() {
			access.Reads.Add(path, footprint.Value)
		}
	case plan.ByFields:
		for _, f := range r.known.Fields {
			access.Reads.Add(footprint.Fields(f.Path...), footprint.Value)
		}
		if len(r.known.Fields) < len(r.node.Entries()) || len(r.known.Fields) == 0 { // A template decides.
			access.Reads.Add(nil, footprint.Value)
		}
	case plan.ByOwner:
		owners := names.Shape(r.slot)
		for _, owner := range []footprint.Shape{owners, owners.Items()} {
			owner.Key("metadata").Key("uid").Read(footprint.Value)
		}
	default: // Names are always there.
	}
	found := footprint.Object(&access.Reads)
	if r.form.single {
		return footprint.OneOf(found, footprint.Other())
	}
	return footprint.List(found)
}
