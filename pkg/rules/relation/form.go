package relation

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// form is a way to say which objects are meant.
type form struct {
	name   string
	by     plan.By
	single bool // it gives an object or nil, not a list
	// takes is what its value can be, nil for the bare name of a value of the rule.
	takes *schema.Type
	// ask adds to a question what a value asks for. It passes over what is not known yet.
	ask func(q *question, v any)
	// written is what may be written, and doc says what it means.
	written *field.Type
	doc     string
}

// forms is the table of forms. An entry of `with` has exactly one.
var forms = []form{
	{
		name: "name", by: plan.ByName, single: true, takes: orNil, ask: (*question).name, written: textOf("write names for a list"),
		doc: "The object of this name, or nil if there is none. Nothing is read where the name is nil or empty.",
	},
	{
		name: "names", by: plan.ByName, takes: &schema.Type{Kinds: value.List | value.Nil, List: &schema.List{Items: orNil}}, ask: (*question).names,
		written: template(document.KindList, "write [a, b], or name for one", field.Schema{"items": field.Schema{"type": []string{"string", "null"}}}),
		doc:     "A list, by names; those that are nil or empty are skipped.",
	},
	{
		name: "matchLabels", by: plan.ByLabels, takes: &schema.Type{Kinds: value.Map, Map: &schema.Map{Values: text}}, ask: (*question).matchLabels,
		written: template(document.KindMap, "write {app: web}; for every object, all: true", field.Schema{"additionalProperties": field.Schema{"type": "string"}}),
		doc:     "A list, by labels that are equal.",
	},
	{
		name: "selector", by: plan.ByLabels, takes: Selector, ask: (*question).selector,
		written: &field.Type{
			Name: "selector", Kinds: document.KindMap, Template: true, Filled: true,
			Hint: "write {matchLabels: {app: web}}; for every object, all: true",
		},
		doc: "A list, by a whole LabelSelector. An empty one is an error.",
	},
	{
		name: "matchFields", by: plan.ByFields, takes: &schema.Type{Kinds: value.Map, Map: &schema.Map{Values: scalar}}, ask: (*question).matchFields,
		written: template(document.KindMap, "write {spec.nodeName: node-1}; for every object, all: true",
			field.Schema{"additionalProperties": field.Schema{"type": []string{"string", "number", "boolean"}}}),
		doc: "A list, by fields that equal a string, a number or a boolean, such as spec.nodeName.",
	},
	{
		name: "ownedBy", by: plan.ByOwner, ask: (*question).ownedBy,
		written: field.Matching(field.Identifier.Pattern, "a bare name, without ${ }"),
		doc:     "A list, by the controller reference: the bare name of an object or a list of them: object, or a name of with or let.",
	},
	{
		name: "all", by: plan.ByAll, takes: &schema.Type{Kinds: value.Bool}, ask: (*question).all,
		written: &field.Type{Kinds: document.KindBool, Schema: field.Schema{"const": true}},
		doc:     "true: a list of all that the declaration under resources selects.",
	},
}

var (
	text   = &schema.Type{Kinds: value.String}
	orNil  = &schema.Type{Kinds: value.String | value.Nil}
	scalar = &schema.Type{Kinds: value.String | value.Number | value.Bool}
)

// Selector is the type of metav1.LabelSelector.
var Selector = &schema.Type{Kinds: value.Map | value.Nil, Map: &schema.Map{Fields: map[string]schema.Field{
	"matchLabels": {Type: &schema.Type{Kinds: value.Map | value.Nil, Map: &schema.Map{Values: text}}},
	"matchExpressions": {Type: &schema.Type{Kinds: value.List | value.Nil, List: &schema.List{
		Items: &schema.Type{Kinds: value.Map, Map: &schema.Map{Fields: map[string]schema.Field{
			"key":      {Type: text, Required: true},
			"operator": {Type: &schema.Type{Kinds: value.String, Limit: &schema.Limits{Enum: []any{"In", "NotIn", "Exists", "DoesNotExist"}}}, Required: true},
			"values":   {Type: &schema.Type{Kinds: value.List | value.Nil, List: &schema.List{Items: text}}},
		}}},
	}}},
}}}

// Fields are those of an entry of `with`: a resource, and one way to say which of its objects are meant.
var Fields = func() *field.Type {
	fields := []field.Field{
		field.Required("resource", field.NotBlank, "A name under resources."),
		field.Optional("namespace", textOf(""),
			`Default: that of the watched object. "*" means every namespace that the declaration under resources selects.`),
	}
	var names []string
	for _, f := range forms {
		fields, names = append(fields, field.Optional(f.name, f.written, f.doc)), append(names, f.name)
	}
	return field.Object("related", fields...).With(names...)
}()

