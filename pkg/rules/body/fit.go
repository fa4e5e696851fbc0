package body

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// fault is why a place does not take what an expression gives.
type fault struct {
	code          document.Code
	message, hint string
}

// hintIn is the hint for a value that a template gives. One with text around ${ } is a
// string whatever the expression gives.
func (f *fault) hintIn(t *expression.Template) string {
	if _, alone := t.Parts(); !alone && f.code == document.CodeTypeMismatch {
		return "with text around ${ } it is a string; write all of it as one expression"
	}
	return f.hint
}

// deepest is how many lists in lists are compared. A schema may go on for ever.
const deepest = 10

// misfit returns why the API server would surely refuse what an expression gives, nil
// where it might take it. What is nil or omitted is as good as not written.
func misfit(given typing.Type, into *schema.Type, how schema.Writing) *fault {
	return fit{how: how, depth: deepest, seen: new([]pair)}.misfit(given, into)
}

// fit compares types with places.
type fit struct {
	how   schema.Writing
	depth int
	seen  *[]pair
}

func (f fit) misfit(given typing.Type, into *schema.Type) *fault {
	kinds := written(given.Kinds())
	if f.depth <= 0 || !given.Known() || !into.Known() || kinds == 0 {
		return nil
	}
	if wrong := f.constants(given, into); wrong != nil {
		return wrong
	}
	if kinds&accepted(into) == 0 {
		return &fault{document.CodeTypeMismatch, fmt.Sprintf("want %s, have %s", into.Kinds, given), conversion(given.Kinds(), into)}
	}
	return f.inside(given, kinds, into)
}

// inside looks into a map or a list.
func (f fit) inside(given typing.Type, kinds value.Kind, into *schema.Type) *fault {
	if fields, closed, built := given.Built(); built {
		return f.below(f.how).fields(fields, closed, into)
	}
	if kinds == value.List && into.List != nil && len(given.Literals()) == 0 {
		return f.below(schema.Whole).elements(given.Items(), into.List.Items)
	}
	if part := given.Schema(); part != nil && kinds == value.Map {
		return f.below(f.how).part(part, into)
	}
	return nil
}

// below compares what is in a map or a list.
func (f fit) below(how schema.Writing) fit {
	return fit{how: how, depth: f.depth - 1, seen: f.seen}
}

// elements compares those of a list.
func (f fit) elements(given typing.Type, into *schema.Type) *fault {
	wrong := f.misfit(given, into)
	if wrong == nil {
		return nil
	}
	out := &fault{wrong.code, "each element: " + wrong.message, wrong.hint}
	_, named := given.Field("name")
	switch hint, convert := strings.CutPrefix(wrong.hint, "write "); {
	case named == typing.Found && into.Known() && into.Kinds&^value.Nil == value.String:
		out.hint = "write map(list, .name)"
	case convert && strings.HasSuffix(hint, "(...)"):
		out.hint = "write map(list, " + strings.TrimSuffix(hint, "...)") + "#))"
	}
	return out
}

// written turns kinds of values that only expressions have into what a body holds in
// their place.
func written(kinds value.Kind) value.Kind {
	if kinds&(value.Computed|value.Stamped) != 0 {
		kinds |= value.String
	}
	return kinds & value.Any &^ value.Nil
}

// accepted are the kinds of values that a place takes. JSON has one kind of number.
func accepted(into *schema.Type) value.Kind {
	kinds := into.Kinds
	if kinds&value.Float != 0 {
		kinds |= value.Int
	}
	return kinds
}

// conversion says how to make what is wanted of what is there.
func conversion(have value.Kind, into *schema.Type) string {
	for _, c := range conversions() {
		if into.Kinds&c.want != 0 && have&^(c.have|value.Nil|value.Omission) == 0 {
			return c.hint
		}
	}
	return ""
}

// converter is what to write where something of one kind is and another is wanted.
type converter struct {
	want, have value.Kind
	hint       string
}

func conversions() []converter {
	return []converter{
		{value.String, value.Number | value.Bool, "write string(...)"},
		{value.String, value.List | value.Map, "write toJSON(...), or join(...) for a list of strings"},
		{value.Int, value.Number, "/ gives a float: write div(a, b), or round(...)"},
		{value.Number, value.String | value.Number | value.Quantity | value.Duration, "write int(...)"},
		{value.Bool, value.String, `compare it with something, as in x == "true"`},
		{value.List, value.Map, "write [...] around it"},
	}
}

// constants refuses a value that is one of several of which the place takes none. One of
// them alone is no mistake: it may be there only where another is written.
func (f fit) constants(given typing.Type, into *schema.Type) *fault {
	all, known := given.Constants()
	if !known {
		return nil
	}
	var first *fault
	for _, v := range all {
		violations := into.Validate(v, f.how)
		if len(violations) == 0 {
			return nil
		}
		if first == nil {
			first = &fault{violations[0].Code, violations[0].Message, violations[0].Hint}
		}
	}
	if first != nil && first.code == document.CodeNotInEnum && len(given.Literals()) == 0 {
		return first.ofEnum(all)
	}
	return first
}

// ofEnum says what a field can be, which is written in its schema only.
func (f *fault) ofEnum(all []any) *fault {
	const few = 8
	var names []string
	for _, v := range all[:min(len(all), few)] {
		text, _ := value.Text(v)
		names = append(names, strconv.Quote(value.Excerpt(text)))
	}
	if len(all) > few {
		names = append(names, "...")
	}
	wanted, _, _ := strings.Cut(f.message, ", have ")
	return &fault{f.code, wanted + ", and this can be " + strings.Join(names, ", "), ""}
}

// fields looks into a map that an expression builds.
func (f fit) fields(fields map[string]typing.Type, closed bool, into *schema.Type) *fault {
	draft := make(map[string]any, len(fields)+1)
	if !closed {
		draft[schema.SomeKeys] = schema.Unknown{}
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		draft[key] = schema.Unknown{}
		if at, possible := into.Field(key); possible {
			if wrong := f.misfit(fields[key], at.Type); wrong != nil {
				return &fault{wrong.code, key + ": " + wrong.message, wrong.hint}
			}
		}
	}
	for _, v := range into.Validate(draft, f.how) {
		return &fault{v.Code, v.Message, v.Hint}
	}
	return nil
}
