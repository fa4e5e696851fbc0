package action

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// child is an object that a rule makes because of the one it watches.
type child struct {
	declaration *lookup.Declaration
	from        *document.Node // that says the declaration
	node        *document.Node // of the manifest
	body        *template.Body
	owned       bool
	generated   bool // the API server may choose the name
}

// wanted is a child as it is to be, whatever is there now.
type wanted struct {
	object plan.Object    // without what only an object that exists has
	fields map[string]any // the whole object
}

// named is the same for two objects with the same name.
func named(o plan.Object) plan.Object {
	return plan.Object{GVR: o.GVR, Namespace: o.Namespace, Name: o.Name}
}

var ownedField = field.Optional("owned", field.Bool,
	"true (default): the watched object becomes the owner. Where Kubernetes forbids such an owner, write false.")

// object is a manifest, or what a patch changes of one.
var object = &field.Type{Name: "object", Kinds: document.KindMap, Template: true}

// compileManifest finds what is wrong with the manifest as far as it is written out.
func (c *child) compileManifest(n *document.Node, scope *expression.Scope) (errs document.Errors) {
	if c.node = n; n == nil {
		return nil
	}
	c.body, errs = template.Compile(n, scope)
	if m := draft(n); c.declaration != nil && m.fields != nil {
		errs = append(errs, c.check(m, "")...)
	}
	return errs
}

// check returns what is wrong with a manifest. The kind is "" before evaluation, when it is not known.
func (c *child) check(m manifest, kind string) document.Errors {
	if wrong := m.checkKinds(schema.Whole); wrong != nil {
		return document.Errors{wrong}
	}
	return found(
		m.checkType(c.declaration.GVR.GroupVersion().String(), kind),
		m.checkServer(),
		m.checkName(c.generated),
		m.checkNamespace(c.declaration.Namespace),
		m.checkMarks(),
		m.checkTexts(),
		m.checkOwners(c.owned),
	)
}

// found are the results of checks that found something.
func found(all ...*document.Error) document.Errors {
	return slices.DeleteFunc(all, func(wrong *document.Error) bool { return wrong == nil })
}

// checkTyped returns what the schemas show to be wrong with the manifest, and that no selection of a list would have the object.
func (c *child) checkTyped(with Checking, how schema.Writing, list string, selections []plan.Selection) document.Errors {
	m, into := draft(c.node), schema.Field{}
	resource := with.Schemas.Resource(c.declaration.GVR)
	if resource != nil {
		into.Type = resource.Type
	}
	given, errs := c.body.Check(with.Context, into, how)
	if how == schema.Whole && m.fields != nil {
		errs = append(errs, found(m.checkSelected(list, selections))...)
	}
	if resource == nil {
		return errs
	}
	placed := resource.Namespaced && with.Watched != nil && !with.Watched.Namespaced
	return append(errs, found(
		m.checkType("", resource.Kind), m.checkStatus(resource), c.checkScope(m, resource.Namespaced, with.Watched),
		m.checkAbsent(given, resource.Kind, placed), m.checkNames(resource),
	)...)
}

// checkScope compares the scope of the child with that of the watched object, of which nothing may be known.
func (c *child) checkScope(m manifest, namespaced bool, watched *schema.Resource) *document.Error {
	namespace, given := m.lookup("metadata", "namespace")
	given = given || namespace != nil || m.fields == nil && namespaced
	if wrong := lookup.CheckScope(c.declaration, namespaced, watched != nil && !watched.Namespaced, given); wrong != nil {
		return m.at("metadata", "namespace").Errorf(wrong.Hint, "%s", wrong.Message).Coded(document.CodeWrongScope)
	}
	if c.owned && !namespaced && watched != nil && watched.Namespaced {
		return c.notOwned(m.node, "cluster-scoped").Coded(document.CodeWrongScope)
	}
	return nil
}

