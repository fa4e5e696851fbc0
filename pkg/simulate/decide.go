package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/golden"
)

// Decided is what the rules want of one object or several, in order of
// evaluation and in the form that is shown. The values of Secrets are masked.
type Decided struct {
	Decisions []Decision `json:"decisions"`
	Writes    []Write    `json:"writes"`
	// Audited are the writes of rules in mode Audit, which are not made.
	Audited []Write `json:"audited,omitempty"`
	Events  []Event `json:"events"`
	// LookAgainAt is when what was decided changes with time alone.
	LookAgainAt []Look `json:"lookAgainAt,omitempty"`
	// Object is what [Evaluate] predicts the object to be after the writes,
	// without managedFields. It is nil where nothing is written.
	Object map[string]any `json:"object,omitempty"`
}

// Decision is what became of one rule on one object.
type Decision struct {
	Object  string       `json:"object"`
	Rule    string       `json:"rule"`
	Outcome plan.Outcome `json:"outcome"`
	Mode    spec.Mode    `json:"mode,omitempty"` // empty for Enforce
	Reason  string       `json:"reason,omitempty"`
	// Err is why a rule failed, with its place in the rules where it has one.
	// Reason says the same without the place, which changes with every edit.
	Err error `json:"-"`
}

// Write is a request as it is sent, guards included.
type Write struct {
	Object      string    `json:"object"`
	Rules       []string  `json:"rules"`
	Type        plan.Type `json:"type"`
	Subresource string    `json:"subresource,omitempty"`
	Manager     string    `json:"manager"`
	Force       bool      `json:"force,omitempty"`
	Body        any       `json:"body"`
}

// Event is a Kubernetes Event that follows the writes of its rule.
type Event struct {
	Object  string `json:"object"`
	Rule    string `json:"rule"`
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Action  string `json:"action"`
	Message string `json:"message"`
}

// Look is the earliest instant at which the rules may want something else of an
// object although nothing has changed.
type Look struct {
	Object string `json:"object"`
	At     string `json:"at"` // RFC 3339
}

// YAML writes what was decided as YAML, in order.
func (d Decided) YAML() ([]byte, error) { return golden.Encode(d) }

// Evaluate asks the rules once what they want of an object. An object without
// uid, resourceVersion or creationTimestamp is given some, since writes are
// guarded with them. The object is not changed. It is an error if no rule
// watches the object.
func Evaluate(set *rules.Set, content map[string]any, now time.Time) (Decided, error) {
	decided, err := evaluate(set, stored(content, 1, now), now, false)
	if len(decided.Writes) == 0 {
		decided.Object = nil
	}
	return decided, err
}

// EvaluateExpression returns the value of one expression on an object, which is
// completed as by [Evaluate]. Its errors are those of
// [rules.EvaluateExpression].
func EvaluateExpression(text string, content map[string]any, now time.Time) (any, error) {
	return rules.EvaluateExpression(text, stored(content, 1, now), now)
}

// evaluate decides about an object that is stored. With fingerprints, masked
// values can be told apart.
func evaluate(set *rules.Set, content map[string]any, now time.Time, fingerprints bool) (Decided, error) {
	resource, selectedBy, err := watched(set, content)
	if err != nil {
		return Decided{}, err
	}
	snapshot := rules.Snapshot{GVR: resource, Object: content, SelectedBy: selectedBy, Now: now, Explain: true}
	decided, err := decidedBy(set.Evaluate(snapshot), snapshot.Identity().String(), content)
	if err != nil {
		return Decided{}, err
	}
	if resource.Group == "" && resource.Resource == "secrets" {
		newMask(content, slices.Concat(decided.Writes, decided.Audited), fingerprints).hide(&decided)
	}
	return decided, nil
}

// decidedBy puts a plan in the form that is shown.
func decidedBy(p plan.Plan, name string, content map[string]any) (Decided, error) {
	out := Decided{Decisions: []Decision{}, Writes: []Write{}, Events: []Event{}, Object: content}
	for _, d := range p.Decisions {
		decision := Decision{Object: name, Rule: d.Rule.String(), Outcome: d.Outcome, Reason: reason(d), Err: d.Err}
		if d.Audited {
			decision.Mode = spec.Audit
		}
		out.Decisions = append(out.Decisions, decision)
	}
	writes, err := writesOf(p.Operations)
	if err != nil {
		return Decided{}, err
	}
	out.Writes = append(out.Writes, writes...)
	if out.Audited, err = writesOf(p.Audited); err != nil {
		return Decided{}, err
	}
	for _, operation := range p.Operations {
		out.Object = operation.Predicted
	}
	out.Object = withoutManagedFields(out.Object)
	if !p.LookAgainAt.IsZero() {
		out.LookAgainAt = []Look{{Object: name, At: p.LookAgainAt.UTC().Format(time.RFC3339Nano)}}
	}
	for _, e := range p.Events {
		out.Events = append(out.Events, Event{
			Object: e.Regarding.String(), Rule: e.Rule.String(), Type: e.Type, Reason: e.Reason, Action: e.Action, Message: e.Message,
		})
	}
	return out, nil
}

// writesOf are the requests of the operations, each guarded with the version that
// the one before it brings.
func writesOf(operations []plan.Operation) ([]Write, error) {
	var out []Write
	version := ""
	for _, operation := range operations {
		operation.Target.ResourceVersion = cmp.Or(version, operation.Target.ResourceVersion)
		request, err := write.NewRequest(operation)
		if err != nil {
			return nil, fmt.Errorf("making a request of the plan: %w", err)
		}
		version = following(request.Target.ResourceVersion)
		out = append(out, writeOf(request, operation))
	}
	return out, nil
}

func writeOf(request write.Request, operation plan.Operation) Write {
	out := Write{
		Object:      request.Target.String(),
		Type:        operation.Type,
		Subresource: request.Subresource,
		Manager:     request.Manager,
		Force:       request.Force,
		Body:        request.Body,
	}
	for _, rule := range operation.Rules {
		out.Rules = append(out.Rules, rule.String())
	}
	return out
}

// reason leaves out where a failed rule is written: the same failure is the
// same text wherever the file is.
func reason(d plan.Decision) string {
	placed, ok := errors.AsType[*document.Error](d.Err)
	if !ok {
		return d.Reason
	}
	return (&document.Error{Path: placed.Path, Message: placed.Message, Hint: placed.Hint}).Error()
}

// following is the resourceVersion that a write brings if nobody else writes:
// a later request of the same plan is guarded with it.
func following(version string) string {
	n, err := strconv.ParseUint(version, 10, 63)
	if err != nil {
		return version
	}
	return strconv.FormatUint(n+1, 10)
}

// withoutManagedFields leaves out what nobody wants to read.
func withoutManagedFields(content map[string]any) map[string]any {
	metadata := mapAt(content, "metadata")
	if metadata["managedFields"] == nil {
		return content
	}
	out := maps.Clone(content)
	metadata = maps.Clone(metadata)
	delete(metadata, "managedFields")
	out["metadata"] = metadata
	return out
}
