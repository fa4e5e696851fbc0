package relation

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// EveryNamespace is what `namespace` says for every one that the set may see.
const EveryNamespace = "*"

// Query evaluates what is written to the question that it asks now, nil where
// there is nothing to read. An error is a [document.Error], but for that of
// another name.
func (r *Relation) Query(e *expression.Evaluation, reader *Reader) (*plan.Read, error) {
	chosen, err := r.chosen.eval(e)
	if err != nil {
		return nil, err
	}
	q := &plan.Read{From: r.declaration.Selections, By: r.form.by}
	reads, wrong := r.form.ask(q, chosen)
	if wrong != nil {
		return nil, wrong.at(r.chosen.node)
	}
	if !reads {
		return nil, nil
	}
	if err := e.Budget.List(len(q.Names) + len(q.Owners) + len(q.Fields)); err != nil {
		return nil, body.Locate(r.chosen.node, err)
	}
	if q.Namespace, err = r.evalNamespace(e, reader); err != nil {
		return nil, err
	}
	return q, nil
}

func (o operand) eval(e *expression.Evaluation) (any, error) {
	if o.body == nil {
		return e.Names.Value(o.slot)
	}
	return o.body.Eval(e)
}

func (r *Relation) evalNamespace(e *expression.Evaluation, reader *Reader) (string, error) {
	at, given := r.whole, ""
	if r.namespace != nil {
		at = r.namespace.node
		written, err := r.namespace.eval(e)
		if err != nil {
			return "", err
		}
		var wrong *value.Fault
		if given, wrong = namespaceOf(written); wrong != nil {
			return "", at.Errorf(wrong.Hint, "%s", wrong.Message)
		}
	}
	namespace, err := reader.Namespace(r.declaration, given, r.namespace != nil)
	if err != nil {
		return "", locate(at, err)
	}
	if namespace == "" {
		if wrong := r.form.ambiguous(given); wrong != nil {
			return "", at.Errorf(wrong.Hint, "%s", wrong.Message)
		}
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

// namespaceOf refuses nil and "", which could mean the object's own namespace
// as well as every one.
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

// Evaluate returns the value of the name: an object or nil, or a list of objects,
// by namespace and name, each once. They are shared: read only. An error is a
// [document.Error], or wraps what the source or another name reported.
func (r *Relation) Evaluate(e *expression.Evaluation, reader *Reader) (any, error) {
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
	case errors.Is(err, expression.ErrBudget):
		return nil, body.Locate(r.whole, err)
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

// locate gives an error of the reader its place.
func locate(n *document.Node, err error) error {
	fault, ok := errors.AsType[*value.Fault](err)
	if !ok {
		return err
	}
	return n.Errorf(fault.Hint, "%s", fault.Message)
}
