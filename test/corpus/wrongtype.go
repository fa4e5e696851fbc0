package corpus

// mistypedShapes are expressions that compare, call or go through what has another type.
var mistypedShapes = []shape{
	{name: "text compared with a number", codes: neverTrue, fits: isText, write: instead(" == ", "3")},
	{name: "number compared with a text", codes: neverTrue, fits: isNumber, write: instead(" == ", `"3"`)},
	{name: "boolean compared with a text", codes: neverTrue, fits: isBool, write: instead(" == ", `"true"`)},
	{name: "number ordered with a text", codes: mismatch, fits: isNumber, write: func(_ *generator, p place) draft {
		g := "(" + p.read("object") + " ?? 0)"
		return draft{text: seen(mark(g+" < 3", g+` < "3"`))}
	}},
	{name: "text is no number", codes: mismatch, fits: isText, write: func(_ *generator, p place) draft {
		g := "(" + p.read("object") + ` ?? "")`
		return draft{text: seen(mark("len"+g+" > 1", "abs"+g+" > 1"))}
	}},
	{name: "text is no condition", codes: mismatch, fits: isFreeText, write: func(_ *generator, p place) draft {
		g := "(" + p.read("object") + ` ?? "")`
		return draft{text: seen(mark(g+` == "ex"`, g) + " && object.metadata.generation > 1")}
	}},
	{name: "number is no list", codes: mismatch, fits: isNumber, write: func(_ *generator, p place) draft {
		g := "(" + p.read("object") + " ?? 0)"
		return draft{text: seen(mark(g+" > 3", "any("+g+", # == 3)"))}
	}},
	{name: "field of a text", codes: noFields, fits: isText, write: func(_ *generator, p place) draft {
		g := p.read("object")
		return draft{text: seen(mark(g+" == nil", g+"?.name == nil"))}
	}},
	{name: "field of a list", codes: noFields, fits: isListOfMaps, write: items(both(isScalar, shallow), func(p, item place, v string) string {
		name := member(item.last().key, true)
		return seen(mark("first("+p.read("object")+")"+name+" == "+v, p.read("object")+name+" == "+v))
	})},
	{name: "element compared with a number", codes: neverTrue, fits: isListOfMaps, write: items(isText, func(p, item place, v string) string {
		return seen("any(" + p.read("object") + ", " + mark(item.read("#")+" == "+v, item.read("#")+" == 3") + ")")
	})},
}

// absentShapes are expressions that use what may be absent as if it were there.
var absentShapes = []shape{
	{name: "through a parent", codes: absent, fits: place.maybeParent, write: func(_ *generator, p place) draft {
		return draft{text: seen(mark(p.read("object")+" == nil", p.plain("object")+" == nil"))}
	}},
	{name: "through a parent in a message", codes: absent, fits: both(isText, place.maybeParent), write: func(_ *generator, p place) draft {
		return draft{text: told("", mark("${"+p.read("object")+` ?? ""}`, "${"+p.plain("object")+"}"))}
	}},
	{name: "nothing in a message", codes: absent, fits: both(isScalar, maybe), write: func(_ *generator, p place) draft {
		return draft{text: told("", "it is "+mark("${"+p.read("object")+" == nil}", "${"+p.read("object")+"}"))}
	}},
	{name: "calculates with nothing", codes: absent, fits: both(isNumber, maybe), write: func(_ *generator, p place) draft {
		g := p.read("object")
		return draft{text: seen(mark("("+g+" ?? 0) + 1 > 3", g+" + 1 > 3"))}
	}},
	{name: "orders nothing", codes: absent, fits: both(isNumber, maybe), write: func(_ *generator, p place) draft {
		g := p.read("object")
		return draft{text: seen(mark("("+g+" ?? 0) > 3", g+" > 3"))}
	}},
	{name: "decides by nothing", codes: absent, fits: both(isBool, maybe), write: func(_ *generator, p place) draft {
		g := p.read("object")
		return draft{text: seen(mark("("+g+" ?? false) && object.metadata.generation > 1", g+" && object.metadata.generation > 1"))}
	}},
	{name: "passes nothing on", codes: absent, fits: both(isText, maybe), write: func(_ *generator, p place) draft {
		g := p.read("object")
		return draft{text: seen(mark("upper("+g+` ?? "") == "EX"`, "upper("+g+`) == "EX"`))}
	}},
	{name: "calculates with nothing of an element", codes: absent, fits: isListOfMaps, write: items(both(isNumber, maybe), func(p, item place, _ string) string {
		g := item.read("#")
		return seen("all(" + p.read("object") + ", " + mark("("+g+" ?? 0) < 9", g+" < 9") + ")")
	})},
	{name: "asks too late", codes: absent, fits: both(isNumber, maybe), write: func(_ *generator, p place) draft {
		g := p.read("object")
		return draft{text: seen(mark(g+" != nil && "+g+" > 3", g+" > 3 && "+g+" != nil"))}
	}},
}

// maybe is a place that is nil in some objects for sure.
func maybe(p place) bool { return p.optional() || p.maybeParent() }

// instead compares a place with what it may be, and with something of another type.
func instead(operator, other string) func(*generator, place) draft {
	return func(_ *generator, p place) draft {
		v, ok := literalOf(p)
		if !ok {
			return draft{}
		}
		g := p.read("object")
		return draft{text: seen(mark(g+operator+v, g+operator+other))}
	}
}
