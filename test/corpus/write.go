package corpus

import (
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// writeShapes are patches that write what the schema takes.
var writeShapes = []shape{
	{name: "merges", fits: both(writable, isScalar), write: values(func(g *generator, p place, v any) draft {
		return g.patched(p, "merge", yamlText(v))
	})},
	{name: "merges a list", fits: both(writable, isList), write: values(func(g *generator, p place, v any) draft {
		return g.patched(p, "merge", yamlText(v))
	})},
	{name: "merges a map", fits: both(writable, isMap), write: values(func(g *generator, p place, v any) draft {
		return g.patched(p, "merge", yamlText(v))
	})},
	{name: "merges any", fits: both(writable, not(isScalar)), write: values(func(g *generator, p place, v any) draft {
		return g.patched(p, "merge", yamlText(v))
	})},
	{name: "removes", fits: both(writable, place.optional), write: func(g *generator, p place) draft {
		return g.patched(p, "merge", "'${nil}'")
	}},
	{name: "applies", fits: both(writable, mergesInApply, isScalar), write: values(func(g *generator, p place, v any) draft {
		return g.patched(p, "apply", yamlText(v))
	})},
	{name: "applies an element", fits: both(writable, mergesInApply, isKeyedList), write: values(func(g *generator, p place, v any) draft {
		return g.patched(p, "apply", yamlText(v))
	})},
	{name: "merges members", fits: both(writable, isEnum), write: func(g *generator, p place) draft {
		members := enumTexts(p.typ)
		if len(members) < 2 {
			return draft{}
		}
		return g.patched(p, "merge", `'${object.metadata.labels.env == "prod" ? "`+members[0]+`" : "`+members[1]+`"}'`)
	}},
	{name: "counts up", fits: both(writable, isInt), write: func(g *generator, p place) draft {
		return g.patched(p, "merge", "'${("+p.read("object")+" ?? 0) + ("+p.read("object")+" == nil ? 1 : 0)}'")
	}},
	{name: "keeps or leaves out", fits: writable, write: func(g *generator, p place) draft {
		return g.patched(p, "merge", "'${"+p.read("object")+" ?? omit()}'")
	}},
	{name: "interpolates", fits: both(writable, isFreeText), write: func(g *generator, p place) draft {
		return g.patched(p, "merge", "'${object.metadata.name}-of-${rule.name}'")
	}},
	{name: "sets a flag", fits: both(writable, isBool), write: func(g *generator, p place) draft {
		return g.patched(p, "merge", "'${("+p.read("object")+" ?? false) || !(object.metadata.name startsWith \"x\")}'")
	}},
	{name: "writes a quantity", fits: both(writable, isQuantity), write: func(g *generator, p place) draft {
		return g.patched(p, "merge", `'${quantity(`+p.read("object")+` ?? "1Gi") + "512Mi"}'`)
	}},
	{name: "stamps", fits: both(writable, isDate), write: func(g *generator, p place) draft {
		return g.patched(p, "merge", "'${"+p.read("object")+" ?? stamp()}'")
	}},
	{name: "filters a list", fits: both(writable, isListOfMaps), write: func(g *generator, p place) draft {
		item, ok := g.anyOf(p.typ.List.Items, isScalar)
		if !ok {
			return draft{}
		}
		v, ok := literalOf(item)
		if !ok {
			return draft{}
		}
		return g.patched(p, "merge", "'${filter("+p.read("object")+", "+item.read("#")+" != "+v+")}'")
	}},
	{name: "adds to a list", fits: both(writable, isListOfText), write: elementOf(func(g *generator, p place, v string) draft {
		return g.patched(p, "merge", "'${uniq(concat("+p.read("object")+", ["+v+"]))}'")
	})},
	{name: "merges a key", fits: both(writable, isMapOfText), write: func(g *generator, p place) draft {
		return g.patched(p, "merge", "{example.com/a-b: '${object.metadata.name}'}")
	}},
	{name: "json", fits: both(writable, isScalar), write: values(func(g *generator, p place, v any) draft {
		return g.operation(p, "add", p.pointer(), yamlText(v))
	})},
	{name: "json to the end", fits: both(writable, isList, unsure), write: values(func(g *generator, p place, v any) draft {
		list, _ := v.([]any)
		if len(list) == 0 {
			return draft{}
		}
		d := g.operation(p, "add", p.pointer()+"/-", yamlText(list[0]))
		return whereThere(d, p)
	})},
}

// operation is a JSON patch of one operation.
func (g *generator) operation(p place, op, pointer, text string) draft {
	start, ok := g.subresource(p)
	if !ok {
		return draft{}
	}
	return draft{
		text:   "watch: it\n" + g.guard(p) + "actions:\n- patch: {" + start + "json: [{op: " + op + ", path: " + yamlKey(pointer) + ", value: " + text + "}]}\n",
		writes: p.String(),
	}
}

// whereThere makes an action wait for the list that it adds to, and to be content with one that is long.
func whereThere(d draft, p place) draft {
	d.text = strings.Replace(d.text, "\n- patch:", "\n- when: '"+p.read("object")+" != nil && len("+p.read("object")+") < 3'\n  patch:", 1)
	return d
}

// values makes a rule of a place and a value that it may have.
func values(write func(g *generator, p place, v any) draft) func(*generator, place) draft {
	return func(g *generator, p place) draft {
		v, ok := sample(p.typ)
		if !ok {
			return draft{}
		}
		return write(g, p, v)
	}
}

// elementOf is as values, for the elements of a list and as an expression.
func elementOf(write func(g *generator, p place, v string) draft) func(*generator, place) draft {
	return func(g *generator, p place) draft {
		v, _ := sample(p.typ.List.Items)
		text, ok := literal(v)
		if !ok {
			return draft{}
		}
		return write(g, p, text)
	}
}

// writable is a place that a patch can name and that is not the whole of an object's part.
func writable(p place) bool {
	return len(p.steps) > 1 || p.steps[0].key != "spec" && p.steps[0].key != "status"
}

// mergesInApply is a place of which server-side apply replaces no map as a whole, so that it can be applied alone.
func mergesInApply(p place) bool {
	return !slices.ContainsFunc(p.steps, func(s step) bool { return s.parent.Map.Atomic })
}

func isMap(p place) bool { return kinds(p.typ) == value.Map && p.typ.Map != nil }

func isKeyedList(p place) bool { return isList(p) && p.typ.List.Kind == schema.Keyed }

func isAtomicList(p place) bool { return isList(p) && p.typ.List.Kind == schema.Atomic }

func not(test func(place) bool) func(place) bool { return func(p place) bool { return !test(p) } }

// enumTexts are the members of an enum that expressions can write.
func enumTexts(t *schema.Type) []string {
	var out []string
	for _, v := range limits(t).Enum {
		if text, ok := v.(string); ok && text != "" && simple(text) {
			out = append(out, text)
		}
	}
	return out
}
