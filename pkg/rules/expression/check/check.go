package check

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// Names resolves the names of a scope to types, as [expression.Names] does to values.
// Both methods are called each time that a name is used.
type Names interface {
	// Type returns what the name can be where facts hold. The roots of facts are slots.
	Type(slot int, facts *typing.Facts) typing.Type
	// Definition returns what a let stands for, nil for other names: a path or a
	// condition there counts as written out. It has the names of the same slots.
	Definition(slot int) *expression.Program
}

// Limits keep the work on an expression small. No person writes one that reaches
// them; beyond, nothing is known.
const (
	maxWork   = 50_000
	maxErrors = 100
)

// Program returns what the value of an expression can be where facts hold, and what is
// wrong with it, in the order of the source.
func Program(p *expression.Program, names Names, facts *typing.Facts) (typing.Type, []*expression.Error) {
	c := newChecker(p, names)
	r := c.node(p.Root(), known{names: facts})
	return r.of, c.sorted()
}

// Condition is [Program] for an expression that has to be a boolean. It returns facts,
// and what else is present where the condition is true.
func Condition(p *expression.Program, names Names, facts *typing.Facts) (*typing.Facts, []*expression.Error) {
	c := newChecker(p, names)
	r := c.boolean(p.Root(), known{names: facts}, "a condition")
	return r.yes.names, c.sorted()
}

// Template is [Program] for a template. Its errors are placed in the whole text, and so
// is what it writes out.
func Template(t *expression.Template, names Names, facts *typing.Facts) (Given, []*expression.Error) {
	if text, constant := t.Constant(); constant {
		return Given{Type: typing.Constant(text)}, nil
	}
	parts, alone := t.Parts()
	result := Given{Type: typing.Of(value.String)}
	var errs []*expression.Error
	for _, part := range parts {
		c := newChecker(part.Program, names)
		r := c.node(part.Program.Root(), known{names: facts})
		if alone {
			result = Given{Type: r.of, Written: listed(r.made, part.Offset)}
		} else {
			c.text(r)
		}
		for _, err := range c.sorted() {
			errs = append(errs, err.Shifted(part.Offset))
		}
	}
	return result, errs[:min(len(errs), maxErrors)]
}

// inText is what a template can hold beside other text.
const inText = value.String | value.Number | value.Bool | value.Computed

// text checks the value of an expression that stands inside a text.
func (c *checker) text(r result) {
	t := r.of
	const user = "the text around ${ }"
	o := expression.Operand{At: c.program.Whole(), Text: c.program.Root().Written().Text}
	kinds := t.Kinds() &^ value.Nil
	switch {
	case !t.Known():
	case kinds&inText != 0 && t.CanBeNil():
		c.report(mayBeAbsent, o.MayBeNil(user, inText&^value.Computed).WithHint(`?? gives a default, as in ${x ?? "none"}`))
	case t.Kinds() == value.Nil:
		c.report(mayBeAbsent, o.Wants(user, inText&^value.Computed, value.Nil).WithHint(`?? gives a default, as in ${x ?? "none"}`))
	case kinds == value.Omission:
		c.report(typeMismatch, o.Wants(user, inText&^value.Computed, kinds).WithHint("omit() drops a whole value and must stand alone"))
	case kinds&inText == 0 && kinds&(value.List|value.Map) != 0:
		c.report(typeMismatch, o.Wants(user, inText&^value.Computed, kinds).
			WithHint("write toJSON(...) around it, or join(...) around a list of strings"))
	case kinds&inText == 0:
		c.report(typeMismatch, o.Wants(user, inText&^value.Computed, kinds))
	default:
		c.refusesBranch(r, user, inText&^value.Computed, among(inText))
	}
}

// sorted returns the errors in the order of the source.
func (c *checker) sorted() []*expression.Error {
	slices.SortStableFunc(c.run.errors, func(a, b *expression.Error) int { return a.Offset - b.Offset })
	return c.run.errors
}
