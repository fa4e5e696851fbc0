package typing_test

import (
	"strings"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

func TestPresent(t *testing.T) {
	container := must(read(object, "spec.containers.[]"))
	either := typing.Union(typing.Map(map[string]typing.Type{"a": mapping("b", text.Nilable()).Nilable()}), mapping("c", text))
	tests := map[string]struct {
		reason  string
		of      typing.Type
		present string
		path    string
		want    string
	}{
		"field":                {"It is there.", container, "image", "image", "string"},
		"its parents":          {"They are there too.", container, "limit.memory", "limit", "{memory string}"},
		"not what is below":    {"Nobody has said so.", object, "spec.template", "spec.template.spec", "{a string}"},
		"not its neighbours":   {"Nobody has said so.", container, "image", "limit", "{memory string}?"},
		"deep":                 {"It is there.", object, "spec.nickname", "spec.nickname", "string"},
		"value of a map":       {"It is there.", object, "spec.selector.app", "spec.selector.app", "string"},
		"another value":        {"It may be absent.", object, "spec.selector.app", "spec.selector.web", "string?"},
		"nullable":             {"Nor is it null.", object, "spec.nullable", "spec.nullable", "string"},
		"label":                {"It is there.", object, "metadata.labels.app", "metadata.labels.app", "string"},
		"built":                {"As of a part.", either, "a.b", "a.b", "string"},
		"built by values":      {"The key is there.", typing.Map(nil, text), "a", "a", "string"},
		"built parent":         {"It is there.", either, "a.b", "a", "{b string}"},
		"kinds":                {"Nothing is known of it still.", typing.Of(value.Map | value.Nil), "a", "b", "any"},
		"unknown":              {"Nothing is known.", anyType, "a", "a", "any"},
		"constant":             {"It is what it was.", constant(map[string]any{"a": "x"}), "a", "a", "x"},
		"only one can have it": {"It is that one.", typing.Union(container, mapping("name", integer)), "limit", "name", "string"},
		"only a built one can": {"It is that one.", typing.Union(container, mapping("a", text)), "a", "a", "string"},
		"only one part can":    {"It is that one.", typing.Union(container, must(read(object, "status"))), "phase", "phase", "Ready|Failed"},
		"one deeper":           {"It is the one that can have all of it.", typing.Union(mapping("a", mapping("b", text)), mapping("a", mapping("c", text))), "a.b", "a.b", "string"},
		"a text or a map":      {"What has a field is a map.", typing.Union(text, mapping("a", text.Nilable())), "a", "a", "string"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			refined := tt.of.Present(strings.Split(tt.present, "."))
			if got := written(must(read(refined, tt.path))); got != tt.want || refined.CanBeNil() {
				t.Errorf("%s is %s, want %s: %s", tt.path, got, tt.want, tt.reason)
			}
		})
	}
}

// TestPresentItself is about values that are there themselves.
func TestPresentItself(t *testing.T) {
	tests := map[string]struct {
		reason string
		of     typing.Type
		want   string
	}{
		"optional": {"It is not nil.", text.Nilable(), "string"},
		"nil":      {"It never is.", nothing, "none"},
		"unknown":  {"Nothing is known.", anyType, "any"},
		"constant": {"It is known.", constant("a").Nilable(), "a"},
	}
	for name, tt := range tests {
		if got := written(tt.of.Present(nil)); got != tt.want {
			t.Errorf("%s: %s, want %s: %s", name, got, tt.want, tt.reason)
		}
	}
}

// TestPresentNever is about what no value has: whoever asks is told of it where it is
// read, and not twice.
func TestPresentNever(t *testing.T) {
	for _, of := range []typing.Type{mapping("a", text), must(read(object, "status")), constant(map[string]any{"a": nil})} {
		refined := of.Present([]string{"b", "c"})
		if _, result := refined.Field("b"); result != typing.Lacking || refined.CanBeNil() {
			t.Errorf("%s has b: %v", written(of), result)
		}
	}
}

// TestPresentTwice makes sure that what is known adds up, and that a union knows what
// both of its types do.
func TestPresentTwice(t *testing.T) {
	container := must(read(object, "spec.containers.[]"))
	image, limit := container.Present([]string{"image"}), container.Present([]string{"limit", "memory"})
	both := image.Present([]string{"limit"})
	tests := map[string]struct {
		reason string
		of     typing.Type
		want   string
	}{
		"both":          {"Each is there.", both, "{image string, limit {memory string}, name string}"},
		"either":        {"Neither is certain.", typing.Union(image, limit), "{image string?, limit {memory string}?, name string}"},
		"one and both":  {"What is common.", typing.Union(both, image), "{image string, limit {memory string}?, name string}"},
		"both and one":  {"In any order.", typing.Union(image, both), "{image string, limit {memory string}?, name string}"},
		"one and none":  {"Nothing is certain.", typing.Union(image, container), "{image string?, limit {memory string}?, name string}"},
		"one and built": {"Each is what it is.", typing.Union(image, mapping("image", constant("a"))), "{image string, limit {memory string}?, name string?}"},
	}
	for name, tt := range tests {
		if got := written(tt.of); got != tt.want {
			t.Errorf("%s: %s, want %s: %s", name, got, tt.want, tt.reason)
		}
	}
}

// TestPresentLeavesTheType makes sure that a type does not change with what is made
// of it.
func TestPresentLeavesTheType(t *testing.T) {
	for _, of := range []typing.Type{object, mapping("spec", mapping("nickname", text.Nilable()))} {
		before := written(must(read(of, "spec")))
		of.Present([]string{"spec", "nickname"})
		of.Nilable()
		if after := written(must(read(of, "spec"))); after != before {
			t.Errorf("%s became %s", before, after)
		}
	}
}
