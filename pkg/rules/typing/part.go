package typing

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// part is what a schema allows in one place, less what is known not to be absent.
type part struct {
	schema  *schema.Type
	place   place
	present *Facts
}

// place is what is known of a part beyond its schema.
type place uint8

const (
	inPart place = iota
	// inObject is a whole object of a cluster.
	inObject
	// perhapsEmpty is a status that is absent before somebody writes it, and read as
	// an empty map.
	perhapsEmpty
)

var aText = &schema.Type{Kinds: value.String}

func fromSchema(s *schema.Type, at place) Type {
	if !s.Known() {
		return unknown
	}
	return Type{kinds: s.Kinds, parts: []part{{schema: s, place: at}}}.measured()
}

func (p part) samePlace(q part) bool { return p.schema == q.schema && p.place == q.place }

func (p part) equal(q part) bool { return p.samePlace(q) && p.present.equal(q.present) }

// field is what the map holds under a key, if it can hold it. That a path never reads
// nil there says nothing of what is stored, unless it says something of what is below.
func (p part) field(key string) (Type, bool) {
	f, always := p.declared(key)
	if f.Type == nil {
		return Of(value.Nil), false
	}
	field := From(f)
	if always {
		field = field.NonNil()
	}
	if p.place == perhapsEmpty && p.present.empty() {
		field = field.Nilable()
	}
	if len(field.parts) == 0 {
		return field, true
	}
	// The parts are new, and nobody else has them yet.
	if below := p.present.child(key); below != nil && (!p.readsEmpty(key) || !below.empty()) {
		field.parts[0].present = below
		field = field.NonNil()
		if below.text != "" && field.kinds == value.String {
			return fromSchema(&schema.Type{Kinds: value.String, Limit: &schema.Limits{Enum: []any{below.text}}}, inPart), true
		}
	}
	if p.whole() && key == "status" && field.CanBeNil() {
		field.parts[0].place = perhapsEmpty
	}
	return field, true
}

// declared is what is known of a field, with no type if there can be none, and
// whether every object has it.
func (p part) declared(key string) (f schema.Field, always bool) {
	f, _ = p.schema.Field(key)
	switch {
	case p.place == inObject && key == "metadata" && f.Type == schema.ClusterMetadata():
		return f, true
	case p.place == inObject && key == "metadata":
		return schema.Field{Type: schema.Metadata()}, true
	case p.whole() && (key == "apiVersion" || key == "kind"):
		if !f.Type.Known() {
			f.Type = aText
		}
		return f, true
	default:
		return f, false
	}
}

// whole reports whether it is a whole object, of a cluster or embedded in one.
func (p part) whole() bool { return p.place == inObject || p.schema.Object }

func (p part) readsEmpty(key string) bool {
	switch key {
	case "spec", "status":
		return p.whole()
	case "labels", "annotations":
		return p.schema == schema.Metadata() || p.schema == schema.ClusterMetadata()
	default:
		return false
	}
}

// values is any value that the map holds.
func (p part) values() Type {
	m := p.schema.Map
	switch {
	case m == nil:
		return Type{}
	case m.Open, len(m.Fields) > maxSize:
		return unknown
	}
	var values Type
	if m.Values != nil {
		values = fromSchema(m.Values, inPart)
	}
	for _, key := range p.schema.Names() {
		values = values.or(fromSchema(m.Fields[key].Type, inPart))
	}
	return values
}
