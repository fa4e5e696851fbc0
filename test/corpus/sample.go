package corpus

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// deepestSample bounds the values that are made: some types contain themselves.
const deepestSample = 12

// sample makes a value that the type allows, if it finds one.
func sample(t *schema.Type) (any, bool) { return sampled(t, 0) }

func sampled(t *schema.Type, depth int) (any, bool) {
	if t == nil || depth > deepestSample {
		return nil, false
	}
	if v, found := firstMember(t); found {
		return v, true
	}
	if len(limits(t).Enum) > 0 {
		return nil, false // None of its members is of its kinds.
	}
	if !t.Known() {
		return "anything", true
	}
	kind := kinds(t)
	switch {
	case kind&value.Map != 0 && t.Map != nil:
		return sampleMap(t, depth)
	case kind&value.List != 0 && t.List != nil:
		return sampleList(t, depth)
	default:
		return sampleScalar(t, kind)
	}
}

func sampleScalar(t *schema.Type, kind value.Kind) (any, bool) {
	switch {
	case kind&value.String != 0:
		return sampleText(t)
	case kind&value.Int != 0:
		return sampleInt(t)
	case kind&value.Float != 0:
		return sampleFloat(t)
	default:
		return true, kind&value.Bool != 0
	}
}

// firstMember is the first member of an enum that its type allows.
func firstMember(t *schema.Type) (any, bool) {
	for _, v := range limits(t).Enum {
		if v != nil && value.KindOf(v)&t.Kinds != 0 && v != "" {
			return v, true
		}
	}
	return nil, false
}

func limits(t *schema.Type) schema.Limits {
	if t == nil || t.Limit == nil {
		return schema.Limits{}
	}
	return *t.Limit
}

func sampleMap(t *schema.Type, depth int) (any, bool) {
	out := map[string]any{}
	if t.Object {
		out["apiVersion"], out["kind"] = "example.com/v1", "Example"
		out["metadata"] = map[string]any{"name": "example"}
	}
	for _, name := range t.Names() {
		if !t.Map.Fields[name].Required || out[name] != nil {
			continue
		}
		v, ok := sampled(t.Map.Fields[name].Type, depth+1)
		if !ok {
			return nil, false
		}
		out[name] = v
	}
	return out, fill(out, t, depth)
}

// fill gives a map as many entries as it must have.
func fill(out map[string]any, t *schema.Type, depth int) bool {
	wanted := atLeast(limits(t).MinProperties)
	for _, name := range t.Names() {
		if len(out) >= wanted {
			return true
		}
		if v, ok := sampled(t.Map.Fields[name].Type, depth+1); ok && ordinary(name) {
			out[name] = v
		}
	}
	if len(out) < wanted && t.Map.Values != nil {
		if v, ok := sampled(t.Map.Values, depth+1); ok {
			out["example"] = v
		}
	}
	return len(out) >= wanted
}

// sampleList makes a list with an element, or as many as there must be, if they may be equal.
func sampleList(t *schema.Type, depth int) (any, bool) {
	l := limits(t)
	n := max(1, atLeast(l.MinItems))
	if l.MaxItems != nil && *l.MaxItems < int64(n) {
		return []any{}, n == 1
	}
	if n > 1 && (l.UniqueItems || t.List.Kind != schema.Atomic) || n > 10 {
		return nil, false
	}
	v, ok := sampled(t.List.Items, depth+1)
	if !ok || !keyed(v, t.List) {
		return nil, false
	}
	return slices.Repeat([]any{v}, n), true
}

// keyed gives an element the fields that tell it apart from others.
func keyed(v any, list *schema.List) bool {
	element, isMap := v.(map[string]any)
	for _, key := range list.Keys {
		if !isMap {
			return false
		}
		if _, found := element[key]; found {
			continue
		}
		field, _ := list.Items.Field(key)
		value, ok := sample(field.Type)
		if !ok {
			return false
		}
		element[key] = value
	}
	return true
}

