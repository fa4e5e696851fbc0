// Package action compiles the actions of rules, one file per kind, and
// evaluates them to the wishes of a plan.
//
//	document.Node -> Compile -> Step -> Evaluate -> plan.Wish, plan.Event
//
// An action does not write. To add a kind, write its file and its row in the
// table of kinds.
package action

import (
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
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
	Declared lookup.Declarations
	Related  map[string]*lookup.Lookup // the entries of with, by name
	Watched  []plan.Selection          // what the rule watches
}

// Evaluation is one rule on one object. It is not for concurrent use.
type Evaluation struct {
	Rule        plan.Rule
	Object      plan.Object
	Current     map[string]any // the object as stored; read only
	Expressions *expression.Evaluation
	Related     *lookup.Reader
	// Derived are the expressions that may make something of values of Secrets.
	Derived map[*expression.Program]bool
	// Around is called for each time that a step is carried out, and calls what does so. It may be nil.
	Around func(t Turn, do func() error) error

	Wishes []plan.Wish
	Events []plan.Event
	// Children are the objects that the rule wants to exist because of this one, by their names alone.
	Children map[plan.Object]bool
}

// now is the moment of the evaluation.
func (e *Evaluation) now() time.Time { return e.Expressions.Instant.Now() }

// Refusal says that an action, or elements of its forEach, must not be carried out as things are. What the rule asked for
// before it and with other elements stands, what comes after it does not.
type Refusal struct {
	Err    *document.Error // of the first element
	Events []plan.Event    // for the users of the object
}

// Reason is one CamelCase word that says why.
func (r *Refusal) Reason() string {
	if len(r.Events) > 0 {
		return r.Events[0].Reason
	}
	return "Refused"
}

// Error implements error.
func (r *Refusal) Error() string { return r.Err.Error() }

// Unwrap returns the located error.
func (r *Refusal) Unwrap() error { return r.Err }

// kind is a row of the table of actions.
type kind struct {
	name, doc string
	fields    *field.Type
	compile   func(field.Values, Env) (Action, document.Errors)
}

// kinds is the table of actions.
var kinds = []kind{
	{"patch", "Changes an object that exists.", patchFields, compilePatch},
	{"apply", "Makes an object of a certain name be so, by server-side apply.", applyFields.Otherwise(misplaced), compileApply},
	{"create", "Makes a new object, which is never updated.", createFields.Otherwise(misplaced), compileCreate},
	{"delete", "Deletes an object.", deleteFields.Otherwise(misplaced), compileDelete},
	{"event", "Records a Kubernetes Event about an object, once the writes of the rule have succeeded.", eventFields.Otherwise(misplaced), compileEvent},
}

// Fields are those of an action: exactly one of the kinds, when it is done, and for each of what.
var Fields = func() *field.Type {
	fields := []field.Field{
		field.Optional("when", field.Condition, "A condition of this action alone. With forEach, it is judged for each element."),
		field.Optional("forEach", forEach, "{name: list}: the action is done for each element, called by that name; index counts from 0."),
	}
	var names []string
	for _, k := range kinds {
		fields, names = append(fields, field.Optional(k.name, field.Ref(k.name), k.doc)), append(names, k.name)
	}
	return field.Object("action", fields...).With(names...).Otherwise(func(key, _ string) string {
		if key != "actions" {
			return ""
		}
		return "write each of them as an action of its own, with forEach in it; to nest, build one list with flatten(map(...))"
	}).Placed("an action", "write it under actions")
}()

// FieldsOf are those of each kind of action, by its name.
var FieldsOf = func() map[string]*field.Type {
	out := map[string]*field.Type{}
	for _, k := range kinds {
		out[k.name] = k.fields.Placed(k.name, "")
	}
	return out
}()

// Compile compiles one element of a list of actions. What the parser has reported is passed over, so the step of such a document is
// of no use.
func Compile(n *document.Node, env Env) (*Step, document.Errors) {
	step := &Step{node: n}
	values, errs := Fields.Read(n)
	env.Scope = env.Scope.Extend(astray(n, env.Scope)...)
	if loop := values["forEach"]; loop != nil {
		var wrong document.Errors
		hintList(errs, loop, env.Scope)
		step.each, wrong = compileEach(loop, env.Scope)
		env.Scope = step.each.scope
		errs = append(errs, wrong...)
	}
	if when := values["when"]; when != nil {
		var wrong document.Errors
		step.when, wrong = template.CompileCondition(when, env.Scope)
		errs = append(errs, wrong...)
	}
	for _, k := range kinds {
		if n := values[k.name]; n != nil {
			given, wrong := k.fields.Read(n)
			action, more := k.compile(given, env)
			step.kind, step.action = k.name, action
			errs = append(append(errs, wrong...), more...)
		}
	}
	return step, errs
}
