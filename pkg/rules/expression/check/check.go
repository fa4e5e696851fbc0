package check

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
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
	r := c.node(p.Root(), known{Facts: facts})
	return r.of, c.sorted()
}

// Condition is [Program] for an expression that has to be a boolean. It returns facts,
// and what else is present where the condition is true.
func Condition(p *expression.Program, names Names, facts *typing.Facts) (*typing.Facts, []*expression.Error) {
	c := newChecker(p, names)
	r := c.boolean(p.Root(), c.node(p.Root(), known{Facts: facts}), "a condition")
	return r.yes.Named(), c.sorted()
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
		r := c.node(part.Program.Root(), known{Facts: facts})
		if alone {
			result = Given{Type: r.of, Written: r.made.listed(nil, nil, part.Offset)}
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
	kinds := r.of.Kinds() &^ value.Nil
	switch {
	case !r.of.Known():
	case kinds&inText != 0 && r.of.CanBeNil():
		c.report(document.CodeMayBeAbsent, expression.NotText(c.program, value.Nil, true))
	case r.of.Kinds() == value.Nil:
		c.report(document.CodeMayBeAbsent, expression.NotText(c.program, value.Nil, false))
	case kinds&inText == 0:
		c.report(document.CodeTypeMismatch, expression.NotText(c.program, kinds, false))
	default:
		c.refusesBranch(r, "the text around ${ }", inText&^value.Computed, inText)
	}
}

// sorted returns the errors in the order of the source.
func (c *checker) sorted() []*expression.Error {
	slices.SortStableFunc(c.run.errors, func(a, b *expression.Error) int { return a.Offset - b.Offset })
	return c.run.errors
}

// checker follows the types through one expression.
type checker struct {
	program   *expression.Program
	names     Names
	variables []variable
	elements  []element
	// silent is set where mistakes are reported elsewhere, or have been.
	silent bool
	// asksNil is set for the other operand of a comparison with nil.
	asksNil bool
	run     *run
}

// run is the state that the check of an expression shares with the checks of the lets in it.
type run struct {
	work   int
	roots  int
	depth  int
	calls  map[callKey]int
	lets   map[letKey]result
	shared map[*typing.Facts]*typing.Facts // those that are named, by all
	errors []*expression.Error
}

// variable is a let inside of an expression.
type variable struct {
	let  *expression.Let
	root int
	// value is its result where it was defined, and around checks what it stands for once more.
	value  result
	around *checker
}

// element is what # and #acc stand for in a predicate.
type element struct {
	root        int
	item        typing.Type
	accumulator typing.Type
}

func newChecker(p *expression.Program, names Names) *checker {
	return &checker{
		program: p, names: names,
		run: &run{calls: map[callKey]int{}, lets: map[letKey]result{}, shared: map[*typing.Facts]*typing.Facts{}},
	}
}

// newRoot returns a root for facts that no other has.
func (c *checker) newRoot() int {
	c.run.roots--
	return c.run.roots
}

// spend counts work and reports whether there may be more of it.
func (c *checker) spend(work int) bool {
	c.run.work += work
	return c.run.work <= maxWork
}

// report keeps an error, unless there is one of the same piece of the source.
func (c *checker) report(code document.Code, err *expression.Error) {
	err.Code = string(code)
	same := func(other *expression.Error) bool { return other.Offset == err.Offset && other.Length == err.Length }
	if !c.unheard() && !slices.ContainsFunc(c.run.errors, same) {
		c.run.errors = append(c.run.errors, err)
	}
}

// unheard says that errors are not kept.
func (c *checker) unheard() bool { return c.silent || len(c.run.errors) == maxErrors }

// node checks a node, given what is known there.
func (c *checker) node(node expression.Node, k known) result {
	if !c.spend(1) {
		return gives(typing.Unknown(), k)
	}
	switch n := node.(type) {
	case *expression.Literal:
		return c.literal(n, k)
	case *expression.Name:
		return c.name(n, k)
	case *expression.Variable:
		return c.variableOf(n, k)
	case *expression.Element:
		return gives(c.element(n, k), k)
	case *expression.Path:
		return c.path(n, k)
	case *expression.Unary:
		return c.unary(n, k)
	case *expression.Binary:
		return c.binary(n, k)
	case *expression.Call:
		return c.call(n, k)
	case *expression.Conditional:
		return c.conditional(n, k)
	case *expression.Let:
		return c.let(n, k, c.node)
	case *expression.List:
		return c.list(n, k)
	case *expression.Map:
		return c.mapping(n, k)
	default:
		return gives(typing.Unknown(), k)
	}
}

// element is what #, #index and #acc can be.
func (c *checker) element(n *expression.Element, k known) typing.Type {
	e := c.elements[len(c.elements)-1]
	switch n.Name {
	case "":
		return k.Apply(e.root, e.item)
	case "acc":
		return e.accumulator
	default:
		return typing.Of(value.Int)
	}
}

// boolean is the result of a node that user wants to be a boolean.
func (c *checker) boolean(node expression.Node, r result, user string) result {
	c.wants(node, r, user, value.Bool)
	return r.where(c.present(node, r.of)).decided()
}

// wants reports a value that user does not take, and whether it did. What may be nil
// is a mistake too unless user takes that.
func (c *checker) wants(node expression.Node, r result, user string, kinds value.Kind) bool {
	t := r.of
	have := t.Kinds() &^ value.Nil
	switch {
	case !t.Known():
		return c.refusesBranch(r, user, kinds, kinds)
	case have != 0 && have&kinds == 0:
		err := node.Written().Wants(user, kinds, have)
		switch {
		case kinds == value.Bool:
			err.Hint = truthHint(node, t, false)
		case t.IsTime() && have == value.String && kinds&value.Time == 0: // No number is written so.
			err.Hint = ""
		}
		c.report(document.CodeTypeMismatch, err)
	case !t.CanBeNil() || kinds&value.Nil != 0:
		return c.refusesBranch(r, user, kinds, kinds)
	case have == 0:
		c.report(document.CodeMayBeAbsent, node.Written().Wants(user, kinds, value.Nil))
	default:
		c.report(document.CodeMayBeAbsent, node.Written().MayBeNil(user, kinds, have))
	}
	return true
}