// textOf is a text, or a template of one.
func textOf(hint string) *field.Type {
	return &field.Type{
		Kinds: document.KindString, Template: true, Hint: hint, Pattern: field.NotBlank.Pattern, Message: field.NotBlank.Message,
	}
}

func template(kind document.Kind, hint string, more field.Schema) *field.Type {
	return &field.Type{
		Kinds: kind, Template: true, Filled: kind == document.KindMap, Hint: hint, Schema: more,
	}
}

// question is what is asked for by a value, or by as much of it as is known.
type question struct {
	plan.Read
	form     string
	complete bool // all of the value is known
	wrong    []mistake
}

// mistake is what is wrong with a value, at a path of keys and indexes.
type mistake struct {
	path          []any
	ofKey         bool // it is the key itself that is wrong
	message, hint string
}

// at gives the mistake its place below the node of the form.
func (m mistake) at(n *document.Node) *document.Error {
	at := document.At(n, m.path...)
	if m.ofKey {
		at = document.KeyAt(n, m.path...)
	}
	return at.Errorf(m.hint, "%s", m.message)
}

// ask returns the question of a value.
func (r *Relation) ask(v any, complete bool) *question {
	q := &question{Read: plan.Read{By: r.form.by}, form: r.form.name, complete: complete}
	if r.declaration != nil {
		q.From = r.declaration.Selections
	}
	if _, unknown := v.(schema.Unknown); !unknown {
		r.form.ask(q, v)
	}
	return q
}

// reads reports whether there is anything to ask.
func (q *question) reads() bool {
	return q.By == plan.ByAll || q.Labels != "" || len(q.Names)+len(q.Fields)+len(q.Owners) > 0
}

func (q *question) refuse(path []any, hint, format string, args ...any) *mistake {
	q.wrong = append(q.wrong, mistake{path: path, hint: hint, message: fmt.Sprintf(format, args...)})
	return &q.wrong[len(q.wrong)-1]
}

// has reports whether a value is of some kinds, and refuses another one unless it is not known.
func (q *question) has(kinds value.Kind, v any, path ...any) bool {
	kind := value.KindOf(v)
	_, unknown := v.(schema.Unknown)
	switch hint := ""; {
	case unknown:
	case kind&kinds != 0:
		return true
	default:
		switch {
		case kind == value.Nil && len(path) == 0:
			hint = emptyHint
		case kind == value.Nil:
			hint = "?? gives a default, and ?? omit() leaves it out"
		case kinds == value.String && kind&(value.Number|value.Bool) != 0:
			hint = "put it in quotes, or write string(...)"
		case q.By == plan.ByName && kind&(value.List|value.Map) != 0:
			hint = "for the names of a list of maps, write names: ${map(list, .name)}"
		}
		q.refuse(path, hint, "want %s, have %s", kinds, kind)
	}
	return false
}

// filled is has for a map, which must not be empty: that would ask for everything.
func (q *question) filled(v any) (fields map[string]any, keys []string) {
	if !q.has(value.Map, v) {
		return nil, nil
	}
	fields, _ = v.(map[string]any)
	if len(fields) == 0 {
		q.refuse(nil, emptyHint, "%s is empty", q.form)
	}
	return fields, slices.DeleteFunc(slices.Sorted(maps.Keys(fields)), func(key string) bool { return key == schema.SomeKeys })
}

const emptyHint = "write all: true if every object is meant"

func (q *question) name(v any) { q.called(v) }

// called adds a name. It refuses what no kind of object can be called: then a look-up that finds nothing would be a mistake of the rule.
func (q *question) called(v any, path ...any) {
	if v == nil || v == "" || !q.has(value.String, v, path...) {
		return
	}
	name, _ := v.(string)
	if reasons := content.IsPathSegmentName(name); len(reasons) > 0 {
		hint := ""
		if strings.Contains(name, "/") {
			hint = "the namespace has a field of its own"
		}
		q.refuse(path, hint, "%q cannot be the name of an object: it %s", value.Excerpt(name), reasons[0])
	}
	q.Names = append(q.Names, name)
}

// names skips nil and empty names, as name does. In whatever order they are, it is the same question.
func (q *question) names(v any) {
	if v == nil || !q.has(value.List, v) {
		return
	}
	list, _ := v.([]any)
	for i, element := range list {
		q.called(element, i)
	}
	slices.Sort(q.Names)
	q.Names = slices.Compact(q.Names)
}

