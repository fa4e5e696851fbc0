package main

import "slices"

// kept are the words of a schema that say what a value may be.
func kept() []string {
	return []string{
		"$ref", "type", "format", "required", "enum", "nullable", "items", "additionalProperties", "properties", "oneOf", kind,
		"x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type",
		"x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource",
	}
}

// condenseSchema leaves out descriptions, the ways of strategic merge patch, and defaults: those of the documents are
// mostly the zero values of Go, which enrich tells from real ones.
func condenseSchema(schema object) object {
	condensed := object{}
	for key, value := range schema {
		if slices.Contains(kept(), key) {
			condensed[key] = value
		}
	}
	if all, ok := schema["allOf"].([]any); ok && len(all) == 1 { // What a reference needs to have a description beside it.
		condensed["$ref"] = all[0].(object)["$ref"] //nolint:forcetypeassert // A generator may stop so.
	}
	if properties, ok := condensed["properties"].(object); ok {
		all := object{}
		for name, property := range properties {
			all[name] = condenseSchema(property.(object)) //nolint:forcetypeassert // A generator may stop so.
		}
		condensed["properties"] = all
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if below, ok := condensed[key].(object); ok {
			condensed[key] = condenseSchema(below)
		}
	}
	return condensed
}

// withDefault sets the default of a property; beside a reference, nothing else would count.
func withDefault(property object, value any) {
	if ref, ok := property["$ref"]; ok {
		delete(property, "$ref")
		property["allOf"] = []any{object{"$ref": ref}}
	}
	property["default"] = value
}
