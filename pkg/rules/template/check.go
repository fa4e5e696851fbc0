package template

import (
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/check"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// Context is where something is evaluated, in types.
type Context struct {
	Names check.Names
	Facts *typing.Facts
	// Scope has the same names, for hints. It may be nil.
	Scope *expression.Scope
}

// Check returns what the value of a body can be, and what is wrong with its expressions and with writing the value to a place. Of a
// place whose type is nil nothing is known.
func (b *Body) Check(c Context, into schema.Field, how schema.Writing) (typing.Type, document.Errors) {
	d := &draft{context: c, how: how}
	given := d.written(b, into)
	return given, d.withSlips(b)
}

// draft is what is known of the value of a body before it is evaluated.
type draft struct {
	context Context
	how     schema.Writing
	errs    document.Errors
}

func (d *draft) report(n *document.Node, wrong *fault) {
	d.errs = append(d.errs, n.Errorf(wrong.hint, "%s", wrong.message).Coded(wrong.code))
}

// written compares all of a value with the place that it is written to.
func (d *draft) written(b *Body, into schema.Field) typing.Type {
	v, given := d.value(b, into)
	d.compared(v, b.node, into.Type)
	return given
}

// compared reports why a place does not take a value.
func (d *draft) compared(v any, n *document.Node, into *schema.Type) {
	for _, v := range into.Validate(v, d.how) {
		d.errs = append(d.errs, d.locate(n, v))
	}
}

// value returns what is known of the value of a body, and its type. What its templates give is compared with the type of the place
// that they are in; to compare the rest is left to the caller.
func (d *draft) value(b *Body, into schema.Field) (any, typing.Type) {
	switch {
	case b.constant:
		return b.value, typing.Constant(b.value)
	case b.program != nil:
		return d.template(b, into)
	case b.isMap():
		return d.mapping(b, into.Type)
	}
	out := make([]any, len(b.elements))
	var items typing.Type
	for i, element := range b.elements {
		v, given := d.element(element, into.Type.Items())
		out[i], items = v, typing.Union(items, given)
	}
	return out, typing.List(items)
}

// element is value for one of a list, which has no place for nil unless its schema says so.
func (d *draft) element(b *Body, into *schema.Type) (any, typing.Type) {
	before := len(d.errs)
	v, given := d.value(b, schema.Field{Type: into})
	if _, unknown := v.(schema.Unknown); unknown && len(d.errs) == before && nilElement(given, into) {
		d.report(b.node, faultf(document.CodeMayBeAbsent, "an element has to be given here, and this may be absent").
			withHint("?? gives a default, and ?? omit() leaves the element out"))
	}
	return v, given
}

func (d *draft) mapping(b *Body, into *schema.Type) (any, typing.Type) {
	out, fields := make(map[string]any, len(b.entries)), make(map[string]typing.Type, len(b.entries))
	var others []typing.Type
	for _, e := range b.entries {
		if key, whole := e.key.text(); whole {
			f, _ := into.Field(key)
			out[key], fields[key] = d.value(e.value, f)
			continue
		}
		if _, t := d.value(e.key, schema.Field{}); t.Known() && t.Kinds()&(value.String|value.Omission) == 0 {
			d.report(e.key.node, faultf(document.CodeTypeMismatch, "a key must be a string, have %s", t).withHint(keyHint))
		}
		var values schema.Field
		if into != nil && into.Map != nil {
			values.Type = into.Map.Values
		}
		_, given := d.value(e.value, values)
		out[schema.SomeKeys], others = schema.Unknown{}, append(others, given)
	}
	return out, typing.Map(fields, others...)
}

// template compares what an expression gives with what the place takes. A constant is known as if it were written out.
func (d *draft) template(b *Body, into schema.Field) (any, typing.Type) {
	given, wrong := check.Template(b.program, d.context.Names, d.context.Facts)
	if len(wrong) > 0 {
		d.errs = append(d.errs, locateAll(b.node, wrong)...)
		return schema.Unknown{}, typing.Unknown()
	}
	if given.Kinds() == value.Nil {
		return nil, given.Type
	}
	if all, known := given.Constants(); known && len(all) == 1 && given.Kinds() == value.KindOf(all[0]) {
		return all[0], given.Type
	}
	if d.branches(b.node, given, into.Type) {
		return schema.Unknown{}, given.Type
	}
	unfit := misfit(given.Type, into.Type, d.how)
	if unfit == nil && given.CanBeNil() {
		unfit = d.missing(into)
	}
	if unfit != nil {
		if _, alone := b.program.Parts(); !alone && unfit.code == document.CodeTypeMismatch {
			unfit.hint = "with text around ${ } it is a string; write all of it as one expression"
		}
		d.report(b.node, unfit)
	}
	return schema.Unknown{}, given.Type
}

// missing refuses nil where there has to be a value.
func (d *draft) missing(into schema.Field) *fault {
	stored := into.Type.Known() && into.Type.Kinds&value.Nil != 0
	switch {
	case !into.Required || into.Always || into.Default != nil || stored, d.how == schema.Applied:
		return nil
	case d.how == schema.Merged:
		return faultf(document.CodeMayBeAbsent, "this may be absent, and nil removes what has to be there").
			withHint("?? gives a default, and ?? omit() leaves it as it is")
	default:
		return faultf(document.CodeMayBeAbsent, "a value has to be given here, and this may be absent").withHint("?? gives a default")
	}
}

// branches compares what stands in a template with the place that it is written to, each branch of ?? and ?: on its own, and reports
// whether any of them is wrong. Where all are, one message will do, and that is for the caller.
func (d *draft) branches(n *document.Node, given check.Given, into *schema.Type) (wrong bool) {
	if given.Known() && into.Known() && written(given.Kinds())&accepted(into) == 0 {
		return false
	}
	for _, w := range given.Written {
		place, how, keys := into, d.how, []string(nil)
		for _, step := range w.Path {
			if key, is := step.(string); is {
				f, _ := place.Field(key)
				place, keys = f.Type, append(keys, key)
			} else { // Which element of a list it is shows at the place.
				place, how = place.Items(), schema.Whole
			}
		}
		if !place.Known() {
			continue
		}
		if unfit := misfitOf(w, place, how); unfit != nil {
			unfit = unfit.in(value.Excerpt(strings.Join(keys, ".")))
			d.errs = append(d.errs, n.ErrorAt(w.At.Offset, w.At.Length, n.Pastable(unfit.hint), "%s", unfit.message).Coded(unfit.code))
			wrong = true
		}
	}
	return wrong
}

// misfitOf is what is wrong with a branch. What a name stands for may be a constant that is there only where another branch is taken.
func misfitOf(w check.Written, into *schema.Type, how schema.Writing) *fault {
	if _, unknown := w.Value.(schema.Unknown); !unknown {
		wrong := first(into.Validate(w.Value, how))
		if wrong != nil && w.Value == "" && wrong.code == document.CodeTypeMismatch {
			return wrong.withHint("write [] or {} for an empty one, or omit() for none")
		}
		return wrong
	}
	if len(w.Type.Literals()) > 0 {
		return nil
	}
	wrong := misfit(w.Type, into, how)
	if wrong == nil || w.Where == "" {
		return wrong
	}
	return faultf(wrong.code, "%s, %s", w.Where, wrong.message).withHint(wrong.hint)
}

// CheckCondition returns the context of what is evaluated only where a condition holds, and what is wrong with the condition. Without
// one it is c, and nothing.
func (x *Expression) CheckCondition(c Context) (holding Context, errs document.Errors) {
	if x == nil {
		return c, nil
	}
	facts, wrong := check.Condition(x.program, c.Names, c.Facts)
	c.Facts = facts
	return c, locateAll(x.node, wrong)
}

// Check returns what the value of an expression can be, and what is wrong with it.
func (x *Expression) Check(c Context) (typing.Type, document.Errors) {
	given, wrong := check.Program(x.program, c.Names, c.Facts)
	return given, locateAll(x.node, wrong)
}

func locateAll[E error](n *document.Node, wrong []E) (errs document.Errors) {
	for _, err := range wrong {
		errs = append(errs, Locate(n, err))
	}
	return errs
}
