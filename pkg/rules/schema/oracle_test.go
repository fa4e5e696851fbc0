package schema

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/test/generate"
)

func TestValidateAsTheServer(t *testing.T) { rapid.Check(t, judgedAlike) }

// FuzzValidateAsTheServer has go test -fuzz look for values that the API server judges otherwise.
func FuzzValidateAsTheServer(f *testing.F) {
	generate.Seeds(f)
	f.Fuzz(rapid.MakeFuzz(judgedAlike))
}

// judgedAlike holds that a value of a custom resource is right where the library that API servers use finds it right,
// and wrong where that finds it wrong.
func judgedAlike(t *rapid.T) {
	of, v := drawServed(t, 3), drawValue(t, 3)
	if v == nil {
		return // Nobody writes null in the place of an object.
	}
	v = withoutNulls(of, v)
	ours := of.Validate(v, Whole)
	theirs := validate.AgainstSchema(servedAs(of), sent(t, v), strfmt.Default)
	if theirs == nil {
		// The library takes a list for a text, but only where the text is to have a format; and 1.9999999999 for an
		// integer, but only where that may be a text as well.
		odd := []string{"want a string, have a list", "want an integer or a string, have a float"}
		ours = slices.DeleteFunc(ours, func(v Violation) bool { return slices.Contains(odd, v.Message) })
	}
	if (len(ours) == 0) != (theirs == nil) {
		t.Fatalf("of %#v\nthe API server says: %v\nwe say: %v", v, theirs, allTold(ours))
	}
}

// sent is a value as it arrives.
func sent(t *rapid.T, v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		t.Skip(err)
	}
	var out any
	if err := utiljson.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// withoutNulls is what is left of a value when it is validated: nulls of maps that are not stored are dropped before.
func withoutNulls(of *Type, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, element := range v {
			f, _ := of.Field(key)
			if element != nil || f.Type.nullable() {
				out[key] = withoutNulls(f.Type, element)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = withoutNulls(of.Items(), element)
		}
		return out
	default:
		return v
	}
}

// drawServed draws a type of which a CRD can have the schema.
func drawServed(t *rapid.T, depth int) *Type {
	kinds := []value.Kind{value.Bool, value.Int, value.Float, value.String, value.Int | value.String}
	if depth > 0 {
		kinds = append(kinds, value.Map, value.Map, value.List)
	}
	out := &Type{Kinds: rapid.SampledFrom(kinds).Draw(t, "kind")}
	switch out.Kinds {
	case value.Map:
		out.Map = drawServedMap(t, depth-1)
	case value.List:
		out.List = &List{Items: drawServed(t, depth-1)}
	case value.String:
		out.Format = rapid.SampledFrom([]string{"", "", "cidr", "uri", "duration", "email", "date", "ipv4", "uuid", "hostname"}).Draw(t, "format")
	case value.Int:
		out.Format = rapid.SampledFrom([]string{"", "int32", "int64"}).Draw(t, "format")
	default: // The others have no formats.
	}
	if rapid.Bool().Draw(t, "limited") {
		out.Limit = drawServedLimits(t)
	}
	if rapid.IntRange(0, 3).Draw(t, "nullable") == 0 {
		out.Kinds |= value.Nil
	}
	return out
}

// drawServedLimits leaves out the patterns that no CRD can have.
func drawServedLimits(t *rapid.T) *Limits {
	out := drawLimits(t)
	if out.MultipleOf != nil {
		*out.MultipleOf = max(1, math.Trunc(*out.MultipleOf))
	}
	for _, bound := range []*float64{out.Minimum, out.Maximum} {
		if bound != nil {
			*bound = math.Trunc(*bound)
		}
	}
	if _, err := regexp.Compile(out.Pattern); err != nil {
		out.Pattern = ""
	}
	// Of null in an enum, and of numbers that are floats there, the library has ideas of its own.
	out.Enum = slices.DeleteFunc(out.Enum, func(one any) bool { return value.KindOf(one)&(value.String|value.Bool) == 0 })
	return out
}

func drawServedMap(t *rapid.T, depth int) *Map {
	out := &Map{Fields: map[string]Field{}}
	for range rapid.IntRange(0, 3).Draw(t, "fields") {
		f := Field{Type: drawServed(t, depth), Required: rapid.Bool().Draw(t, "required")}
		out.Fields[rapid.SampledFrom(keys).Draw(t, "field")] = f
	}
	switch rapid.IntRange(0, 2).Draw(t, "others") {
	case 0:
		out.Values = drawServed(t, depth)
	case 1:
		out.Open = true
	}
	return out
}

// servedAs is a type as a schema of the library.
func servedAs(of *Type) *spec.Schema {
	out := &spec.Schema{}
	out.Nullable = of.Kinds&value.Nil != 0
	for _, named := range []struct {
		kind value.Kind
		name string
	}{{value.Bool, "boolean"}, {value.Int, "integer"}, {value.Float, "number"}, {value.String, "string"}, {value.Map, "object"}, {value.List, "array"}} {
		if of.Kinds&named.kind != 0 {
			out.Type = append(out.Type, named.name)
		}
	}
	out.Format = of.Format
	if of.List != nil {
		out.Items = &spec.SchemaOrArray{Schema: servedAs(of.List.Items)}
	}
	if m := of.Map; m != nil {
		out.Properties = map[string]spec.Schema{}
		for name, f := range m.Fields {
			out.Properties[name] = *servedAs(f.Type)
			if f.Required {
				out.Required = append(out.Required, name)
			}
		}
		switch {
		case m.Values != nil:
			out.AdditionalProperties = &spec.SchemaOrBool{Allows: true, Schema: servedAs(m.Values)}
		default:
			// Unknown fields are refused beside the validation, not by it.
			out.AdditionalProperties = &spec.SchemaOrBool{Allows: m.Open}
		}
	}
	if l := of.Limit; l != nil {
		out.Enum, out.Pattern, out.UniqueItems = l.Enum, l.Pattern, l.UniqueItems
		out.MinLength, out.MaxLength, out.MinItems, out.MaxItems = l.MinLength, l.MaxLength, l.MinItems, l.MaxItems
		out.MinProperties, out.MaxProperties = l.MinProperties, l.MaxProperties
		out.Minimum, out.Maximum, out.MultipleOf = l.Minimum, l.Maximum, l.MultipleOf
		out.ExclusiveMinimum, out.ExclusiveMaximum = l.ExclusiveMinimum, l.ExclusiveMaximum
	}
	return out
}