// notOwned says why the watched object cannot be the owner: the garbage collector would look for it in vain, and then delete the child.
func (c *child) notOwned(n *document.Node, why string) *document.Error {
	return n.Errorf("write owned: false", "%s cannot be owned by the watched object: they are %s, and it has a namespace", c.declaration.GVR.Resource, why)
}

// want evaluates the manifest. It is nil where all of it is nil or omitted.
func (c *child) want(e *Evaluation) (*wanted, error) {
	written, err := c.body.Eval(e.Expressions)
	if err != nil || written == nil {
		return nil, err
	}
	fields, isMap := withoutNil(written).(map[string]any)
	if !isMap {
		return nil, c.node.Errorf("", "a manifest must be a map, have %s", value.KindOf(written))
	}
	kind, err := e.Related.Kind(c.declaration)
	if err != nil {
		return nil, template.Locate(c.from, err)
	}
	m := manifest{c.node, fields}
	if errs := c.check(m, kind.Name); len(errs) > 0 {
		return nil, errs[0]
	}
	name, given := m.text("metadata", "name"), m.text("metadata", "namespace")
	namespace, err := e.Related.Namespace(c.declaration, given, given != "")
	if err != nil {
		return nil, template.Locate(m.at("metadata", "namespace"), err)
	}
	if home := e.Object.Namespace; c.owned && home != "" && home != namespace {
		return nil, c.notOwned(m.at("metadata", "namespace"), "in another namespace or in none")
	}
	object := plan.Object{GVR: c.declaration.GVR, Kind: kind.Name, Namespace: namespace, Name: name}
	return &wanted{object: object, fields: c.complete(e, object, m.fields)}, nil
}

// complete adds what the object is and whose.
func (c *child) complete(e *Evaluation, object plan.Object, fields map[string]any) map[string]any {
	fields["apiVersion"], fields["kind"] = object.GVR.GroupVersion().String(), object.Kind
	metadata := within(fields, "metadata")
	if object.Namespace != "" {
		metadata["namespace"] = object.Namespace
	}
	for label, mark := range e.marks() {
		within(metadata, "labels")[label] = mark
	}
	if c.owned && !orphans(e.Current) {
		metadata["ownerReferences"] = []any{map[string]any{
			"apiVersion":         e.Object.GVR.GroupVersion().String(),
			"kind":               e.Object.Kind,
			"name":               e.Object.Name,
			"uid":                string(e.Object.UID),
			"controller":         true,
			"blockOwnerDeletion": true,
		}}
	}
	return fields
}

// orphans reports whether an object is being deleted so that its children stay: one that got it as its owner now would go.
func orphans(object map[string]any) bool {
	finalizers := (&unstructured.Unstructured{Object: object}).GetFinalizers()
	return plan.BeingDeleted(object) && slices.Contains(finalizers, metav1.FinalizerOrphanDependents)
}

// within returns the map at key, which is put there where there is none.
func within(fields map[string]any, key string) map[string]any {
	if found, there := fields[key].(map[string]any); there {
		return found
	}
	made := map[string]any{}
	fields[key] = made
	return made
}

// read asks for objects of the declaration.
func (e *Evaluation) read(n *document.Node, q plan.Read) ([]map[string]any, error) {
	found, err := e.Related.Read(q, e.Expressions.Budget)
	switch {
	case errors.Is(err, value.ErrBudget) && n != nil:
		return nil, template.Locate(n, err)
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", q.From[0].GVR.Resource, err)
	default:
		return found, nil
	}
}

// trace adds what making a child takes.
func (c *child) trace(t Traces) *footprint.Access {
	access := t.access(c.declaration.GVR)
	var writes footprint.Tree
	c.body.Written(t.Shapes, &writes)
	t.applied(access, &writes)
	for _, label := range []string{plan.LabelSet, plan.LabelRule, plan.LabelOwnerUID} {
		access.Writes.Add(footprint.Fields("metadata", "labels", label), footprint.Value)
	}
	if c.owned {
		access.Writes.Add(footprint.Fields("metadata", "ownerReferences"), footprint.Value)
	}
	return access
}
