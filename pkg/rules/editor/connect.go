package editor

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	resources "github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Binding says which resource a name stands for. It holds in documents whose
// `resources` declare the name so.
type Binding struct {
	Name     string
	Resource *resources.Resource
	// Related are the entries of `with` that read the resource. A schema cannot look
	// them up, so their names must be known.
	Related []string
}

// ByPlural binds resources to their plural names, which rules mostly call them.
func ByPlural(known []*resources.Resource) []Binding {
	var out []Binding
	for _, r := range known {
		out = append(out, Binding{Name: r.Resource, Resource: r, Related: []string{r.Resource}})
	}
	return out
}

// ByDeclaration binds the names that sets declare, as far as their resources are
// known.
func ByDeclaration(sets []*spec.Set, known func(schema.GroupVersionResource) *resources.Resource) []Binding {
	var out []Binding
	for _, set := range sets {
		for _, declared := range set.Resources {
			at := slices.IndexFunc(out, func(b Binding) bool {
				return b.Name == declared.Name && b.Resource.GroupVersionResource == declared.GVR
			})
			if at < 0 {
				resource := known(declared.GVR)
				if resource == nil {
					continue
				}
				at = len(out)
				out = append(out, Binding{Name: declared.Name, Resource: resource, Related: []string{declared.Name}})
			}
			out[at].relate(set.Rules)
		}
	}
	return out
}

// relate adds what the rules call the related objects.
func (b *Binding) relate(rules []spec.Rule) {
	for _, rule := range rules {
		for _, related := range rule.With {
			if related.Value.Get("resource").Text() == b.Name && !slices.Contains(b.Related, related.Name) {
				b.Related = append(b.Related, related.Name)
			}
		}
	}
}

// connect adds the bodies of all resources to the definitions, and returns the
// conditions on a document under which they are those of its actions.
func (b *bodies) connect(bindings []Binding) []any {
	var conditions []any
	for _, of := range bindings {
		known := b.of(of.Resource)
		if known == nil {
			continue
		}
		name := b.define("rule-of-"+of.Name, b.rule(&of, known))
		conditions = append(conditions, conditional(of.declared(), having("spec", having("rules", node{"items": reference(name)}))))
	}
	return conditions
}

// declared is true of documents in which the name stands for the resource.
func (b *Binding) declared() node {
	gvr := b.Resource.GroupVersionResource
	fields := node{"version": exactly(gvr.Version), "resource": exactly(gvr.Resource)}
	if gvr.Group != "" {
		fields["group"] = exactly(gvr.Group)
	}
	declaration := offered(b.Resource.Kind+" of "+gvr.GroupVersion().String(), fields)
	if gvr.Group == "" {
		declaration["allOf"] = []any{having("group", constant(""))}
	}
	return present("spec", present("resources", present(b.Name, declaration)))
}

func exactly(value string) node { return with(text(), "const", value) }

// offered is a condition, a map with all of these fields, that editors offer to
// write. The title says what it is.
func offered(title string, fields node) node {
	return node{"type": "object", "title": title, "properties": fields, "required": slices.Sorted(maps.Keys(fields))}
}

// rule is what follows for the rules of such documents.
func (b *bodies) rule(of *Binding, to *known) node {
	inActions := func(action node) node { return b.inActions("action-of-"+of.Name, action) }
	steps := []any{
		inActions(having("apply", conditional(present("resource", constant(of.Name)), having("manifest", to.manifest)))),
		conditional(present("watch", constant(of.Name)),
			inActions(having("patch", conditional(having("target", constant("object")), to.patch)))),
	}
	for _, related := range of.Related {
		steps = append(steps, conditional(
			present("with", present(related, offered("some of "+of.Name, node{"resource": exactly(of.Name)}))),
			inActions(node{"properties": node{
				"patch":  conditional(present("target", constant(related)), to.patch),
				"create": conditional(present("in", constant(related)), having("manifest", to.manifest)),
			}}),
		))
	}
	return all(steps...)
}

// inActions says it of all actions of a rule.
func (b *bodies) inActions(name string, action node) node {
	actions := having("actions", node{"items": reference(b.define(name, action))})
	return all(actions, having("onDelete", actions))
}
