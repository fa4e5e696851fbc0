package relation

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// Relation is a compiled entry of `with`. It is immutable and safe for concurrent
// use.
type Relation struct {
	name        string
	declaration *Declaration
	form        form
	chosen      operand
	namespace   *operand // nil where none is written
	uses        []string
	whole       *document.Node
}

// operand is what stands behind a field: a template or, where body is nil, the
// name of a value.
type operand struct {
	node *document.Node
	body *body.Body
	slot int
}

// Compile compiles the value of an entry of `with`, whose templates may use the
// names of scope. It finds all errors; the relation is nil where there is one, or
// where the parser has reported one already.
func Compile(name string, n *document.Node, scope *expression.Scope, declared Declarations) (*Relation, document.Errors) {
	r := &Relation{name: name, whole: n}
	v, errs := Fields.Read(n)
	var wrong *document.Error
	if r.declaration, wrong = declared.Lookup(v["resource"]); wrong != nil {
		errs = append(errs, wrong)
	}
	for _, f := range forms {
		if chosen := v[f.name]; chosen != nil {
			r.form = f
			errs = append(errs, r.compileForm(f, chosen, scope)...)
		}
	}
	if namespace := v["namespace"]; namespace != nil {
		errs = append(errs, r.compileNamespace(namespace, scope)...)
	}
	if len(errs) > 0 || !sound(n) {
		return nil, errs
	}
	return r, nil
}

// sound reports whether the parser found nothing wrong with n or below it.
func sound(n *document.Node) bool {
	bad := func(e document.Entry) bool { return !sound(e.Key) || !sound(e.Value) }
	return n.Kind() != document.KindInvalid &&
		!slices.ContainsFunc(n.Entries(), bad) &&
		!slices.ContainsFunc(n.Elements(), func(element *document.Node) bool { return !sound(element) })
}

func (r *Relation) compileForm(f form, n *document.Node, scope *expression.Scope) (errs document.Errors) {
	if f.bare {
		return r.compileName(n, scope)
	}
	if r.chosen, errs = r.compileTemplate(n, scope); len(errs) > 0 || !sound(n) {
		return errs
	}
	if errs = f.checkParts(n); len(errs) > 0 {
		return errs
	}
	v, constant := r.chosen.body.Constant()
	if !constant {
		return nil
	}
	reads, wrong := f.ask(&plan.Read{}, v)
	switch {
	case wrong != nil:
		return document.Errors{wrong.at(n)}
	case !reads:
		return document.Errors{n.Errorf("give it a value, or remove "+r.name, "%s is empty, so nothing is ever read", f.name)}
	default:
		return nil
	}
}

// checkParts finds what is wrong with entries or elements as far as they are
// written out.
func (f form) checkParts(n *document.Node) (errs document.Errors) {
	if f.part == nil {
		return nil
	}
	for _, element := range n.Elements() {
		if wrong := f.part("", element.Any(), !templated(element)); wrong != nil {
			errs = append(errs, wrong.at(element))
		}
	}
	for _, entry := range n.Entries() {
		if templated(entry.Key) {
			continue
		}
		if wrong := f.part(entry.Key.Text(), entry.Value.Any(), !templated(entry.Value)); wrong != nil {
			errs = append(errs, wrong.at(n))
		}
	}
	return errs
}

func templated(n *document.Node) bool {
	return n.Kind() == document.KindString && strings.Contains(n.Text(), "${")
}

func (r *Relation) compileTemplate(n *document.Node, scope *expression.Scope) (operand, document.Errors) {
	compiled, errs := body.Compile(n, scope)
	if len(errs) > 0 {
		return operand{}, errs
	}
	r.use(compiled.Names()...)
	return operand{node: n, body: compiled}, nil
}

func (r *Relation) compileNamespace(n *document.Node, scope *expression.Scope) document.Errors {
	compiled, errs := r.compileTemplate(n, scope)
	if len(errs) > 0 || !sound(n) {
		return errs
	}
	r.namespace = &compiled
	v, constant := compiled.body.Constant()
	if !constant {
		return nil
	}
	given, wrong := namespaceOf(v)
	if wrong == nil && r.declaration != nil {
		if wrong = r.declaration.outside(given); wrong == nil && r.declaration.Namespace == "" {
			wrong = r.form.ambiguous(given)
		}
	}
	if wrong != nil {
		return document.Errors{n.Errorf(wrong.Hint, "%s", wrong.Message)}
	}
	return nil
}

