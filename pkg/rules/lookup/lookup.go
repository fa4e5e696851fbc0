// Package lookup compiles the entries of `with` and answers them: which other objects a rule reads beside the one it watches.
//
//	document.Node -> Compile -> Lookup -> Query -> plan.Read
//	                                    \-> Evaluate -> object or list
//	                                          Reader -> Source
//
// A [Lookup] turns what was written into a question, a [plan.Read]. A [Reader] asks it on behalf of one evaluation, remembers it, and
// keeps for every object where it came from. A [Source] knows the objects.
//
// The package watches nothing and reads no cluster: whoever implements Source says which objects there are, and whether that is known
// at all. It does not order the names of a rule either; [Lookup.Uses] says what must come first.
package lookup

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// Lookup is a compiled entry of `with`. It is immutable and safe for concurrent use.
type Lookup struct {
	name        string
	whole       *document.Node
	declaration *Declaration
	form        form
	node        *document.Node // what the form is given
	body        *template.Body // of that, or nil for the bare name of a value
	slot        int            // of the bare name
	known       *question      // as far as it is written out
	namespace   *template.Body // nil where none is written
	at          *document.Node // the namespace, nil where none is written
}

// Compile compiles the value of an entry of `with`, whose templates may use the names of scope. It finds all errors; the lookup is nil
// where there is one, or where the parser has reported one already.
func Compile(name string, n *document.Node, scope *expression.Scope, declared Declarations) (*Lookup, document.Errors) {
	r := &Lookup{name: name, whole: n}
	v, errs := Fields.Read(n)
	var wrong *document.Error
	if r.declaration, wrong = declared.Lookup(v["resource"]); wrong != nil {
		errs = append(errs, wrong)
	}
	for _, f := range forms {
		if chosen := v[f.name]; chosen != nil {
			r.form, r.node = f, chosen
			errs = append(errs, r.compile(scope)...)
		}
	}
	if r.at = v["namespace"]; r.at != nil {
		errs = append(errs, r.compileNamespace(scope)...)
	}
	if len(errs) > 0 || r.declaration == nil || r.node == nil {
		return nil, errs
	}
	return r, nil
}

func (r *Lookup) compile(scope *expression.Scope) (errs document.Errors) {
	if r.form.takes == nil {
		var wrong *document.Error
		if r.slot, wrong = template.Name(r.node, scope); wrong != nil {
			errs = document.Errors{wrong}
		}
		r.known = r.ask(schema.Unknown{}, false)
		return errs
	}
	if r.body, errs = template.Compile(r.node, scope); len(errs) > 0 {
		return errs
	}
	v, constant := r.body.Constant()
	if !constant {
		v = template.Draft(r.node)
	}
	r.known = r.ask(v, constant)
	errs = r.known.wrong
	if constant && len(errs) == 0 && !r.known.reads() {
		errs = append(errs, r.node.Errorf("give it a value, or remove "+r.name, "%s is empty, so nothing is ever read", r.form.name))
	}
	return errs
}

func (r *Lookup) compileNamespace(scope *expression.Scope) (errs document.Errors) {
	if r.namespace, errs = template.Compile(r.at, scope); len(errs) > 0 {
		return errs
	}
	v, constant := r.namespace.Constant()
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
		return document.Errors{r.at.Errorf(wrong.Hint, "%s", wrong.Message)}
	}
	return nil
}

// Name returns the name under which the rule finds the related objects.
func (r *Lookup) Name() string { return r.name }

// Declaration returns which resource is read, and what of it.
func (r *Lookup) Declaration() *Declaration { return r.declaration }

// IsList reports whether the value is a list. Otherwise it is an object, or nil.
func (r *Lookup) IsList() bool { return !r.form.single }

// ByName reports whether objects are looked up by their names.
func (r *Lookup) ByName() bool { return r.form.by == plan.ByName }

