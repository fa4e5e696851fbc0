package rules

import (
	"errors"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/names"
)

// longestValue is how much of a value a reason shows, in bytes of JSON.
const longestValue = 60

// whyNot names the clause of `when` that is false, with the values it read unless they are secret. Of a name of let it says what that
// stands for.
func (r *Rule) whyNot(e *expression.Evaluation, secret bool) string {
	whole, err := r.when.Program().Explain(e)
	if err != nil {
		return ""
	}
	last := whole.Deciding()
	reason := oneLine(last.Source) + " is false"
	for d := r.named(last); d != nil; d = r.named(last) {
		// It has been asked already; when its answer changes is known.
		instant := e.Instant
		e.Instant = expression.NewInstant(instant.Now())
		whole, err = d.Value.Program().Explain(e)
		e.Instant = instant
		if err != nil {
			return reason
		}
		last = whole.Deciding()
		reason += ": " + oneLine(last.Source) + " is false"
	}
	if secret {
		return reason
	}
	for i, read := range last.AllReads() {
		separator := ", "
		if i == 0 {
			separator = "; "
		}
		reason += separator + read.Path + " is " + shown(read.Value)
	}
	return reason
}

// named is the definition of let that a clause consists of, or nil.
func (r *Rule) named(c expression.Clause) *names.Definition {
	d := r.names.Lookup(strings.Trim(oneLine(c.Source), "( )"))
	if c.Operator != "" || d == nil || d.Value == nil {
		return nil
	}
	return d
}

// oneLine is an expression without line breaks.
func oneLine(source string) string { return strings.Join(strings.Fields(source), " ") }

func shown(v any) string {
	if v == nil {
		return "absent"
	}
	text, err := value.JSON(v, expression.NewBudget(0))
	if err != nil || len(text) > longestValue {
		return "..."
	}
	return text
}

// errSecret stands for a reason that may repeat a value.
var errSecret = errors.New("the rule has seen a Secret, and the reason may tell a value of it")

// hideValues keeps of the reasons of some rules only their places.
func hideValues(decisions []plan.Decision, secret map[plan.Rule]bool) {
	for i := range decisions {
		d := &decisions[i]
		switch {
		case !secret[d.Rule]:
		case d.Err != nil:
			err := errSecret
			if placed, ok := errors.AsType[*document.Error](d.Err); ok {
				err = placed.Redacted(errSecret.Error())
			}
			d.Err, d.Reason = err, err.Error()
		case d.Outcome == plan.Withheld:
			d.Reason = errSecret.Error()
		}
	}
}
