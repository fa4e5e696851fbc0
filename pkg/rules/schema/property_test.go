package schema

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/test/generate"
)

func TestValuesOfAnyType(t *testing.T) { rapid.Check(t, lasts) }

// FuzzValues has go test -fuzz look for values that do not stay what they became.
func FuzzValues(f *testing.F) {
	generate.Seeds(f)
	f.Fuzz(rapid.MakeFuzz(lasts))
}

// misformatted is what package fmt writes of a wrong format. A drawn text may have a part of it.
var misformatted = regexp.MustCompile(`%!([a-zA-Z]\(|\((EXTRA|BADINDEX|NOVERB))`)

// lasts holds for any value and any type that what is stored is stored so again, that the value is left alone, and
// that nothing panics.
func lasts(t *rapid.T) {
	of, v := drawType(t, 3), drawValue(t, 4)
	before := copied(v)
	once := of.Canonical(v)
	if !cmp.Equal(before, v) {
		t.Fatalf("the value was changed: %s", cmp.Diff(before, v))
	}
	if again := of.Canonical(once); !cmp.Equal(once, again) {
		t.Fatalf("it changes again: %s", cmp.Diff(once, again))
	}
	if again := of.Canonical(copied(v)); !cmp.Equal(once, again) {
		t.Fatalf("the same value becomes something else: %s", cmp.Diff(once, again))
	}
	if !same(of, v, once) {
		t.Fatalf("%v is not the same as what is stored of it, %v", v, once)
	}
	for _, how := range []Writing{Whole, Merged, Applied} {
		found := of.Validate(v, how)
		if len(found) > mostViolations {
			t.Fatalf("%d violations", len(found))
		}
		if again := of.Validate(v, how); !cmp.Equal(found, again) {
			t.Fatalf("not the same again: %s", cmp.Diff(found, again))
		}
		for _, violation := range found {
			if violation.Message == "" || misformatted.MatchString(violation.Message) || violation.Code == "" {
				t.Fatalf("it says nothing: %+v", violation)
			}
		}
	}
	partly := of.Validate(hidden(t, v), Whole)
	if whole := of.Validate(v, Whole); len(whole) == 0 && len(partly) > 0 {
		t.Fatalf("%v is right, and what is known of it is not: %v", v, allTold(partly))
	}
}

// hidden is a value of which not everything is known.
func hidden(t *rapid.T, v any) any {
	if rapid.IntRange(0, 3).Draw(t, "hidden") == 0 {
		return Unknown{}
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, key := range []string{"a", "b", "c", "d"} {
			if element, there := v[key]; there {
				out[key] = hidden(t, element)
			}
		}
		if rapid.Bool().Draw(t, "keys") {
			out[SomeKeys] = Unknown{}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = hidden(t, element)
		}
		return out
	default:
		return v
	}
}

func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, element := range v {
			out[key] = copied(element)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = copied(element)
		}
		return out
	default:
		return v
	}
}

var (
	words   = []string{"", "a", "Never", "1", "1000m", "0.5Gi", "1024Ki", "2026-01-31T12:00:00+01:00", "2026-01-31T11:00:00.123456Z", "Zm9v\n", "10.0.0.0/8", "-", "1e3", "0"}
	keys    = []string{"a", "b", "c", "d"}
	formats = []string{"", "", Quantity, DateTime, Time, MicroTime, Bytes, "byte", "int32", "cidr", "uri", "duration", "email", "none"}
)

func drawValue(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	switch {
	case kind == 0:
		return nil
	case kind == 1:
		return rapid.Bool().Draw(t, "bool")
	case kind == 2:
		return rapid.OneOf(rapid.Int64Range(-2, 2000), rapid.Int64()).Draw(t, "int")
	case kind == 3:
		return rapid.OneOf(rapid.SampledFrom([]float64{0, 3, 0.5, 1e6, 1e30, -7}), rapid.Float64()).Draw(t, "float")
	case kind == 4 || depth == 0:
		return rapid.OneOf(rapid.SampledFrom(words), rapid.String()).Draw(t, "text")
	case kind == 5:
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "length"))
		for i := range list {
			list[i] = drawValue(t, depth-1)
		}
		return list
	default:
		m := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "size") {
			m[rapid.SampledFrom(keys).Draw(t, "key")] = drawValue(t, depth-1)
		}
		return m
	}
}

