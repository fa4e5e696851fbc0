package corpus

import (
	"strings"
)

// readShapes are conditions on single values and messages that show them, with every way to deal with what may be
// absent.
var readShapes = []shape{
	{name: "equals", fits: isScalar, write: with(func(p place, v string) string { return seen(p.read("object") + " == " + v) })},
	{name: "equals in reverse", fits: isScalar, write: with(func(p place, v string) string { return seen(v + " != " + p.read("object")) })},
	{name: "is there", fits: unsure, write: on(func(p place) string { return seen(p.read("object") + " != nil") })},
	{name: "text with default", fits: isText, write: on(func(p place) string {
		return seen(`(` + p.read("object") + ` ?? "") startsWith "ex" || len(` + p.read("object") + ` ?? "") > 3`)
	})},
	{name: "lenient default", fits: isText, write: on(func(p place) string { return seen(`(` + p.plain("object") + ` ?? "none") != "none"`) })},
	{name: "narrowed by not nil", fits: both(isText, unsure), write: on(func(p place) string {
		return seen(p.read("object") + " != nil && " + p.plain("object") + ` contains "ex"`)
	})},
	{name: "narrowed by parent", fits: both(isScalar, deep, unsureParent), write: with(func(p place, v string) string {
		return seen(p.parent().read("object") + " != nil && " + p.plain("object") + " == " + v)
	})},
	{name: "narrowed by in", fits: both(isText, deep, unsure), write: on(func(p place) string {
		return seen(`"` + p.last().key + `" in ` + p.parent().read("object") + " && lower(" + p.plain("object") + `) == "ex"`)
	})},
	{name: "narrowed by let", fits: both(isNumber, deep, unsure), write: on(func(p place) string {
		return "let:\n  there: '" + p.read("object") + " != nil'\n" + seen("there && "+p.plain("object")+" > 1")
	})},
	{name: "narrowed by when", fits: both(isScalar, unsure), write: on(func(p place) string {
		return told(p.read("object")+" != nil", "it is ${"+p.plain("object")+"}")
	})},
	{name: "narrowed by the when of the action", fits: both(isScalar, unsure), write: on(func(p place) string {
		return "watch: it\nactions:\n- when: '" + p.read("object") + " != nil'\n  event: {reason: Seen, message: 'it is ${" + p.plain("object") + "}'}\n"
	})},
	{name: "ternary", fits: both(isText, unsure), write: on(func(p place) string {
		return told("", "it is ${"+p.read("object")+" != nil ? upper("+p.plain("object")+`) : "nothing"}`)
	})},
	{name: "absent or", fits: both(isNumber, unsure), write: with(func(p place, v string) string {
		return seen(p.read("object") + " == nil || " + p.read("object") + " != " + v)
	})},
	{name: "enum", fits: isEnum, write: members(func(p place, v string) string { return seen(p.read("object") + " in [" + v + "]") })},
	{name: "not in enum", fits: isEnum, write: members(func(p place, v string) string { return seen("not (" + p.read("object") + " in [" + v + "])") })},
	{name: "calculates", fits: isNumber, write: on(func(p place) string { return seen("(" + p.read("object") + " ?? 0) + 1 > 3") })},
	{name: "remainder", fits: both(isInt, unsure), write: on(func(p place) string {
		return seen(p.read("object") + " != nil && " + p.plain("object") + " % 2 == 0 && div(" + p.plain("object") + ", 2) >= 1")
	})},
	{name: "boolean with default", fits: isBool, write: on(func(p place) string { return seen("!(" + p.read("object") + " ?? false)") })},
	{name: "boolean is true", fits: isBool, write: on(func(p place) string { return seen(p.read("object") + " == true") })},
	{name: "boolean narrowed", fits: both(isBool, unsure), write: on(func(p place) string {
		return seen(p.read("object") + " != nil && " + p.plain("object"))
	})},
	{name: "quantity", fits: isQuantity, write: on(func(p place) string { return seen("quantity(" + p.read("object") + ` ?? 0) < "1Gi"`) })},
	{name: "quantity narrowed", fits: both(isQuantity, unsure), write: on(func(p place) string {
		return seen(p.read("object") + " != nil && quantity(" + p.plain("object") + `) + "1Mi" > quantity("1500m")`)
	})},
	{name: "integer or text", fits: both(isIntOrText, unlimited), write: on(func(p place) string {
		return seen(p.read("object") + ` == 1 || ` + p.read("object") + ` == "25%" || string(` + p.read("object") + ` ?? "") endsWith "%"`)
	})},
	{name: "time", fits: both(isDate, unsure), write: on(func(p place) string {
		return seen(p.read("object") + " != nil && olderThan(" + p.plain("object") + `, "1h")`)
	})},
	{name: "times", fits: both(isDate, unsure), write: on(func(p place) string {
		return seen(p.read("object") + " != nil && timestamp(" + p.plain("object") + `) - object.metadata.creationTimestamp > "5m"`)
	})},
	{name: "never absent", fits: both(isText, place.sure), write: on(func(p place) string {
		return told("len("+p.plain("object")+") > 0", "it is ${"+p.plain("object")+"}")
	})},
	{name: "number never absent", fits: both(isNumber, place.sure), write: on(func(p place) string {
		return seen(p.plain("object") + " + 1 > 2")
	})},
}

// unsure is a place that may be absent: whether others are there is no question.
func unsure(p place) bool { return !p.sure() }

func unsureParent(p place) bool { return !p.parent().sure() }

func deep(p place) bool { return len(p.steps) > 2 }

func unlimited(p place) bool { return p.typ.Limit == nil }

// on makes a rule of a place alone.
func on(text func(p place) string) func(*generator, place) draft {
	return func(_ *generator, p place) draft { return draft{text: text(p)} }
}

// with makes a rule of a place and a value that it may have, as an expression.
func with(text func(p place, v string) string) func(*generator, place) draft {
	return func(_ *generator, p place) draft {
		v, ok := literalOf(p)
		if !ok {
			return draft{}
		}
		return draft{text: text(p, v)}
	}
}

// members makes a rule of a place and the members of its enum, as expressions with commas between.
func members(text func(p place, v string) string) func(*generator, place) draft {
	return func(_ *generator, p place) draft {
		var all []string
		for _, v := range limits(p.typ).Enum {
			if text, ok := literal(v); ok {
				all = append(all, text)
			}
		}
		if len(all) == 0 {
			return draft{}
		}
		return draft{text: text(p, strings.Join(all, ", "))}
	}
}
