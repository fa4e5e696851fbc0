// Package template compiles the templates of actions: YAML trees with typed ${ } expressions in keys and values.
//
//	document.Node -> Compile -> Body -> Eval -> plain JSON value
//
// It does not know what the value is for.
package template

import (
	"cmp"
	"errors"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Body is a compiled template, or a part of one. It is immutable and safe for concurrent use.
type Body struct {
	node *document.Node
	// constant says that nothing in it has expressions, and value is all of it then.
	constant bool
	value    any
	program  *expression.Template // of a string with expressions
	entries  []entry              // of a map
	elements []*Body              // of a list
}

type entry struct{ key, value *Body }

// Compile returns the body of a tree, and all errors of the tree, each at its place in the file. Where there is one, the body cannot
// be evaluated.
func Compile(n *document.Node, scope *expression.Scope) (b *Body, errs document.Errors) {
	if n.Kind() == document.KindString {
		return compileText(n, scope)
	}
	b = &Body{node: n, constant: n.Kind() != document.KindInvalid, value: n.Value()}
	part := func(part *Body, wrong document.Errors) *Body {
		b.constant = b.constant && part.constant
		errs = append(errs, wrong...)
		return part
	}
	for _, e := range n.Entries() {
		b.entries = append(b.entries, entry{part(compileText(e.Key, scope)), part(Compile(e.Value, scope))})
		if errs.Enough() {
			break
		}
	}
	for _, element := range n.Elements() {
		b.elements = append(b.elements, part(Compile(element, scope)))
		if errs.Enough() {
			break
		}
	}
	if b.constant && b.collection() {
		value, err := b.collect(nil)
		if wrong, is := errors.AsType[*document.Error](err); is {
			errs = append(errs, wrong)
		}
		b.value = value
	}
	return b, errs
}

func compileText(n *document.Node, scope *expression.Scope) (*Body, document.Errors) {
	program, err := expression.CompileTemplate(n.Text(), scope)
	if err == nil {
		if text, ok := program.Constant(); ok {
			return &Body{node: n, constant: n.Kind() != document.KindInvalid, value: text}, nil
		}
	}
	if cut := n.CutByComment(); cut != nil {
		return &Body{node: n}, document.Errors{cut} // What is left may well be no template.
	}
	if err != nil {
		return &Body{node: n}, document.Errors{Locate(n, err)}
	}
	return &Body{node: n, program: program}, nil
}

func (b *Body) isMap() bool { return b.node.Kind() == document.KindMap }

func (b *Body) collection() bool { return b.isMap() || b.node.Kind() == document.KindList }

// Eval returns a plain JSON value, without what was omitted; nil where all of it was. The value may share parts with the values of
// names: it is read only. An error is a [document.Error] at the expression that failed.
func (b *Body) Eval(e *expression.Evaluation) (any, error) { return orNil(b.eval(e)) }

// Value is Eval for a value that is not to be written: that of an expression that stands alone comes as it is, so that objects in it
// can be recognised.
func (b *Body) Value(e *expression.Evaluation) (any, error) {
	if b.program == nil {
		return b.Eval(e)
	}
	value, err := b.program.Eval(e)
	if err != nil {
		return nil, Locate(b.node, err)
	}
	return orNil(value, nil)
}

func orNil(v any, err error) (any, error) {
	if err != nil || omitted(v) {
		return nil, err
	}
	return v, nil
}

func omitted(v any) bool {
	_, is := v.(value.Omitted)
	return is
}

// Constant returns the value of a body without expressions.
func (b *Body) Constant() (value any, ok bool) { return b.value, b.constant }

func (b *Body) eval(e *expression.Evaluation) (any, error) {
	switch {
	case b.constant:
		return b.value, nil
	case b.program == nil:
		return b.collect(e)
	}
	v, err := b.program.Eval(e)
	if err == nil {
		v, err = value.Strip(v, e.Budget)
	}
	if err != nil {
		return nil, Locate(b.node, err)
	}
	return v, nil
}

// collect evaluates a map or a list. Elements, and entries of which the key or the value is omitted, are left out.
func (b *Body) collect(e *expression.Evaluation) (any, error) {
	if !b.isMap() {
		list := make([]any, 0, len(b.elements))
		for _, element := range b.elements {
			value, err := element.eval(e)
			if err != nil {
				return nil, err
			}
			if !omitted(value) {
				list = append(list, value)
			}
		}
		return list, nil
	}
	out := make(map[string]any, len(b.entries))
	for _, entry := range b.entries {
		key, err := entry.key.eval(e)
		if err != nil {
			return nil, err
		}
		if omitted(key) {
			continue
		}
		name, ok := key.(string)
		if !ok {
			return nil, entry.key.node.Errorf(keyHint, "a key must be a string, have %s", value.KindOf(key))
		}
		value, err := entry.value.eval(e)
		if err != nil {
			return nil, err
		}
		if omitted(value) {
			continue
		}
		if _, twice := out[name]; twice {
			return nil, entry.key.node.Errorf("give each key once", "the key %q is there already", name)
		}
		out[name] = value
	}
	return out, nil
}

const keyHint = "make it a string, for example with string(...)"

// text returns the text of a part as far as it is known, and whether that is all of it.
func (b *Body) text() (text string, whole bool) {
	switch {
	case b == nil:
		return "", false
	case b.program != nil:
		return b.program.Prefix(), false
	default:
		text, whole = b.value.(string)
		return text, whole
	}
}

// Programs are the expressions in the template.
func (b *Body) Programs() (out []*expression.Program) {
	if b.program != nil {
		parts, _ := b.program.Parts()
		for _, part := range parts {
			out = append(out, part.Program)
		}
	}
	for _, e := range b.entries {
		out = append(append(out, e.key.Programs()...), e.value.Programs()...)
	}
	for _, element := range b.elements {
		out = append(out, element.Programs()...)
	}
	return out
}

// Alone is the expression that the template is, nil where it is more or less than one.
func (b *Body) Alone() *expression.Program {
	if b.program != nil {
		if parts, alone := b.program.Parts(); alone {
			return parts[0].Program
		}
	}
	return nil
}

// Node is where the body is written.
func (b *Body) Node() *document.Node { return b.node }

// Names returns the names of the scope that the templates mention, each once.
func (b *Body) Names() (names []string) {
	for _, program := range b.Programs() {
		for _, name := range program.Names() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Locate gives an error of an expression, or a fault, its place in the file. An error of a name that the expression uses has one already.
func Locate(n *document.Node, err error) *document.Error {
	if placed, ok := errors.AsType[*document.Error](err); ok {
		return placed
	}
	if failed, ok := errors.AsType[*expression.Error](err); ok {
		return n.ErrorAt(failed.Offset, failed.Length, n.Pastable(failed.Hint), "%s", failed.Message).Coded(cmp.Or(document.Code(failed.Code), document.CodeExpression))
	}
	if fault, ok := errors.AsType[*value.Fault](err); ok {
		return n.Errorf(fault.Hint, "%s", fault.Message)
	}
	return n.Errorf("", "%v", err)
}