func drawType(t *rapid.T, depth int) *Type {
	if rapid.IntRange(0, 9).Draw(t, "open") == 0 {
		return Open()
	}
	some := func(one value.Kind) value.Kind { return one * value.Kind(rapid.IntRange(0, 1).Draw(t, "has")) }
	out := &Type{Kinds: some(value.Nil) | some(value.Bool) | some(value.Int) | some(value.Float) | some(value.String)}
	out.Format = rapid.SampledFrom(formats).Draw(t, "format")
	out.Object = rapid.Bool().Draw(t, "object")
	if rapid.Bool().Draw(t, "limited") {
		out.Limit = drawLimits(t)
	}
	if depth == 0 {
		return out
	}
	if rapid.Bool().Draw(t, "map") {
		out.Kinds |= value.Map
		out.Map = drawMap(t, depth-1)
	}
	if rapid.Bool().Draw(t, "list") {
		out.Kinds |= value.List
		out.List = &List{Items: drawType(t, depth-1), Kind: rapid.SampledFrom([]ListKind{Atomic, Set, Keyed}).Draw(t, "merged")}
		if out.List.Kind == Keyed {
			out.List.Keys = []string{"a", "b"}
		}
	}
	return out
}

func drawMap(t *rapid.T, depth int) *Map {
	out := &Map{Fields: map[string]Field{}, Atomic: rapid.Bool().Draw(t, "atomic")}
	for range rapid.IntRange(0, 3).Draw(t, "fields") {
		f := Field{Type: drawType(t, depth), Required: rapid.Bool().Draw(t, "required"), ZeroIsAbsent: rapid.Bool().Draw(t, "zero")}
		if rapid.Bool().Draw(t, "defaulted") {
			f.Default = drawValue(t, 2)
			f.Always = f.Default != nil
		}
		out.Fields[rapid.SampledFrom(keys).Draw(t, "field")] = f
	}
	switch rapid.IntRange(0, 2).Draw(t, "others") {
	case 0:
		out.Values = drawType(t, depth)
	case 1:
		out.Open = true
	}
	return out
}

func drawLimits(t *rapid.T) *Limits {
	count := func() *int64 {
		if rapid.Bool().Draw(t, "none") {
			return nil
		}
		return new(rapid.Int64Range(0, 3).Draw(t, "count"))
	}
	number := func() *float64 {
		if rapid.Bool().Draw(t, "none") {
			return nil
		}
		return new(rapid.Float64Range(-1, 5).Draw(t, "number"))
	}
	out := &Limits{
		MinLength: count(), MaxLength: count(), MinItems: count(), MaxItems: count(), MinProperties: count(), MaxProperties: count(),
		Minimum: number(), Maximum: number(), MultipleOf: number(),
		UniqueItems: rapid.Bool().Draw(t, "unique"),
		Pattern:     rapid.SampledFrom([]string{"", "^[a-z]+$", "(", "^a*$"}).Draw(t, "pattern"),
	}
	if rapid.IntRange(0, 4).Draw(t, "enumerated") == 0 {
		out.Enum = []any{drawValue(t, 1), drawValue(t, 1)}
	}
	return out
}

// TestPlainQuantity holds that a quantity that is not parsed would come out as it is.
func TestPlainQuantity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`[0-9]{1,12}|[1-9](000|024|048)?`).Draw(t, "digits")
		text := digits + rapid.SampledFrom([]string{"", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti", "u", "e3"}).Draw(t, "unit")
		q, err := resource.ParseQuantity(text)
		if plainQuantity(text) && (err != nil || q.String() != text) {
			t.Fatalf("%q is %q, %v", text, q.String(), err)
		}
	})
	for text, want := range map[string]bool{"0": true, "1": true, "500m": true, "2Gi": true, "1024Mi": false, "1000": false, "": false, "00": false, "Gi": false, "1Ti": false, "1.5": false} {
		if plainQuantity(text) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}