// Uses returns the names of the scope that must be known to evaluate the lookup, each once.
func (r *Lookup) Uses() (names []string) {
	if r.body == nil {
		names = []string{r.node.Text()}
	}
	for _, part := range r.templates() {
		names = append(names, part.Names()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// templates are the bodies that the lookup evaluates.
func (r *Lookup) templates() []*template.Body {
	return slices.DeleteFunc([]*template.Body{r.body, r.namespace}, func(b *template.Body) bool { return b == nil })
}

// EveryNamespace is what `namespace` says for every one that the set may see.
const EveryNamespace = "*"

// Query evaluates what is written to the question that it asks now, nil where there is nothing to read. An error is a [document.Error],
// but for that of another name.
func (r *Lookup) Query(e *expression.Evaluation, reader *Reader) (*plan.Read, error) {
	q := r.known
	if !q.complete {
		var chosen any
		var err error
		if r.body == nil {
			chosen, err = e.Names.Value(r.slot)
		} else {
			chosen, err = r.body.Eval(e)
		}
		if err != nil {
			return nil, err
		}
		q = r.ask(chosen, true)
	}
	if len(q.wrong) > 0 {
		return nil, q.wrong[0]
	}
	if !q.reads() {
		return nil, nil
	}
	if err := e.Budget.List(len(q.Names) + len(q.Owners) + len(q.Fields)); err != nil {
		return nil, template.Locate(r.node, err)
	}
	out := q.Read
	var err error
	if out.Namespace, err = r.evalNamespace(e, reader); err != nil {
		return nil, err
	}
	return &out, nil
}

func (r *Lookup) evalNamespace(e *expression.Evaluation, reader *Reader) (namespace string, err error) {
	at, given := r.whole, ""
	if r.at != nil {
		at = r.at
		written, err := r.namespace.Eval(e)
		if err != nil {
			return "", err
		}
		var wrong *value.Fault
		if given, wrong = namespaceOf(written); wrong != nil {
			return "", template.Locate(at, wrong)
		}
	}
	namespace, err = reader.Namespace(r.declaration, given, r.at != nil)
	if wrong := r.form.ambiguous(given); err == nil && namespace == "" && wrong != nil {
		err = wrong
	}
	if err != nil {
		return "", template.Locate(at, err)
	}
	return namespace, nil
}

// ambiguous refuses to look for the one object of a name in several namespaces.
func (f form) ambiguous(given string) *value.Fault {
	if !f.single || given != EveryNamespace {
		return nil
	}
	return value.Faultf("there may be one such object in every namespace, and %s gives one", f.name).
		WithHint("write names: [...] for a list, or name one namespace")
}

// namespaceOf refuses nil and "", which could mean the object's own namespace as well as every one.
func namespaceOf(v any) (string, *value.Fault) {
	const hint = `write "*" for every namespace, or leave it out for the object's own`
	namespace, ok := v.(string)
	switch {
	case !ok:
		return "", value.Faultf("the namespace must be a string, have %s", value.KindOf(v)).WithHint(hint)
	case namespace == "":
		return "", value.Faultf("the namespace is empty").WithHint(hint)
	case namespace == EveryNamespace:
		return namespace, nil
	}
	if reasons := validation.IsDNS1123Label(namespace); len(reasons) > 0 {
		return "", value.Faultf("%q cannot be a namespace: %s", value.Excerpt(namespace), brief(reasons[0]))
	}
	return namespace, nil
}

// Evaluate returns the value of the name: an object or nil, or a list of objects, by namespace and name, each once. They are shared:
// read only. An error is a [document.Error], or wraps what the source or another name reported.
func (r *Lookup) Evaluate(e *expression.Evaluation, reader *Reader) (any, error) {
	q, err := r.Query(e, reader)
	if err != nil {
		return nil, err
	}
	var found []map[string]any
	if q != nil {
		found, err = reader.Look(*q, e.Budget)
	}
	if err == nil && !r.form.single {
		err = e.Budget.List(len(found))
	}
	switch {
	case errors.Is(err, value.ErrBudget):
		return nil, template.Locate(r.whole, err)
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", r.name, err)
	case r.form.single && len(found) == 0:
		return nil, nil
	case r.form.single:
		return found[0], nil
	}
	list := make([]any, len(found))
	for i, object := range found {
		list[i] = object
	}
	return list, nil
}
