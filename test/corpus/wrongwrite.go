package corpus

import (
	"strings"
)

// misnamedShapes write to fields that there are not.
var misnamedShapes = []shape{
	{name: "merges a misspelt field", codes: unknownField, fits: writable, write: misnamed("merge")},
	{name: "applies a misspelt field", codes: unknownField, fits: both(writable, mergesInApply, isScalar), write: misnamed("apply")},
	{name: "misspelt field of an element", codes: unknownField, fits: both(writable, isListOfMaps), write: misnamedInElement},
	{name: "misspelt pointer", codes: unknownField, fits: both(writable, isScalar), write: func(g *generator, p place) draft {
		v, ok := sample(p.typ)
		wrong, misspelt := g.misspelt(p)
		if !ok || !misspelt {
			return draft{}
		}
		parent := p.parent().pointer()
		d := g.operation(p, "add", mark(parent+"/"+p.last().key, parent+"/"+wrong), yamlText(v))
		d.suggests = p.last().key
		return d
	}},
	{name: "misspelt in a manifest", codes: unknownField, fits: both(writable, optionalOfSpec), write: values(misnamedInManifest)},
	{name: "manifest lacks a field", codes: missingField, fits: requiredOfSpec, write: func(g *generator, p place) draft {
		v, ok := sample(p.last().parent)
		spec, isMap := v.(map[string]any)
		if !ok || !isMap {
			return draft{}
		}
		return lacking(spec, p.last().key, func(text string) draft { return g.applied(map[string]any{"spec": raw(text)}) })
	}},
	{name: "element lacks a field", codes: missingField, fits: both(writable, isListOfMaps), write: values(func(g *generator, p place, v any) draft {
		list, _ := v.([]any)
		item, found := g.anyOf(p.typ.List.Items, both(shallow, required))
		if len(list) != 1 || !found {
			return draft{}
		}
		element, _ := list[0].(map[string]any)
		return lacking(element, item.last().key, func(text string) draft { return g.patched(p, "merge", "["+text+"]") })
	})},
	{name: "status beside its subresource", codes: subresource, fits: both(writable, isScalar, inStatus), write: values(besideSubresource)},
}

// misnamedInElement writes a list with a field of an element misspelt. It is not a required one, or it would also be wrong
// that it is missing.
func misnamedInElement(g *generator, p place) draft {
	v, ok := sample(p.typ)
	list, _ := v.([]any)
	item, found := g.anyOf(p.typ.List.Items, both(isScalar, shallow, not(demanded)))
	if !ok || !found || len(list) == 0 {
		return draft{}
	}
	element, _ := list[0].(map[string]any)
	wrong, misspelt := g.misspelt(item)
	inside, valid := sample(item.typ)
	if !misspelt || !valid {
		return draft{}
	}
	delete(element, item.last().key)
	element[mark(item.last().key, wrong)] = inside
	d := g.patched(p, "merge", yamlText(v))
	d.suggests = item.last().key
	return d
}

// misnamedInManifest makes an object with a field of its spec misspelt.
func misnamedInManifest(g *generator, p place, inside any) draft {
	v, ok := sample(p.last().parent)
	spec, isMap := v.(map[string]any)
	wrong, misspelt := g.misspelt(p)
	if !ok || !isMap || !misspelt || spec[p.last().key] != nil {
		return draft{}
	}
	spec[mark(p.last().key, wrong)] = inside
	d := g.applied(map[string]any{"spec": spec})
	d.suggests = p.last().key
	return d
}

// besideSubresource patches a status in the way that its resource does not have.
func besideSubresource(g *generator, p place, v any) draft {
	d := g.patched(p, "merge", yamlText(v))
	beside := "{merge: " + p.nested(yamlText(v)) + "}"
	through := "{subresource: status, " + beside[1:]
	if strings.Contains(d.text, through) {
		d.text = strings.Replace(d.text, through, mark(through, beside), 1)
	} else {
		d.text = strings.Replace(d.text, beside, mark(beside, through), 1)
	}
	return d
}

// lacking makes a rule of a map that has a field, or lacks it.
func lacking(m map[string]any, key string, write func(text string) draft) draft {
	if _, found := m[key]; !found {
		return draft{}
	}
	whole := yamlText(m)
	delete(m, key)
	d := write(mark(whole, yamlText(m)))
	d.suggests = key
	return d
}

// demanded is a field that the schema requires; if it has a default, it may still be left out.
func demanded(p place) bool { return p.last().field.Required }

func required(p place) bool { return demanded(p) && !p.last().field.Always }

func requiredOfSpec(p place) bool {
	return len(p.steps) == 2 && p.steps[0].key == "spec" && required(p)
}

func inStatus(p place) bool { return len(p.steps) > 1 && p.steps[0].key == "status" }

func optionalOfSpec(p place) bool {
	return len(p.steps) == 2 && p.steps[0].key == "spec" && p.optional()
}

// misnamed writes a place under a misspelt name.
func misnamed(kind string) func(*generator, place) draft {
	return values(func(g *generator, p place, v any) draft {
		wrong, ok := g.misspelt(p)
		if !ok {
			return draft{}
		}
		last := p.last()
		last.key = mark(last.key, wrong)
		misnamed := place{steps: append(p.steps[:len(p.steps)-1:len(p.steps)-1], last), typ: p.typ}
		d := g.patched(misnamed, kind, yamlText(v))
		d.writes, d.suggests = p.String(), p.last().key
		return d
	})
}
