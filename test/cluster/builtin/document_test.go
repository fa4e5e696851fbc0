package main

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
)

func TestCondensePath(t *testing.T) {
	t.Parallel()
	tests := []struct{ path, operations, want, reason string }{
		{
			"/api/v1/pods", `{"get": {"description": "d", "x-kubernetes-action": "list", "x-kubernetes-group-version-kind": {"kind": "Pod"}}}`,
			`{"get": {"x-kubernetes-action": "list", "x-kubernetes-group-version-kind": {"kind": "Pod"}}}`, "what is done to what",
		},
		{
			"/api/v1/pods/{name}", `{"put": {"x-kubernetes-action": "put", "requestBody": {"content": {"*/*": {"schema": {"$ref": "P"}}}}}}`,
			`{"put": {"x-kubernetes-action": "put", "requestBody": {"content": {"application/json": {"schema": {"$ref": "P"}}}}}}`, "with a body",
		},
		{
			"/api/v1/pods/{name}", `{"delete": {"x-kubernetes-action": "delete", "requestBody": {"content": {"*/*": {"schema": {"$ref": "O"}}}}}}`,
			`{"delete": {"x-kubernetes-action": "delete"}}`, "options are no body",
		},
		{"/api/v1/pods", `{"parameters": [{"name": "pretty"}]}`, `{}`, "parameters are none of ours"},
		{"/api/v1/", `{"get": {"operationId": "getResources"}}`, `{}`, "not of a resource"},
		{"/api/v1/watch/pods", `{"get": {"x-kubernetes-action": "watchlist"}}`, `{"get": {"x-kubernetes-action": "watchlist"}}`, "can be watched"},
		{"/api/v1/watch/pods/{name}", `{"get": {"x-kubernetes-action": "watch"}}`, `{}`, "said once"},
		{"/api/v1/nodes/{name}/proxy/{path}", `{"get": {"x-kubernetes-action": "connect"}}`, `{}`, "said by the path before"},
	}
	for _, tt := range tests {
		if got := condensePath(tt.path, decoded(t, tt.operations)); !reflect.DeepEqual(got, decoded(t, tt.want)) {
			t.Errorf("%s: got %v, want %s: %s", tt.path, got, tt.want, tt.reason)
		}
	}
}

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
