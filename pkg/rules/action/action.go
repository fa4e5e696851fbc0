// Package action compiles the actions of rules, one file per kind, and
// evaluates them to the wishes of a plan.
//
//	document.Node -> Compile -> Action -> Evaluate -> plan.Wish, plan.Event
//
// An action does not write. To add a kind, write its file and its row in the
// table of kinds.
package action

import (
	"maps"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
)

// Action is a compiled action. It is immutable and safe for concurrent use.
type Action interface {
	// Evaluate adds what the action wants to the evaluation. An error is a
	// [document.Error] where it can be located.
	Evaluate(e *Evaluation) error
}

// Evaluation is one rule on one object. It is not for concurrent use.
type Evaluation struct {
	Rule        plan.Rule
	Object      plan.Object
	Current     map[string]any // the object as stored; read only
	Expressions *expression.Evaluation

	Wishes []plan.Wish
	Events []plan.Event
}

// kinds is the table of actions. A kind without a compiler is part of the
// language but not built yet.
var kinds = map[string]func(*document.Node, *expression.Scope) (Action, document.Errors){
	"patch":  compilePatch,
	"event":  compileEvent,
	"apply":  nil,
	"create": nil,
	"delete": nil,
}

// notYet are the fields that an action may carry beside its kind, once they
// are built.
var notYet = []string{"when", "forEach"}

// Compile compiles one element of a rule's list of actions.
func Compile(n *document.Node, scope *expression.Scope) (Action, document.Errors) {
	var out Action
	var fields []document.Field
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		compile := kinds[name]
		fields = append(fields, document.Field{Name: name, Unsupported: compile == nil, Decode: func(value *document.Node) document.Errors {
			var errs document.Errors
			out, errs = compile(value, scope)
			return errs
		}})
	}
	for _, name := range notYet {
		fields = append(fields, document.Field{Name: name, Unsupported: true})
	}
	errs := n.Decode(fields...)
	if len(errs) == 0 {
		errs = oneKind(n)
	}
	return out, errs
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
	case len(n.Entries()) == 0:
		return document.Errors{n.Errorf("write patch or event", "an action without a kind")}
	default:
		return nil
	}
}
