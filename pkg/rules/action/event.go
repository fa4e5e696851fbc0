package action

import (
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// event records a Kubernetes Event about an object.
type event struct {
	target target
	fields []eventField
}

// eventField is a template of one of the texts.
type eventField struct {
	at   int // in eventFields
	node *document.Node
	body *template.Body
}

// textOf returns a type of texts that may be templates too.
func textOf(t *field.Type) *field.Type {
	out := *t
	out.Template = true
	return &out
}

// word is what Kubernetes calls a machine-readable word.
var word = textOf(field.Matching(`^[A-Z][A-Za-z0-9]{0,127}$`, "one CamelCase word such as EvenPD, at most 128 letters and digits"))

var eventFields = field.Object("event",
	field.Required("reason", word, "One CamelCase word, at most 128 letters and digits."),
	field.Required("message", textOf(field.NotBlank),
		"What happened. Leave out what changes all the time: an event is recorded once for each episode."),
	field.Optional("type", textOf(field.Words("Normal", "Warning")), "Normal (default) or Warning."),
	field.Optional("action", word, "What was done, one CamelCase word."),
	targetField,
)

// defaultAction is what an Event says was done where the rule does not.
const defaultAction = "Reconcile"

func compileEvent(v field.Values, env Env) (Action, document.Errors) {
	e := &event{}
	var errs document.Errors
	e.target, errs = compileTarget(v, env.Scope)
	for at, f := range eventFields.Fields {
		if n := v[f.Name]; n != nil && f.Type.Template {
			compiled, wrong := template.Compile(n, env.Scope)
			e.fields = append(e.fields, eventField{at, n, compiled})
			errs = append(errs, wrong...)
		}
	}
	return e, errs
}

// Evaluate implements [Action].
func (e *event) Evaluate(evaluation *Evaluation) error {
	subjects, err := e.target.subjects(evaluation)
	if err != nil || len(subjects) == 0 {
		return err
	}
	out := plan.Event{Rule: evaluation.Rule, Type: "Normal", Action: defaultAction}
	texts := [...]*string{&out.Reason, &out.Message, &out.Type, &out.Action} // By the order of the fields.
	for _, f := range e.fields {
		v, err := f.body.Eval(evaluation.Expressions)
		if err != nil {
			return err
		}
		text, ok := value.Text(v) // "${n}" alone is a number.
		if !ok {
			return f.node.Errorf("?? gives a default, and toJSON(...) writes a list or a map", "%s must be a text, have %s",
				eventFields.Fields[f.at].Name, value.KindOf(v))
		}
		if wrong := eventFields.Fields[f.at].Type.CheckText(f.node, text); wrong != nil {
			return wrong
		}
		*texts[f.at] = text
		parts, err := f.body.Parts(evaluation.Expressions, evaluation.Derived)
		if err != nil {
			return err
		}
		if parts != nil && texts[f.at] != &out.Type { // It has two values, and the API server takes no other.
			out.Derived = append(out.Derived, make([][]string, len(texts)-len(out.Derived))...)
			out.Derived[f.at] = parts
		}
	}
	for _, subject := range subjects {
		out.Regarding = subject.Object
		evaluation.Events = append(evaluation.Events, out)
	}
	return nil
}

// Check implements [Action].
func (e *event) Check(c Checking) document.Errors {
	errs := c.checkTarget(&e.target)
	text := schema.Field{Required: true, Type: &schema.Type{Kinds: value.String | value.Number | value.Bool}} // "${n}" alone is a number.
	for _, f := range e.fields {
		_, wrong := f.body.Check(c.Context, text, schema.Whole)
		errs = append(errs, wrong...)
	}
	return errs
}

// Effects implements [Action].
func (e *event) Effects(t Traces) Effects {
	var out Effects
	for _, f := range e.fields {
		t.value(f.body)
		out.Bodies = append(out.Bodies, f.body)
	}
	out.Requests = record(e.target.about(t.targets(&e.target)))
	return out
}
