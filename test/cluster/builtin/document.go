package main

import (
	"maps"
	"slices"
	"strings"
)

// document is an OpenAPI v3 document of one group and version, as far as it matters here.
type document struct {
	Paths      map[string]map[string]any `json:"paths"`
	Components struct {
		Schemas map[string]object `json:"schemas"`
	} `json:"components"`

	name string
}

// object is a JSON object: a schema or an operation.
type object = map[string]any

const (
	action     = "x-kubernetes-action"
	kind       = "x-kubernetes-group-version-kind"
	reference  = "#/components/schemas/"
	jsonBody   = "application/json"
	anyBody    = "*/*"
	objectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
)

// condense keeps the paths that tell of resources, and the schemas that their bodies lead to.
func (d *document) condense() {
	maps.DeleteFunc(d.Paths, func(path string, operations map[string]any) bool {
		d.Paths[path] = condensePath(path, operations)
		return len(d.Paths[path]) == 0
	})
	for name, s := range d.Components.Schemas {
		d.Components.Schemas[name] = condenseSchema(s)
	}
	reached := d.reach(d.bodies(), "")
	maps.DeleteFunc(d.Components.Schemas, func(name string, _ object) bool { return !reached[name] })
}

// condensePath keeps what each operation does to which kind. Of the paths for watching one is enough.
func condensePath(path string, operations map[string]any) map[string]any {
	kept := map[string]any{}
	if strings.Contains(path, "/watch/") && strings.Contains(path, "{") || strings.HasSuffix(path, "{path}") {
		return kept
	}
	for method, o := range operations {
		operation, _ := o.(object)
		if operation[action] == nil {
			continue
		}
		condensed := object{action: operation[action]}
		if operation[kind] != nil {
			condensed[kind] = operation[kind]
		}
		if schema := body(operation); schema != "" && operation[action] != "delete" && operation[action] != "deletecollection" {
			condensed["requestBody"] = object{"content": object{jsonBody: object{"schema": object{"$ref": schema}}}}
		}
		kept[method] = condensed
	}
	return kept
}

// body returns the reference to the schema of what is put or posted.
func body(operation object) string {
	request, _ := operation["requestBody"].(object)
	content, _ := request["content"].(object)
	for _, media := range []string{jsonBody, anyBody} {
		typed, _ := content[media].(object)
		schema, _ := typed["schema"].(object)
		if ref, ok := schema["$ref"].(string); ok {
			return ref
		}
	}
	return ""
}

// bodies names the schemas of all kinds that can be written or read, those of subresources too.
func (d *document) bodies() []string {
	found := map[string]bool{}
	for _, operations := range d.Paths {
		for _, o := range operations {
			operation, _ := o.(object)
			if name, ok := strings.CutPrefix(body(operation), reference); ok {
				found[name] = true
			}
			if gvk, ok := operation[kind].(object); ok && operation[action] != "connect" {
				found[d.schemaOf(gvk)] = true
			}
		}
	}
	delete(found, "")
	return slices.Sorted(maps.Keys(found))
}

// schemaOf finds the schema of a kind, for one that can only be read has no body.
func (d *document) schemaOf(gvk object) string {
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		kinds, _ := d.Components.Schemas[name][kind].([]any)
		if len(kinds) == 1 && maps.Equal(kinds[0].(object), gvk) { //nolint:forcetypeassert // A generator may stop so.
			return name
		}
	}
	return ""
}

// reach names the schemas that some lead to, themselves included, without going through a property of theirs.
func (d *document) reach(from []string, without string) map[string]bool {
	reached := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if reached[name] {
			return
		}
		reached[name] = true
		for _, next := range references(d.Components.Schemas[name]) {
			visit(next)
		}
	}
	for _, name := range from {
		reached[name] = true
		properties, _ := d.Components.Schemas[name]["properties"].(object)
		for property, schema := range properties {
			if property == without {
				continue
			}
			for _, next := range references(schema) {
				visit(next)
			}
		}
	}
	return reached
}

// references names the schemas that a piece of a schema refers to.
func references(schema any) []string {
	var found []string
	switch s := schema.(type) {
	case object:
		for key, value := range s {
			if ref, ok := value.(string); ok && key == "$ref" {
				found = append(found, strings.TrimPrefix(ref, reference))
				continue
			}
			found = append(found, references(value)...)
		}
	case []any:
		for _, value := range s {
			found = append(found, references(value)...)
		}
	}
	return found
}