// compileName resolves the bare name of a value of the rule.
func (r *Relation) compileName(n *document.Node, scope *expression.Scope) document.Errors {
	name := n.Text()
	slot, known := scope.Slot(name)
	inner, template := strings.CutPrefix(strings.TrimSpace(name), "${")
	_, bare := scope.Slot(strings.TrimSpace(strings.TrimSuffix(inner, "}")))
	near := document.Suggest(name, scope.Names())
	switch {
	case !sound(n):
		return nil
	case known:
		r.chosen = operand{node: n, slot: slot}
		r.use(name)
		return nil
	case template && bare:
		return document.Errors{n.Errorf("write it without ${ }", "%s takes a name, not a template", r.form.name)}
	case template || strings.ContainsAny(name, " (.["):
		return document.Errors{n.Errorf("put the expression into let, and write its name here", "%s takes the name of a value, not an expression", r.form.name)}
	case near != "":
		return document.Errors{n.Errorf(`did you mean "`+near+`"?`, "unknown name %q", value.Excerpt(name))}
	default:
		return document.Errors{n.Errorf("write object, or a name from with or let", "unknown name %q", value.Excerpt(name))}
	}
}

func (r *Relation) use(names ...string) {
	for _, name := range names {
		if !slices.Contains(r.uses, name) {
			r.uses = append(r.uses, name)
		}
	}
}

// Name returns the name under which the rule finds the related objects.
func (r *Relation) Name() string { return r.name }

// Declaration returns which resource is read, and what of it.
func (r *Relation) Declaration() *Declaration { return r.declaration }

// IsList reports whether the value is a list. Otherwise it is an object, or nil.
func (r *Relation) IsList() bool { return !r.form.single }

// ByName reports whether objects are looked up by their names.
func (r *Relation) ByName() bool { return r.form.by == plan.ByName }

// Uses returns the names of the scope that must be known to evaluate the
// relation, each once.
func (r *Relation) Uses() []string { return slices.Clone(r.uses) }

// Templates returns the bodies that the relation evaluates. What their
// expressions read is read by the rule.
func (r *Relation) Templates() []*body.Body {
	var out []*body.Body
	if r.chosen.body != nil {
		out = append(out, r.chosen.body)
	}
	if r.namespace != nil {
		out = append(out, r.namespace.body)
	}
	return out
}

// form is a way to say which objects are meant.
type form struct {
	name   string
	by     plan.By
	single bool // it gives an object or nil, not a list
	bare   bool // it takes a name of the scope, not a template
	// place is what its value can be, by the fields of the related objects.
	place func(n *document.Node, related *schema.Resource) *schema.Type
	// needed refuses entries that may be nil, which would widen the selection.
	needed bool
	// part refuses an entry of a map or an element of a list that is wrong whatever
	// the others are; known is false where a template gives its value. It may be nil.
	part func(key string, v any, known bool) *mistake
	// ask completes the question by the value of what is written. reads is false
	// where there is nothing to ask.
	ask func(q *plan.Read, v any) (reads bool, wrong *mistake)
	// written is what may be written, and doc says what it means.
	written *field.Type
	doc     string
}

// forms is the table of forms. An entry of `with` has exactly one.
var forms = []form{
	{
		name: "name", by: plan.ByName, single: true, place: always(value.String | value.Nil), ask: askName, written: textOf("write names for a list"),
		doc: "The object of this name, or nil if there is none. Nothing is read where the name is nil or empty.",
	},
	{
		name: "names", by: plan.ByName, part: namePart, place: namesPlace, ask: askNames,
		written: template(document.KindList, "write [a, b], or name for one", field.Schema{"items": field.Schema{"type": []string{"string", "null"}}}),
		doc:     "A list, by names; those that are nil or empty are skipped.",
	},
	{
		name: "matchLabels", by: plan.ByLabels, part: labelPart, place: labelsPlace, needed: true, ask: askMatchLabels,
		written: template(document.KindMap, "write {app: web}; for every object, all: true", field.Schema{"additionalProperties": field.Schema{"type": "string"}}),
		doc:     "A list, by labels that are equal.",
	},
	{
		name: "selector", by: plan.ByLabels, part: selectorPart, place: selectorPlace, ask: askSelector,
		written: &field.Type{
			Name: "selector", Kinds: []document.Kind{document.KindMap, document.KindString}, Template: true, Filled: true,
			Hint: "write {matchLabels: {app: web}}; for every object, all: true",
		},
		doc: "A list, by a whole LabelSelector. An empty one is an error.",
	},
	{
		name: "matchFields", by: plan.ByFields, part: fieldPart, place: fieldsPlace, needed: true, ask: askMatchFields,
		written: template(document.KindMap, "write {spec.nodeName: node-1}; for every object, all: true",
			field.Schema{"additionalProperties": field.Schema{"type": []string{"string", "number", "boolean"}}}),
		doc: "A list, by fields that equal a string, a number or a boolean, such as spec.nodeName.",
	},
	{
		name: "ownedBy", by: plan.ByOwner, bare: true, ask: askOwnedBy,
		written: field.Matching(field.Identifier.Pattern, "a bare name, without ${ }"),
		doc:     "A list, by the controller reference: the bare name of an object or a list of them: object, or a name of with or let.",
	},
	{
		name: "all", by: plan.ByAll, place: always(value.Bool), ask: askAll,
		written: &field.Type{Kinds: []document.Kind{document.KindBool}, Schema: field.Schema{"const": true}},
		doc:     "true: a list of all that the declaration under resources selects.",
	},
}

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
		Kinds: []document.Kind{document.KindString}, Template: true, Hint: hint, Pattern: field.NotBlank.Pattern, Message: field.NotBlank.Message,
	}
}

