package rules

import (
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// hold is how long `when` must hold without a break before the rule acts:
// Prometheus' `for`.
type hold struct {
	node     *document.Node
	constant time.Duration
	computed *body.Expression // nil for a constant
}

// compileHold takes a duration such as 5m for what it is, and anything else for an
// expression.
func compileHold(n *document.Node, scope *expression.Scope) (*hold, document.Errors) {
	h := &hold{node: n}
	var errs document.Errors
	if !isConstant(n) {
		if h.computed, errs = body.CompileExpression(n, scope); h.computed == nil {
			return h, errs
		}
		if v, known := h.computed.Program().Constant(); known {
			if _, err := h.read(v); err != nil {
				errs = append(errs, body.Locate(n, err))
			}
		}
		return h, errs
	}
	constant, wrong := spec.Duration(n)
	if wrong == nil && constant <= 0 {
		wrong = n.Errorf("leave for out to act at once", "the time that when must hold must be longer than nothing")
	}
	if wrong != nil {
		return nil, document.Errors{wrong}
	}
	h.constant = constant
	return h, nil
}

// isConstant tells a duration, even a misspelt one, from an expression.
func isConstant(n *document.Node) bool {
	switch n.Kind() {
	case document.KindBool, document.KindInt, document.KindFloat:
		return true
	case document.KindString:
		_, err := expression.ParseDuration(n.Text())
		return err == nil || startsWithDigit(n.Text())
	default:
		return false
	}
}

func startsWithDigit(text string) bool { return text != "" && text[0] >= '0' && text[0] <= '9' }

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
	d, err := expression.ParseDuration(v)
	if err != nil {
		return 0, h.node.Errorf(`give a text such as "1h30m" or "2d", or a number of seconds`, "for wants a duration, have %s", shown(v))
	}
	return max(d, 0), nil
}
