package editor

import (
	"maps"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// hole is what a template has. A text with one may become anything.
const hole = `\$\{`

// schemaOf is the schema of a type, a reference where that has a name.
func schemaOf(t *field.Type) node {
	if t.Name != "" {
		return reference(t.Name)
	}
	return inFull(t)
}

// inFull is the schema of a type without a reference to it.
func inFull(t *field.Type) node {
	out := node{}
	maps.Copy(out, t.Schema)
	switch {
	case len(t.Words) > 0 && t.Template:
		return wordOrTemplate(t.Words...)
	case len(t.Words) > 0:
		out["type"], out["enum"] = "string", t.Words
	case t.Template && t.Kinds != value.String:
		maps.Copy(out, templated(kinds(t.Kinds)[0]))
	case t.Kinds != 0:
		out["type"] = kinds(t.Kinds)[0]
	}
	if t.Pattern != nil {
		out["pattern"], out["patternErrorMessage"] = t.Pattern.String(), t.Message
		if t.Template && t.Pattern != field.NotBlank.Pattern {
			out["pattern"], out["patternErrorMessage"] = t.Pattern.String()+"|"+hole, t.Message+", or a template"
		}
	}
	maps.Copy(out, parts(t, schemaOf))
	if t.Fields != nil {
		out["additionalProperties"] = false
	}
	if t.Keys != nil {
		out["propertyNames"] = with(inFull(t.Keys), "title", "name") // An editor shows the title where a key is to be written.
	}
	// Exactly one of some is said without the keyword oneOf: for that, editors blame the whole map and offer its fields twice.
	if len(t.OneOf) > 0 {
		excluded := node{}
		for i, name := range t.OneOf[:len(t.OneOf)-1] {
			others := node{}
			for _, other := range t.OneOf[i+1:] {
				others[other] = false
			}
			excluded[name] = node{"properties": others}
		}
		out["anyOf"], out["dependencies"] = some(t.OneOf), excluded
	}
	return out
}

// leastOf are the keywords for how much a list or a map has at least.
var leastOf = map[value.Kind]string{value.List: "minItems", value.Map: "minProperties"}

// parts are the keywords about how much there is in a value, and what.
func parts(t *field.Type, of func(*field.Type) node) node {
	out := node{}
	if t.Most > 0 {
		out["maxLength"] = t.Most
	}
	if t.Filled {
		out[leastOf[t.Kinds]] = 1
	}
	if t.Items != nil {
		out["items"] = of(t.Items)
	}
	if t.Values != nil {
		out["additionalProperties"] = of(t.Values)
	}
	if t.Fields == nil {
		return out
	}
	properties, required := node{}, []string{}
	for _, f := range t.Fields {
		properties[f.Name] = with(of(f.Type), "description", f.Doc)
		if f.Required {
			required = append(required, f.Name)
		}
	}
	out["properties"] = properties
	if len(required) > 0 {
		out["required"] = required
	}
	if len(t.SomeOf) > 0 {
		out["anyOf"] = some(t.SomeOf)
	}
	return out
}

// some is true of a map that has one of the fields.
func some(fields []string) (out []any) {
	for _, name := range fields {
		out = append(out, node{"required": []string{name}})
	}
	return out
}

// templated takes values of a kind, written out or as a template.
func templated(kind string) node {
	return node{"type": []string{kind, "string"}, "pattern": hole, "patternErrorMessage": orHole(kind)}
}

// orHole is what an editor says of a text that is neither of the kind nor a template.
func orHole(kinds ...string) string {
	return "want " + strings.Join(kinds, " or ") + ", or a template with ${ }"
}

// wordOrTemplate takes one of some values, or a template.
func wordOrTemplate[T any](values ...T) node {
	return node{"anyOf": []any{node{"enum": values}, node{"type": "string", "pattern": hole, "patternErrorMessage": "one of the values, or a template"}}}
}

// operation is one of a JSON patch, of which all may be templates, keys too. What templates among its keys give is not known.
func operation() node {
	fields := slices.Clone(spec.StepOperationFields.Fields)
	for i, f := range fields {
		t := *f.Type
		t.Template = t.Kinds != 0
		fields[i].Type, fields[i].Required = &t, false
	}
	out := inFull(field.Object("", fields...))
	maps.Copy(out, templated("object"))
	out["patternProperties"] = node{hole: true}
	given := node{"type": "object", "propertyNames": node{"not": node{"pattern": hole}}}
	out["allOf"] = []any{conditional(given, with(operands(), "required", []string{"op", "path"}))}
	return out
}

// operands are what an operation of a JSON patch has to have.
func operands() node {
	return all(
		conditional(present("op", node{"enum": []string{"add", "replace", "test"}}), node{"required": []string{"value"}}),
		conditional(present("op", node{"enum": []string{"move", "copy"}}), node{"required": []string{"from"}}),
	)
}
