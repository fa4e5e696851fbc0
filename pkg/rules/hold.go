package rules

import (
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// hold is how long `when` must hold without a break before the rule acts:
// Prometheus' `for`.
type hold struct {
	node     *document.Node
	constant time.Duration
	computed *template.Expression // nil for a constant
}

// compileHold takes a duration such as 5m for what it is, and anything else for an
// expression.
func compileHold(n *document.Node, scope *expression.Scope) (*hold, document.Errors) {
	h := &hold{node: n}
	var errs document.Errors
	var wrong *document.Error
	h.constant, wrong = spec.Duration(n)
	if wrong != nil && !isConstant(n) {
		if h.computed, errs = template.CompileExpression(n, scope); h.computed == nil {
			return h, errs
		}
		if v, known := h.computed.Program().Constant(); known {
			if _, err := h.read(v); err != nil {
				errs = append(errs, template.Locate(n, err))
			}
		}
		return h, errs
	}
	if wrong == nil && h.constant <= 0 {
		wrong = n.Errorf("leave for out to act at once", "the time that when must hold must be longer than nothing")
	}
	if wrong != nil {
		return nil, document.Errors{wrong}
	}
	return h, nil
}

// isConstant tells a misspelt duration from an expression.
func isConstant(n *document.Node) bool {
	switch n.Kind() {
	case document.KindBool, document.KindInt, document.KindFloat:
		return true
	default:
		return n.Text() != "" && n.Text()[0] >= '0' && n.Text()[0] <= '9'
	}
}

func (h *hold) duration(e *expression.Evaluation) (time.Duration, error) {
	if h.computed == nil {
		return h.constant, nil
	}
	value, err := h.computed.Eval(e)
	if err != nil {
		return 0, err
	}
	return h.read(value)
}

// read takes the value of the expression for a duration.
func (h *hold) read(v any) (time.Duration, error) {
	d, err := value.ParseDuration(v)
	if err != nil {
		return 0, h.node.Errorf(`give a text such as "1h30m" or "2d", or a number of seconds`, "for wants a duration, have %s", shown(v))
	}
	return max(d, 0), nil
}

// onDelete is what a rule does while the object is being deleted.
type onDelete struct {
	steps []*action.Step
	done  *template.Expression // nil for: once the actions have succeeded
	hold  bool
}

func compileOnDelete(source *spec.OnDelete, env action.Env, scope *expression.Scope) (*onDelete, document.Errors) {
	o := &onDelete{hold: source.Hold}
	var errs, more document.Errors
	o.steps, errs = compileSteps(source.Actions, env)
	if source.Done != nil {
		o.done, more = template.CompileCondition(source.Done, scope)
		errs = append(errs, more...)
	}
	for _, step := range o.steps {
		if applied := step.Applies(); applied != nil && applied.Prune {
			errs = append(errs, pruneOf(step.Node()).Errorf("leave prune out", "what a rule applied is pruned once the object is gone, not before"))
		}
	}
	return o, errs
}

// holds reports whether the rule keeps objects from going before it is done.
func (r *Rule) holds() bool { return r.onDelete != nil && r.onDelete.hold }

// held reports whether the finalizer of the rule is on the object.
func (r *Rule) held(object map[string]any) bool { return r.ID.Holds(object) }

// finalizer wishes that of the rule on the object, or off it.
func (r *Rule) finalizer(object plan.Object, current map[string]any, present bool) plan.Wish {
	return plan.Wish{
		Rule: r.ID, Target: object, Current: current,
		Type: plan.Finalize, Body: plan.Finalizer{Name: r.ID.Finalizer(), Present: present},
	}
}
