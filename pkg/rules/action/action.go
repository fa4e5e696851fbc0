// Package action compiles the actions of rules, one file per kind, and
// evaluates them to the wishes of a plan.
//
//	document.Node -> Compile -> Step -> Evaluate -> plan.Wish, plan.Event
//
// An action does not write. To add a kind, write its file and its row in the
// table of kinds.
package action

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
)

// Action is a compiled action of one kind. It is immutable and safe for
// concurrent use.
type Action interface {
	// Evaluate adds what the action wants to the evaluation. An error is a
	// [document.Error] where it can be located, or a [Refusal].
	Evaluate(e *Evaluation) error
	// Check returns what the schemas show to be wrong with the action.
	Check(c Checking) document.Errors
	// Effects tells what the action can do, and adds what it can read and write to the footprint.
	Effects(t Traces) Effects
}

// Env is what an action may refer to.
type Env struct {
	Scope    *expression.Scope
	Declared relation.Declarations
	Related  map[string]*relation.Relation // the entries of with, by name
	Watched  []plan.Selection              // what the rule watches
}

// Evaluation is one rule on one object. It is not for concurrent use.
type Evaluation struct {
	Rule        plan.Rule
	Object      plan.Object
	Current     map[string]any // the object as stored; read only
	Expressions *expression.Evaluation
	Related     *relation.Reader

	Wishes []plan.Wish
	Events []plan.Event
	// Children are the objects that the rule wants to exist because of this one.
	Children []plan.Object
}

// now is the moment of the evaluation.
func (e *Evaluation) now() time.Time { return e.Expressions.Instant.Now() }

// Refusal says that an action must not be carried out as things are. What the
// rule asked for before it stands, what comes after it does not.
type Refusal struct {
	Err *document.Error
	// Event tells the users of the object, nil where there is nothing to tell.
	Event *plan.Event
}

// Error implements error.
func (r *Refusal) Error() string { return r.Err.Error() }

// Unwrap returns the located error.
func (r *Refusal) Unwrap() error { return r.Err }

// kind is a row of the table of actions.
type kind struct {
	compile   func(*document.Node, Env) (Action, document.Errors)
	templates []string // the fields that hold templates
}

// kinds is the table of actions.
var kinds = map[string]kind{
	"patch":  {compilePatch, []string{"merge", "json", "apply"}},
	"apply":  {compileApply, []string{"manifest"}},
	"create": {compileCreate, []string{"manifest"}},
	"delete": {compileDelete, nil},
	"event":  {compileEvent, []string{"reason", "message", "action"}},
}

// Kinds lists the kinds of actions in order.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// Templates lists the fields of a kind of action that hold templates. The slice is
// shared: read only.
func Templates(name string) []string { return kinds[name].templates }

// Compile compiles one element of a list of actions. The fields of a step are
// decoded before its kind, whatever the order they are written in, because the
// kind may use the names that forEach gives. What the parser has reported is
// passed over, so the step of such a document is of no use.
func Compile(n *document.Node, env Env) (*Step, document.Errors) {
	step := &Step{}
	var repeat *each
	env.Scope, repeat = scopeOf(n, env.Scope)
	fields := []document.Field{
		document.Optional("forEach", func(value *document.Node) document.Errors {
			step.each = repeat
			return repeat.compile(value)
		}),
		document.Optional("when", func(value *document.Node) document.Errors { return step.compileWhen(value, env.Scope) }),
	}
	for _, name := range Kinds() {
		fields = append(fields, document.Optional(name, func(value *document.Node) (errs document.Errors) {
			step.kind = name
			step.action, errs = kinds[name].compile(value, env)
			return errs
		}))
	}
	errs := n.Decode(fields...)
	if len(errs) == 0 {
		errs = oneKind(n)
	}
	return step, errs
}

// oneKind refuses an action that is several, whose order would be unclear.
func oneKind(n *document.Node) document.Errors {
	var named []string
	for _, entry := range n.Entries() {
		if _, ok := kinds[entry.Key.Text()]; ok {
			named = append(named, entry.Key.Text())
		}
	}
	switch {
	case len(named) > 1:
		return document.Errors{n.Errorf("write each as an element of its own",
			"an action is one thing, have %s", strings.Join(named, " and "))}
	case len(named) == 0 && n.Kind() == document.KindMap:
		return document.Errors{n.Errorf("write one of "+strings.Join(Kinds(), ", "), "an action without a kind")}
	default:
		return nil
	}
}
