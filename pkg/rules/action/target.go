package action

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// target is the objects that an action is about: a name of the rule whose value
// was read from the cluster.
type target struct {
	node *document.Node // nil for the watched object
	name string
	slot int
}

// subject is an object as the snapshot saw it.
type subject struct {
	plan.Object
	current map[string]any
}

// targetField is what an action is about.
var targetField = field.Optional("target", field.BareName,
	"What the action is about: object (default), or a bare name of with, forEach or let whose value was read from the cluster. "+
		"A list means each of its elements, nil none.")

// compileTarget takes the bare name of an object or of a list of them.
func compileTarget(v field.Values, scope *expression.Scope) (target, document.Errors) {
	n := v["target"]
	if n == nil {
		return target{}, nil
	}
	slot, wrong := template.Name(n, scope)
	if name := n.Text(); wrong == nil && slices.Contains([]string{"params", "rule", indexName}, name) {
		wrong = n.Errorf("write object, or a name of with, let or forEach", "%s is no object", name)
	}
	if wrong != nil {
		return target{}, document.Errors{wrong}
	}
	return target{node: n, name: n.Text(), slot: slot}, nil
}

// resources are those of the objects, as far as they are known without types: of the watched object, and of an entry of with. Of others
// the evaluation knows it.
func (t *target) resources(env Env) (out []schema.GroupResource) {
	if related := env.Related[t.name]; related != nil {
		return []schema.GroupResource{related.Declaration().GVR.GroupResource()}
	}
	for _, selection := range env.Watched {
		if t.node == nil || t.name == "object" {
			out = append(out, selection.GVR.GroupResource())
		}
	}
	return out
}

// subjects returns the objects, none where the value is nil. They are told by
// their identity, so a map that merge or an expression built is none.
func (t *target) subjects(e *Evaluation) ([]subject, error) {
	if t.node == nil {
		return []subject{{e.Object, e.Current}}, nil
	}
	found, err := e.Expressions.Names.Value(t.slot)
	if err != nil {
		return nil, err
	}
	list, isList := found.([]any)
	switch {
	case found == nil:
		return nil, nil
	case !isList:
		list = []any{found}
	}
	out := make([]subject, 0, len(list))
	for _, element := range list {
		if element == nil {
			continue
		}
		object, current, found := e.Related.Origin(element)
		if !found {
			return nil, t.node.Errorf("a target comes from with as it is, or through filter, find, sortBy or take; merge and new maps do not keep which object it was",
				"%s is not an object that was read, but %s", t.name, value.KindOf(element))
		}
		out = append(out, subject{object, current})
	}
	return out, nil
}
