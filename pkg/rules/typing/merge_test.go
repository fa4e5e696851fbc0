package typing_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

func TestMerge(t *testing.T) {
	ab := typing.Map(map[string]typing.Type{"a": text, "b": text})
	part := typing.From(required(mapOf(map[string]schema.Field{
		"a": optional(integerSchema),
		"b": required(integerSchema),
		"n": optional(&schema.Type{Kinds: value.Int | value.Nil}),
		"m": optional(mapOf(map[string]schema.Field{"x": optional(integerSchema)})),
	})))
	tests := map[string]struct {
		reason     string
		base, over typing.Type
		want       string
	}{
		"other keys":             {"All of them.", mapping("a", text), mapping("b", integer), "{a string, b integer}"},
		"same key":               {"The second wins.", ab, mapping("a", integer), "{a integer, b string}"},
		"optional key":           {"What expressions build can hold nil.", ab, mapping("a", integer.Nilable()), "{a integer or string?, b string}"},
		"omitted key":            {"The first is what it is then.", ab, mapping("a", typing.Union(integer, typing.Of(value.Omission))), "{a integer or string, b string}"},
		"omitted key alone":      {"To read it gives nil.", mapping("b", text), mapping("a", typing.Union(integer, typing.Of(value.Omission))), "{a integer?, b string}"},
		"optional field":         {"What a cluster holds is absent then.", ab, part, "{a integer or string, b integer, m {x integer?}?, n integer?}"},
		"over a part":            {"The second wins.", part, ab, "{a string, b string, m {x integer?}?, n integer?}"},
		"nullable field":         {"It can be null.", mapping("n", text), typing.Union(part), "{a integer?, b integer, m {x integer?}?, n integer or string?}"},
		"maps":                   {"They are merged.", mapping("m", mapping("x", text)), mapping("m", mapping("y", text)), "{m {x string, y string}}"},
		"maps of a part":         {"They are merged.", mapping("m", mapping("x", text)), part, "{a integer?, b integer, m {x integer or string}, n integer?}"},
		"a map over a text":      {"It wins.", mapping("m", text), mapping("m", mapping("y", text)), "{m {y string}}"},
		"a text over a map":      {"It wins.", mapping("m", mapping("y", text)), mapping("m", text), "{m string}"},
		"a map over either":      {"It is merged only with a map.", mapping("m", typing.Union(text, mapping("x", text))), mapping("m", mapping("y", text)), "{m {x string?, y string}}"},
		"either over a map":      {"It is merged only as a map.", mapping("m", mapping("x", text)), mapping("m", typing.Union(text, mapping("y", text))), "{m string|{x string, y string}}"},
		"lists":                  {"They are replaced.", mapping("l", list(text)), mapping("l", list(integer)), "{l [integer]}"},
		"unknown keys":           {"Any of either.", typing.Map(nil, text), typing.Map(nil, integer), "{* integer or string?}"},
		"unknown over known":     {"It may be the key.", mapping("a", text), typing.Map(nil, integer), "{a integer or string, * integer?}"},
		"known over unknown":     {"It wins.", typing.Map(nil, integer), mapping("a", text), "{a string, * integer?}"},
		"labels":                 {"Known ones are there.", must(read(object, "metadata.labels")), mapping("app", text), "{app string, * string?}"},
		"unknown base":           {"It may have any other key.", anyType, mapping("a", text), "{a string, * any}"},
		"unknown over":           {"Anything may be in it.", mapping("a", text), anyType, "{a any, * any}"},
		"unknown base of maps":   {"It may have any other key.", mapping("m", anyType), mapping("m", mapping("a", text)), "{m {* any}}"},
		"nil":                    {"It is empty.", nothing, ab, "{a string, b string}"},
		"over nil":               {"It is empty.", ab, nothing, "{a string, b string}"},
		"both nil":               {"They are empty.", nothing, nothing, "{}"},
		"optional":               {"It may be empty.", ab, mapping("c", text).Nilable(), "{a string, b string, c string?}"},
		"optional base":          {"It may be empty.", mapping("c", text).Nilable(), ab, "{a string, b string, c string?}"},
		"optional base, alone":   {"It may be empty.", part.Nilable(), nothing, "{a integer?, b integer?, m {x integer?}?, n integer?}"},
		"same part":              {"It stays one.", part, part, written(part)},
		"constants":              {"They are known.", constant(map[string]any{"a": "x", "m": map[string]any{"p": "q"}}), constant(map[string]any{"m": map[string]any{"r": "s"}}), "{a x, m {p q, r s}}"},
		"text":                   {"It is no map, which the caller sees.", text, mapping("a", text), "{a string}"},
		"what is open":           {"It may be empty, and have any other key.", must(read(object, "spec.open")), mapping("b", text), "{a string?, b string, * any}"},
		"open over what is open": {"Anything may be in either.", mapping("b", text), must(read(object, "spec.open")), "{a string?, b any, * any}"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := written(typing.Merge(tt.base, tt.over)); got != tt.want {
				t.Errorf("%s, want %s: %s", got, tt.want, tt.reason)
			}
		})
	}
}

// recursive is a schema that contains itself in many fields.
func recursive(fields int) *schema.Type {
	s := mapOf(map[string]schema.Field{"a": optional(textSchema)})
	for i := range fields {
		s.Map.Fields[fmt.Sprint("f", i)] = optional(s)
	}
	return s
}

// TestEndlessSchemas makes sure that nothing follows a schema to its end.
func TestEndlessSchemas(t *testing.T) {
	one, other := typing.From(required(recursive(95))), typing.From(required(recursive(95)))
	start := time.Now()
	merged := typing.Merge(one, other)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("merging took %v", took)
	}
	if merged.Kinds() != value.Map || typing.Union(one, other, merged).Kinds() != value.Map {
		t.Errorf("merged is %s", merged)
	}
	deep := one
	for range 1000 {
		deep = must(deep.Field("f1"))
	}
	if got := written(must(deep.Field("a"))); got != "string?" {
		t.Errorf("far below it is %s", got)
	}
	if !one.Values().CanBeNil() && one.Values().Kinds() != value.Map|value.String {
		t.Errorf("values are %s", one.Values())
	}
	path := make([]string, 1000)
	for i := range path {
		path[i] = "f1"
	}
	if below := one.Present(path).Present(path[:500]); below.CanBeNil() || must(below.Field("f1")).CanBeNil() {
		t.Error("what is present far below is not there")
	}
}

// TestWide holds that nobody looks at all of the fields of a schema that has thousands.
func TestWide(t *testing.T) {
	fields := map[string]schema.Field{}
	for i := range 2000 {
		fields[fmt.Sprintf("f%d", i)] = optional(textSchema)
	}
	wide := typing.From(required(mapOf(fields)))
	for name, got := range map[string]typing.Type{
		"values":  wide.Values(),
		"merge":   typing.Merge(mapping("a", text), wide),
		"over it": typing.Merge(wide, mapping("a", text)),
	} {
		if got.Names() != nil {
			t.Errorf("%s: it has names", name)
		}
	}
	if got := typing.Merge(typing.Map(nil), wide); !got.Equal(wide) {
		t.Error("nothing is lost where there is nothing to merge")
	}
}
