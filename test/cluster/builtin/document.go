package main

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// document is an OpenAPI v3 document of one group and version, as far as it matters here.
type document struct {
	Components struct {
		Schemas map[string]object `json:"schemas"`
	} `json:"components"`

	name   string
	listed metav1.APIResourceList
}

// object is a JSON object: a schema.
type object = map[string]any

const (
	kind       = "x-kubernetes-group-version-kind"
	reference  = "#/components/schemas/"
	objectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
)

// condense keeps the schemas of what is served, and those that these lead to.
func (d *document) condense() {
	for name, s := range d.Components.Schemas {
		d.Components.Schemas[name] = condenseSchema(s)
	}
	reached := d.reach(d.bodies(), "")
	maps.DeleteFunc(d.Components.Schemas, func(name string, _ object) bool { return !reached[name] })
}

// bodies names the schemas of all kinds that can be written or read, those of subresources too.
func (d *document) bodies() []string {
	served := map[schema.GroupVersionKind]bool{}
	for _, r := range d.listed.APIResources {
		gvk := schema.FromAPIVersionAndKind(d.listed.GroupVersion, r.Kind)
		if r.Version != "" {
			gvk.Group, gvk.Version = r.Group, r.Version
		}
		served[gvk] = true
	}
	var found []string
	for name := range d.Components.Schemas {
		if kinds := d.kinds(name); len(kinds) == 1 && served[kinds[0]] {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
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
