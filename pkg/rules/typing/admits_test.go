package typing_test

import (
	"maps"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// stored is an object as a cluster has it, with some fields of its own.
func stored(fields map[string]any) map[string]any {
	m := map[string]any{"apiVersion": "v1", "kind": "Thing", "metadata": map[string]any{
		"name": "a", "namespace": "b", "uid": "u", "resourceVersion": "1", "generation": int64(1), "creationTimestamp": "2026-01-01T00:00:00Z",
	}}
	maps.Copy(m, fields)
	return m
}

func goodSpec(changes ...any) map[string]any {
	spec := map[string]any{"replicas": int64(1), "name": "a", "nullable": nil, "containers": []any{map[string]any{"name": "c"}}}
	for i := 0; i+1 < len(changes); i += 2 {
		key, _ := changes[i].(string)
		spec[key] = changes[i+1]
	}
	return spec
}

func TestAdmits(t *testing.T) {
	tests := map[string]struct {
		reason string
		of     typing.Type
		v      any
		want   bool
	}{
		"unknown":            {"Anything.", anyType, time.Hour, true},
		"none":               {"Nothing, not even nil.", none, nil, false},
		"nil":                {"Only nil.", nothing, "", false},
		"kind":               {"It is of the kind.", text, "a", true},
		"another kind":       {"It is not.", text, int64(1), false},
		"optional":           {"It may be nil.", text.Nilable(), nil, true},
		"not optional":       {"It may not be nil.", text, nil, false},
		"computed":           {"It is of the kind.", typing.Of(value.Duration), time.Hour, true},
		"stamp":              {"It is of the kind.", typing.Of(value.Stamped), value.Stamp{}, true},
		"constant":           {"It is that.", constant("a"), "a", true},
		"another constant":   {"It is another.", constant("a"), "b", false},
		"constant map":       {"It is that.", constant(map[string]any{"a": int64(1)}), map[string]any{"a": int64(1)}, true},
		"another map":        {"It is another.", constant(map[string]any{"a": int64(1)}), map[string]any{"a": 1.0}, false},
		"list":               {"All elements are.", list(text), []any{"a", "b"}, true},
		"element":            {"One is not.", list(text), []any{"a", nil}, false},
		"empty list":         {"It has none.", list(), []any{}, true},
		"not empty":          {"It has one.", list(), []any{nil}, false},
		"map":                {"Its entry is.", mapping("a", text), map[string]any{"a": "x"}, true},
		"entry missing":      {"It is not there.", mapping("a", text), map[string]any{}, false},
		"optional entry":     {"It need not be there.", mapping("a", text.Nilable()), map[string]any{}, true},
		"more entries":       {"There are no others.", mapping("a", text), map[string]any{"a": "x", "b": "x"}, false},
		"values":             {"There are others.", typing.Map(nil, text), map[string]any{"a": "x", "b": "x"}, true},
		"other values":       {"There are no such.", typing.Map(nil, text), map[string]any{"a": int64(1)}, false},
		"enumeration":        {"It is one.", typing.From(required(enum("a", "b"))), "b", true},
		"not in enumeration": {"It is none.", typing.From(required(enum("a", "b"))), "c", false},
		"object":             {"It is one.", object, stored(map[string]any{"spec": goodSpec()}), true},
		"object without":     {"What it lacks reads as empty.", object, stored(nil), true},
		"without status":     {"It has to be there.", typing.Object(whole("status")), stored(nil), true},
		"spec of a text":     {"It is none.", object, stored(map[string]any{"spec": "a"}), false},
		"unknown field":      {"There is no such.", object, stored(map[string]any{"spc": "a"}), false},
		"no name":            {"Every object has one.", object, map[string]any{"apiVersion": "v1", "kind": "K", "metadata": map[string]any{}}, false},
		"no metadata":        {"Every object has it.", object, map[string]any{"apiVersion": "v1", "kind": "K"}, false},
		"required field":     {"It is missing.", object, stored(map[string]any{"spec": goodSpec("name", nil)}), false},
		"default field":      {"It is missing.", object, stored(map[string]any{"spec": goodSpec("replicas", nil)}), false},
		"wrong field":        {"It is no text.", object, stored(map[string]any{"spec": goodSpec("name", int64(1))}), false},
		"wrong element":      {"It lacks its name.", object, stored(map[string]any{"spec": goodSpec("containers", []any{map[string]any{}})}), false},
		"open field":         {"Others are kept.", object, stored(map[string]any{"spec": goodSpec("open", map[string]any{"a": "x", "b": true})}), true},
		"label":              {"It is a text.", typing.From(required(specSchema)), goodSpec("selector", map[string]any{"a": "b"}), true},
		"no label":           {"It is no text.", typing.From(required(specSchema)), goodSpec("selector", map[string]any{"a": int64(1)}), false},
		"present":            {"It is there.", object.Present([]string{"spec", "nickname"}), stored(map[string]any{"spec": goodSpec("nickname", "n")}), true},
		"not present":        {"It is not.", object.Present([]string{"spec", "nickname"}), stored(map[string]any{"spec": goodSpec()}), false},
		"label present":      {"It is there.", must(object.Field("metadata")).Present([]string{"labels", "a"}), stored(nil)["metadata"], false},
		"either":             {"It is the other.", typing.Union(object, mapping("a", text)), map[string]any{"a": "x"}, true},
		"neither":            {"It is a bit of both.", typing.Union(object, mapping("a", text)), stored(map[string]any{"a": "x"}), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.of.Admits(tt.v); got != tt.want {
				t.Errorf("%s admits %v: %v, want %v: %s", written(tt.of), tt.v, got, tt.want, tt.reason)
			}
		})
	}
}
