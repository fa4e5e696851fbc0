package corpus

import (
	"math"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// misvaluedShapes write values of another type.
var misvaluedShapes = []shape{
	{name: "number into a text", codes: mismatch, fits: both(writable, isText), write: valued("3")},
	{name: "text into a number", codes: mismatch, fits: both(writable, isNumber), write: valued(`"three"`)},
	{name: "text into a boolean", codes: mismatch, fits: both(writable, isBool), write: valued(`"true"`)},
	{name: "fraction into an integer", codes: mismatch, fits: both(writable, isInt), write: valued("1.5")},
	{name: "boolean into a quantity", codes: mismatch, fits: both(writable, isQuantity), write: valued("true")},
	{name: "text into a list", codes: mismatch, fits: both(writable, isList), write: valued("example")},
	{name: "text into a map", codes: mismatch, fits: both(writable, isMap), write: valued("example")},
	{name: "number into a map of texts", codes: mismatch, fits: both(writable, isMapOfText), write: func(g *generator, p place) draft {
		return g.patched(p, "merge", "{example: "+mark("text", "3")+"}")
	}},
	{name: "applies a number to a text", codes: mismatch, fits: both(writable, mergesInApply, isText), write: values(func(g *generator, p place, v any) draft {
		return g.patched(p, "apply", mark(yamlText(v), "3"))
	})},
	{name: "template of a number into a text", codes: mismatch, fits: both(writable, isFreeText), write: func(g *generator, p place) draft {
		return g.patched(p, "merge", mark("'${object.metadata.name}'", "'${len(object.metadata.name)}'"))
	}},
	{name: "template of a text into a number", codes: mismatch, fits: both(writable, isInt), write: func(g *generator, p place) draft {
		return g.patched(p, "merge", mark("'${len(object.metadata.name)}'", "'${object.metadata.name}'"))
	}},
	{name: "interpolated text into a boolean", codes: mismatch, fits: both(writable, isBool), write: func(g *generator, p place) draft {
		return g.patched(p, "merge", mark("'${object.metadata.generation > 1}'", "'${object.metadata.generation > 1} or not'"))
	}},
	{name: "template of a text into a list", codes: mismatch, fits: both(writable, isListOfText), write: func(g *generator, p place) draft {
		return g.patched(p, "merge", mark("'${map([object.metadata.name], #)}'", "'${object.metadata.name}'"))
	}},
}

// valued writes what is right, or something else.
func valued(wrong string) func(*generator, place) draft {
	return values(func(g *generator, p place, v any) draft {
		return g.patched(p, "merge", mark(yamlText(v), wrong))
	})
}

// unboundShapes write values of the right type that the schema excludes.
var unboundShapes = []shape{
	{name: "writes a misspelt member", codes: notInEnum, fits: both(writable, isEnum), write: misspeltMember(func(g *generator, p place, right, wrong string) draft {
		return g.patched(p, "merge", mark(jsonText(right), jsonText(wrong)))
	})},
	{name: "writes a misspelt member in a template", codes: notInEnum, fits: both(writable, isEnum), write: misspeltMember(func(g *generator, p place, right, wrong string) draft {
		start, end := `'${object.metadata.labels.env == "prod" ? "`, `" : omit()}'`
		return g.patched(p, "merge", mark(start+right+end, start+wrong+end))
	})},
	{name: "too large", codes: outOfBounds, fits: both(writable, isInt), write: excluded(func(l schema.Limits, _ any) (any, bool) {
		return next(l.Maximum, +1)
	})},
	{name: "too small", codes: outOfBounds, fits: both(writable, isInt), write: excluded(func(l schema.Limits, _ any) (any, bool) {
		return next(l.Minimum, -1)
	})},
	{name: "too long", codes: outOfBounds, fits: both(writable, isText, patternless), write: excluded(func(l schema.Limits, _ any) (any, bool) {
		const longest = 260
		if l.MaxLength == nil || *l.MaxLength > longest {
			return nil, false
		}
		return strings.Repeat("a", int(*l.MaxLength)+1), true
	})},
	{name: "too short", codes: outOfBounds, fits: both(writable, isText, patternless), write: excluded(func(l schema.Limits, _ any) (any, bool) {
		return "", l.MinLength != nil && *l.MinLength > 0
	})},
	{name: "too many", codes: outOfBounds, fits: both(writable, isAtomicList), write: excluded(func(l schema.Limits, v any) (any, bool) {
		const most = 16
		list, _ := v.([]any)
		if l.MaxItems == nil || *l.MaxItems > most || len(list) == 0 || l.UniqueItems {
			return nil, false
		}
		return slices.Repeat(list[:1], int(*l.MaxItems)+1), true
	})},
	{name: "too few", codes: outOfBounds, fits: both(writable, isList), write: excluded(func(l schema.Limits, _ any) (any, bool) {
		return []any{}, l.MinItems != nil && *l.MinItems > 0
	})},
	{name: "another pattern", codes: wrongFormat, fits: both(writable, isText, not(isEnum)), write: excluded(func(l schema.Limits, _ any) (any, bool) {
		for _, text := range []string{"?", "not this one!", "a b", "§§", "."} {
			length := schema.Limits{MinLength: l.MinLength, MaxLength: l.MaxLength}
			if l.Pattern != "" && fits(text, length) && !fits(text, l) {
				return text, true
			}
		}
		return nil, false
	})},
	{name: "no time", codes: wrongFormat, fits: both(writable, isDate), write: valued("tomorrow")},
}

func patternless(p place) bool {
	return limits(p.typ).Pattern == "" && !isEnum(p) && p.typ.Format == ""
}

// excluded writes what is right, or what the limits exclude.
func excluded(choose func(l schema.Limits, v any) (any, bool)) func(*generator, place) draft {
	return values(func(g *generator, p place, v any) draft {
		outside, ok := choose(limits(p.typ), v)
		if !ok || len(limits(p.typ).Enum) > 0 {
			return draft{}
		}
		return g.patched(p, "merge", mark(yamlText(v), yamlText(outside)))
	})
}

// next is the integer beyond a bound.
func next(bound *float64, by int64) (any, bool) {
	if bound == nil || math.Abs(*bound) > 1<<31-2 {
		return nil, false
	}
	return int64(*bound) + by, true
}
