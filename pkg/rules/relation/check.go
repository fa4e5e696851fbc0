package relation

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint/shape"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// Surroundings are the resources that a relation leads from and to; each is nil where
// nothing is known of it.
type Surroundings struct {
	Watched *schema.Resource
	Related *schema.Resource
}

// Type returns what the name of the relation stands for.
func (r *Relation) Type(related *schema.Resource) typing.Type {
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

// Check returns what the schemas show to be wrong with the relation.
func (r *Relation) Check(c body.Context, s Surroundings) document.Errors {
	errs := r.checkScope(s)
	if r.namespace != nil {
		errs = append(errs, r.namespace.check(c, &schema.Type{Kinds: value.String})...)
	}
	if r.chosen.body == nil {
		return append(errs, r.checkOwner(c)...)
	}
	errs = append(errs, r.checkFields(s.Related)...)
	errs = append(errs, r.wholeSelector(r.chosen.check(c, r.form.place(r.chosen.node, s.Related)))...)
	if r.form.needed && len(errs) == 0 {
		errs = r.checkPresent(c)
	}
	return errs
}

// wholeSelector says how to take all of a selector where only its labels are taken, which
// may be absent.
func (r *Relation) wholeSelector(errs document.Errors) document.Errors {
	way, labels := strings.CutSuffix(r.chosen.node.Text(), ".matchLabels}")
	for _, err := range errs {
		if labels && err.Code == document.CodeMayBeAbsent && r.form.name == "matchLabels" {
			err.Hint = `write selector: "` + way + `}", which takes all of it`
		}
	}
	return errs
}

// check takes a place that nil is no value of for one that must be given.
func (o operand) check(c body.Context, place *schema.Type) document.Errors {
	_, errs := o.body.Check(c, schema.Field{Type: place, Required: place.Kinds&value.Nil == 0}, schema.Whole)
	return errs
}

// checkPresent refuses entries that may be nil: without them the selection would be
// wider.
func (r *Relation) checkPresent(c body.Context) (errs document.Errors) {
	given, _ := r.chosen.body.Check(c, schema.Field{}, schema.Whole)
	fields, _, _ := given.Built()
	for _, entry := range r.chosen.node.Entries() {
		if fields[entry.Key.Text()].CanBeNil() && !templated(entry.Key) {
			errs = append(errs, entry.Value.Errorf("?? gives a default, and ?? omit() leaves the entry out",
				"%s has to have a value, and this may be absent", value.Excerpt(entry.Key.Text())).Coded(document.CodeMayBeAbsent))
		}
	}
	return errs
}

// checkOwner wants an object, or a list of objects.
func (r *Relation) checkOwner(c body.Context) document.Errors {
	owner := c.Facts.Apply(r.chosen.slot, c.Names.Type(r.chosen.slot, c.Facts))
	kinds := owner.Kinds()
	if kinds == value.List {
		kinds = owner.Items().Kinds()
	}
	if !owner.Known() || kinds == 0 || kinds&value.Map != 0 {
		return nil
	}
	return document.Errors{r.chosen.node.Errorf("write object, or a name of with",
		"ownedBy takes an object or a list of objects, have %s", owner).Coded(document.CodeTypeMismatch)}
}

// checkScope compares the namespace that is written, or is not, with the scopes of
// the resources.
func (r *Relation) checkScope(s Surroundings) document.Errors {
	resource := r.declaration.GVR.Resource
	switch {
	case s.Related == nil:
		return nil
	case !s.Related.Namespaced && r.namespace != nil:
		return document.Errors{r.namespace.node.Errorf("leave namespace out",
			"%s are cluster-scoped and have no namespace", resource).Coded(document.CodeWrongScope)}
	case s.Related.Namespaced && r.namespace == nil && s.Watched != nil && !s.Watched.Namespaced:
		return document.Errors{r.whole.Errorf(`add namespace: ..., or namespace: "*" for every one`,
			"%s are cluster-scoped, so it must be said in which namespace the %s are", s.Watched.Resource, resource).Coded(document.CodeWrongScope)}
	default:
		return nil
	}
}

// checkFields refuses to compare fields that the related objects do not have.
func (r *Relation) checkFields(related *schema.Resource) (errs document.Errors) {
	if related == nil || r.form.by != plan.ByFields {
		return nil
	}
	for _, entry := range r.chosen.node.Entries() {
		path, wrong := fieldPath(entry.Key.Text())
		if wrong != nil {
			continue // A template decides.
		}
		for _, v := range related.Type.ValidatePath(path...) {
			errs = append(errs, entry.Key.Errorf(v.Hint, "%s", v.Message).Coded(v.Code))
		}
	}
	return errs
}

// always is the place of a form whose value is of the same kinds whatever is related.
func always(kinds value.Kind) func(*document.Node, *schema.Resource) *schema.Type {
	place := &schema.Type{Kinds: kinds}
	return func(*document.Node, *schema.Resource) *schema.Type { return place }
}

func namesPlace(*document.Node, *schema.Resource) *schema.Type {
	name := &schema.Type{Kinds: value.String | value.Nil}
	return &schema.Type{Kinds: value.List | value.Nil, List: &schema.List{Items: name}}
}

func labelsPlace(*document.Node, *schema.Resource) *schema.Type {
	label := &schema.Type{Kinds: value.String}
	return &schema.Type{Kinds: value.Map, Map: &schema.Map{Values: label}}
}

// fieldsPlace has the fields that are compared, under the paths that lead to them.
func fieldsPlace(n *document.Node, related *schema.Resource) *schema.Type {
	place := &schema.Type{Kinds: value.Map, Map: &schema.Map{Open: true, Fields: map[string]schema.Field{}}}
	if related == nil {
		return place
	}
	for _, entry := range n.Entries() {
		at := related.Type
		for key := range strings.SplitSeq(entry.Key.Text(), ".") {
			f, _ := at.Field(key)
			at = f.Type
		}
		place.Map.Fields[entry.Key.Text()] = schema.Field{Type: at}
	}
	return place
}

func selectorPlace(*document.Node, *schema.Resource) *schema.Type { return selectorType }

// selectorType is that of metav1.LabelSelector.
var selectorType = &schema.Type{Kinds: value.Map | value.Nil, Map: &schema.Map{Fields: map[string]schema.Field{
	"matchLabels": {Type: &schema.Type{Kinds: value.Map | value.Nil, Map: &schema.Map{Values: &schema.Type{Kinds: value.String}}}},
	"matchExpressions": {Type: &schema.Type{Kinds: value.List | value.Nil, List: &schema.List{
		Items: &schema.Type{Kinds: value.Map, Map: &schema.Map{Fields: map[string]schema.Field{
			"key":      {Type: &schema.Type{Kinds: value.String}, Required: true},
			"operator": {Type: &schema.Type{Kinds: value.String}, Required: true},
			"values":   {Type: &schema.Type{Kinds: value.List | value.Nil, List: &schema.List{Items: &schema.Type{Kinds: value.String}}}},
		}}},
	}}},
}}}

// WrittenLabels returns the labels that the relation selects by, as far as they are
// written out.
func (r *Relation) WrittenLabels() map[string]string {
	if r.form.name != "matchLabels" {
		return nil
	}
	labels := map[string]string{}
	for _, entry := range r.chosen.node.Entries() {
		if text, is := entry.Value.Any().(string); is && !templated(entry.Key) && !templated(entry.Value) {
			labels[entry.Key.Text()] = text
		}
	}
	return labels
}

// Finds reports whether the relation finds an object that a manifest makes among the
// objects of a declaration, as far as both are written out. Of what only an evaluation
// knows it assumes that it does not.
func (r *Relation) Finds(manifest *document.Node, into *Declaration, owned bool) bool {
	if r.declaration.GVR != into.GVR || !r.inNamespaceOf(manifest) {
		return false
	}
	if r.declaration != into && !slices.ContainsFunc(r.declaration.Selections, func(s plan.Selection) bool { return surelyAdmits(s, manifest) }) {
		return false
	}
	n := r.chosen.node
	metadata := manifest.Get("metadata")
	switch r.form.name {
	case "all":
		return true
	case "name":
		return n.Text() == metadata.Get("name").Text()
	case "names":
		return slices.ContainsFunc(n.Elements(), func(element *document.Node) bool { return element.Text() == metadata.Get("name").Text() })
	case "matchLabels":
		return finds(n, metadata.Get("labels"))
	case "ownedBy":
		return owned && n.Text() == "object"
	default:
		return false
	}
}

// Selections are those of the declaration, narrowed by what is written out here: all that
// the relation finds is among them.
func (r *Relation) Selections() []plan.Selection {
	out := slices.Clone(r.declaration.Selections)
	n := r.chosen.node
	for i := range out {
		s := &out[i]
		if r.namespace != nil && !templated(r.namespace.node) && r.namespace.node.Text() != "*" && s.Namespace == "" {
			s.Namespace = r.namespace.node.Text()
		}
		if r.form.name == "name" && !templated(n) {
			s.FieldSelector = joined(s.FieldSelector, fields.OneTermEqualSelector("metadata.name", n.Text()).String())
		}
		for _, entry := range n.Entries() {
			if r.form.name == "matchLabels" && !templated(entry.Key) && !templated(entry.Value) {
				s.LabelSelector = joined(s.LabelSelector, entry.Key.Text()+"="+entry.Value.Text())
			}
		}
	}
	return out
}

// joined is a selector of what both select.
func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "," + b
}

