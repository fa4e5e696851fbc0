package main

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
)

func TestCondenseSchema(t *testing.T) {
	t.Parallel()
	tests := []struct{ schema, want, reason string }{
		{`{"description": "d", "type": "string", "default": ""}`, `{"type": "string"}`, "the default is that of Go"},
		{`{"allOf": [{"$ref": "A"}], "description": "d", "default": {}}`, `{"$ref": "A"}`, "nothing beside the reference"},
		{
			`{"type": "object", "properties": {"description": {"type": "string", "description": "d"}}, "required": ["description"]}`,
			`{"type": "object", "properties": {"description": {"type": "string"}}, "required": ["description"]}`, "fields may be called so",
		},
		{
			`{"type": "array", "items": {"allOf": [{"$ref": "A"}], "default": {}}, "x-kubernetes-list-type": "map", "x-kubernetes-patch-strategy": "merge"}`,
			`{"type": "array", "items": {"$ref": "A"}, "x-kubernetes-list-type": "map"}`, "strategic merge patches are not used",
		},
		{`{"additionalProperties": {"type": "string", "default": ""}}`, `{"additionalProperties": {"type": "string"}}`, "within maps"},
		{`{"oneOf": [{"type": "string"}, {"type": "number"}]}`, `{"oneOf": [{"type": "string"}, {"type": "number"}]}`, "a quantity"},
	}
	for _, tt := range tests {
		if got := condenseSchema(decoded(t, tt.schema)); !reflect.DeepEqual(got, decoded(t, tt.want)) {
			t.Errorf("%s: got %v, want %s: %s", tt.schema, got, tt.want, tt.reason)
		}
	}
}

func TestReach(t *testing.T) {
	t.Parallel()
	d := &document{}
	d.Components.Schemas = map[string]object{
		"Root":   decoded(t, `{"properties": {"spec": {"$ref": "#/components/schemas/Spec"}, "status": {"$ref": "#/components/schemas/Status"}}}`),
		"Spec":   decoded(t, `{"properties": {"status": {"items": {"$ref": "#/components/schemas/Part"}}, "self": {"$ref": "#/components/schemas/Spec"}}}`),
		"Status": decoded(t, `{"properties": {"both": {"$ref": "#/components/schemas/Part"}, "only": {"allOf": [{"$ref": "#/components/schemas/Only"}]}}}`),
	}
	tests := []struct {
		without string
		want    []string
		reason  string
	}{
		{"", []string{"Only", "Part", "Root", "Spec", "Status"}, "all, through lists and allOf"},
		{"status", []string{"Part", "Root", "Spec"}, "a field of that name further down counts"},
	}
	for _, tt := range tests {
		if got := slices.Sorted(maps.Keys(d.reach([]string{"Root"}, tt.without))); !slices.Equal(got, tt.want) {
			t.Errorf("without %q: got %v, want %v: %s", tt.without, got, tt.want, tt.reason)
		}
	}
}

func TestWithDefault(t *testing.T) {
	t.Parallel()
	tests := []struct{ property, want, reason string }{
		{`{"type": "string"}`, `{"type": "string", "default": "x"}`, "beside the type"},
		{`{"$ref": "A"}`, `{"allOf": [{"$ref": "A"}], "default": "x"}`, "beside a reference it would not count"},
	}
	for _, tt := range tests {
		got := decoded(t, tt.property)
		withDefault(got, "x")
		if !reflect.DeepEqual(got, decoded(t, tt.want)) {
			t.Errorf("%s: got %v, want %s: %s", tt.property, got, tt.want, tt.reason)
		}
	}
}

func decoded(t *testing.T, text string) object {
	t.Helper()
	var o object
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}
