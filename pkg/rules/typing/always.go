package typing

import "github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"

// certainty is how sure it is that a map is a whole object, which is one with
// apiVersion and kind. Paths read some maps that such an object lacks as empty.
type certainty uint8

const (
	never certainty = iota
	perhaps
	surely
)

// alwaysMap tells whether a path reads an absent field as an empty map.
func (t Type) alwaysMap(key string) certainty {
	switch key {
	case "spec", "status":
		return t.isObject()
	case "labels", "annotations":
		return t.below
	default:
		return never
	}
}

func (t Type) isObject() certainty {
	object := surely
	for _, key := range [...]string{"apiVersion", "kind"} {
		switch field, result := t.stored(key); {
		case result == Lacking:
			return never
		case result == Unsure || field.CanBeNil():
			object = perhaps
		}
	}
	return object
}

// orEmpty is what a path reads of a field that may be an empty map instead of nil.
// What a schema requires of the map it has even then, but for the status, of which
// [part.field] knows.
func (t Type) orEmpty(field Type, result FieldResult, how certainty) (Type, FieldResult) {
	built := t.fields != nil
	switch {
	case result == Lacking && built && how == perhaps:
		return unknown, Unsure
	case result == Lacking && built:
		return Of(value.Map), Found
	case result != Found || !field.CanBeNil():
		return field, result
	case how == perhaps:
		return field.or(Map(nil)), Found
	case built || field.kinds&value.Map == 0:
		return field.NonNil().or(Map(nil)), Found
	default:
		return field.NonNil(), Found
	}
}
