package lookup

import (
	"iter"
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
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
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
		name: "name", by: plan.ByName, single: true, takes: orNil, ask: (*question).name, written: textOf("write a text, or names for a list"),
		doc: "The object of this name, or nil if there is none. Nothing is read where the name is nil or empty.",
	},
	{
		name: "names", by: plan.ByName, takes: &schema.Type{Kinds: value.List | value.Nil, List: &schema.List{Items: orNil}}, ask: (*question).names,
		written: templateOf(document.KindList, "write texts as in [a, b], or name for one; map(list, .name) gives those of maps", field.Schema{"items": field.Schema{"type": []string{"string", "null"}}}),
		doc:     "A list, by names; those that are nil or empty are skipped.",
	},
	{
		name: "matchLabels", by: plan.ByLabels, takes: &schema.Type{Kinds: value.Map, Map: &schema.Map{Values: text}}, ask: (*question).matchLabels,
		written: templateOf(document.KindMap, "write texts as in {app: web}; for every object, all: true", field.Schema{"additionalProperties": field.Schema{"type": "string"}}),
		doc:     "A list, by labels that are equal.",
	},
	{
		name: "selector", by: plan.ByLabels, takes: Selector, ask: (*question).selector,
		written: &field.Type{
			Name: "selector", Kinds: document.KindMap, Template: true, Filled: true,
			Hint: "write {matchLabels: {app: web}}, or matchLabels: {app: web}; for every object, all: true",
		},
		doc: "A list, by a whole LabelSelector. An empty one is an error.",
	},
	{
		name: "matchFields", by: plan.ByFields, takes: &schema.Type{Kinds: value.Map, Map: &schema.Map{Values: scalar}}, ask: (*question).matchFields,
		written: templateOf(document.KindMap, "write {spec.nodeName: node-1}; for every object, all: true",
			field.Schema{"additionalProperties": field.Schema{"type": []string{"string", "number", "boolean"}}}),
		doc: "A list, by fields that equal a string, a number or a boolean, such as spec.nodeName.",
	},
	{
		name: "ownedBy", by: plan.ByOwner, ask: (*question).ownedBy,
		written: field.BareName,
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

func templateOf(kind document.Kind, hint string, more field.Schema) *field.Type {
	return &field.Type{
		Kinds: kind, Template: true, Filled: kind == document.KindMap, Hint: hint, Schema: more,
	}
}

// question is what is asked for by a value, or by as much of it as is known.
type question struct {
	plan.Read
	node     *document.Node // of the value
	complete bool           // all of the value is known
	wrong    document.Errors
}

// ask returns the question of a value. Where the value is wrong it goes on, to find all that is.
func (r *Lookup) ask(v any, complete bool) *question {
	q := &question{Read: plan.Read{By: r.form.by}, node: r.node, complete: complete}
	if r.declaration != nil {
		q.From = r.declaration.Selections
	}
	if _, unknown := v.(schema.Unknown); unknown {
		return q
	}
	if template.HoldsStamp(v) {
		q.refuse(r.node, "write a value that is known", "stamp() cannot be read")
	}
	if r.form.takes != nil {
		for _, wrong := range r.form.takes.Validate(v, schema.Whole) {
			q.violation(wrong, r.form.written.Hint)
		}
	}
	r.form.ask(q, v)
	if complete && r.form.takes != nil && r.form.takes.Kinds == value.Map && len(q.wrong) == 0 && !q.reads() {
		q.refuse(r.node, r.form.written.Hint, "%s is empty", r.form.name)
	}
	return q
}

// violation refuses a value of another type than the form takes. What to write in its place is known of what is written out.
func (q *question) violation(wrong schema.Violation, hint string) {
	at := document.At(q.node, wrong.Path...)
	if wrong.Code == document.CodeUnknownField {
		at = document.KeyAt(q.node, wrong.Path...)
	}
	if len(wrong.Path) > 0 && wrong.Hint != "" && !strings.Contains(at.Text(), "${") {
		hint = wrong.Hint
	}
	q.refuse(at, hint, "%s", wrong.Message)
}

// reads reports whether there is anything to ask.
func (q *question) reads() bool {
	return q.By == plan.ByAll || q.Labels != "" || len(q.Names)+len(q.Fields)+len(q.Owners) > 0
}

func (q *question) refuse(at *document.Node, hint, format string, args ...any) {
	q.wrong = append(q.wrong, at.Errorf(hint, format, args...))
}

// name is names for one.
func (q *question) name(v any) { q.called(v, q.node) }

// called adds a name. It refuses what no kind of object can be called: then a look-up that finds nothing would be a mistake of the rule.
func (q *question) called(v any, at *document.Node) {
	name, _ := v.(string)
	if name == "" {
		return
	}
	if reasons := content.IsPathSegmentName(name); len(reasons) > 0 {
		q.refuse(at, "write the name alone; the namespace has a field of its own", "%q cannot be the name of an object: it %s", value.Excerpt(name), reasons[0])
	}
	q.Names = append(q.Names, name)
}

// names skips those that are nil or empty. In whatever order they are, it is the same question.
func (q *question) names(v any) {
	list, _ := v.([]any)
	for i, element := range list {
		q.called(element, document.At(q.node, i))
	}
	slices.Sort(q.Names)
	q.Names = slices.Compact(q.Names)
}

// entries goes through those of a map in order, as far as their keys are known. It refuses one without a value: to leave that out would
// ask for more than was written.
func (q *question) entries(v any, n *document.Node) iter.Seq2[string, any] {
	fields, _ := v.(map[string]any)
	return func(yield func(string, any) bool) {
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			if fields[key] == nil {
				q.refuse(document.At(n, key), "?? gives a default, and ?? omit() leaves it out", "want a value, have nil")
			}
			if key != schema.SomeKeys && !yield(key, fields[key]) {
				return
			}
		}
	}
}

