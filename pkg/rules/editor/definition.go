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
	if len(t.Words) > 0 && !t.Template {
		out["enum"] = t.Words
	}
	switch {
	case t.Missing != "" && t.Kinds == value.String: // A pattern would go first, and be told instead.
		out["x-kubernetes-validations"] = []any{required(t, "size(self) > 0")}
	case t.Pattern != "" && !t.Template:
		out["pattern"] = t.Pattern
	}
	if t.Most > 0 {
		out["maxLength"] = t.Most
	}
	if t.Filled {
		out[leastOf[t.Kinds]] = 1
	}
	switch {
	case t.Items != nil && t.ByName:
		out["items"], out["x-kubernetes-list-type"], out["x-kubernetes-list-map-keys"] = definitionOf(t.Items), "map", []string{"name"}
	case t.Items != nil:
		out["items"], out["x-kubernetes-list-type"] = definitionOf(t.Items), "atomic"
	case t.Values != nil && t.Values.Name != "":
		out["additionalProperties"] = definitionOf(t.Values)
	case t.Kinds == value.Map:
		out[keep] = true
		maps.Copy(out, fieldsOf(t))
	}
	return out
}

// fieldsOf are the fields of a map, without what they say of each other but that some must be there.
func fieldsOf(t *field.Type) node {
	if t.Fields == nil {
		return nil
	}
	properties, names := node{}, []string{}
	for _, f := range t.Fields {
		property := with(definitionOf(f.Type), "description", f.Doc)
		if f.Required {
			names = append(names, f.Name)
		} else {
			property["nullable"] = true
		}
		properties[f.Name] = property
	}
	out := node{"properties": properties}
	if len(names) > 0 {
		out["required"] = names
	}
	if t.Missing != "" {
		rule := required(t, "has(self."+strings.Join(t.SomeOf, ") || has(self.")+")")
		out["x-kubernetes-validations"] = []any{with(rule, "fieldPath", "."+t.SomeOf[0])}
		return out
	}
	some := []any{}
	for _, name := range t.SomeOf {
		some = append(some, node{"required": []string{name}})
	}
	if len(some) > 0 {
		out["anyOf"] = some
	}
	return out
}

// required is an expression of CEL, and what the API server says where it does not hold.
func required(t *field.Type, rule string) node {
	return node{"rule": rule, "reason": "FieldValueRequired", "message": t.Missing}
}
