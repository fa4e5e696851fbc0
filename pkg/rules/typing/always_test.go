package typing_test

import (
	"maps"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// with returns a map that an expression builds as an object, with one more entry.
func with(key string, of typing.Type, others ...typing.Type) typing.Type {
	fields := map[string]typing.Type{"apiVersion": text, "kind": text}
	maps.Copy(fields, map[string]typing.Type{key: of})
	return typing.Map(fields, others...)
}

// TestAlwaysMap is what reads as an empty map where it is absent: the spec, the
// status, the labels and the annotations of whatever has an apiVersion and a kind.
func TestAlwaysMap(t *testing.T) {
	perhaps := typing.Map(map[string]typing.Type{"apiVersion": text.Nilable(), "kind": text})
	object := map[string]any{"apiVersion": "v1", "kind": "K", "metadata": map[string]any{}, "spec": nil}
	tests := map[string]struct {
		reason string
		of     typing.Type
		path   string
		want   string
		result typing.FieldResult
	}{
		"built":                {"It has none, and reads as one.", with("a", text), "spec", "{* any}", typing.Found},
		"built with spec":      {"It is there.", with("spec", mapping("a", text)), "spec.a", "string", typing.Found},
		"built with optional":  {"It is what is there, or empty.", with("spec", mapping("a", text).Nilable()), "spec.a", "string?", typing.Found},
		"built with values":    {"The key may be among them.", with("a", text, mapping("b", text)), "spec", "{b string?}", typing.Found},
		"built with a text":    {"Instead of nil there is a map.", with("spec", text.Nilable()), "spec", "string|{}", typing.Found},
		"built with metadata":  {"Its labels are absent.", with("metadata", mapping("a", text)), "metadata.labels", "{* any}", typing.Found},
		"built with labels":    {"Or there.", with("metadata", mapping("labels", mapping("a", text).Nilable())), "metadata.labels.a", "string?", typing.Found},
		"built with any":       {"Nothing is known of it.", with("metadata", anyType), "metadata.labels", "any", typing.Unsure},
		"perhaps":              {"It depends.", perhaps, "spec", "any", typing.Unsure},
		"no object":            {"A map without kind is none.", mapping("apiVersion", text), "spec", "?", typing.Lacking},
		"no object's metadata": {"Its labels are absent.", mapping("metadata", mapping("a", text)), "metadata.labels", "?", typing.Lacking},
		"constant":             {"It is one.", constant(object), "spec", "{}", typing.Found},
		"constant's labels":    {"They are empty.", constant(object), "metadata.annotations", "{* any}", typing.Found},
		"constant's status":    {"It is empty.", constant(object), "status", "{* any}", typing.Found},
		"metadata elsewhere":   {"Of a template's metadata nothing is an empty map.", typing.Object(mapOf(map[string]schema.Field{"spec": optional(mapOf(map[string]schema.Field{"metadata": required(schema.EmbeddedMetadata())}))})), "spec.metadata.labels", "{* string?}?", typing.Found},
		"labels in spec":       {"Only below metadata.", with("spec", mapping("labels", text.Nilable())), "spec.labels", "string?", typing.Found},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, result := read(tt.of, tt.path)
			if written(got) != tt.want || result != tt.result {
				t.Errorf("%s is %s (%v), want %s (%v): %s", tt.path, written(got), result, tt.want, tt.result, tt.reason)
			}
		})
	}
}

// TestPerhapsAlwaysMap is about maps that are objects only sometimes.
func TestPerhapsAlwaysMap(t *testing.T) {
	of := typing.Map(map[string]typing.Type{"apiVersion": text.Nilable(), "kind": text, "spec": mapping("a", text).Nilable()})
	spec, result := read(of, "spec")
	if got := written(spec); result != typing.Found || got != "{a string?}?" {
		t.Errorf("the spec is %s (%v)", got, result)
	}
	union := typing.Union(object, mapping("spec", mapping("b", text)))
	if got := written(must(read(union, "spec"))); got != written(typing.Union(must(read(object, "spec")), mapping("b", text)).Nilable()) {
		t.Errorf("of a part or a map the spec is %s", got)
	}
}
