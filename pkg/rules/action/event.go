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
	"github.com/dyncontroller/dyncontroller/pkg/rules/field"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
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
	name  string
	check func(string) error
	set   func(*plan.Event, string)
}

var eventTexts = []eventText{
	{"reason", checkWord, func(e *plan.Event, text string) { e.Reason = text }},
	{"message", checkMessage, func(e *plan.Event, text string) { e.Message = text }},
	{"type", checkEventType, func(e *plan.Event, text string) { e.Type = text }},
	{"action", checkWord, func(e *plan.Event, text string) { e.Action = text }},
}

var eventFields = field.Object("event",
	field.Required("reason", eventWord, "One CamelCase word, at most 128 letters and digits."),
	field.Required("message", textTemplate(checkMessage), "What happened. Leave out what changes all the time: an event is recorded once for each episode."),
	field.Optional("type", &field.Type{
		Kinds: []document.Kind{document.KindString}, Template: true, Words: []string{"Normal", "Warning"},
	}, "Normal (default) or Warning."),
	field.Optional("action", eventWord, "What was done, one CamelCase word."),
	targetField,
)

// eventWord is what Kubernetes calls a machine-readable word.
var eventWord = func() *field.Type {
	t := textTemplate(checkWord)
	t.Pattern, t.Message = wordPattern.String(), "one CamelCase word such as EvenPD, at most 128 letters and digits"
	return t
}()

// textTemplate takes a text that passes a check, or a template.
func textTemplate(check func(string) error) *field.Type {
	t := &field.Type{Kinds: []document.Kind{document.KindString}, Template: true}
	t.Pattern, t.Message = field.NotBlank.Pattern, field.NotBlank.Message
	t.Check = func(n *document.Node) *document.Error {
		if err := check(n.Text()); err != nil {
			return n.Errorf("", "%v", err)
		}
		return nil
	}
	return t
}

// defaultAction is what an Event says was done where the rule does not.
const defaultAction = "Reconcile"

var wordPattern = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,127}$`)

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
		return fmt.Errorf("the type of an event is Normal or Warning, have %q", value.Excerpt(text))
	}
	return nil
}

func checkWord(text string) error {
	if !wordPattern.MatchString(text) {
		return fmt.Errorf("want one word such as EvenPD, at most 128 letters and digits, have %q", value.Excerpt(text))
	}
	return nil
}

func checkMessage(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("the message of an event is empty")
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
	return Effects{Requests: recordings(e.target.requests(t.targets(&e.target), footprint.Verb{}))}
}
