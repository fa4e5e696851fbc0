package rules

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
)

// longestValue is how much of a value a reason shows, in bytes of JSON.
const longestValue = 60

// whyNot names the clause of `when` that is false, with the values it read
// unless they are secret.
func (r *Rule) whyNot(e *expression.Evaluation, secret bool) string {
	clauses, err := r.when.program.Explain(e)
	if err != nil || len(clauses) == 0 {
		return ""
	}
	last := clauses[len(clauses)-1]
	reason := strings.Join(strings.Fields(last.Source), " ") + " is false"
	if secret {
		return reason
	}
	for i, read := range last.Reads {
		separator := ", "
		if i == 0 {
			separator = "; "
		}
		reason += separator + read.Path + " is " + shown(read.Value)
	}
	return reason
}

func shown(value any) string {
	if value == nil {
		return "absent"
	}
	data, err := json.Marshal(value)
	if err != nil || len(data) > longestValue {
		return "..."
	}
	return string(data)
}

// errSecret stands for an error that may repeat a value.
var errSecret = errors.New("it failed on a Secret, and the error may tell a value of it")

// hideValues keeps of the errors only their places.
func hideValues(decisions []plan.Decision) {
	for i, decision := range decisions {
		if decision.Outcome != plan.Failed {
			continue
		}
		err := errSecret
		if placed, ok := errors.AsType[*document.Error](decision.Err); ok {
			err = placed.Redacted(errSecret.Error())
		}
		decisions[i].Err, decisions[i].Reason = err, err.Error()
	}
}
