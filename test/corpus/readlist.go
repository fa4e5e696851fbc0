package corpus

// listShapes are conditions on lists and maps, and on the elements of lists.
var listShapes = []shape{
	{name: "has elements", fits: isList, write: on(func(p place) string {
		return told("len("+p.read("object")+") > 0", "there are ${len("+p.read("object")+")}")
	})},
	{name: "contains", fits: isListOfText, write: elements(func(p place, v string) string {
		return seen(v + " in " + p.read("object"))
	})},
	{name: "some text", fits: isListOfText, write: elements(func(p place, v string) string {
		return seen("any(" + p.read("object") + ", # == " + v + ")")
	})},
	{name: "joined", fits: isListOfText, write: on(func(p place) string {
		return told("", `all: ${join(sort(`+p.read("object")+`), ", ")}`)
	})},
	{name: "some element", fits: isListOfMaps, write: items(isScalar, func(p, item place, v string) string {
		return seen("any(" + p.read("object") + ", " + item.read("#") + " == " + v + ")")
	})},
	{name: "elements in a let", fits: isListOfMaps, write: items(isScalar, func(p, item place, v string) string {
		return "let:\n  chosen: 'filter(" + p.read("object") + ", " + item.read("#") + " != " + v + ")'\n" +
			told("len(chosen) > 1", "chosen are ${len(chosen)}")
	})},
	{name: "element with number", fits: isListOfMaps, write: items(isNumber, func(p, item place, _ string) string {
		return seen("all(" + p.read("object") + ", (" + item.read("#") + " ?? 1) >= 1)")
	})},
	{name: "element narrowed", fits: isListOfMaps, write: items(both(isText, unsure), func(p, item place, _ string) string {
		return seen("count(" + p.read("object") + ", " + item.read("#") + " != nil && " + item.plain("#") + ` startsWith "ex") > 1`)
	})},
	{name: "column", fits: isListOfMaps, write: items(isScalar, func(p, item place, v string) string {
		return seen(v + " in map(" + p.read("object") + ", " + item.read("#") + ")")
	})},
	{name: "found", fits: isListOfMaps, write: items(isText, func(p, item place, v string) string {
		return seen("find(" + p.read("object") + ", " + item.read("#") + " == " + v + ") != nil")
	})},
	{name: "first", fits: isListOfMaps, write: items(both(isScalar, shallow), func(p, item place, v string) string {
		return seen("first(" + p.read("object") + ")" + member(item.last().key, true) + " == " + v)
	})},
	{name: "pipe", fits: isListOfMaps, write: items(both(isText, place.sure), func(p, item place, _ string) string {
		return told("", "names: ${"+p.read("object")+" | map("+item.plain("#")+") | uniq() | join(\"+\")}")
	})},
	{name: "new maps", fits: isListOfMaps, write: items(isScalar, func(p, item place, _ string) string {
		return seen("len(map(" + p.read("object") + ", {{at: #index, what: " + item.read("#") + "}})) > 2")
	})},
	{name: "sorted", fits: isListOfMaps, write: items(both(isScalar, place.sure), func(p, item place, _ string) string {
		return seen("len(sortBy(" + p.read("object") + ", " + item.plain("#") + ")) > 0")
	})},
	{name: "narrowed list", fits: both(isListOfMaps, unsure), write: items(isScalar, func(p, item place, v string) string {
		return seen(p.read("object") + " != nil && none(" + p.plain("object") + ", " + item.read("#") + " == " + v + ")")
	})},
	{name: "for each", fits: isListOfMaps, write: items(both(isText, unsure), func(p, item place, _ string) string {
		return "watch: it\nactions:\n- forEach: {element: '${" + p.read("object") + "}'}\n  when: '" + item.read("element") + " != nil'\n" +
			"  event: {reason: Seen, message: 'at ${index} it is ${" + item.plain("element") + "}'}\n"
	})},
	{name: "free key", fits: isMapOfText, write: on(func(p place) string {
		return seen("(" + withKey(p, ".example") + ` ?? "") != ""`)
	})},
	{name: "free key narrowed", fits: isMapOfText, write: on(func(p place) string {
		return seen(`"example" in ` + p.read("object") + ` && ` + p.plain("object") + `.example startsWith "ex"`)
	})},
	{name: "quoted key", fits: isMapOfText, write: on(func(p place) string {
		return seen(withKey(p, `["example.com/a-b"]`) + ` == "ex"`)
	})},
	{name: "all values", fits: isMapOfText, write: on(func(p place) string {
		return seen("all(values(" + p.read("object") + `), # != "") && len(` + p.read("object") + ") < 9")
	})},
	{name: "keys", fits: isFreeMap, write: on(func(p place) string {
		return told("len("+p.read("object")+") > 0", `keys: ${join(keys(`+p.read("object")+`), ", ")}`)
	})},
}

// withKey is a key of a free map that may be absent.
func withKey(p place, access string) string {
	if p.last().present {
		return p.read("object") + access
	}
	if access[0] == '.' {
		access = access[1:]
	}
	return p.read("object") + "?." + access
}

func shallow(p place) bool { return len(p.steps) == 1 }

// elements makes a rule of a list and a value that its elements may have.
func elements(text func(p place, v string) string) func(*generator, place) draft {
	return func(_ *generator, p place) draft {
		v, ok := sample(p.typ.List.Items)
		if !ok {
			return draft{}
		}
		written, ok := literal(v)
		if !ok {
			return draft{}
		}
		return draft{text: text(p, written)}
	}
}

// items makes a rule of a list of maps and a place in its elements that fits, with a value that may be there.
func items(fits func(place) bool, text func(p, item place, v string) string) func(*generator, place) draft {
	return func(g *generator, p place) draft {
		item, ok := g.anyOf(p.typ.List.Items, fits)
		if !ok {
			return draft{}
		}
		v, ok := literalOf(item)
		if !ok {
			return draft{}
		}
		return draft{text: text(p, item, v)}
	}
}
