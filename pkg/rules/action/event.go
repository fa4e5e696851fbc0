package action

import (
	"regexp"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
)

// event records a Kubernetes Event about an object.
type event struct {
	target target
	fields []eventField
}

// eventField is a template, and where its value goes.
type eventField struct {
	eventText
	node *document.Node
	body *body.Body
}

// eventText is a field of an event, and what its text must look like.
type eventText struct {
	name    string
	pattern *regexp.Regexp
	want    string
	set     func(*plan.Event, string)
}

// word is what Kubernetes calls a machine-readable word.
var word = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,127}$`)

const wordMessage = "one CamelCase word such as EvenPD, at most 128 letters and digits"

var eventTexts = []eventText{
	{"reason", word, wordMessage, func(e *plan.Event, text string) { e.Reason = text }},
	{"message", regexp.MustCompile(field.NotBlank.Pattern), "a text that is not blank", func(e *plan.Event, text string) { e.Message = text }},
	{"type", regexp.MustCompile(`^(Normal|Warning)$`), "Normal or Warning", func(e *plan.Event, text string) { e.Type = text }},
	{"action", word, wordMessage, func(e *plan.Event, text string) { e.Action = text }},
}

func (f eventText) check(n *document.Node, text string) *document.Error {
	if f.pattern.MatchString(text) {
		return nil
	}
	return n.Errorf("", "want %s, have %q", f.want, value.Excerpt(text))
}

// written is the type of the field, which may be a template.
func (f eventText) written(pattern, message string) *field.Type {
	return &field.Type{
		Kinds: document.KindString, Template: true, Pattern: pattern, Message: message,
		Check: func(n *document.Node) *document.Error { return f.check(n, n.Text()) },
	}
}

var eventFields = field.Object("event",
	field.Required("reason", eventTexts[0].written(word.String(), wordMessage), "One CamelCase word, at most 128 letters and digits."),
	field.Required("message", eventTexts[1].written(field.NotBlank.Pattern, field.NotBlank.Message),
		"What happened. Leave out what changes all the time: an event is recorded once for each episode."),
	field.Optional("type", &field.Type{
		Kinds: document.KindString, Template: true, Words: []string{"Normal", "Warning"},
	}, "Normal (default) or Warning."),
	field.Optional("action", eventTexts[3].written(word.String(), wordMessage), "What was done, one CamelCase word."),
	targetField,
)

// defaultAction is what an Event says was done where the rule does not.
const defaultAction = "Reconcile"

func compileEvent(v field.Values, env Env) (Action, document.Errors) {
	e := &event{}
	var errs document.Errors
	e.target, errs = compileTarget(v, env.Scope)
	for _, text := range eventTexts {
		if n := v[text.name]; n != nil {
			compiled, wrong := body.Compile(n, env.Scope)
			e.fields = append(e.fields, eventField{text, n, compiled})
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
	for _, f := range e.fields {
		v, err := f.body.Eval(evaluation.Expressions)
		if err != nil {
			return err
		}
		text, ok := value.Text(v) // "${n}" alone is a number.
		if !ok {
			return f.node.Errorf("?? gives a default, and toJSON(...) writes a list or a map", "%s must be a text, have %s",
				f.name, value.KindOf(v))
		}
		if wrong := f.check(f.node, text); wrong != nil {
			return wrong
		}
		f.set(&out, text)
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
	for _, f := range e.fields {
		t.value(f.body)
	}
	return Effects{Requests: record(e.target.about(t.targets(&e.target)))}
}
