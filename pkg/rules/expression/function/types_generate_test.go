package function_test

import (
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
	"github.com/dyncontroller/dyncontroller/test/generate"
)

// drawer draws arguments, and types that admit them.
type drawer struct{ *rapid.T }

func (d drawer) below(n int) int { return generate.Evenly(d.T, n) }

func (d drawer) chance(percent int) bool { return generate.Chance(d.T, percent) }

func (d drawer) of(options ...any) any { return generate.Of(d.T, options...) }

// texts are such as some function reads.
var someTexts = []any{
	"", "a", "b", "a,b", "7", "1.5", "2026-01-01T00:00:00Z", "5m", "8h", "1.2.3", "512Mi", "10.0.0.0/8", "10.1.2.3", "YWI=", "[1]", "{a: [x]}",
	"https://u@example.org:80/p?b=c#f", "https://example.org", "0 22 * * *", "@hourly", "UTC", "asc", "desc", "Ready", "name",
}

// textsOf are those for parameters that take few.
var textsOf = map[string][]any{
	"cron": {"0 22 * * *", "@hourly"}, "zone": {"UTC", "Europe/Berlin"}, "cidr": {"10.0.0.0/8"}, "ip": {"10.1.2.3"},
	"low": {int64(1), "1m", time.Second}, "high": {int64(5), "5m", time.Hour},
}

// computed are values that only expressions have.
func computed() []any {
	amount, _ := value.ParseAmount("2Gi")
	version, _ := value.ParseVersion("1.10.0")
	return []any{amount, version, time.Hour, newYear}
}

func (d drawer) value(depth int) any {
	switch {
	case depth > 0 && d.chance(35):
		return d.list(func() any { return d.value(depth - 1) })
	case depth > 0 && d.chance(50):
		return d.mapping(depth)
	case d.chance(5):
		return d.of(value.Omitted{}, value.Stamp{})
	case d.chance(10):
		return d.of(computed()...)
	case d.chance(30):
		return d.of(nil, true, false, 1.5, 2.0)
	case d.chance(50):
		return int64(d.below(4))
	default:
		return d.of(someTexts...)
	}
}

func (d drawer) list(element func() any) []any {
	list := []any{}
	for range d.below(4) {
		list = value.Append(list, element())
	}
	return list
}

func (d drawer) mapping(depth int) map[string]any {
	m := map[string]any{}
	for range d.below(4) {
		value.Put(m, d.key(), d.value(depth-1))
	}
	return m
}

func (d drawer) key() string {
	key, _ := d.of("a", "b", "c", "name", "items", "type").(string)
	return key
}

// argument draws a value of some kinds, such as functions want it.
func (d drawer) argument(kinds value.Kind) any {
	if d.chance(4) {
		return nil
	}
	var options []func() any
	add := func(kind value.Kind, draw ...func() any) {
		if kinds&kind != 0 {
			options = append(options, draw...)
		}
	}
	add(value.Bool, func() any { return d.chance(50) })
	add(value.Number, func() any { return int64(d.below(5)) }, func() any { return d.of(0.5, -2.0) })
	add(value.String, func() any { return d.of(someTexts...) })
	add(value.Computed, func() any { return d.of(computed()...) })
	add(value.List, func() any { return d.list(func() any { return d.value(2) }) }, d.alike)
	add(value.Map, func() any { return d.mapping(3) }, d.object, d.condition, d.selector)
	if len(options) == 0 {
		return d.value(2)
	}
	return options[d.below(len(options))]()
}

// alike draws a list of elements of one kind.
func (d drawer) alike() any {
	one := []func() any{
		func() any { return int64(d.below(5)) }, func() any { return d.of(1.5, int64(2)) }, func() any { return d.of(someTexts...) },
		func() any { return d.of(true, false) }, func() any { return d.mapping(2) }, d.condition, d.object,
		func() any { return value.Append([]any{d.key()}, d.value(1)) }, func() any { return d.list(func() any { return d.value(1) }) },
		func() any { return time.Duration(d.below(9)) },
	}[d.below(10)]
	return d.list(one)
}

