package action

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// event records a Kubernetes Event about an object.
type event struct {
	target target
	fields []eventField
}

// eventField is a template, what its value must look like and where it goes.
type eventField struct {
	name  string
	node  *document.Node
	body  *body.Body
	check func(string) error
	set   func(*plan.Event, string)
}

// defaultAction is what an Event says was done where the rule does not.
const defaultAction = "Reconcile"

// reasonPattern is what Kubernetes calls a machine-readable word.
var reasonPattern = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)

func compileEvent(n *document.Node, env Env) (Action, document.Errors) {
	e := &event{}
	field := func(name string, check func(string) error, set func(*plan.Event, string)) document.Field {
		return document.Field{Name: name, Decode: func(value *document.Node) document.Errors {
			return e.compileField(eventField{name: name, node: value, check: check, set: set}, env.Scope)
		}}
	}
	reason := field("reason", checkWord, func(e *plan.Event, text string) { e.Reason = text })
	message := field("message", checkMessage, func(e *plan.Event, text string) { e.Message = text })
	reason.Required, message.Required = true, true
	errs := n.Decode(reason, message,
		field("type", checkEventType, func(e *plan.Event, text string) { e.Type = text }),
		field("action", checkWord, func(e *plan.Event, text string) { e.Action = text }),
		document.Optional("target", e.target.decode(env.Scope)),
	)
	if len(errs) > 0 {
		return nil, errs
	}
	return e, nil
}

func (e *event) compileField(f eventField, scope *expression.Scope) (errs document.Errors) {
	if f.node.Kind() == document.KindInvalid {
		return nil
	}
	if wrong := f.node.Expect(document.KindString); wrong != nil {
		return document.Errors{wrong}
	}
	if f.body, errs = body.Compile(f.node, scope); len(errs) > 0 {
		return errs
	}
	if value, constant := f.body.Constant(); constant {
		if err := f.check(fmt.Sprint(value)); err != nil {
			return document.Errors{f.node.Errorf("", "%v", err)}
		}
	}
	e.fields = append(e.fields, f)
	return nil
}

// Evaluate implements [Action].
func (e *event) Evaluate(evaluation *Evaluation) error {
	subjects, err := e.target.subjects(evaluation)
	if err != nil || len(subjects) == 0 {
		return err
	}
	out := plan.Event{Rule: evaluation.Rule, Type: "Normal", Action: defaultAction}
	for _, f := range e.fields {
		v, err := f.body.Eval(evaluation.Expressions)
		if err != nil {
			return err
		}
		text, ok := value.Text(v) // "${n}" alone is a number.
		if !ok {
			return f.node.Errorf("?? gives a default, and toJSON(...) writes a list or a map", "%s must be a text, have %s",
				f.name, expression.TypeName(v))
		}
		if err := f.check(text); err != nil {
			return f.node.Errorf("", "%v", err)
		}
		f.set(&out, text)
	}
	for _, subject := range subjects {
		out.Regarding = subject.Object
		evaluation.Events = append(evaluation.Events, out)
	}
	return nil
}

func checkEventType(text string) error {
	if text != "Normal" && text != "Warning" {
		return fmt.Errorf("the type of an event is Normal or Warning, have %q", shortened(text))
	}
	return nil
}

func checkWord(text string) error {
	if len(text) > 128 || !reasonPattern.MatchString(text) {
		return fmt.Errorf("want one word such as EvenPD, at most 128 letters and digits, have %q", shortened(text))
	}
	return nil
}

func checkMessage(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("the message of an event is empty")
	}
	return nil
}

// Effects implements [Action].
func (e *event) Effects(t Traces) Effects {
	for _, f := range e.fields {
		t.value(f.body)
	}
	return Effects{Requests: recordings(e.target.requests(t.targets(&e.target), footprint.Verb{}))}
}
