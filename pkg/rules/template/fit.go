package template

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// fault is why a place does not take what an expression gives.
type fault struct {
	code          document.Code
	message, hint string
}

func faultf(code document.Code, format string, args ...any) *fault {
	return &fault{code: code, message: fmt.Sprintf(format, args...)}
}

func (f *fault) withHint(hint string) *fault { return &fault{f.code, f.message, hint} }

// in says of a fault in what it is.
func (f *fault) in(name string) *fault {
	if f == nil || name == "" {
		return f
	}
	return &fault{f.code, name + ": " + f.message, f.hint}
}

func first(all []schema.Violation) *fault {
	if len(all) == 0 {
		return nil
	}
	return &fault{all[0].Code, all[0].Message, all[0].Hint}
}

// misfit returns why the API server would surely refuse what an expression gives, nil where it might take it. What is nil or omitted
// is as good as not written.
func misfit(given typing.Type, into *schema.Type, how schema.Writing) *fault {
	return (&fit{seen: map[pair]bool{}}).misfit(given, into, how)
}

// fit compares types with places. Schemas may contain themselves, so that a type is compared with each place once.
type fit struct{ seen map[pair]bool }

type pair struct{ given, into *schema.Type }

// mostPairs limits how many types of schemas are compared with places.
const mostPairs = 200

func (f *fit) misfit(given typing.Type, into *schema.Type, how schema.Writing) *fault {
	kinds := written(given.Kinds())
	if !given.Known() || !into.Known() || kinds == 0 {
		return nil
	}
	if all, known := given.Constants(); known {
		return refused(all, given, into, how)
	}
	if kinds&accepted(into) == 0 {
		return faultf(document.CodeTypeMismatch, "want %s, have %s", into.Kinds, given).withHint(conversion(given.Kinds(), into))
	}
	if of := given.Schema(); of != nil && kinds&(value.Map|value.List) != 0 {
		if of == into || kinds == value.Map && of.Map == nil || f.seen[pair{of, into}] || len(f.seen) == mostPairs {
			return nil
		}
		f.seen[pair{of, into}] = true
	}
	switch _, _, built := given.Built(); {
	case kinds == value.List && into.List != nil:
		return f.elements(given.Items(), into.List.Items)
	case kinds == value.Map && into.Map != nil && (built || given.Schema() != nil):
		return f.entries(given, into, how)
	default:
		return nil
	}
}

// written turns kinds of values that only expressions have into what a body holds in their place.
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
	for _, c := range []struct {
		want, have value.Kind
		hint       string
	}{
		{value.String, value.Number | value.Bool, "write string(...)"},
		{value.String, value.List | value.Map, "write toJSON(...), or join(...) for a list of strings"},
		{value.Int, value.Number, "/ gives a float: write div(a, b), or round(...)"},
		{value.Number, value.String | value.Number | value.Quantity | value.Duration, "write int(...)"},
		{value.Bool, value.String, `compare it with something, as in x == "true"`},
		{value.List, value.Map, "write [...] around it"},
	} {
		if into.Kinds&c.want != 0 && have&^(c.have|value.Nil|value.Omission) == 0 {
			return c.hint
		}
	}
	return ""
}

// refused returns why a place takes none of the constants that a value can be. One of them alone is no mistake: it may be there only
// where another is written.
func refused(all []any, given typing.Type, into *schema.Type, how schema.Writing) (wrong *fault) {
	for _, v := range all {
		violations := into.Validate(v, how)
		if len(violations) == 0 {
			return nil
		}
		wrong = cmp.Or(wrong, first(violations))
	}
	if wrong == nil || wrong.code != document.CodeNotInEnum || len(given.Literals()) > 0 {
		return wrong
	}
	wanted, _, _ := strings.Cut(wrong.message, ", have ")
	return faultf(wrong.code, "%s, and this can be one of %.500v", wanted, all[:min(len(all), mostNames)])
}

// elements compares those of a list.
func (f *fit) elements(given typing.Type, into *schema.Type) *fault {
	wrong := f.misfit(given, into, schema.Whole)
	switch {
	case wrong == nil && nilElement(given, into):
		return faultf(document.CodeMayBeAbsent, "an element may be absent, and nil is none here").
			withHint("?? gives it a default, ?? omit() leaves it out, and so does filter(list, # != nil)")
	case wrong == nil:
		return nil
	}
	_, named := given.Field("name")
	switch hint, convert := strings.CutPrefix(wrong.hint, "write "); {
	case named == typing.Found && into.Known() && into.Kinds&^value.Nil == value.String:
		wrong = wrong.withHint("write map(list, .name)")
	case convert && strings.HasSuffix(hint, "(...)"):
		wrong = wrong.withHint("write map(list, " + strings.TrimSuffix(hint, "...)") + "#))")
	}
	return wrong.in("each element")
}

// nilElement reports whether an element of a list can be nil where none may be.
func nilElement(given typing.Type, into *schema.Type) bool {
	return given.Known() && given.CanBeNil() && into.Known() && into.Kinds != 0 && into.Kinds&value.Nil == 0
}

// entries compares those of a map as if each were written out.
func (f *fit) entries(given typing.Type, into *schema.Type, how schema.Writing) *fault {
	of := given.Schema()
	if of != nil && of.Map.Values.Known() && len(of.Names()) == 0 {
		return f.values(of, into, how)
	}
	var wrong *fault
	var right []string
	certain := false // What is surely there tells more than what may be.
	draft := map[string]any{}
	for _, name := range given.Names() {
		draft[name] = schema.Unknown{}
		field, _ := given.Field(name)
		at, possible := into.Field(name)
		unfit := f.misfit(field, at.Type, how)
		if unfit = unfit.in(name); !possible {
			unfit = first(into.ValidatePath(name))
		}
		switch {
		case unfit == nil:
			right = append(right, strconv.Quote(name))
		case wrong == nil, !certain && !field.CanBeNil():
			wrong, certain = unfit, !field.CanBeNil()
		}
	}
	if _, closed, built := given.Built(); built && !closed || of != nil && of.Map.Open {
		draft[schema.SomeKeys] = schema.Unknown{}
	}
	switch {
	case wrong == nil:
		return first(into.Validate(draft, how))
	case of == nil:
		return wrong
	}
	hint := ""
	switch {
	case len(right) > 0:
		hint = "pick(x, " + strings.Join(right[:min(len(right), mostNames)], ", ") + ") has the entries of x that are taken here"
	case wrong.code == document.CodeUnknownField:
		hint = wrong.hint
	}
	return wrong.withHint(hint)
}

// mostNames is how many fields a hint names.
const mostNames = 8

// values compares a map whose keys the user chooses, such as labels.
func (f *fit) values(of, into *schema.Type, how schema.Writing) *fault {
	given := typing.From(schema.Field{Type: of.Map.Values, Required: true})
	takes := func(name string) bool { return f.misfit(given, into.Map.Fields[name].Type, how) == nil }
	switch names := into.Names(); {
	case into.Map.Open || slices.ContainsFunc(names, takes):
		return nil
	case into.Map.Values != nil:
		return f.misfit(given, into.Map.Values, how).in("each value")
	default:
		return faultf(document.CodeTypeMismatch, "want a map with other fields, have a map in which each value is %s", of.Map.Values.Kinds&^value.Nil).
			withHint("the fields here are " + strings.Join(document.Few(names, mostNames), ", "))
	}
}
