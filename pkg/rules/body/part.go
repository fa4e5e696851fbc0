package body

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// pair is a type that is compared with a place.
type pair struct{ given, into *schema.Type }

// part compares a map of one schema with the place of another. Schemas may contain
// themselves, so each pair is looked at once.
func (f fit) part(given, into *schema.Type) *fault {
	this := pair{given, into}
	if given == into || given.Map == nil || into.Map == nil || into.Map.Open || slices.Contains(*f.seen, this) || len(*f.seen) >= mostPairs {
		return nil
	}
	*f.seen = append(*f.seen, this)
	for _, name := range given.Names() {
		if field := given.Map.Fields[name]; field.Required && !typing.From(field).CanBeNil() {
			if wrong := f.certain(name, field, into); wrong != nil {
				return wrong.among(given, into)
			}
		}
	}
	if wrong := f.lacking(given, into); wrong != nil {
		return wrong.among(given, into)
	}
	if wrong := strangers(given, into); wrong != nil {
		return wrong
	}
	return f.copied(given, into)
}

// copied compares the entries that may be there, as if each were written out.
func (f fit) copied(given, into *schema.Type) *fault {
	var both []string
	var wrong *fault
	for _, name := range given.Names() {
		field := given.Map.Fields[name]
		if unfit := f.certain(name, field, into); unfit == nil && field.Type.Known() {
			both = append(both, strconv.Quote(name))
		} else if wrong == nil {
			wrong = unfit
		}
	}
	if wrong != nil && len(both) > 0 {
		const few = 8
		wrong.hint = "pick(x, " + strings.Join(both[:min(len(both), few)], ", ") + ") has the entries of x that are taken here"
	}
	return wrong
}

// mostPairs is how many types below one are compared with places.
const mostPairs = 50

// certain compares an entry that is surely there.
func (f fit) certain(name string, field schema.Field, into *schema.Type) *fault {
	at, possible := into.Field(name)
	if !possible {
		for _, v := range into.ValidatePath(name) {
			return &fault{v.Code, v.Message, v.Hint}
		}
		return nil
	}
	if wrong := f.misfit(typing.From(field), at.Type); wrong != nil {
		return &fault{wrong.code, name + ": " + wrong.message, ""}
	}
	return nil
}

// lacking refuses what never has an entry that there must be.
func (f fit) lacking(given, into *schema.Type) *fault {
	if f.how != schema.Whole || given.Map.Open {
		return nil
	}
	for _, name := range into.Names() {
		field := into.Map.Fields[name]
		if _, possible := given.Field(name); !possible && field.Required && field.Default == nil {
			return &fault{document.CodeMissingField, fmt.Sprintf("it never has the field %q", name), ""}
		}
	}
	return nil
}

// strangers refuses a map of which no entry that it can have would be taken.
func strangers(given, into *schema.Type) *fault {
	if given.Map.Open || len(given.Map.Fields) == 0 && given.Map.Values == nil || into.Object || given.Object {
		return nil
	}
	if fieldMeets(given, into) || given.Map.Values != nil && valueMeets(given.Map.Values, into) {
		return nil
	}
	wrong := &fault{document.CodeTypeMismatch, fmt.Sprintf("want %s, have %s", entriesOf(into), entriesOf(given)), ""}
	return wrong.among(given, into)
}

// fieldMeets reports whether a place may take any field that a map has by name.
func fieldMeets(given, into *schema.Type) bool {
	for name, field := range given.Map.Fields {
		if at, possible := into.Field(name); possible && meet(field.Type, at.Type) {
			return true
		}
	}
	return false
}

// valueMeets is fieldMeets for a value under a key that is not known.
func valueMeets(values, into *schema.Type) bool {
	for _, field := range into.Map.Fields {
		if meet(values, field.Type) {
			return true
		}
	}
	return into.Map.Values != nil && meet(values, into.Map.Values)
}

// meet reports whether a value of one type may be one of the other.
func meet(given, into *schema.Type) bool {
	return !given.Known() || !into.Known() || given.Kinds == 0 || into.Kinds == 0 ||
		written(given.Kinds)&accepted(into) != 0
}

// entriesOf names what a map is of.
func entriesOf(t *schema.Type) string {
	const few = 4
	names := t.Names()
	switch {
	case len(names) == 0 && t.Map.Values.Known():
		return fmt.Sprintf("a map in which each value is %s", t.Map.Values.Kinds&^value.Nil)
	case len(names) == 0:
		return "a map"
	case len(names) > few:
		return fmt.Sprintf("a map with fields such as %s", strings.Join(names[:few], ", "))
	default:
		return fmt.Sprintf("a map with the fields %s", strings.Join(names, ", "))
	}
}

// among adds a hint to what is wrong with a map where one is in the other.
func (f *fault) among(given, into *schema.Type) *fault {
	if name := entryLike(given, into); name != "" {
		return &fault{f.code, f.message, "did you mean its field " + name + "?"}
	}
	if name := entryLike(into, given); name != "" {
		return &fault{f.code, f.message, "write {" + name + ": ...} around it"}
	}
	return f
}

// entryLike is the field of a map that is as another type is, or "".
func entryLike(t, other *schema.Type) string {
	for _, name := range t.Names() {
		if field := t.Map.Fields[name].Type; field == other || texts(field) && texts(other) {
			return name
		}
	}
	return ""
}

// texts reports a map of texts, such as labels.
func texts(t *schema.Type) bool {
	return t != nil && t.Map != nil && len(t.Map.Fields) == 0 && t.Map.Values != nil && t.Map.Values.Kinds&^value.Nil == value.String
}