func template(kind document.Kind, hint string, more field.Schema) *field.Type {
	return &field.Type{
		Kinds: []document.Kind{kind, document.KindString}, Template: true, Filled: kind == document.KindMap, Hint: hint, Schema: more,
	}
}

// textHint says how to make a string of a value that has a text.
func textHint(v any) string {
	if value.KindOf(v)&(value.Number|value.Bool) == 0 {
		return ""
	}
	return "put it in quotes, or write string(...)"
}

// mistake is what is wrong with the value of a form, or with an entry of it.
type mistake struct {
	*value.Fault
	key   string
	ofKey bool // it is the key itself that is wrong
}

func mistakef(hint, format string, args ...any) *mistake {
	return &mistake{Fault: value.Faultf(format, args...).WithHint("%s", hint)}
}

func (m *mistake) inKey(key string) *mistake { return &mistake{m.Fault, key, true} }

func (m *mistake) inValue(key string) *mistake { return &mistake{m.Fault, key, false} }

// at gives the mistake its place below the node of the form.
func (m *mistake) at(n *document.Node) *document.Error {
	for _, entry := range n.Entries() {
		switch {
		case entry.Key.Text() != m.key:
		case m.ofKey:
			return entry.Key.Errorf(m.Hint, "%s", m.Message)
		default:
			return entry.Value.Errorf(m.Hint, "%s", m.Message)
		}
	}
	return n.Errorf(m.Hint, "%s", m.Message)
}

// brief leaves the examples and the pattern out of a reason of Kubernetes.
func brief(reason string) string {
	reason, _, _ = strings.Cut(reason, " (e.g.")
	return reason
}

func askName(q *plan.Read, v any) (bool, *mistake) {
	if v == nil || v == "" {
		return false, nil
	}
	name, wrong := objectName(v)
	if wrong != nil {
		return false, wrong
	}
	q.Names = []string{name}
	return true, nil
}

// askNames skips nil and empty names, as name does.
func askNames(q *plan.Read, v any) (bool, *mistake) {
	if v == nil {
		return false, nil
	}
	list, ok := v.([]any)
	if !ok {
		return false, mistakef("write [a, b], or name for one", "names must be a list of strings, have %s", value.KindOf(v))
	}
	for _, element := range list {
		if element == nil || element == "" {
			continue
		}
		name, wrong := objectName(element)
		if wrong != nil {
			return false, wrong
		}
		q.Names = append(q.Names, name)
	}
	// In whatever order the names are, it is the same question.
	slices.Sort(q.Names)
	q.Names = slices.Compact(q.Names)
	return len(q.Names) > 0, nil
}

func namePart(_ string, v any, known bool) *mistake {
	if !known || v == nil || v == "" {
		return nil
	}
	_, wrong := objectName(v)
	return wrong
}

// objectName refuses what no kind of object can be called: then a look-up that
// finds nothing would be a mistake of the rule.
func objectName(v any) (string, *mistake) {
	name, ok := v.(string)
	if !ok {
		hint := textHint(v)
		if value.KindOf(v)&(value.List|value.Map) != 0 {
			hint = "for the field name of every element, write names: ${map(list, .name)}"
		}
		return "", mistakef(hint, "the name of an object is a string, have %s", value.KindOf(v))
	}
	if reasons := content.IsPathSegmentName(name); len(reasons) > 0 {
		hint := ""
		if strings.Contains(name, "/") {
			hint = "the namespace has a field of its own"
		}
		return "", mistakef(hint, "%q cannot be the name of an object: it %s", value.Excerpt(name), reasons[0])
	}
	return name, nil
}

// askOwnedBy takes an object or a list of objects, in which nil is skipped.
func askOwnedBy(q *plan.Read, v any) (bool, *mistake) {
	owners, ok := v.([]any)
	if !ok {
		owners = []any{v}
	}
	for _, owner := range owners {
		if owner == nil {
			continue
		}
		object, ok := owner.(map[string]any)
		if !ok {
			return false, mistakef("", "ownedBy takes an object or a list of objects, have %s", value.KindOf(owner))
		}
		uid := plan.Text(object, "metadata", "uid")
		if uid == "" {
			return false, mistakef("", "ownedBy takes objects of the cluster, have one without metadata.uid")
		}
		q.Owners = append(q.Owners, types.UID(uid))
	}
	slices.Sort(q.Owners)
	q.Owners = slices.Compact(q.Owners)
	return len(q.Owners) > 0, nil
}

func askAll(_ *plan.Read, v any) (bool, *mistake) {
	if every, _ := v.(bool); !every {
		return false, mistakef("write true, or remove the entry", "all: false selects nothing")
	}
	return true, nil
}
