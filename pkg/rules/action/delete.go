package action

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// removal deletes objects.
type removal struct {
	target      target
	node        *document.Node // of the grace period
	grace       *template.Body // nil for that of the object
	propagation string
}

var deleteFields = field.Object("delete",
	targetField,
	field.Optional("gracePeriodSeconds", graceSeconds, "Without it, or with nil, the object's own."),
	field.Optional("propagationPolicy", field.Words(metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan),
		"What becomes of objects that it owns: Background (default): they go after it; Foreground: before it; Orphan: they stay."),
)

var graceSeconds = &field.Type{
	Kinds: document.KindInt, Template: true, Hint: graceHint, Schema: field.Schema{"minimum": 0},
	Check: func(n *document.Node) *document.Error { _, wrong := seconds(n, n.Value()); return wrong },
}

const graceHint = "write 30, or one ${ } that gives an integer"

func seconds(n *document.Node, v any) (int64, *document.Error) {
	seconds, isInt := v.(int64)
	switch {
	case isInt && seconds >= 0:
		return seconds, nil
	case isInt:
		return 0, n.Errorf("write 0 to delete at once", "gracePeriodSeconds must not be negative, have %d", seconds)
	default:
		return 0, n.Errorf(graceHint, "gracePeriodSeconds must be an integer, have %s", value.KindOf(v))
	}
}

func compileDelete(v field.Values, env Env) (Action, document.Errors) {
	r := &removal{node: v["gracePeriodSeconds"], propagation: v.Word("propagationPolicy", string(metav1.DeletePropagationBackground))}
	var errs, wrong document.Errors
	r.target, errs = compileTarget(v, env.Scope)
	if r.node != nil {
		r.grace, wrong = template.Compile(r.node, env.Scope)
	}
	return r, append(errs, wrong...)
}

// Check implements [Action].
func (r *removal) Check(c Checking) document.Errors {
	errs := c.checkTarget(&r.target)
	if r.grace == nil {
		return errs
	}
	_, wrong := r.grace.Check(c.Context, schema.Field{Type: &schema.Type{Kinds: value.Int | value.Nil}}, schema.Merged)
	return append(errs, wrong...)
}

// Evaluate implements [Action].
func (r *removal) Evaluate(e *Evaluation) error {
	subjects, err := r.target.subjects(e)
	if err != nil || len(subjects) == 0 {
		return err
	}
	deletion := plan.Deletion{PropagationPolicy: r.propagation}
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
	v, err := r.grace.Eval(e.Expressions)
	if err != nil || v == nil {
		return nil, err
	}
	seconds, wrong := seconds(r.node, v)
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
	return Effects{Requests: send(r.target.about(of), footprint.Verb{Name: "delete"})}
}
