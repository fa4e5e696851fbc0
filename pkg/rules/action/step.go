package action

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
)

// Step is an element of a list of actions: an action, when it is done, and for
// each of what. It is immutable and safe for concurrent use.
type Step struct {
	kind   string
	when   *body.Expression // nil for always
	each   *each            // nil for once
	action Action
}

// Kind returns the name of the action, such as patch.
func (s *Step) Kind() string { return s.kind }

func (s *Step) compileWhen(n *document.Node, scope *expression.Scope) (errs document.Errors) {
	s.when, errs = body.CompileCondition(n, scope)
	return errs
}

// Evaluate adds what the step wants to the evaluation. An error is a
// [document.Error] where it can be located, or a [Refusal].
func (s *Step) Evaluate(e *Evaluation) error {
	if s.each == nil {
		return s.once(e)
	}
	list, err := s.each.elements(e.Expressions)
	if err != nil {
		return err
	}
	outer := e.Expressions.Names
	defer func() { e.Expressions.Names = outer }()
	for i, element := range list {
		e.Expressions.Names = loop{outer: outer, first: s.each.slot, element: element, index: int64(i)}
		if err := s.once(e); err != nil {
			return err
		}
	}
	return nil
}

func (s *Step) once(e *Evaluation) error {
	if s.when != nil {
		holds, err := s.when.EvalBool(e.Expressions)
		if err != nil || !holds {
			return err
		}
	}
	return s.action.Evaluate(e)
}

// each repeats an action: forEach: {name: list}.
type each struct {
	node  *document.Node
	name  string
	outer *expression.Scope
	slot  int
	list  *body.Body
}

// indexName is how an action calls the position of the element.
const indexName = "index"

// scopeOf adds the names of forEach to a scope. Whether they are well written is
// found by compile.
func scopeOf(n *document.Node, scope *expression.Scope) (*expression.Scope, *each) {
	entries := n.Get("forEach").Entries()
	if len(entries) != 1 || body.CheckName(entries[0].Key, scope) != nil {
		return scope, &each{outer: scope}
	}
	name := entries[0].Key.Text()
	inner := scope.Extend(name, indexName)
	slot, _ := inner.Slot(name)
	return inner, &each{outer: scope, name: name, slot: slot}
}

func (f *each) compile(n *document.Node) document.Errors {
	entries := n.Entries()
	switch {
	case n.Kind() == document.KindInvalid:
		return nil
	case n.Kind() != document.KindMap:
		return document.Errors{n.Errorf(`write forEach: {pod: "${pods}"}`, "forEach names what it repeats, have %s", n.Kind())}
	case len(entries) != 1:
		return document.Errors{n.Errorf(`write forEach: {pod: "${pods}"}; to nest, build the list with flatten(map(...))`,
			"forEach names one list, have %d", len(entries))}
	}
	if wrong := body.CheckName(entries[0].Key, f.outer); wrong != nil {
		return document.Errors{wrong}
	}
	f.node = entries[0].Value
	var errs document.Errors
	if f.list, errs = body.Compile(f.node, f.outer); len(errs) > 0 {
		return errs
	}
	if value, constant := f.list.Constant(); constant {
		if f.node.Kind() == document.KindNull {
			return document.Errors{f.node.Errorf(listHint, "forEach has no list")}
		}
		if _, wrong := f.checked(value); wrong != nil {
			return document.Errors{wrong}
		}
	}
	return nil
}

func (f *each) elements(e *expression.Evaluation) ([]any, error) {
	value, err := f.list.Value(e)
	if err != nil {
		return nil, err
	}
	list, wrong := f.checked(value)
	if wrong != nil {
		return nil, wrong
	}
	if err := e.Budget.Steps(len(list)); err != nil {
		return nil, body.Locate(f.node, err)
	}
	return list, nil
}

// checked takes a list, or nothing for an empty one.
func (f *each) checked(value any) ([]any, *document.Error) {
	switch value := value.(type) {
	case nil:
		return nil, nil
	case []any:
		return value, nil
	default:
		return nil, f.node.Errorf(listHint, "forEach wants a list, have %s", expression.TypeName(value))
	}
}

const listHint = `write a list, such as "${pods}" or "${keys(object.metadata.labels)}"`

// loop resolves the names that forEach adds to those of the rule.
type loop struct {
	outer   expression.Names
	first   int
	element any
	index   int64
}

// Value implements [expression.Names].
func (l loop) Value(slot int) (any, error) {
	switch slot {
	case l.first:
		return l.element, nil
	case l.first + 1:
		return l.index, nil
	default:
		return l.outer.Value(slot)
	}
}
