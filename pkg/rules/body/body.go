// Package body compiles the templates of actions: YAML trees with typed
// ${ } expressions in keys and values.
//
//	document.Node -> Compile -> Body -> Eval -> plain JSON value
//
// It does not know what the value is for.
package body

import (
	"cmp"
	"errors"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// Body is a compiled template. It is immutable and safe for concurrent use.
type Body struct {
	node *document.Node
	root part
}

// part is one node of the tree.
type part interface {
	eval(e *expression.Evaluation) (any, error)
	// read records what evaluating it and its value read.
	read(names expression.Shapes)
	// written does that and adds what a patch with it at path writes.
	written(names expression.Shapes, writes *footprint.Tree, path footprint.Path)
}

// Compile returns all errors of the tree, each at its place in the file.
func Compile(n *document.Node, scope *expression.Scope) (*Body, document.Errors) {
	root, errs := compile(n, scope)
	if len(errs) > 0 {
		return nil, errs
	}
	return &Body{node: n, root: root}, nil
}

// Eval returns a plain JSON value, without what was omitted; nil where all of
// it was. The value may share parts with the values of names: it is read only.
// An error is a [document.Error] at the expression that failed.
func (b *Body) Eval(e *expression.Evaluation) (any, error) {
	value, err := b.root.eval(e)
	if err != nil {
		return nil, err
	}
	if omitted(value) {
		return nil, nil
	}
	return value, nil
}

// Value is Eval for a value that is not to be written: that of a template that
// stands alone comes as it is, so that objects in it can be recognised.
func (b *Body) Value(e *expression.Evaluation) (any, error) {
	alone, ok := b.root.(template)
	if !ok {
		return b.Eval(e)
	}
	value, err := alone.program.Eval(e)
	if err != nil {
		return nil, Locate(alone.node, err)
	}
	if omitted(value) {
		return nil, nil
	}
	return value, nil
}

// Constant returns the value of a body without expressions.
func (b *Body) Constant() (value any, ok bool) {
	c, ok := b.root.(constant)
	return c.value, ok
}

func compile(n *document.Node, scope *expression.Scope) (part, document.Errors) {
	switch n.Kind() {
	case document.KindMap:
		return compileMap(n, scope)
	case document.KindList:
		return compileList(n, scope)
	case document.KindString:
		return compileString(n, scope)
	default:
		return constant{n.Value()}, nil
	}
}

func compileString(n *document.Node, scope *expression.Scope) (part, document.Errors) {
	program, err := expression.CompileTemplate(n.Text(), scope)
	if cut := n.CutByComment(); err != nil && cut != nil {
		return nil, document.Errors{cut} // What is left may well be no template.
	}
	if err != nil {
		return nil, document.Errors{Locate(n, err)}
	}
	if text, ok := program.Constant(); ok {
		return constant{text}, nil
	}
	if cut := n.CutByComment(); cut != nil {
		return nil, document.Errors{cut}
	}
	return template{node: n, program: program}, nil
}

func compileList(n *document.Node, scope *expression.Scope) (part, document.Errors) {
	var out list
	var errs document.Errors
	for _, element := range n.Elements() {
		p, elementErrs := compile(element, scope)
		out = append(out, p)
		if errs = append(errs, elementErrs...); errs.Enough() {
			break
		}
	}
	if len(errs) == 0 && allConstant(out) {
		value, err := out.eval(nil)
		return constant{value}, asErrors(err)
	}
	return out, errs
}

func compileMap(n *document.Node, scope *expression.Scope) (part, document.Errors) {
	var out mapping
	var errs document.Errors
	parts := list{}
	for _, written := range n.Entries() {
		key, keyErrs := compileString(written.Key, scope)
		value, valueErrs := compile(written.Value, scope)
		out = append(out, entry{node: written.Key, key: key, value: value})
		parts = append(parts, key, value)
		if errs = append(append(errs, keyErrs...), valueErrs...); errs.Enough() {
			break
		}
	}
	if len(errs) == 0 && allConstant(parts) {
		value, err := out.eval(nil)
		return constant{value}, asErrors(err)
	}
	return out, errs
}

func allConstant(parts list) bool {
	for _, p := range parts {
		if _, ok := p.(constant); !ok {
			return false
		}
	}
	return true
}

func asErrors(err error) document.Errors {
	if located, ok := errors.AsType[*document.Error](err); ok {
		return document.Errors{located}
	}
	return nil
}

// Locate gives an error of an expression its place in the file. An error of a
// name that the expression uses has one already.
func Locate(n *document.Node, err error) *document.Error {
	if placed, ok := errors.AsType[*document.Error](err); ok {
		return placed
	}
	if failed, ok := errors.AsType[*expression.Error](err); ok {
		return n.ErrorAt(failed.Offset, failed.Length, failed.Hint, "%s", failed.Message).Coded(cmp.Or(document.Code(failed.Code), document.CodeExpression))
	}
	return n.Errorf("", "%v", err)
}