func (q *question) matchLabels(v any) { q.Labels = q.labels(v, q.node).String() }

func (q *question) labels(v any, n *document.Node) labels.Set {
	out := labels.Set{}
	for key, v := range q.entries(v, n) {
		label, isText := v.(string)
		if reasons := validation.IsQualifiedName(key); len(reasons) > 0 {
			q.refuse(document.KeyAt(n, key), "", "%q cannot be the key of a label: %s", value.Excerpt(key), brief(reasons[0]))
		}
		if reasons := validation.IsValidLabelValue(label); len(reasons) > 0 {
			q.refuse(document.At(n, key), template.HintFor(label, ""), "%q cannot be the value of a label: %s", value.Excerpt(label), brief(reasons[0]))
		}
		if isText {
			out[key] = label
		}
	}
	return out
}

// selector takes a LabelSelector of Kubernetes. As there, nil selects nothing; an empty one, which there selects everything, is more
// likely a mistake.
func (q *question) selector(v any) {
	written, _ := v.(map[string]any)
	q.labels(written["matchLabels"], document.At(q.node, "matchLabels"))
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
		q.refuse(q.node, "the operators are In and NotIn, with values, Exists and DoesNotExist", "not a LabelSelector: %v", err)
	case selector.Empty():
		q.refuse(q.node, "write all: true if every object is meant", "selector is empty")
	default:
		q.Labels = selector.String()
	}
}

// matchFields takes paths of fields, and the scalars that they equal.
func (q *question) matchFields(v any) {
	for key, v := range q.entries(v, q.node) {
		path := plan.Path(strings.Split(key, "."))
		if slices.ContainsFunc(path, func(step string) bool { return !stepPattern.MatchString(step) }) {
			q.refuse(document.KeyAt(q.node, key), "write a path such as spec.nodeName; for more, select otherwise and filter(...)",
				"%q is not a path of fields", value.Excerpt(key))
		}
		q.Fields = append(q.Fields, plan.FieldValue{Path: path, Value: v})
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
			q.refuse(q.node, "", "ownedBy takes an object or a list of objects, have %s", value.KindOf(owner))
		case uid == "":
			q.refuse(q.node, "", "ownedBy takes objects of the cluster, have one without metadata.uid")
		}
		q.Owners = append(q.Owners, uid)
	}
	slices.Sort(q.Owners)
	q.Owners = slices.Compact(q.Owners)
}

func (q *question) all(v any) {
	if every, is := v.(bool); is && !every {
		q.refuse(q.node, "write true, or remove the entry", "all: false selects nothing")
	}
}

// brief leaves the examples and the pattern out of a reason of Kubernetes.
func brief(reason string) string {
	reason, _, _ = strings.Cut(reason, " (e.g.")
	return reason
}