// inNamespaceOf reports whether the relation looks into the namespace of the manifest. Both
// default to that of the watched object.
func (r *Relation) inNamespaceOf(manifest *document.Node) bool {
	written := func(n *document.Node) string {
		const own = "object.metadata.namespace"
		text := n.Text()
		if inner, template := strings.CutPrefix(text, "${"); template {
			text = "${" + strings.TrimSpace(strings.TrimSuffix(inner, "}"))
		}
		if text == "${"+own {
			return ""
		}
		return text
	}
	var asked *document.Node
	if r.namespace != nil {
		asked = r.namespace.node
	}
	return asked.Text() == "*" || written(asked) == written(manifest.Get("metadata").Get("namespace"))
}

// surelyAdmits reports whether a selection admits the object of a manifest, by what is
// written out there.
func surelyAdmits(s plan.Selection, manifest *document.Node) bool {
	metadata := manifest.Get("metadata")
	wantedLabels, err := labels.ParseToRequirements(s.LabelSelector)
	if err != nil {
		return false
	}
	wantedFields, err := fields.ParseSelector(s.FieldSelector)
	if err != nil {
		return false
	}
	for _, wanted := range wantedLabels {
		value := metadata.Get("labels").Get(wanted.Key())
		unknown := templated(manifest) || templated(metadata) || templated(metadata.Get("labels")) || templated(value)
		switch key := wanted.Key(); {
		case unknown:
			return false
		case key == plan.LabelSet || key == plan.LabelRule || key == plan.LabelOwnerUID: // The engine writes them.
			if wanted.Operator() != selection.Exists {
				return false
			}
		case value == nil && !wanted.Matches(labels.Set{}), value != nil && !wanted.Matches(labels.Set{key: value.Text()}):
			return false
		}
	}
	for _, wanted := range wantedFields.Requirements() {
		value := manifest
		for key := range strings.SplitSeq(wanted.Field, ".") {
			value = value.Get(key)
		}
		if templated(value) || (value.Text() == wanted.Value) != (wanted.Operator != selection.NotEquals) {
			return false
		}
	}
	return s.Namespace == "" || s.Namespace == metadata.Get("namespace").Text()
}

func finds(wanted, labels *document.Node) bool {
	for _, entry := range wanted.Entries() {
		if have := labels.Get(entry.Key.Text()); have == nil || have.Text() != entry.Value.Text() {
			return false
		}
	}
	return len(wanted.Entries()) > 0
}

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
		for _, entry := range r.chosen.node.Entries() {
			path, wrong := fieldPath(entry.Key.Text())
			if wrong != nil { // A template decides.
				path = nil
			}
			access.Reads.Add(footprint.Fields(path...), footprint.Value)
		}
		if len(r.chosen.node.Entries()) == 0 {
			access.Reads.Add(nil, footprint.Value)
		}
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
