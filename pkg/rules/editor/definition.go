package editor

import (
	"maps"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
)

// Definition returns the schema of the spec of a set as a CustomResourceDefinition has it: a structural one. It keeps unknown fields,
// and null where a field may be absent, so that both reach who can say what is wrong with them.
func Definition() map[string]any { return definitionOf(types()["set"]) }

func definitionOf(t *field.Type) node {
	if known := types()[t.Name]; known != nil {
		t = known // What refers to a type has nothing but its name.
	}
	const keep = "x-kubernetes-preserve-unknown-fields"
	if t.Kinds == 0 || t.Template && t.Kinds != value.String {
		return node{keep: true} // Several kinds are possible, as of what may be a template.
	}
	out := node{"type": kinds(t.Kinds)[0]}
	maps.Copy(out, parts(t, definitionOf))
	switch {
	case t.Template:
	case len(t.Words) > 0:
		out["enum"] = t.Words
	case t.Pattern != nil && t.Missing == "": // A pattern would go first, and be told instead.
		out["pattern"] = t.Pattern.String()
	}
	if t.Items != nil {
		out["x-kubernetes-list-type"] = "atomic"
	}
	if t.ByName {
		out["x-kubernetes-list-type"], out["x-kubernetes-list-map-keys"] = "map", []string{"name"}
	}
	if t.Kinds == value.Map && (t.Values == nil || t.Values.Name == "") {
		delete(out, "additionalProperties")
		out[keep] = true
	}
	properties, _ := out["properties"].(node)
	for _, f := range t.Fields {
		if !f.Required {
			properties[f.Name].(node)["nullable"] = true //nolint:forcetypeassert // It is made here.
		}
	}
	switch {
	case t.Missing == "":
	case t.Fields == nil:
		out["x-kubernetes-validations"] = []any{missing(t, "size(self) > 0")}
	default:
		delete(out, "anyOf") // The expression says it.
		rule := missing(t, "has(self."+strings.Join(t.SomeOf, ") || has(self.")+")")
		out["x-kubernetes-validations"] = []any{with(rule, "fieldPath", "."+t.SomeOf[0])}
	}
	return out
}

// missing is an expression of CEL, and what the API server says where it does not hold.
func missing(t *field.Type, rule string) node {
	return node{"rule": rule, "reason": "FieldValueRequired", "message": t.Missing}
}
