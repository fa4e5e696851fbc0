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
	out := maps.Clone(t.Schema)
	if out == nil {
		out = node{}
	}
	switch {
	case len(t.Words) > 0 && t.Template:
		var words []any
		for _, word := range t.Words {
			words = append(words, word)
		}
		return wordOrTemplate(words...)
	case len(t.Words) > 0:
		out["type"], out["enum"] = "string", t.Words
	case t.Template && t.Kinds != value.String:
		maps.Copy(out, templated(kinds(t.Kinds)[0]))
	case t.Kinds != 0:
		out["type"] = kinds(t.Kinds)[0]
	}
	if t.Pattern != "" {
		out["pattern"], out["patternErrorMessage"] = t.Pattern, t.Message
		if t.Template && t.Pattern != field.NotBlank.Pattern {
			out["pattern"], out["patternErrorMessage"] = t.Pattern+"|"+hole, t.Message+", or a template"
		}
	}
	if t.Most > 0 {
		out["maxLength"] = t.Most
	}
	if t.Fields != nil {
		fields(out, t)
	}
	if t.Keys != nil {
		// An editor shows the title of a key where one is to be written.
		out["propertyNames"], out["additionalProperties"] = with(inFull(t.Keys), "title", "name"), schemaOf(t.Values)
	}
	if t.Items != nil {
		out["items"] = schemaOf(t.Items)
	}
	if t.Filled {
		out[leastOf[t.Kinds]] = 1
	}
	return out
}

// fields are those of a map, which has no others. Exactly one of some is said without the keyword oneOf: for that, editors blame the
// whole map and offer its fields twice.
func fields(out node, t *field.Type) {
	properties, required := node{}, []string{}
	for _, f := range t.Fields {
		properties[f.Name] = with(schemaOf(f.Type), "description", f.Doc)
		if f.Required {
			required = append(required, f.Name)
		}
	}
	out["properties"], out["additionalProperties"] = properties, false
	if len(required) > 0 {
		out["required"] = required
	}
	some := []any{}
	for _, name := range slices.Concat(t.SomeOf, t.OneOf) {
		some = append(some, node{"required": []string{name}})
	}
	if len(some) > 0 {
		out["anyOf"] = some
	}
	if len(t.OneOf) > 0 {
		excluded := node{}
		for i, name := range t.OneOf[:len(t.OneOf)-1] {
			others := node{}
			for _, other := range t.OneOf[i+1:] {
				others[other] = false
			}
			excluded[name] = node{"properties": others}
		}
		out["dependencies"] = excluded
	}
}

// leastOf are the keywords for how much a list or a map has at least.
var leastOf = map[value.Kind]string{value.List: "minItems", value.Map: "minProperties"}

// templated takes values of a kind, written out or as a template.
func templated(kind string) node {
	return node{"type": []string{kind, "string"}, "pattern": hole, "patternErrorMessage": orHole(kind)}
}

// orHole is what an editor says of a text that is neither of the kind nor a
// template.
func orHole(kinds ...string) string {
	return "want " + strings.Join(kinds, " or ") + ", or a template with ${ }"
}

// wordOrTemplate takes one of some values, or a template.
func wordOrTemplate(values ...any) node {
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
