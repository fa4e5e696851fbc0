package typing_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

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
