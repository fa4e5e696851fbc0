package action

import (
	"maps"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// Check implements [Action].
func (p *patch) Check(c Checking) document.Errors {
	errs := c.checkTarget(&p.target)
	for _, resource := range c.resources(&p.target) {
		place, wrong := p.place(resource)
		if wrong != nil {
			errs = append(errs, wrong)
		}
		errs = append(errs, p.checkBody(c, place)...)
		if resource != nil && wrong == nil {
			errs = append(errs, p.checkIgnored(resource)...)
		}
	}
	return errs
}

func (p *patch) checkBody(c Checking, place *schema.Type) document.Errors {
	switch p.kind {
	case plan.JSON:
		return p.body.CheckPatch(c.Context, place)
	case plan.Apply:
		_, errs := p.body.Check(c.Context, schema.Field{Type: place}, schema.Applied)
		return append(errs, p.atomicLists(p.node, place)...)
	default:
		_, errs := p.body.Check(c.Context, schema.Field{Type: place}, schema.Merged)
		return errs
	}
}

// place is the type of what is patched, nil where nothing is known of it.
func (p *patch) place(resource *schema.Resource) (*schema.Type, *document.Error) {
	switch {
	case resource == nil:
		return nil, nil
	case p.subresource == "":
		return resource.Type, nil
	}
	place, there := resource.Subresources[p.subresource]
	if there || !resource.SubresourcesKnown {
		return place, nil
	}
	names := slices.Sorted(maps.Keys(resource.Subresources))
	hint := "leave subresource out"
	if near := document.Suggest(p.subresource, names); near != "" {
		hint = `did you mean "` + near + `"?`
	} else if len(names) > 0 {
		hint += ", or write one of " + strings.Join(names, ", ")
	}
	return nil, p.named.Errorf(hint, "%s have no subresource %q", resource.Resource, p.subresource).Coded(document.CodeSubresource)
}

// checkIgnored refuses to write what the API server passes over without a word: the
// status of an object whose status is a subresource, and anything else through it.
func (p *patch) checkIgnored(resource *schema.Resource) (errs document.Errors) {
	_, separate := resource.Subresources["status"]
	for _, key := range p.topLevel() {
		switch name := key.name; {
		case p.subresource == "" && name == "status" && separate:
			errs = append(errs, key.at.Errorf("add subresource: status",
				"the API server ignores status here, which %s have as a subresource", resource.Resource).Coded(document.CodeSubresource))
		case p.subresource == "status" && name == "spec":
			errs = append(errs, key.at.Errorf("make it a patch of its own, without subresource",
				"the API server ignores %s in a patch of status", name).Coded(document.CodeSubresource))
		case p.subresource == "status" && name == "metadata" && schema.Custom(resource.Group):
			errs = append(errs, key.at.Errorf("make it a patch of its own, without subresource",
				"the API server ignores metadata in a patch of the status of a custom resource").Coded(document.CodeSubresource))
		}
	}
	return errs
}

// written is a field of an object, and where it is written.
type written struct {
	name string
	at   *document.Node
}

// topLevel lists the fields of the object that the patch writes, as far as they are
// written out.
func (p *patch) topLevel() (out []written) {
	if p.kind != plan.JSON {
		for _, entry := range p.node.Entries() {
			out = append(out, written{entry.Key.Text(), entry.Key})
		}
		return out
	}
	for _, operation := range p.node.Elements() {
		path := operation.Get("path")
		if path == nil || operation.Get("op").Text() == "test" {
			continue
		}
		first, _, _ := strings.Cut(strings.TrimPrefix(path.Text(), "/"), "/")
		out = append(out, written{first, path})
	}
	return out
}

// atomicLists warns of lists that server-side apply owns as a whole. Whoever writes what
// is around a required one has no choice.
func (p *patch) atomicLists(n *document.Node, place *schema.Type) (errs document.Errors) {
	for _, entry := range n.Entries() {
		f, possible := place.Field(entry.Key.Text())
		if !possible || !f.Type.Known() {
			continue
		}
		switch list := f.Type.List; {
		case list != nil && list.Kind == schema.Atomic && givesList(entry.Value, f.Type):
			if f.Required {
				continue
			}
			errs = append(errs, p.atomicList(entry.Key))
		case list != nil:
			for _, element := range entry.Value.Elements() {
				errs = append(errs, p.atomicLists(element, list.Items)...)
			}
		default:
			errs = append(errs, p.atomicLists(entry.Value, f.Type)...)
		}
	}
	return errs
}

// givesList reports whether a list is written, or given by an expression.
func givesList(n *document.Node, place *schema.Type) bool {
	_, templated := draft(n).(unknown)
	return n.Kind() == document.KindList || templated && place.Kinds&^value.Nil == value.List
}

// atomicList says what becomes of what others wrote into a list: it is lost by force,
// and a conflict without.
func (p *patch) atomicList(key *document.Node) *document.Error {
	consequence := "apply owns all of the list %s, so it conflicts with whoever else writes it"
	if p.force {
		consequence = "apply replaces all of the list %s, with what others wrote into it"
	}
	return key.Errorf("write it with merge or json, or be sure that nobody else does",
		consequence, value.Excerpt(key.Text())).Coded(document.CodeAtomicList).Warn()
}
