package openapi

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// decode reads a schema that is written in YAML.
func decode(t *testing.T, text string) any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("decoding %s: %v", text, err)
	}
	var v any
	if err := kjson.Unmarshal(data, &v); err != nil {
		t.Fatalf("decoding %s: %v", text, err)
	}
	return v
}

// butNames passes over the sorted names of fields, which are those of the fields.
var butNames = cmpopts.IgnoreFields(schema.Map{}, "Sorted")

func of(kinds value.Kind) *schema.Type { return &schema.Type{Kinds: kinds} }

func mapOf(m schema.Map) *schema.Type { return &schema.Type{Kinds: value.Map, Map: &m} }

func listOf(l schema.List) *schema.Type { return &schema.Type{Kinds: value.List, List: &l} }

const quantity = `{anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true, ` +
	`pattern: '^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$'}`

func TestType(t *testing.T) {
	for text, tc := range map[string]struct {
		reason string
		want   *schema.Type
	}{
		`{type: string}`:                     {"a text", of(value.String)},
		`{type: integer}`:                    {"an integer is no float", of(value.Int)},
		`{type: number}`:                     {"a number can be written as either", of(value.Number)},
		`{type: boolean, description: x}`:    {"prose says nothing", of(value.Bool)},
		`{type: string, nullable: true}`:     {"null is stored", of(value.String | value.Nil)},
		`{type: string, nullable: false}`:    {"null is not", of(value.String)},
		`{type: string, format: date-time}`:  {"a format is kept", &schema.Type{Kinds: value.String, Format: schema.DateTime}},
		`{x-kubernetes-int-or-string: true}`: {"without a type", of(value.Int | value.String)},
		`{anyOf: [{type: integer}, {type: string}]}`: {
			"alternatives that are just types", of(value.Int | value.String),
		},
		`{oneOf: [{type: string}, {type: number}]}`: {"in either way", of(value.Number | value.String)},
		`{anyOf: [{type: integer}, {type: string, pattern: x}]}`: {
			"what alternatives say of values is not guessed", schema.Open(),
		},
		`{anyOf: [{type: object}, {type: string}]}`: {"nor the parts of a map", schema.Open()},
		`{anyOf: []}`:               {"none of none", schema.Open()},
		`{}`:                        {"nothing is said", schema.Open()},
		`text`:                      {"it is no schema", schema.Open()},
		`{type: [string, integer]}`: {"JSON schema has more than OpenAPI", schema.Open()},
		`{type: strin}`:             {"no type is called so", schema.Open()},
		`{x-kubernetes-preserve-unknown-fields: true}`: {"anything is kept", schema.Open()},
		`{$ref: "#/components/schemas/None"}`:          {"it refers to nothing that is known", schema.Open()},
		`{type: string, oneOf: [{pattern: a}], not: {enum: [b]}, anyOf: [{minLength: 1}], allOf: [{maxLength: 2}]}`: {
			"more than a value must satisfy", of(value.String),
		},

		`{type: array, items: {type: string}}`: {"lists are atomic unless they say", listOf(schema.List{Items: of(value.String)})},
		`{type: array}`:                        {"nothing is said of its elements", listOf(schema.List{Items: schema.Open()})},
		`{type: array, items: {type: string}, x-kubernetes-list-type: set}`: {
			"a set", listOf(schema.List{Items: of(value.String), Kind: schema.Set, Unique: true}),
		},
		`{type: array, items: {}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b]}`: {
			"merged by keys", listOf(schema.List{Items: schema.Open(), Kind: schema.Keyed, Keys: []string{"a", "b"}, Unique: true}),
		},
		`{type: array, items: {}, x-kubernetes-list-type: map}`: {"no keys, no merging", listOf(schema.List{Items: schema.Open()})},

		`{type: object}`: {"what is not described is not stored", mapOf(schema.Map{})},
		`{type: object, x-kubernetes-preserve-unknown-fields: true}`: {"or it is", mapOf(schema.Map{Open: true})},
		`{type: object, additionalProperties: {type: integer}}`:      {"values of a type", mapOf(schema.Map{Values: of(value.Int)})},
		`{type: object, additionalProperties: true}`:                 {"of any", mapOf(schema.Map{Values: schema.Open()})},
		`{type: object, additionalProperties: false}`:                {"of none", mapOf(schema.Map{})},
		`{type: object, x-kubernetes-map-type: atomic}`:              {"owned as a whole", mapOf(schema.Map{Atomic: true})},
		`{type: object, properties: {a: {type: string}}, required: [a, b]}`: {
			"what is required and not described is not known",
			mapOf(schema.Map{Fields: map[string]schema.Field{"a": {Type: of(value.String), Required: true}}}),
		},
		`{type: object, properties: {a: {type: integer, default: 3}, b: {type: string, default: 3}}}`: {
			"a default of another type is none",
			mapOf(schema.Map{Fields: map[string]schema.Field{
				"a": {Type: of(value.Int), Always: true, Default: int64(3)}, "b": {Type: of(value.String)},
			}}),
		},
		`{type: object, properties: {a: {type: string}, b: {type: string}}, x-dyncontroller-always: [a], x-dyncontroller-zero-is-absent: [b, c]}`: {
			"what our own documents say",
			mapOf(schema.Map{Fields: map[string]schema.Field{
				"a": {Type: of(value.String), Always: true}, "b": {Type: of(value.String), ZeroIsAbsent: true},
			}}),
		},
		`{type: object, properties: 1, required: a, x-kubernetes-list-map-keys: {}}`: {"nonsense says nothing", mapOf(schema.Map{})},
	} {
		got := NewReader(nil).Type(decode(t, text))
		if diff := cmp.Diff(tc.want, got, butNames); diff != "" {
			t.Errorf("%s: %s: (-want +got)\n%s", tc.reason, text, diff)
		}
	}
}

