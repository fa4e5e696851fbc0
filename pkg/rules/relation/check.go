package relation

import (
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
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
	return o.body.Check(c, schema.Field{Type: place, Required: place.Kinds&value.Nil == 0}, schema.Whole)
}

// checkPresent refuses entries that may be nil: without them the selection would be
// wider.
func (r *Relation) checkPresent(c body.Context) (errs document.Errors) {
	given, _ := r.chosen.body.Type(c)
	for _, entry := range r.chosen.node.Entries() {
		below, found := given.Field(entry.Key.Text())
		if found == typing.Found && below.CanBeNil() && !templated(entry.Key) {
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