func atLeast(n *int64) int {
	if n == nil {
		return 0
	}
	return int(*n)
}

func sampleInt(t *schema.Type) (any, bool) {
	l := limits(t)
	candidates := []float64{3, 1, 0}
	if l.Minimum != nil {
		candidates = append(candidates, math.Ceil(*l.Minimum), math.Floor(*l.Minimum)+1)
	}
	if l.Maximum != nil {
		candidates = append(candidates, math.Floor(*l.Maximum), math.Ceil(*l.Maximum)-1)
	}
	if l.MultipleOf != nil {
		candidates = append(candidates, *l.MultipleOf, 10**l.MultipleOf)
	}
	for _, c := range candidates {
		if within(c, l) {
			return int64(c), true
		}
	}
	return nil, false
}

func sampleFloat(t *schema.Type) (any, bool) {
	l := limits(t)
	candidates := []float64{0.5, 1.5}
	if l.Minimum != nil && l.Maximum != nil {
		candidates = append(candidates, (*l.Minimum+*l.Maximum)/2)
	}
	for _, c := range candidates {
		if within(c, l) {
			return c, true
		}
	}
	return sampleInt(t)
}

func within(n float64, l schema.Limits) bool {
	switch {
	case l.Minimum != nil && (n < *l.Minimum || l.ExclusiveMinimum && n == *l.Minimum):
		return false
	case l.Maximum != nil && (n > *l.Maximum || l.ExclusiveMaximum && n == *l.Maximum):
		return false
	case l.MultipleOf != nil && math.Mod(n, *l.MultipleOf) != 0:
		return false
	default:
		return math.Abs(n) < 1<<31
	}
}

// sampleText tries what people write, by format and pattern, and then what the pattern spells out.
func sampleText(t *schema.Type) (any, bool) {
	l := limits(t)
	if text, known := formats[t.Format]; known {
		return text, fits(text, l)
	}
	candidates := slices.Concat(texts, spelled(l.Pattern))
	if n := atLeast(l.MinLength); n > 4 && n < 500 {
		candidates = append(candidates, strings.Repeat("a", n))
	}
	for _, text := range candidates {
		if fits(text, l) {
			return text, true
		}
	}
	return nil, false
}

func fits(text string, l schema.Limits) bool {
	n := int64(utf8.RuneCountInString(text))
	if l.MinLength != nil && n < *l.MinLength || l.MaxLength != nil && n > *l.MaxLength {
		return false
	}
	if l.Pattern == "" {
		return true
	}
	pattern, err := regexp.Compile(l.Pattern)
	return err == nil && pattern.MatchString(text)
}

// formats has a text of each format that the API server checks.
var formats = map[string]string{
	schema.DateTime: "2026-01-02T03:04:05Z", schema.Time: "2026-01-02T03:04:05Z", schema.MicroTime: "2026-01-02T03:04:05.000000Z",
	"date": "2026-01-02", "duration": "1h", "byte": "YWJj", schema.Bytes: "YWJj", schema.Quantity: "500m",
	"cidr": "10.0.0.0/8", "ipv4": "10.0.0.1", "ipv6": "fd00::1", "ip": "10.0.0.1", "uri": "https://example.com", "url": "https://example.com",
	"email": "a@example.com", "hostname": "example.com", "idn-hostname": "example.com", "uuid": "123e4567-e89b-12d3-a456-426614174000",
	"mac": "00:00:5e:00:53:01",
}

// texts are tried against a pattern in this order.
var texts = []string{
	"example", "abcd", "a", "Example", "ABCD", "1", "10", "1h", "10s", "500m", "1Gi", "10%", "0.5", "1.2.3", "v1.2.3", "v1", "example.com",
	"https://example.com", "/example", "a/b", "example.com/a", "10.0.0.1", "10.0.0.0/8", "10.0.0.1:80", "fd00::1", "2026-01-02T03:04:05Z", "*", "",
	"00:00:5e:00:53:01", "sha256:", "spec.example", "12:00", "Mon", "@daily", "* * * * *", "a=b",
}
