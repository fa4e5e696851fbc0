package editor

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// bodies adds to the definitions what is written to resources. What looks the same
// is defined once: the schema of a CRD repeats those of a pod over and over.
type bodies struct {
	definitions node
	byText      map[string]string       // the name of a definition, by its JSON
	byType      map[*schema.Type]node   // how values are described; nil while that is under way
	recursive   map[*schema.Type]string // the names of types that contain themselves
}

func newBodies() *bodies {
	return &bodies{definitions: node{}, byText: map[string]string{}, byType: map[*schema.Type]node{}, recursive: map[*schema.Type]string{}}
}

// define gives a schema a name like the one wanted, or that of an equal one.
func (b *bodies) define(wanted string, schema node) string {
	text := string(written(schema))
	name, there := b.byText[text]
	if !there {
		name = b.free(wanted)
		b.byText[text] = name
		b.definitions[name] = schema
	}
	return name
}

// written is the JSON of a schema, which is made of plain values only.
func written(schema any) []byte {
	out, err := json.Marshal(schema)
	if err != nil {
		return []byte(err.Error())
	}
	return out
}

// unfit is what a reference would have to escape.
var unfit = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// free takes a name that no definition has.
func (b *bodies) free(wanted string) string {
	wanted = unfit.ReplaceAllString(wanted, "-")
	name := wanted
	for n := 2; b.definitions[name] != nil; n++ {
		name = fmt.Sprintf("%s.%d", wanted, n)
	}
	b.definitions[name] = node{}
	return name
}

// value describes what can be written in place of a value of the type. The name is
// that of its field.
func (b *bodies) value(t *schema.Type, name string) any {
	if !t.Known() {
		return true
	}
	switch before, seen := b.byType[t]; {
	case before != nil:
		return before
	case seen:
		if b.recursive[t] == "" {
			b.recursive[t] = b.free(name)
		}
		return reference(b.recursive[t])
	}
	b.byType[t] = nil
	described := b.describe(t, name)
	switch plain := t.Map == nil && t.List == nil && t.Limit == nil; {
	case b.recursive[t] != "":
		b.definitions[b.recursive[t]], described = described, reference(b.recursive[t])
	case plain:
		described = reference(b.define(strings.Join(kinds(t.Kinds), "-or-"), described))
	case t.Map != nil && len(t.Map.Fields) > 0, len(written(described)) > longest:
		described = reference(b.define(name, described))
	}
	b.byType[t] = described
	return described
}

// longest is how much JSON is repeated rather than defined.
const longest = 100

// describe is value in full.
func (b *bodies) describe(t *schema.Type, name string) node {
	if t.Limit != nil && len(t.Limit.Enum) > 0 && t.Kinds&(value.Map|value.List) == 0 {
		return wordOrTemplate(append(slices.DeleteFunc(slices.Clone(t.Limit.Enum), func(v any) bool { return v == nil }), nil)...)
	}
	// Any value may be a template, and null leaves it out.
	out := node{"type": slices.Compact(append(kinds(t.Kinds), "string", "null"))}
	if t.Kinds&value.String == 0 {
		out["pattern"], out["patternErrorMessage"] = hole, orHole(kinds(t.Kinds)...)
	}
	limit(out, t)
	if t.Map != nil {
		b.entries(out, t.Map, name)
	}
	if t.List != nil {
		out["items"] = b.value(t.List.Items, name)
	}
	return out
}

// kinds lists what JSON schema calls kinds; a text comes last.
func kinds(set value.Kind) []string {
	var out []string
	for _, kind := range jsonTypes {
		if set&kind.of != 0 {
			out = append(out, kind.name)
		}
	}
	return out
}

var jsonTypes = []struct {
	of   value.Kind
	name string
}{
	{value.Bool, "boolean"},
	{value.Int, "integer"},
	{value.Float, "number"},
	{value.List, "array"},
	{value.Map, "object"},
	{value.String, "string"},
}

// entries describes those of a map. Which of them are required does not matter: a
// body has part of the object, and templates among the keys may give the rest.
func (b *bodies) entries(out node, m *schema.Map, name string) {
	properties := node{}
	for _, field := range (&schema.Type{Map: m}).Names() {
		properties[field] = b.value(m.Fields[field].Type, field)
	}
	if len(properties) > 0 {
		out["properties"] = properties
	}
	switch {
	case m.Values != nil:
		out["additionalProperties"] = b.value(m.Values, name)
	case !m.Open:
		closed(out)
	}
}

// closed refuses fields that are not known, unless a template names them.
func closed(out node) {
	out["additionalProperties"] = false
	out["patternProperties"] = node{hole: true}
}

// limit adds those limits that hold for a template as well. How long a text is
// does not.
func limit(out node, t *schema.Type) {
	if t.Limit == nil {
		return
	}
	bound := func(keyword string, exclusive bool, limit *float64) {
		if limit == nil {
			return
		}
		if exclusive {
			keyword = "exclusive" + string(keyword[0]-'a'+'A') + keyword[1:]
		}
		out[keyword] = *limit
	}
	bound("minimum", t.Limit.ExclusiveMinimum, t.Limit.Minimum)
	bound("maximum", t.Limit.ExclusiveMaximum, t.Limit.Maximum)
}
