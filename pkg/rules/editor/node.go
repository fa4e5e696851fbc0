package editor

import "maps"

// node is a JSON schema, or a part of one.
type node = map[string]any

// with adds a keyword.
func with(schema node, keyword string, value any) node {
	out := maps.Clone(schema)
	out[keyword] = value
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