// matchLabels never asks for less than was written: a label without a value would widen the selection.
func (q *question) matchLabels(v any) {
	fields, keys := q.filled(v)
	q.Labels = q.labels(fields, keys).String()
}

func (q *question) labels(fields map[string]any, keys []string, around ...any) labels.Set {
	out := labels.Set{}
	for _, key := range keys {
		path := append(slices.Clip(around), key)
		if reasons := validation.IsQualifiedName(key); len(reasons) > 0 {
			q.refuse(path, "", "%q cannot be the key of a label: %s", value.Excerpt(key), brief(reasons[0])).ofKey = true
		}
		if !q.has(value.String, fields[key], path...) {
			continue
		}
		label, _ := fields[key].(string)
		if reasons := validation.IsValidLabelValue(label); len(reasons) > 0 {
			q.refuse(path, "", "%q cannot be the value of a label: %s", value.Excerpt(label), brief(reasons[0]))
		}
		out[key] = label
	}
	return out
}

// selector takes a LabelSelector of Kubernetes. As there, nil selects nothing; an empty one, which there selects everything, is more
// likely a mistake.
func (q *question) selector(v any) {
	if all := Selector.Validate(v, schema.Whole); len(all) > 0 {
		wrong := all[0]
		stray := wrong.Code == document.CodeUnknownField
		if stray && len(wrong.Path) == 1 { // It is most likely that of a Service.
			wrong.Hint = "for a map of labels, write matchLabels in place of selector"
		}
		q.wrong = append(q.wrong, mistake{wrong.Path, stray, wrong.Message, wrong.Hint})
		return
	}
	written, _ := v.(map[string]any)
	fields, _ := written["matchLabels"].(map[string]any) // A label without a value would be dropped.
	q.labels(fields, slices.Sorted(maps.Keys(fields)), "matchLabels")
	if v == nil || !q.complete || len(q.wrong) > 0 {
		return
	}
	parsed := &metav1.LabelSelector{}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(written, parsed)
	selector := labels.Nothing()
	if err == nil {
		selector, err = metav1.LabelSelectorAsSelector(parsed)
	}
	switch {
	case err != nil:
		q.refuse(nil, "the operators are In and NotIn, with values, Exists and DoesNotExist", "not a LabelSelector: %v", err)
	case selector.Empty():
		q.refuse(nil, emptyHint, "selector is empty")
	default:
		q.Labels = selector.String()
	}
}

// matchFields never asks for less than was written: a field without a value would match objects that lack it.
func (q *question) matchFields(v any) {
	fields, keys := q.filled(v)
	for _, key := range keys {
		path := plan.Path(strings.Split(key, "."))
		if slices.ContainsFunc(path, func(step string) bool { return !stepPattern.MatchString(step) }) {
			q.refuse([]any{key}, "write a path such as spec.nodeName; for more, select otherwise and filter(...)",
				"%q is not a path of fields", value.Excerpt(key)).ofKey = true
		}
		q.has(scalar.Kinds, fields[key], key)
		q.Fields = append(q.Fields, plan.FieldValue{Path: path, Value: fields[key]})
	}
}

// stepPattern is a field of an object as a path can name it. It leads through maps only, since the field that it names is an index.
var stepPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// ownedBy takes an object or a list of objects, in which nil is skipped.
func (q *question) ownedBy(v any) {
	owners, isList := v.([]any)
	if !isList {
		owners = []any{v}
	}
	for _, owner := range owners {
		if owner == nil {
			continue
		}
		object, isMap := owner.(map[string]any)
		uid := types.UID(plan.Text(object, "metadata", "uid"))
		switch {
		case !isMap:
			q.refuse(nil, "", "ownedBy takes an object or a list of objects, have %s", value.KindOf(owner))
		case uid == "":
			q.refuse(nil, "", "ownedBy takes objects of the cluster, have one without metadata.uid")
		}
		q.Owners = append(q.Owners, uid)
	}
	slices.Sort(q.Owners)
	q.Owners = slices.Compact(q.Owners)
}

func (q *question) all(v any) {
	if every, _ := v.(bool); !every {
		q.refuse(nil, "write true, or remove the entry", "all: false selects nothing")
	}
}

// brief leaves the examples and the pattern out of a reason of Kubernetes.
func brief(reason string) string {
	reason, _, _ = strings.Cut(reason, " (e.g.")
	return reason
}