func (d drawer) condition() any {
	c := map[string]any{"type": d.of("Ready", "a", "b"), "status": d.of("True", "False")}
	if d.chance(60) {
		c["lastTransitionTime"] = d.of("2026-01-01T00:00:00Z", nil)
	}
	if d.chance(40) {
		c["reason"] = d.of("Up", nil, value.Stamp{})
	}
	return c
}

func (d drawer) selector() any {
	return map[string]any{"matchLabels": map[string]any{d.key(): d.of("a", "b")}}
}

func (d drawer) object() any {
	m := map[string]any{"apiVersion": "v1", "kind": d.of("Pod", "Thing"), "metadata": map[string]any{
		"name": "a", "namespace": "b", "uid": "u", "resourceVersion": "1", "generation": int64(1), "creationTimestamp": "2026-01-01T00:00:00Z",
		"labels": map[string]any{d.key(): "a"},
		"ownerReferences": d.list(func() any {
			return map[string]any{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "o", "controller": d.chance(70)}
		}),
	}}
	if d.chance(70) {
		m["spec"] = d.mapping(1)
	}
	if d.chance(70) {
		m["status"] = map[string]any{"conditions": d.list(d.condition)}
	}
	return m
}

// typeOf returns some type that a value has.
func (d drawer) typeOf(v any) typing.Type {
	switch d.below(9) {
	case 0:
		return typing.Constant(v)
	case 1:
		return typing.Of(value.KindOf(v) | rapid.SampledFrom([]value.Kind{value.Nil, value.Int, value.Map, value.List}).Draw(d.T, "kind"))
	case 2:
		return typing.Union(d.typeOf(v), d.typeOf(d.value(1)))
	case 3, 4, 5:
		return d.fromSchema(v)
	case 6:
		return d.typeOf(v).Nilable()
	default:
		return d.built(v)
	}
}

func (d drawer) built(v any) typing.Type {
	switch v := v.(type) {
	case map[string]any:
		fields, values := map[string]typing.Type{}, []typing.Type{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if below := d.typeOf(v[key]); d.chance(70) {
				fields[key] = below
			} else {
				values = append(values, below)
			}
		}
		return typing.Map(fields, values...)
	case []any:
		var items typing.Type
		for _, element := range v {
			items = typing.Union(items, d.typeOf(element))
		}
		return typing.List(items)
	default:
		return typing.Constant(v)
	}
}

// fromSchema is what a schema says of a value, as far as a cluster can hold it.
func (d drawer) fromSchema(v any) typing.Type {
	s := d.schema(v)
	if s == nil {
		return typing.Constant(v)
	}
	m, _ := v.(map[string]any)
	if metadata, is := m["metadata"].(map[string]any); is && m["kind"] != nil && metadata["uid"] != nil && d.chance(80) {
		return typing.Object(s)
	}
	return typing.From(schema.Field{Type: s, Required: v != nil && d.chance(50)})
}

func (d drawer) schema(v any) *schema.Type {
	s := &schema.Type{Kinds: value.KindOf(v)}
	switch v := v.(type) {
	case map[string]any:
		s.Map = &schema.Map{Fields: map[string]schema.Field{}}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			below := d.schema(v[key])
			if below == nil {
				return nil
			}
			s.Map.Fields[key] = schema.Field{Type: below, Required: v[key] != nil && d.chance(50)}
		}
		s.Map.Open = d.chance(20)
	case []any:
		s.List = &schema.List{Items: schema.Open()}
		if len(v) == 1 {
			s.List.Items = d.schema(v[0])
		}
		if s.List.Items == nil {
			return nil
		}
	default:
		if s.Kinds&value.Any == 0 {
			return nil
		}
	}
	return s
}
