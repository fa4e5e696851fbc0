package rules

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/names"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// unname finds the objects whose names the rule has from a Secret: those that it names by
// one, found by one, or has made like that before.
func (x *explanation) unname() {
	x.unnamed = map[plan.Object]bool{}
	for _, step := range x.steps {
		if !x.namesBySecret(step.step, step.node) {
			continue
		}
		x.unnameAll(step.rest)
		for _, turn := range step.turns {
			x.unnameAll(turn.wishes)
			for _, event := range turn.events {
				x.unnamed[identity(event.Regarding)] = true
			}
		}
	}
	made, nodes := map[schema.GroupVersionResource]bool{}, x.rule.actions()
	for i, step := range x.rule.allSteps() {
		if applied := step.Applies(); applied != nil && applied.Prune && x.namesBySecret(step, nodes[i]) {
			made[applied.Of.GVR] = true
		}
	}
	x.unnameAll(slices.DeleteFunc(x.unasked(), func(w plan.Wish) bool { return !made[w.Target.GVR] }))
	delete(x.unnamed, identity(x.turn.action.Object)) // It is asked about by its name.
}

func (x *explanation) unnameAll(wishes []plan.Wish) {
	for _, wish := range wishes {
		x.unnamed[identity(wish.Target)] = true
	}
}

// identity is what an object is called, whatever else is known of it.
func identity(o plan.Object) plan.Object {
	return plan.Object{GVR: o.GVR, Namespace: o.Namespace, Name: o.Name}
}

// object names one.
func (s *showing) object(o plan.Object) string {
	if s.unnamed[identity(o)] {
		return o.GVR.Resource + " " + s.anonymous(o)
	}
	return s.text(o.String())
}

// related names an object that was read, without its kind.
func (s *showing) related(object map[string]any) string {
	if o, _, read := s.turn.reader.Origin(object); read && s.unnamed[identity(o)] {
		return s.anonymous(o)
	}
	return s.text(nameOfObject(object))
}

// anonymous is where an object is. The namespace of the watched object is known anyway.
func (s *showing) anonymous(o plan.Object) string {
	switch o.Namespace {
	case "":
		return trace.Masked
	case s.turn.action.Object.Namespace:
		return o.Namespace + "/" + trace.Masked
	default:
		return trace.Masked + "/" + trace.Masked
	}
}

// namesBySecret reports whether a Secret may decide what the objects of an action are called.
func (x *explanation) namesBySecret(step *action.Step, node *document.Node) bool {
	about, loop := node.Get(step.Kind()), step.Loop()
	if manifest := about.Get("manifest"); manifest != nil {
		return slices.ContainsFunc(naming(manifest, "metadata"), func(n *document.Node) bool { return x.writesSecret(n, loop) })
	}
	target := about.Get("target")
	return target != nil && x.foundBySecret(target.Text(), loop)
}

// foundBySecret reports whether a Secret may decide which objects a name stands for. To be
// a Secret is not to be found by one.
func (x *explanation) foundBySecret(name string, loop *action.Loop) bool {
	if loop.InLoop(name) {
		if len(loop.Names) == 1 && alone(loop.List.Text()) == loop.Names[0] {
			return x.foundBySecret(loop.Names[0], nil)
		}
		return x.useSecret(loop.Names)
	}
	d := x.rule.names.Lookup(name)
	return d != nil && x.asksSecret(d)
}

// asksSecret reports whether a definition uses what may come from a Secret. The name of a
// watched Secret does not.
func (x *explanation) asksSecret(d *names.Definition) bool {
	used := d.Uses()
	if d.Related != nil && namesOnly(d.Node) {
		used = slices.DeleteFunc(slices.Clone(used), func(name string) bool { return name == "object" })
	}
	return x.useSecret(used)
}

// ownNames are what names the watched object, which is shown anyway.
var ownNames = strings.NewReplacer("${object.metadata.name}", "", "${object.metadata.namespace}", "")

// namesOnly reports whether all that a node has of the watched object is what it is called,
// or the object itself as an owner.
func namesOnly(n *document.Node) bool {
	for _, entry := range n.Entries() {
		if !namesOnly(entry.Key) || !namesOnly(entry.Value) {
			return false
		}
	}
	if !slices.ContainsFunc(n.Elements(), func(element *document.Node) bool { return !namesOnly(element) }) {
		text := ownNames.Replace(n.Text())
		return text == "object" || !strings.Contains(text, "object")
	}
	return false
}

// alone is what a template has in it that stands alone.
func alone(template string) string {
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(template), "${"), "}"))
}

// writesSecret reports whether templates use what may come from a Secret.
func (x *explanation) writesSecret(n *document.Node, loop *action.Loop) bool {
	if n.Kind() == document.KindString && !strings.Contains(ownNames.Replace(n.Text()), "${") {
		return false
	}
	scope := x.rule.names.Scope()
	if loop != nil {
		scope = scope.Extend(loop.Name, "index")
	}
	written, errs := body.Compile(n, scope)
	if len(errs) > 0 {
		return x.turn.secret()
	}
	return slices.ContainsFunc(written.Names(), func(name string) bool {
		if loop.InLoop(name) {
			return name == loop.Name && x.useSecret(loop.Names)
		}
		return x.useSecret([]string{name})
	})
}

// naming are the parts of a manifest that decide what its object is called: of a map, some
// keys and all that templates make.
func naming(n *document.Node, keys ...string) (out []*document.Node) {
	if n.Kind() != document.KindMap {
		return []*document.Node{n}
	}
	for _, entry := range n.Entries() {
		switch key := entry.Key.Text(); {
		case strings.Contains(key, "${"):
			out = append(out, entry.Key, entry.Value)
		case !slices.Contains(keys, key):
		case key == "metadata":
			out = append(out, naming(entry.Value, "name", "generateName", "namespace")...)
		default:
			out = append(out, entry.Value)
		}
	}
	return out
}
