package corpus

// misspeltShapes are expressions with a field or a member of an enum that is misspelt.
var misspeltShapes = []shape{
	{name: "misspelt in a condition", codes: unknownField, fits: isScalar, write: misspelt(func(_ *generator, _ place, text string) string {
		return seen(text + " == nil")
	})},
	{name: "misspelt with a default", codes: unknownField, fits: isText, write: misspelt(func(_ *generator, _ place, text string) string {
		return seen("(" + text + ` ?? "") contains "ex"`)
	})},
	{name: "misspelt in a message", codes: unknownField, fits: isText, write: misspelt(func(_ *generator, _ place, text string) string {
		return told("", "it is ${"+text+` ?? "nothing"}`)
	})},
	{name: "misspelt list", codes: unknownField, fits: isList, write: misspelt(func(_ *generator, _ place, text string) string {
		return seen("len(" + text + ") > 0")
	})},
	{name: "misspelt in a let", codes: unknownField, fits: isScalar, write: misspelt(func(_ *generator, _ place, text string) string {
		return "let:\n  it_is: '" + text + "'\n" + seen("it_is != nil")
	})},
	{name: "misspelt in the when of an action", codes: unknownField, fits: isScalar, write: misspelt(func(_ *generator, _ place, text string) string {
		return "watch: it\nactions:\n- when: '" + text + " != nil'\n  event: {reason: Seen, message: seen}\n"
	})},
	{name: "misspelt parent", codes: unknownField, fits: deepScalar, write: func(g *generator, p place) draft {
		parent := p.parent()
		wrong, ok := g.misspelt(parent)
		if !ok {
			return draft{}
		}
		text := parent.misread("object", wrong) + member(p.last().key, !parent.last().present)
		return draft{text: seen(text + " == nil"), suggests: parent.last().key}
	}},
	{name: "misspelt in a predicate", codes: unknownField, fits: isListOfMaps, write: misspeltItem(func(p place, text string) string {
		return seen("any(" + p.read("object") + ", " + text + " == nil)")
	})},
	{name: "misspelt in map", codes: unknownField, fits: isListOfMaps, write: misspeltItem(func(p place, text string) string {
		return seen("len(uniq(map(" + p.read("object") + ", " + text + "))) > 1")
	})},
	{name: "misspelt of another object", codes: unknownField, fits: isScalar, write: func(g *generator, p place) draft {
		wrong, ok := g.misspelt(p)
		if !ok {
			return draft{}
		}
		return draft{
			text:     "with:\n  alike: {resource: it, all: true}\n" + seen("any(alike, "+p.misread("#", wrong)+" != nil)"),
			suggests: p.last().key,
		}
	}},
	{name: "misspelt member", codes: noMember, fits: isEnum, write: misspeltMember(
		func(_ *generator, p place, right, wrong string) draft {
			g := p.read("object")
			return draft{text: seen(mark(g+` == "`+right+`"`, g+` == "`+wrong+`"`))}
		})},
	{name: "misspelt member in a list", codes: noMember, fits: isEnum, write: misspeltMember(
		func(_ *generator, p place, right, wrong string) draft {
			g := p.read("object")
			return draft{text: seen("not (" + mark(g+` in ["`+right+`"]`, g+` in ["`+wrong+`"]`) + ")")}
		})},
}

func deepScalar(p place) bool {
	return isScalar(p) && len(p.steps) > 2
}

// misspelt makes a rule of a place whose last field is misspelt.
func misspelt(text func(g *generator, p place, expression string) string) func(*generator, place) draft {
	return func(g *generator, p place) draft {
		wrong, ok := g.misspelt(p)
		if !ok {
			return draft{}
		}
		return draft{text: text(g, p, p.misread("object", wrong)), suggests: p.last().key}
	}
}

// misspeltItem makes a rule of a list and a misspelt field of its elements.
func misspeltItem(text func(p place, expression string) string) func(*generator, place) draft {
	return func(g *generator, p place) draft {
		item, ok := g.anyOf(p.typ.List.Items, isScalar)
		if !ok {
			return draft{}
		}
		wrong, ok := g.misspelt(item)
		if !ok {
			return draft{}
		}
		return draft{text: text(p, item.misread("#", wrong)), suggests: item.last().key}
	}
}

// misspeltMember makes a rule of a place and a misspelt member of its enum.
func misspeltMember(write func(g *generator, p place, right, wrong string) draft) func(*generator, place) draft {
	return func(g *generator, p place) draft {
		members := enumTexts(p.typ)
		if len(members) == 0 || len(members) != len(limits(p.typ).Enum) {
			return draft{}
		}
		right := members[g.random.IntN(len(members))]
		wrong, ok := misspell(g.random, right, members)
		if !ok || !simple(wrong) {
			return draft{}
		}
		d := write(g, p, right, wrong)
		d.suggests = right
		return d
	}
}