// TestComponents holds how schemas of API servers differ from those of definitions.
func TestComponents(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, text string
		want         *schema.Type
	}{
		"empty":      {"RawExtension and its like", `{type: object}`, mapOf(schema.Map{Open: true})},
		"described":  {"Go types lack other fields", `{type: object, properties: {a: {type: string}}}`, mapOf(schema.Map{Fields: map[string]schema.Field{"a": {Type: of(value.String)}}})},
		"set":        {"it may repeat", `{type: array, items: {type: string}, x-kubernetes-list-type: set}`, listOf(schema.List{Items: of(value.String), Kind: schema.Set})},
		"closed map": {"it says so", `{type: object, additionalProperties: false}`, mapOf(schema.Map{})},
	} {
		if diff := cmp.Diff(tc.want, NewReader(func(string) any { return nil }).Type(decode(t, tc.text)), butNames); diff != "" {
			t.Errorf("%s: %s: (-want +got)\n%s", name, tc.reason, diff)
		}
	}
}

// TestPlainTypesAreShared holds that a large schema does not make one type for each
// of its texts.
func TestPlainTypesAreShared(t *testing.T) {
	s := decode(t, `{type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string, maxLength: 1}}}`)
	got := NewReader(nil).Type(s)
	if got.Map.Fields["a"].Type != got.Map.Fields["b"].Type {
		t.Error("two texts without limits are two types")
	}
	if got.Map.Fields["a"].Type == got.Map.Fields["c"].Type {
		t.Error("a limit is lost")
	}
}

func TestDepth(t *testing.T) {
	var s any = map[string]any{"type": "string"}
	for range 10_000 {
		s = map[string]any{"type": "array", "items": s}
	}
	got := NewReader(nil).Type(s)
	depth := 0
	for ; got.List != nil && got != schema.Open(); got = got.Items() {
		depth++
	}
	if got != schema.Open() || depth != maxDepth {
		t.Errorf("after %d lists there is %+v, want nothing known after %d", depth, got, maxDepth)
	}
}
