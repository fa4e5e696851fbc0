package corpus

import (
	"strconv"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// seen is a rule that records an event where a condition holds.
func seen(when string) string {
	return "watch: it\nwhen: '" + when + "'\nactions:\n- event: {reason: Seen, message: seen}\n"
}

// told is a rule that says something where a condition holds, if there is one.
func told(when, message string) string {
	if when != "" {
		when = "when: '" + when + "'\n"
	}
	return "watch: it\n" + when + "actions:\n- event: {reason: Seen, message: '" + message + "'}\n"
}

// patched is a rule that writes a body of a kind, merge or apply, to the place where it goes.
func (g *generator) patched(p place, kind, text string) draft {
	subresource, ok := g.subresource(p)
	if !ok {
		return draft{}
	}
	body := subresource + kind + ": " + p.nested(text)
	return draft{text: "watch: it\n" + g.guard(p) + "actions:\n- patch: {" + body + "}\n", writes: p.String()}
}

// guard is the condition that makes it safe to write to a place: whatever is optional above it is there, or what else
// it needs would be missing.
func (g *generator) guard(p place) string {
	if len(p.steps) < 2 || p.parent().sure() {
		return ""
	}
	return "when: '" + p.parent().read("object") + " != nil'\n"
}

// subresource is the start of a patch that writes to a place.
func (g *generator) subresource(p place) (start string, ok bool) {
	_, has := g.resource.Subresources["status"]
	switch {
	case p.steps[0].key != "status":
		return "", true
	case has:
		return "subresource: status, ", true
	default:
		return "", g.resource.SubresourcesKnown
	}
}

// literal is a value as an expression writes it, if that needs no escapes in YAML either.
func literal(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return `"` + v + `"`, simple(v)
	case int64:
		return strconv.FormatInt(v, 10), v >= 0
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), v >= 0
	case bool:
		return strconv.FormatBool(v), true
	default:
		return "", false
	}
}

func simple(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune("'\"\\${}#`", r) })
}

// literalOf is a value that a place may have.
func literalOf(p place) (string, bool) {
	v, ok := sample(p.typ)
	if !ok {
		return "", false
	}
	return literal(v)
}

// What a place holds.

func isText(p place) bool { return kinds(p.typ) == value.String && p.typ.Format != schema.Quantity }
func isBool(p place) bool { return kinds(p.typ) == value.Bool }
func isInt(p place) bool  { return kinds(p.typ) == value.Int }
func isNumber(p place) bool {
	return kinds(p.typ)&value.Number != 0 && kinds(p.typ)&^value.Number == 0
}

func isScalar(p place) bool    { return isText(p) || isBool(p) || isNumber(p) }
func isFreeText(p place) bool  { return isText(p) && p.typ.Limit == nil && p.typ.Format == "" }
func isEnum(p place) bool      { return isText(p) && len(limits(p.typ).Enum) > 0 }
func isQuantity(p place) bool  { return p.typ != nil && p.typ.Format == schema.Quantity }
func isIntOrText(p place) bool { return kinds(p.typ) == value.Int|value.String && !isQuantity(p) }
func isDate(p place) bool {
	return isText(p) && (p.typ.Format == schema.DateTime || p.typ.Format == schema.Time)
}
func isList(p place) bool { return kinds(p.typ) == value.List && p.typ.List != nil }

func isListOfMaps(p place) bool { return isList(p) && closed(p.typ.List.Items) }

func isListOfText(p place) bool {
	return isList(p) && kinds(p.typ.List.Items) == value.String && p.typ.List.Items.Format == ""
}

func isFreeMap(p place) bool {
	return kinds(p.typ) == value.Map && p.typ.Map != nil && p.typ.Map.Values != nil && len(p.typ.Map.Fields) == 0
}

func isMapOfText(p place) bool {
	return isFreeMap(p) && kinds(p.typ.Map.Values) == value.String && p.typ.Map.Values.Limit == nil && p.typ.Map.Values.Format == ""
}

// both joins conditions on a place.
func both(tests ...func(place) bool) func(place) bool {
	return func(p place) bool {
		for _, test := range tests {
			if !test(p) {
				return false
			}
		}
		return true
	}
}
