package crd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

const definitionKind = "CustomResourceDefinition"

// Definition is a CustomResourceDefinition. It is read only.
type Definition struct {
	Group, Plural, Kind string
	Other               []string // in the singular and short names
	Namespaced          bool
	// Document is the whole of it as it was read, of any version of its API. It is read only.
	Document map[string]any
	versions []version
}

// version is one that the API server serves.
type version struct {
	name          string
	schema        any // nil where the definition has none
	keepsUnknown  bool
	status, scale bool
}

// define returns nil for what is called like a definition and belongs to another
// group.
func define(o object) (*Definition, *document.Error) {
	api := text(o.value, "apiVersion")
	number, ours := strings.CutPrefix(api, "apiextensions.k8s.io/")
	if !ours {
		return nil, nil
	}
	if number != "v1" && number != "v1beta1" {
		return nil, o.mistake("apiVersion %q is not known; v1 and v1beta1 are", api)
	}
	spec := below(o.value, "spec")
	for _, path := range [][]string{{"group"}, {"names", "plural"}, {"names", "kind"}} {
		last := len(path) - 1
		if text(below(spec, path[:last]...), path[last]) == "" {
			return nil, o.mistake("spec.%s is missing", strings.Join(path, "."))
		}
	}
	scope := text(spec, "scope")
	if scope != "Namespaced" && scope != "Cluster" && (scope != "" || number == "v1") {
		return nil, o.mistake("spec.scope is %q, want Namespaced or Cluster", scope)
	}
	names := below(spec, "names")
	return &Definition{
		Group:      text(spec, "group"),
		Plural:     text(names, "plural"),
		Kind:       text(names, "kind"),
		Other:      otherNames(names),
		Namespaced: scope != "Cluster", // v1beta1 need not say.
		Document:   o.value,
		versions:   versionsOf(spec, number == "v1beta1"),
	}, nil
}

func (o object) mistake(format string, args ...any) *document.Error {
	message := fmt.Sprintf(format, args...)
	if name := text(below(o.value, "metadata"), "name"); name != "" {
		message = name + ": " + message
	}
	return &document.Error{Line: o.line, Column: 1, Length: 1, Message: message}
}

func otherNames(names map[string]any) []string {
	var other []string
	if singular := text(names, "singular"); singular != "" {
		other = append(other, singular)
	}
	short, _ := names["shortNames"].([]any)
	for _, one := range short {
		if name, ok := one.(string); ok {
			other = append(other, name)
		}
	}
	return other
}

// versionsOf returns the versions that are served.
func versionsOf(spec map[string]any, before bool) []version {
	shared := version{}
	if before {
		shared = sharedBefore(spec)
	}
	if keeps, said := spec["preserveUnknownFields"].(bool); said {
		shared.keepsUnknown = keeps
	}
	list, _ := spec["versions"].([]any)
	var versions []version
	for _, element := range list {
		v, _ := element.(map[string]any)
		if served, _ := v["served"].(bool); served {
			versions = append(versions, shared.with(v))
		}
	}
	if before && len(list) == 0 {
		versions = append(versions, shared)
	}
	return slices.DeleteFunc(versions, func(v version) bool { return v.name == "" })
}

// sharedBefore returns what all versions of a v1beta1 definition have in common, or
// its only one. Unknown fields were kept there unless it says that they are not.
func sharedBefore(spec map[string]any) version {
	shared := version{name: text(spec, "version"), keepsUnknown: true}
	return shared.with(map[string]any{
		"name":         shared.name,
		"schema":       spec["validation"],
		"subresources": spec["subresources"],
	})
}

// with adds what one version says of itself.
func (v version) with(own map[string]any) version {
	v.name = text(own, "name")
	if schema := below(own, "schema"); schema != nil {
		v.schema = schema["openAPIV3Schema"]
	}
	if subresources := below(own, "subresources"); subresources != nil {
		v.status, v.scale = subresources["status"] != nil, subresources["scale"] != nil
	}
	return v
}

// below returns the map below some keys, nil where there is none.
func below(m map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		m, _ = m[key].(map[string]any)
	}
	return m
}

func text(m map[string]any, key string) string {
	text, _ := m[key].(string)
	return text
}
