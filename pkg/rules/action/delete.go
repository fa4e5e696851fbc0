package action

import (
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// removal deletes objects.
type removal struct {
	target      target
	node        *document.Node // of the grace period
	grace       *body.Body     // nil for that of the object
	propagation propagation
}

// propagation says what becomes of the objects that the deleted one owns.
type propagation string

const (
	background propagation = "Background" // they go after it
	foreground propagation = "Foreground" // they go before it
	orphan     propagation = "Orphan"     // they stay
)

func compileDelete(n *document.Node, env Env) (Action, document.Errors) {
	r := &removal{propagation: background}
	errs := n.Decode(
		document.Optional("target", r.target.decode(env.Scope)),
		document.Optional("gracePeriodSeconds", r.decodeGrace(env.Scope)),
		document.Optional("propagationPolicy", document.OneOf(&r.propagation, background, foreground, orphan)),
	)
	if len(errs) > 0 {
		return nil, errs
	}
	return r, nil
}

func (r *removal) decodeGrace(scope *expression.Scope) document.Decoder {
	return func(n *document.Node) (errs document.Errors) {
		if n.Kind() == document.KindInvalid {
			return nil
		}
		r.node = n
		if r.grace, errs = body.Compile(n, scope); len(errs) > 0 {
			return errs
		}
		if value, constant := r.grace.Constant(); constant {
			if _, wrong := r.seconds(value); wrong != nil {
				return document.Errors{wrong}
			}
		}
		return nil
	}
}

func (r *removal) seconds(value any) (int64, *document.Error) {
	seconds, isInt := value.(int64)
	text, isText := value.(string)
	switch {
	case isInt && seconds >= 0:
		return seconds, nil
	case isText && strings.TrimSpace(text) != "":
		return 0, r.node.Errorf("write 30, or one ${ } that gives an integer", "gracePeriodSeconds must be an integer, have %q", shortened(text))
	case isInt:
		return 0, r.node.Errorf("write 0 to delete at once", "gracePeriodSeconds must not be negative, have %d", seconds)
	default:
		return 0, r.node.Errorf("write 30, or one ${ } that gives an integer",
			"gracePeriodSeconds must be an integer, have %s", expression.TypeName(value))
	}
}

// Evaluate implements [Action].
func (r *removal) Evaluate(e *Evaluation) error {
	subjects, err := r.target.subjects(e)
	if err != nil || len(subjects) == 0 {
		return err
	}
	deletion := plan.Deletion{PropagationPolicy: string(r.propagation)}
	if deletion.GracePeriodSeconds, err = r.evalGrace(e); err != nil {
		return err
	}
	for _, subject := range subjects {
		e.Wishes = append(e.Wishes, plan.Wish{
			Rule:    e.Rule,
			Target:  subject.Object,
			Current: subject.current,
			Type:    plan.Delete,
			Body:    deletion,
		})
	}
	return nil
}

// evalGrace returns nil where nothing is given, which leaves it to the object.
func (r *removal) evalGrace(e *Evaluation) (*int64, error) {
	if r.grace == nil {
		return nil, nil
	}
	value, err := r.grace.Eval(e.Expressions)
	if err != nil || value == nil {
		return nil, err
	}
	seconds, wrong := r.seconds(value)
	if wrong != nil {
		return nil, wrong
	}
	return &seconds, nil
}

// Effects implements [Action].
func (r *removal) Effects(t Traces) Effects {
	t.value(r.grace)
	of := t.targets(&r.target)
	for _, access := range of {
		access.Reads.Add(footprint.Fields("metadata", "deletionGracePeriodSeconds"), footprint.Value)
	}
	return Effects{Requests: r.target.requests(of, footprint.Verb{Name: "delete"})}
}
