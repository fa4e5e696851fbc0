package body

import (
	"slices"

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

// Type returns what the value of a body can be, and what is wrong with its
// expressions.
func (b *Body) Type(c Context) (typing.Type, document.Errors) {
	d := &draft{context: c}
	t := d.typeOf(b.root)
	return t, d.errs
}

// Check returns what is wrong with the expressions of a body, and with writing its
// value to a place. Of a place whose type is nil nothing is known.
func (b *Body) Check(c Context, into schema.Field, how schema.Writing) document.Errors {
	d := &draft{context: c, how: how}
	d.written(b.root, b.node, into)
	return d.errs
}

// draft is what is known of the value of a body before it is evaluated.
type draft struct {
	context Context
	how     schema.Writing
	errs    document.Errors
}

// written compares all of a value with the place that it is written to.
func (d *draft) written(p part, n *document.Node, into schema.Field) {
	d.compared(d.value(p, n, into), n, into.Type)
}

func (d *draft) compared(v any, n *document.Node, into *schema.Type) {
	violations := into.Validate(v, d.how)
	for _, v := range violations {
		if !misspelt(v, violations) {
			d.errs = append(d.errs, d.locate(n, v))
		}
	}
}

// value returns what is known of a part. What its templates give is compared with
// the type of the place that they are in; of the rest that is left to the caller.
func (d *draft) value(p part, n *document.Node, into schema.Field) any {
	switch p := p.(type) {
	case constant:
		return p.value
	case template:
		return d.template(p, into)
	case list:
		out, elements := make([]any, 0, len(p)), n.Elements()
		for i, element := range p {
			out = append(out, d.value(element, elements[i], schema.Field{Type: into.Type.Items()}))
		}
		return out
	case mapping:
		return d.mapping(p, n, into.Type)
	default:
		return schema.Unknown{}
	}
}

func (d *draft) mapping(m mapping, n *document.Node, into *schema.Type) any {
	out, entries := make(map[string]any, len(m)), n.Entries()
	for i, e := range m {
		below := entries[i].Value
		key, whole := textOf(e.key)
		if !whole {
			d.key(e)
			out[schema.SomeKeys] = schema.Unknown{}
			d.value(e.value, below, schema.Field{Type: values(into)})
			continue
		}
		f, _ := into.Field(key)
		out[key] = d.value(e.value, below, f)
	}
	return out
}

// values is what entries are whose keys are not known.
func values(t *schema.Type) *schema.Type {
	if t == nil || t.Map == nil {
		return nil
	}
	return t.Map.Values
}

// key checks the template of a key.
func (d *draft) key(e entry) {
	t := d.typeOf(e.key)
	if t.Known() && t.Kinds()&(value.String|value.Omission) == 0 {
		d.errs = append(d.errs, e.node.Errorf("make it a string, for example with string(...)",
			"a key must be a string, have %s", t).Coded(document.CodeTypeMismatch))
	}
}

// template compares what an expression gives with what the place takes. A constant
// is known as if it were written out.
func (d *draft) template(t template, into schema.Field) any {
	given, ok := d.check(t)
	if !ok {
		return schema.Unknown{}
	}
	if given.Kinds() == value.Nil {
		return nil
	}
	if all, known := given.Constants(); known && len(all) == 1 && given.Kinds() == value.KindOf(all[0]) {
		return all[0]
	}
	if written := d.misfits(t, given, into.Type); len(written) > 0 {
		d.errs = append(d.errs, written...)
		return schema.Unknown{}
	}
	wrong := misfit(given.Type, into.Type, d.how)
	if wrong == nil && given.CanBeNil() {
		wrong = d.missing(into)
	}
	if wrong != nil {
		d.errs = append(d.errs, t.node.Errorf(wrong.hintIn(t.program), "%s", wrong.message).Coded(wrong.code))
	}
	return schema.Unknown{}
}

// missing refuses nil where there has to be a value.
func (d *draft) missing(into schema.Field) *fault {
	stored := into.Type.Known() && into.Type.Kinds&value.Nil != 0
	switch {
	case !into.Required || into.Always || into.Default != nil || stored, d.how == schema.Applied:
		return nil
	case d.how == schema.Merged:
		return &fault{
			document.CodeMayBeAbsent, "this may be absent, and nil removes what has to be there",
			"?? gives a default, and ?? omit() leaves it as it is",
		}
	default:
		return &fault{document.CodeMayBeAbsent, "a value has to be given here, and this may be absent", "?? gives a default"}
	}
}

// check returns the type of a template; ok is false where it has a mistake.
func (d *draft) check(t template) (given check.Given, ok bool) {
	given, wrong := check.Template(t.program, d.context.Names, d.context.Facts)
	for _, err := range wrong {
		d.errs = append(d.errs, Locate(t.node, err))
	}
	return given, len(wrong) == 0
}

func (d *draft) typeOf(p part) typing.Type {
	switch p := p.(type) {
	case constant:
		return typing.Constant(p.value)
	case template:
		given, ok := d.check(p)
		if !ok {
			return typing.Unknown()
		}
		return given.Type
	case list:
		var items typing.Type
		for _, element := range p {
			items = typing.Union(items, d.typeOf(element))
		}
		return typing.List(items)
	case mapping:
		return d.typeOfMap(p)
	default:
		return typing.Unknown()
	}
}

func (d *draft) typeOfMap(m mapping) typing.Type {
	fields := make(map[string]typing.Type, len(m))
	var others []typing.Type
	for _, e := range m {
		below := d.typeOf(e.value)
		if key, whole := textOf(e.key); whole {
			fields[key] = below
			continue
		}
		d.key(e)
		others = append(others, below)
	}
	return typing.Map(fields, others...)
}

// CheckCondition returns the context of what is evaluated only where a condition
// holds, and what is wrong with the condition. Without one it is c, and nothing.
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

func locateAll[E error](n *document.Node, wrong []E) document.Errors {
	var errs document.Errors
	for _, err := range wrong {
		errs = append(errs, Locate(n, err))
	}
	return slices.Clip(errs)
}
