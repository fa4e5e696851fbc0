package differential

import (
	"math/rand/v2"
	"regexp"
	"strings"

	"pgregory.net/rapid"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// values makes values of types. It is for one goroutine.
type values struct {
	*rand.Rand
	room  int     // how many more maps, lists and scalars are made
	wrong float64 // how often a value is none of its type
}

// maybe is true in a share of the cases.
func (g *values) maybe(share float64) bool { return g.Float64() < share }

func pick[T any](g *rand.Rand, all ...T) T { return all[g.IntN(len(all))] }

// deepest bounds what is made of types that contain themselves.
const deepest = 10

// value makes a value that the type allows, most of the time.
func (g *values) value(t *schema.Type, depth int) any {
	g.room--
	switch {
	case g.maybe(g.wrong):
		return g.garbage()
	case t == nil || !t.Known() || depth > deepest:
		return g.anything()
	case t.Limit != nil && len(t.Limit.Enum) > 0:
		return pick(g.Rand, t.Limit.Enum...)
	}
	var can []value.Kind
	for _, one := range []value.Kind{value.Map, value.List, value.String, value.Int, value.Float, value.Bool} {
		if t.Kinds&one != 0 && (one != value.Map || t.Map != nil) && (one != value.List || t.List != nil) {
			can = append(can, one)
		}
	}
	if len(can) == 0 || t.Kinds&value.Nil != 0 && g.maybe(0.05) {
		return nil
	}
	switch kind := pick(g.Rand, can...); kind {
	case value.Map:
		return g.fields(t, depth)
	case value.List:
		return g.list(t, depth)
	case value.String:
		return g.text(t)
	case value.Bool:
		return g.maybe(0.5)
	default:
		return g.number(t, kind)
	}
}

// garbage is of no type in particular.
func (g *values) garbage() any {
	return pick[any](g.Rand, nil, "garbage", int64(7), 1.5, true, map[string]any{"unknown": "x"}, []any{"x"}, "", int64(-1), []any{}, map[string]any{})
}

// anything is what stands where nothing is known.
func (g *values) anything() any {
	return pick[any](g.Rand, "text", int64(3), 2.5, false, map[string]any{"a": map[string]any{"b": int64(1)}}, []any{int64(1), "two", map[string]any{"c": nil}},
		map[string]any{"a": nil}, int64(1)<<53+1)
}

func (g *values) fields(t *schema.Type, depth int) any {
	out := map[string]any{}
	if t.Object {
		out["apiVersion"], out["kind"] = "example.com/v1", "Example"
		out["metadata"] = map[string]any{"name": "example"}
	}
	for _, name := range t.Names() {
		field := t.Map.Fields[name]
		if t.Object && out[name] != nil {
			continue
		}
		share := 0.45 / float64(depth+1)
		if len(t.Map.Fields) > 15 {
			share /= 3
		}
		if field.Required && !g.maybe(g.wrong/2) || g.room > 0 && g.maybe(share) {
			out[name] = g.value(field.Type, depth+1)
		}
	}
	if t.Map.Values != nil || t.Map.Open {
		for range g.IntN(3) {
			out[pick(g.Rand, "a", "b", "c.d", "e/f")] = g.value(t.Map.Values, depth+1)
		}
	}
	if g.maybe(g.wrong / 2) {
		out["unknownField"] = "x"
	}
	return out
}

func (g *values) list(t *schema.Type, depth int) any {
	out := []any{}
	least, most := 0, 3
	if l := t.Limit; l != nil && l.MinItems != nil {
		least = int(*l.MinItems)
	}
	if l := t.Limit; l != nil && l.MaxItems != nil {
		most = min(most, int(*l.MaxItems))
	}
	if g.room < 0 {
		most = least
	}
	for range min(5, least+g.IntN(max(1, most-least+1))) {
		item := g.value(t.List.Items, depth+1)
		if element, is := item.(map[string]any); is {
			for _, key := range t.List.Keys {
				if field, _ := t.List.Items.Field(key); element[key] == nil && field.Default == nil {
					element[key] = g.value(field.Type, depth+1)
				}
			}
		}
		out = append(out, item)
	}
	return out
}

var words = []string{"a", "b", "some-name", "example.com", "1", "5m", "10s", "100Mi", "50%", "https://example.com/x", "A text.", "x_y", "10.0.0.0/24", "80"}

func (g *values) text(t *schema.Type) string {
	l := schema.Limits{}
	if t.Limit != nil {
		l = *t.Limit
	}
	out := pick(g.Rand, words...)
	switch {
	case l.Pattern != "" && g.maybe(0.9):
		out = matching(l.Pattern, g.IntN(1<<20))
	case t.Format == schema.DateTime:
		out = pick(g.Rand, "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678+01:00")
	case t.Format == schema.Quantity:
		out = pick(g.Rand, "1", "100m", "1Gi", "0.5")
	}
	if l.MinLength != nil && len(out) < int(*l.MinLength) {
		out += strings.Repeat("x", int(*l.MinLength)-len(out))
	}
	if l.MaxLength != nil && len(out) > int(*l.MaxLength) && g.maybe(0.9) {
		out = out[:*l.MaxLength]
	}
	return out
}

// matching is a text that a pattern matches, if there is an easy one.
func matching(pattern string, seed int) (text string) {
	defer func() {
		if recover() != nil {
			text = "a"
		}
	}()
	if _, err := regexp.Compile(pattern); err != nil || len(pattern) > 300 {
		return "a"
	}
	text = strings.ToValidUTF8(rapid.StringMatching(pattern).Example(seed), "x")
	if len(text) > 100 || strings.ContainsAny(text, "@\x00") {
		return "a"
	}
	return text
}

func (g *values) number(t *schema.Type, kind value.Kind) any {
	low, high := -1.0, 100.0
	if l := t.Limit; l != nil && l.Minimum != nil {
		low, high = *l.Minimum, *l.Minimum+100
	}
	if l := t.Limit; l != nil && l.Maximum != nil {
		high = min(high, *l.Maximum)
	}
	if low < 0 && !g.maybe(g.wrong) {
		low = max(low, 0)
	}
	n := low + float64(g.IntN(max(1, int(high-low)+1)))
	if kind == value.Int {
		return int64(n)
	}
	return n + pick(g.Rand, 0, 0.5)
}
