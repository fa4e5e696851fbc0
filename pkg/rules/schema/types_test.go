package schema

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// parse reads YAML as the API server reads JSON: integers are int64.
func parse(t testing.TB, text string) any {
	t.Helper()
	v, err := document.ParseData(text, value.NewBudget(1<<20))
	if err != nil {
		t.Fatalf("reading %q: %v", text, err)
	}
	return v
}

// typeOf reads a type that is written for a test, a scalar in one word such as
// int, text, quantity or "text?" where null is stored, anything else as a map:
//
//	{a: int, b!: text, c=1: int, d-: bool, "*": int}   fields: required, with a default, zero is absent, others
//	{items: TYPE, by: [name], set: true}               a list
//	{is: text, enum: [a, b], format: ipv4}             a scalar with limits
func typeOf(t testing.TB, text string) *Type {
	t.Helper()
	return typeFrom(t, parse(t, text))
}

func typeFrom(t testing.TB, v any) *Type {
	t.Helper()
	if word, ok := v.(string); ok {
		return scalarType(t, word)
	}
	m, ok := v.(map[string]any)
	if !ok {
		t.Fatalf("%v is no type", v)
	}
	switch {
	case m["is"] != nil:
		out := *typeFrom(t, m["is"])
		out.Limit = limitsOf(t, m)
		if format, ok := m["format"].(string); ok {
			out.Format = format
		}
		if flag(m["atomic"]) {
			atomic := *out.Map
			atomic.Atomic = true
			out.Map = &atomic
		}
		out.Object = flag(m["object"])
		return &out
	case m["items"] != nil:
		list := &List{Items: typeFrom(t, m["items"]), Unique: !flag(m["repeats"])}
		if flag(m["set"]) {
			list.Kind = Set
		}
		for _, key := range listAt(m, "by") {
			list.Kind = Keyed
			list.Keys = append(list.Keys, key.(string))
		}
		return &Type{Kinds: value.List, List: list}
	default:
		return &Type{Kinds: value.Map, Map: mapType(t, m)}
	}
}

func listAt(m map[string]any, key string) []any {
	list, _ := m[key].([]any)
	return list
}

func scalarType(t testing.TB, word string) *Type {
	t.Helper()
	kinds, format := value.Kind(0), ""
	if last := len(word) - 1; word[last] == '?' {
		kinds, word = value.Nil, word[:last]
	}
	switch word {
	case "any":
		return Open()
	case "open":
		return &Type{Kinds: value.Map, Map: &Map{Open: true}}
	case "int":
		kinds |= value.Int
	case "float":
		kinds |= value.Float
	case "bool":
		kinds |= value.Bool
	case "text":
		kinds |= value.String
	case "int-or-text":
		kinds |= value.Int | value.String
	case "quantity":
		kinds, format = kinds|value.Number|value.String, Quantity
	case Time, MicroTime, Bytes, DateTime:
		kinds, format = kinds|value.String, word
	default:
		t.Fatalf("%q is no type", word)
	}
	return &Type{Kinds: kinds, Format: format}
}

func mapType(t testing.TB, m map[string]any) *Map {
	t.Helper()
	out := &Map{Fields: map[string]Field{}}
	for key, v := range m {
		below := typeFrom(t, v)
		if key == "*" {
			out.Values = below
			continue
		}
		f := Field{Type: below}
		for i, r := range key {
			if r == '=' {
				f.Default, f.Always = parse(t, key[i+1:]), true
				key = key[:i]
				break
			}
		}
		switch last := len(key) - 1; key[last] {
		case '!':
			f.Required, key = true, key[:last]
		case '-':
			f.ZeroIsAbsent, key = true, key[:last]
		}
		out.Fields[key] = f
	}
	return out
}

func limitsOf(t testing.TB, m map[string]any) *Limits {
	t.Helper()
	count := func(key string) *int64 {
		if n, ok := m[key].(int64); ok {
			return &n
		}
		return nil
	}
	number := func(key string) *float64 {
		switch n := m[key].(type) {
		case int64:
			return new(float64(n))
		case float64:
			return &n
		default:
			return nil
		}
	}
	pattern, _ := m["pattern"].(string)
	return &Limits{
		Enum: listAt(m, "enum"), Pattern: pattern,
		MinLength: count("minLength"), MaxLength: count("maxLength"),
		Minimum: number("min"), Maximum: number("max"), MultipleOf: number("multipleOf"),
		ExclusiveMinimum: flag(m["above"]), ExclusiveMaximum: flag(m["below"]),
		MinItems: count("minItems"), MaxItems: count("maxItems"),
		MinProperties: count("minProperties"), MaxProperties: count("maxProperties"),
		UniqueItems: flag(m["unique"]),
	}
}

func flag(v any) bool {
	on, _ := v.(bool)
	return on
}
