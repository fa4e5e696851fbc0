package action

import (
	"errors"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// Step is an element of a list of actions: an action, when it is done, and for each of what. It is immutable and safe for concurrent use.
type Step struct {
	node   *document.Node
	kind   string
	when   *template.Expression // nil for always
	each   *each                // nil for once
	action Action
}

// Node is where the step is written.
func (s *Step) Node() *document.Node { return s.node }

// Kind returns the name of the action, such as patch.
func (s *Step) Kind() string { return s.kind }

// When is the condition of the step, nil for always.
func (s *Step) When() *template.Expression { return s.when }

// Evaluate adds what the step wants to the evaluation. An error is a [document.Error] where it can be located, or a [Refusal]. An
// element that is refused does not keep others from what they want.
func (s *Step) Evaluate(e *Evaluation) error {
	if s.each == nil {
		return e.around(Turn{Step: s, Of: 1})
	}
	list, err := s.each.elements(e.Expressions)
	if err != nil {
		return err
	}
	outer := e.Expressions.Names
	defer func() { e.Expressions.Names = outer }()
	var refused *Refusal
	for i, element := range list {
		e.Expressions.Names = loop{outer: outer, first: s.each.slot, element: element, index: int64(i)}
		err := e.around(Turn{Step: s, Element: element, Of: len(list)})
		switch refusal, is := errors.AsType[*Refusal](err); {
		case is && refused == nil:
			refused = refusal
		case is:
			refused.Events = append(refused.Events, refusal.Events...)
		case err != nil:
			return err
		}
	}
	if refused != nil {
		return refused
	}
	return nil
}

// Turn is one of several times that a step is carried out.
type Turn struct {
	Step    *Step
	Element any // of forEach, nil without it
	Of      int
}

func (e *Evaluation) around(t Turn) error {
	if e.Around == nil {
		return t.Step.once(e)
	}
	return e.Around(t, func() error { return t.Step.once(e) })
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
	Loop
	scope *expression.Scope // with the names that it adds
	slot  int               // of the element
}

// indexName is how an action calls the position of the element.
const indexName = "index"

const listHint = `write a list, such as "${pods}" or "${keys(object.metadata.labels)}"`

// forEach names one list.
var forEach = &field.Type{
	Kinds: document.KindMap, Keys: field.Identifier, Filled: true, Hint: eachHint,
	Values: &field.Type{Kinds: document.KindList, Template: true, Hint: listHint, Schema: field.Schema{"items": field.Schema{}}},
	Check: func(n *document.Node) *document.Error {
		if len(n.Entries()) == 1 {
			return nil
		}
		return n.Errorf(eachHint, "forEach names one list, have %d", len(n.Entries()))
	},
	Schema: field.Schema{"maxProperties": 1},
}

const eachHint = `write forEach: {pod: "${pods}"}; to nest, build one list with flatten(map(...))`

// misplaced says where a key belongs that is written in an action and stands beside it.
func misplaced(key, _ string) string {
	if key != "forEach" && key != "when" {
		return ""
	}
	return "write " + key + " beside the action, as in {" + key + ": ..., delete: {}}; to nest, build one list with flatten(map(...))"
}

// astray are names that are defined where a rule, or an action beside its kind, has no such field. Whoever uses one is not to blame.
func astray(n *document.Node, scope *expression.Scope) (names []string) {
	add := func(n *document.Node, keys ...string) {
		for _, key := range keys {
			names = append(names, template.FreeNames(n.Get(key), scope)...)
		}
	}
	add(n, "let", "with")
	for _, k := range kinds {
		add(n.Get(k.name), "forEach", "let", "with")
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// hintList shows an expression that is written without ${ } in place of the list of forEach with them.
func hintList(errs document.Errors, loop *document.Node, scope *expression.Scope) {
	text := loop.Entries()[0].Value.Text()
	for _, err := range errs {
		if err.Hint == listHint && template.Unmarked(text, scope, true) {
			err.Hint = "write " + template.Marked(text)
		}
	}
}

// compileEach adds the names of forEach to the scope, if they can be names.
func compileEach(n *document.Node, scope *expression.Scope) (*each, document.Errors) {
	entry := n.Entries()[0]
	f := &each{Loop: Loop{Name: entry.Key.Text()}, scope: scope}
	if wrong := template.CheckName(entry.Key, scope); wrong != nil {
		return f, document.Errors{wrong}
	}
	f.scope = scope.Extend(f.Name, indexName)
	f.slot, _ = f.scope.Slot(f.Name)
	var errs document.Errors
	f.List, errs = template.Compile(entry.Value, scope)
	return f, errs
}

func (f *each) elements(e *expression.Evaluation) ([]any, error) {
	v, err := f.List.Value(e)
	if err != nil {
		return nil, err
	}
	list, isList := v.([]any)
	if !isList && v != nil {
		return nil, f.List.Node().Errorf(listHint, "forEach wants a list, have %s", value.KindOf(v))
	}
	if err := e.Budget.Steps(len(list)); err != nil {
		return nil, template.Locate(f.List.Node(), err)
	}
	return list, nil
}

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

// Loop is a forEach.
type Loop struct {
	Name string
	List *template.Body
}

// InLoop reports whether a name is of forEach.
func (l *Loop) InLoop(name string) bool { return l != nil && (name == l.Name || name == indexName) }

// Loop is the forEach of the step, nil where it has none, or is nil.
func (s *Step) Loop() *Loop {
	if s == nil || s.each == nil {
		return nil
	}
	return &s.each.Loop
}
