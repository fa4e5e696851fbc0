package corpus

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// holdSamples holds that what is written into right rules is right: the schema takes it. None of the types that there
// really are is without a sample.
func holdSamples(t *testing.T, r *schema.Resource) {
	t.Helper()
	for _, p := range places(r.Type) {
		v, ok := sample(p.typ)
		if !ok {
			t.Errorf("%s: there is no sample of %s, which is %s within %+v", r.Resource, p, p.typ.Kinds, limits(p.typ))
			continue
		}
		for _, violation := range p.typ.Validate(v, schema.Whole) {
			t.Errorf("%s: %s = %v: %v %s", r.Resource, p, v, violation.Path, violation.Message)
		}
	}
}

func limitedBy(pattern string) schema.Limits { return schema.Limits{Pattern: pattern} }

func TestSample(t *testing.T) {
	text, list, number := value.String, value.List, value.Int
	for _, c := range []struct {
		reason string
		typ    *schema.Type
		want   any // nil for none.
	}{
		{"nothing is known", schema.Open(), "anything"},
		{"a member of an enum", &schema.Type{Kinds: text, Limit: &schema.Limits{Enum: []any{nil, "", "Always"}}}, "Always"},
		{"an enum of another type", &schema.Type{Kinds: number, Limit: &schema.Limits{Enum: []any{"Always"}}}, nil},
		{"a pattern", &schema.Type{Kinds: text, Limit: &schema.Limits{Pattern: "^[xyz]{2}$"}}, "xx"},
		{"a length", &schema.Type{Kinds: text, Limit: &schema.Limits{MinLength: new(int64(10))}}, "example.com"},
		{"a format", &schema.Type{Kinds: text, Format: schema.DateTime}, "2026-01-02T03:04:05Z"},
		{"a pattern that nothing matches", &schema.Type{Kinds: text, Limit: &schema.Limits{Pattern: "^a$b"}}, nil},
		{"bounds", &schema.Type{Kinds: number, Limit: &schema.Limits{Minimum: new(7.0), Maximum: new(8.0), ExclusiveMinimum: true}}, int64(8)},
		{"multiples", &schema.Type{Kinds: number, Limit: &schema.Limits{Minimum: new(20.0), MultipleOf: new(10.0)}}, int64(20)},
		{"no number between", &schema.Type{Kinds: number, Limit: &schema.Limits{Minimum: new(8.0), Maximum: new(7.0)}}, nil},
		{"a fraction", &schema.Type{Kinds: value.Number}, int64(3)},
		{"a small fraction", &schema.Type{Kinds: value.Float, Limit: &schema.Limits{Maximum: new(0.2), Minimum: new(0.0)}}, 0.1},
		{"elements", &schema.Type{Kinds: list, List: &schema.List{Items: &schema.Type{Kinds: value.Bool}}, Limit: &schema.Limits{MinItems: new(int64(2))}}, []any{true, true}},
		{"elements that differ", &schema.Type{Kinds: list, List: &schema.List{Items: &schema.Type{Kinds: value.Bool}, Kind: schema.Set}, Limit: &schema.Limits{MinItems: new(int64(2))}}, nil},
		{"required fields", fields(map[string]schema.Field{"a": {Type: &schema.Type{Kinds: number}, Required: true}, "b": {Type: schema.Open()}}), map[string]any{"a": int64(3)}},
		{"an object within", &schema.Type{Kinds: value.Map, Object: true, Map: &schema.Map{Open: true}}, map[string]any{"apiVersion": "example.com/v1", "kind": "Example", "metadata": map[string]any{"name": "example"}}},
	} {
		got, ok := sample(c.typ)
		if ok != (c.want != nil) || ok && cmp.Diff(c.want, got) != "" {
			t.Errorf("%s: %v, %t, want %v", c.reason, got, ok, c.want)
		}
	}
}

func TestSampleOfAKeyedList(t *testing.T) {
	items := fields(map[string]schema.Field{"name": {Type: &schema.Type{Kinds: value.String}}})
	got, ok := sample(&schema.Type{Kinds: value.List, List: &schema.List{Items: items, Kind: schema.Keyed, Keys: []string{"name"}}})
	if diff := cmp.Diff([]any{map[string]any{"name": "example"}}, got); !ok || diff != "" {
		t.Errorf("an element must have its key (-want +got):\n%s", diff)
	}
}

func TestSampleOfACircle(t *testing.T) {
	circle := &schema.Type{Kinds: value.Map}
	circle.Map = &schema.Map{Fields: map[string]schema.Field{"again": {Type: circle, Required: true}}}
	if got, ok := sample(circle); ok {
		t.Errorf("a type that must contain itself has no value, got %v", got)
	}
	if n := len(places(circle)); n != deepest {
		t.Errorf("%d places, want as many as are looked at: %d", n, deepest)
	}
}

func fields(of map[string]schema.Field) *schema.Type {
	return &schema.Type{Kinds: value.Map, Map: &schema.Map{Fields: of}}
}
