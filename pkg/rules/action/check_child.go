package action

import (
	"maps"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// Check implements [Action].
func (a *apply) Check(c Checking) document.Errors {
	how := schema.Whole
	if a.adopt {
		how = schema.Applied // What it takes over may have the rest.
	}
	errs := a.checkManifest(c, how)
	if a.appliesItself(c) {
		errs = append(errs, a.draft().at("metadata", "name").Errorf("use patch",
			"a rule cannot make the object that it watches"))
	}
	return errs
}

// itself is how a template says the name of the watched object.
const itself = "${object.metadata.name}"

// appliesItself reports whether the name is that of the watched object, and its namespace
// can be no other.
func (a *apply) appliesItself(c Checking) bool {
	if c.Watched == nil || c.Watched.GroupVersionResource != a.declaration.GVR {
		return false
	}
	m := a.draft()
	name := m.at("metadata", "name")
	metadata, _ := m.lookup("metadata")
	_, written := metadata.(map[string]any)
	_, placed := m.lookup("metadata", "namespace")
	elsewhere := placed && m.at("metadata", "namespace").Text() != "${object.metadata.namespace}"
	return written && !elsewhere && name.Text() == itself
}

// Check implements [Action].
func (c *create) Check(with Checking) document.Errors {
	errs := c.checkManifest(with, schema.Whole)
	if wrong := c.checkSeen(); wrong != nil {
		errs = append(errs, wrong)
	}
	return errs
}

// checkSeen refuses labels, as they are written, with which the list that the new object
// is to appear in does not select it.
func (c *create) checkSeen() *document.Error {
	m := c.draft()
	if m.fields == nil {
		return nil
	}
	wanted := c.in.WrittenLabels()
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		v, there := m.lookup("metadata", "labels", key)
		text, isText := v.(string)
		if isText && text != wanted[key] || !there && v == nil {
			return m.at("metadata", "labels").Errorf("give it the labels that the list asks for",
				"the new object would not appear in %s, which selects by the label %s: %s", c.in.Name(), value.Excerpt(key), value.Excerpt(wanted[key]))
		}
	}
	return nil
}

func (c *child) checkManifest(checking Checking, how schema.Writing) document.Errors {
	m := c.draft()
	into := schema.Field{}
	resource := checking.Schemas.Resource(c.declaration.GVR)
	if resource != nil {
		into.Type = resource.Type
	}
	given, errs := c.body.Check(checking.Context, into, how)
	if wrong := c.checkLabels(m); wrong != nil && how == schema.Whole {
		errs = append(errs, wrong)
	}
	if resource == nil {
		return errs
	}
	for _, wrong := range []*document.Error{
		m.checkType("", resource.Kind), c.checkStatus(m, resource), c.checkPlace(m, resource, checking.Watched),
		c.checkAbsent(given, m, resource, checking.Watched), m.checkNames(resource),
	} {
		if wrong != nil {
			errs = append(errs, wrong)
		}
	}
	return errs
}

// draft is as much of the manifest as is written out.
func (c *child) draft() manifest {
	fields, _ := draft(c.node).(map[string]any)
	return manifest{c.node, fields}
}

// checkStatus refuses what the API server drops when it makes the object.
func (c *child) checkStatus(m manifest, resource *schema.Resource) *document.Error {
	_, separate := resource.Subresources["status"]
	if _, there := m.lookup("status"); !there || !separate {
		return nil
	}
	return m.node.Key("status").Errorf("patch it, with subresource: status",
		"the API server ignores status here, which %s have as a subresource", resource.Resource).Coded(document.CodeSubresource)
}

// checkAbsent refuses a name that may be absent, and a namespace where it has to be
// said.
func (c *child) checkAbsent(given typing.Type, m manifest, resource, watched *schema.Resource) *document.Error {
	metadata, _ := given.Field("metadata")
	_, named := m.lookup("metadata", "name")
	needed := []string{"generateName"}
	if named {
		needed = []string{"name"}
	}
	if resource.Namespaced && watched != nil && !watched.Namespaced {
		needed = append(needed, "namespace")
	}
	for _, name := range needed {
		_, written := m.lookup("metadata", name)
		if field, found := metadata.Field(name); written && found == typing.Found && field.CanBeNil() {
			return m.at("metadata", name).Errorf("?? gives a default; or let when ask for it first",
				"the %s of the %s may be absent", name, resource.Kind).Coded(document.CodeMayBeAbsent)
		}
	}
	return nil
}

// checkPlace compares the scopes of the child and of its owner.
func (c *child) checkPlace(m manifest, resource, watched *schema.Resource) *document.Error {
	_, given := m.lookup("metadata", "namespace")
	metadata, _ := m.lookup("metadata")
	_, templated := metadata.(unknown)
	templated = templated || m.fields == nil // All of it is.
	switch {
	case !resource.Namespaced && given:
		return m.at("metadata", "namespace").Errorf("leave namespace out",
			"%s are cluster-scoped and have no namespace", resource.Resource).Coded(document.CodeWrongScope)
	case watched == nil:
		return nil
	case !resource.Namespaced && watched.Namespaced && c.owned:
		return m.node.Errorf("write owned: false", "%s are cluster-scoped and cannot be owned by %s, which have a namespace",
			resource.Resource, watched.Resource).Coded(document.CodeWrongScope)
	case resource.Namespaced && !watched.Namespaced && !given && !templated:
		return m.at("metadata").Errorf("add namespace: ... to metadata", "%s are cluster-scoped, so it must be said in which namespace to make the %s",
			watched.Resource, resource.Resource).Coded(document.CodeWrongScope)
	default:
		return nil
	}
}

// Check implements [Action].
func (r *removal) Check(c Checking) document.Errors {
	errs := c.checkTarget(&r.target)
	if r.grace == nil {
		return errs
	}
	_, wrong := r.grace.Check(c.Context, schema.Field{Type: &schema.Type{Kinds: value.Int | value.Nil}}, schema.Merged)
	return append(errs, wrong...)
}

// Check implements [Action].
func (e *event) Check(c Checking) document.Errors {
	errs := c.checkTarget(&e.target)
	text := schema.Field{Required: true, Type: &schema.Type{Kinds: value.String | value.Number | value.Bool}} // "${n}" alone is a number.
	for _, f := range e.fields {
		_, wrong := f.body.Check(c.Context, text, schema.Whole)
		errs = append(errs, wrong...)
	}
	return errs
}
