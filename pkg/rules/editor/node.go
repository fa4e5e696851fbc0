package editor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
)

// node is a JSON schema, or a part of one.
type node = map[string]any

// property is a field that a map may have.
type property struct {
	name     string
	required bool
	schema   node
}

func required(name, description string, schema node) property {
	return property{name: name, required: true, schema: described(schema, description)}
}

func optional(name, description string, schema node) property {
	return property{name: name, schema: described(schema, description)}
}

// described adds what an editor shows of a field. Beside a reference, only editors
// read it.
func described(schema node, description string) node { return with(schema, "description", description) }

// with adds a keyword.
func with(schema node, keyword string, value any) node {
	out := maps.Clone(schema)
	out[keyword] = value
	return out
}

// object is a map that has these fields and no others.
func object(fields ...property) node {
	properties := node{}
	var names []string
	for _, field := range fields {
		properties[field.name] = field.schema
		if field.required {
			names = append(names, field.name)
		}
	}
	out := node{"type": "object", "properties": properties, "additionalProperties": false}
	if len(names) > 0 {
		out["required"] = names
	}
	return out
}

// having is part of a condition, or of what follows from one: what is true of a
// field, if it is there.
func having(name string, schema any) node { return node{"properties": node{name: schema}} }

// present is having for a field that is there. The two keywords are apart, since
// editors offer what is required and known as one snippet.
func present(name string, schema any) node {
	return all(node{"required": []string{name}}, having(name, schema))
}

// absent is true of a map without the field.
func absent(name string) node { return having(name, false) }

func all(schemas ...any) node { return node{"allOf": schemas} }

func conditional(condition, then node) node { return node{"if": condition, "then": then} }

func constant(value any) node { return node{"const": value} }

func reference(name string) node { return node{"$ref": "#/definitions/" + name} }

func text() node { return node{"type": "string"} }

func boolean() node { return node{"type": "boolean"} }

// choice takes one of some words.
func choice[T ~string](words ...T) node { return node{"type": "string", "enum": words} }

// matching takes a text of a pattern; an editor shows the message for another.
func matching(pattern, message string) node {
	return node{"type": "string", "pattern": pattern, "patternErrorMessage": message}
}

// mapOf takes a map with keys of the user's choice. An editor shows the title of a
// key where one is to be written.
func mapOf(keys, values node) node {
	return node{"type": "object", "propertyNames": with(keys, "title", "name"), "additionalProperties": values}
}

// listOf takes a list that is not empty.
func listOf(elements node) node { return node{"type": "array", "minItems": 1, "items": elements} }

// filled refuses an empty map.
func filled(schema node) node { return with(schema, "minProperties", 1) }

// someOf wants at least one of some fields.
func someOf(names ...string) []any {
	var out []any
	for _, name := range names {
		out = append(out, node{"required": []string{name}})
	}
	return out
}

// oneOf returns a map with these fields, of which it wants exactly one. It avoids
// the keyword of that name: editors blame the whole map then, and offer its fields
// twice.
func oneOf(schema node, names ...string) node {
	excluded := node{}
	for i, name := range names[:len(names)-1] {
		others := node{}
		for _, other := range names[i+1:] {
			others[other] = false
		}
		excluded[name] = node{"properties": others}
	}
	out := with(schema, "anyOf", someOf(names...))
	out["dependencies"] = excluded
	return out
}

// marshal writes a schema for people and programs; maps are in the order of their
// keys.
func marshal(schema node) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(schema); err != nil {
		return nil, fmt.Errorf("writing the schema: %w", err)
	}
	return out.Bytes(), nil
}
