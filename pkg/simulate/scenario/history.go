package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/mask"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/plan/compare"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/cluster"
)

// secrets are the objects of which the values must not be shown.
var secrets = schema.GroupResource{Resource: "secrets"}

// history is what an engine did since it was told last. It stands between the engine
// and the cluster.
type history struct {
	engine.NopObserver
	cluster *cluster.Cluster
	secrets *redact.Values
	derived derivedFields
	// said is the last decision on each rule and object.
	said map[said]Decision
	// moves are the writes of the phase, for the path of a cycle.
	moves []plan.Operation
	phase Phase
	// events are all that there were.
	events map[string]bool
	// explained are the errors that a decision, an answer or an Event tells of.
	explained map[string]bool
	// evaluations is how many there were. What is told until the next one follows the last.
	evaluations int
	looked      func(rules.Snapshot, []plan.Decision) // told of each evaluation, nil for nobody
}

// derivedFields are those of objects, by their names, that rules have made of values of Secrets.
type derivedFields map[string]plan.Derived

// learnFrom has the mask know what an operation tells of Secrets.
func (h *history) learnFrom(o plan.Operation) {
	mask.Learn(h.secrets, o)
	name := o.Target.String()
	h.derived[name] = h.derived[name].With(o.Derived...)
}

// said is of what a decision is.
type said struct {
	key  engine.Key
	rule plan.Rule
}

func newHistory(c *cluster.Cluster, secrets *redact.Values, looked func(rules.Snapshot, []plan.Decision)) *history {
	h := &history{cluster: c, secrets: secrets, looked: looked, derived: derivedFields{}, said: map[said]Decision{}, events: map[string]bool{}, explained: map[string]bool{}}
	h.take()
	return h
}

// take returns what has happened and begins anew.
func (h *history) take() Phase {
	out := h.phase
	out.Evaluations = h.evaluations
	h.phase = Phase{Decisions: []Decision{}, Writes: []Write{}, Events: []Event{}}
	h.moves = nil
	return out
}

// learn has the mask know the Secrets that are in the cluster, and what its objects are called
// but for those that rules have made: who wrote the fixtures knows that.
func (h *history) learn(ctx context.Context) error {
	all, err := h.cluster.Objects(ctx)
	if err != nil {
		return err
	}
	for _, o := range all {
		if o.GVR.GroupResource() == secrets {
			h.secrets.Learn(o.Object)
		}
		h.secrets.Except(plan.GivenNames(o.Object)...)
	}
	return nil
}

// forget has an object that comes back under the name of one that is gone be told of anew.
func (h *history) forget(object string) {
	maps.DeleteFunc(h.said, func(of said, _ Decision) bool { return nameOf(of.key) == object })
}

// Looked implements [engine.Observer].
func (h *history) Looked(snapshot rules.Snapshot, decisions []plan.Decision) {
	h.evaluations++
	if h.looked != nil {
		h.looked(snapshot, decisions)
	}
}

// Evaluated implements [engine.Observer].
func (h *history) Evaluated(key engine.Key, d plan.Decision) {
	decision := Decision{
		Object: nameOf(key), Rule: d.Rule.String(), Outcome: d.Outcome, Reason: reason(d), Err: d.Err, Evaluation: h.evaluations,
	}
	if d.Audited {
		decision.Mode = spec.Audit
	}
	h.explained[d.Reason] = true
	if d.Err != nil {
		h.explained[d.Err.Error()] = true
	}
	of := said{key, d.Rule}
	before, known := h.said[of]
	h.said[of] = decision
	decision.Repeated = known && before.Outcome == decision.Outcome && before.Mode == decision.Mode
	if !decision.Repeated || before.Reason != decision.Reason {
		h.phase.Decisions = append(h.phase.Decisions, decision)
	}
}

// Write implements [engine.Writer].
func (h *history) Write(ctx context.Context, operation plan.Operation) write.Result {
	h.cluster.Requests() // Those of the cluster itself.
	result := h.cluster.Write(ctx, operation)
	h.moves = append(h.moves, operation)
	h.learnFrom(operation)
	if result.Err != nil {
		h.explained[result.Err.Error()] = true
	}
	for _, request := range h.cluster.Requests() {
		if operation.Target.IsSecret() {
			h.secrets.Learn(decoded(request.Body))
		}
		h.phase.Writes = append(h.phase.Writes, h.written(operation, request, result))
	}
	return result
}

// Wrote implements [engine.Observer]: what is audited is not sent.
func (h *history) Wrote(_ engine.Key, operation plan.Operation, class write.Class) {
	if class == write.Audited {
		h.learnFrom(operation)
		h.phase.Audited = append(h.phase.Audited, h.unsent(operation))
	}
}

// Record implements [engine.Recorder]. What the engine takes for the end of an episode
// may never have been told: the requests say whether there was one before.
func (h *history) Record(ctx context.Context, e plan.Event, again bool) error {
	h.cluster.Requests() // Those of the cluster itself.
	h.explained[e.Message] = true
	event := h.event(e)
	e = e.Masked(h.secrets.Whole) // As an engine that masks has it recorded.
	if err := h.cluster.Record(ctx, e, again); err != nil {
		event.Answer = err.Error()
		h.explained[event.Answer] = true
		if !slices.ContainsFunc(h.phase.Events, event.repeats) { // It is tried again a few times.
			h.phase.Events = append(h.phase.Events, event)
		}
		return err
	}
	for _, request := range h.cluster.Requests() {
		event.Again = request.Method != http.MethodPost
	}
	h.phase.Events = append(h.phase.Events, event)
	h.events[strings.Join([]string{e.Regarding.String(), e.Rule.String(), e.Type, e.Reason}, " ")] = true
	return nil
}

// event is an Event in the form that is shown.
func (h *history) event(e plan.Event) Event {
	e = e.Masked(h.secrets.Whole)
	return Event{Object: e.Regarding.String(), Rule: e.Rule.String(), Type: e.Type, Reason: e.Reason, Action: e.Action, Message: e.Message, Evaluation: h.evaluations}
}

// Audited implements [engine.Observer].
func (h *history) Audited(_ engine.Key, e plan.Event) {
	event := h.event(e)
	if !slices.ContainsFunc(h.phase.AuditedEvents, event.repeats) {
		h.phase.AuditedEvents = append(h.phase.AuditedEvents, event)
	}
}

// repeats reports whether it is the same event of another evaluation.
func (e Event) repeats(other Event) bool {
	other.Evaluation = e.Evaluation
	return e == other
}

// unable notes what the engine could not do, or not yet.
func (h *history) unable(report engine.Report) {
	for _, failure := range slices.Concat(report.Failures, report.Deferred) {
		h.failed(failure)
	}
}

// failed notes what the engine could not do, unless something else tells of it.
func (h *history) failed(f engine.Failure) {
	if h.explained[f.Err.Error()] {
		return
	}
	out := Failure{Object: nameOf(f.Key), Rules: namesOf(f.Rules), Error: f.Err.Error(), Hold: limit.HoldOf(f.Err)}
	list := &h.phase.Failures
	switch out.Hold {
	case limit.HoldWave:
		list = &h.phase.Waiting
	case limit.HoldPause:
		list = &h.phase.Paused
	case limit.HoldNone, limit.HoldPasses:
	}
	if !slices.ContainsFunc(*list, func(known Failure) bool { return known.Object == out.Object && known.Error == out.Error }) {
		*list = append(*list, out)
	}
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

func namesOf(rules []plan.Rule) (out []string) {
	for _, rule := range rules {
		out = append(out, rule.String())
	}
	return out
}

func nameOf(key engine.Key) string {
	return plan.Object{GVR: key.GVR, Namespace: key.Namespace, Name: key.Name}.String()
}

// RestlessError says that rules go on writing for ever.
type RestlessError struct {
	// Path are the writes of one round, each with its rules.
	Path []string
	err  error
}

// Error implements error.
func (e *RestlessError) Error() string { return e.err.Error() }

// Unwrap returns what the engine said.
func (e *RestlessError) Unwrap() error { return e.err }

// restless tells the path of a cycle, if the last writes are one.
func (h *history) restless(err error) error {
	round := period(h.moves)
	if len(round) == 0 {
		return err
	}
	out := &RestlessError{err: err}
	for _, move := range round {
		out.Path = append(out.Path, strings.Join(namesOf(move.Rules), ", "), "  "+described(h.secrets, move))
	}
	return out
}

// described is a write in one line, with what it changes where that is no secret.
func described(hidden *redact.Values, move plan.Operation) string {
	var changes []string
	told := mask.Operation(hidden, move)
	for i, change := range told.Changes {
		text := change.Path.String()
		if shown, _ := move.Shows(move.Changes[i]); shown {
			text += ": " + shownValue(hidden, change.Before) + " -> " + shownValue(hidden, change.After)
		}
		changes = append(changes, text)
	}
	out := titleOf(told)
	if len(changes) > 0 {
		out += ": " + strings.Join(changes, ", ")
	}
	return hidden.Text(out)
}

func titleOf(move plan.Operation) string {
	out := string(move.Type) + " " + move.Target.String()
	if move.Subresource != "" {
		out += " (" + move.Subresource + ")"
	}
	return out
}

func shownValue(hidden *redact.Values, value any) string {
	if value == nil {
		return "nothing"
	}
	return hidden.Text(compare.Show(hidden.Tree(value)))
}

// longestPeriod bounds how long a round of a cycle may be.
const longestPeriod = 50

// period is the shortest round that the writes end with twice: with the same values if
// there is one, and else, as where something grows, with others each time.
func period(moves []plan.Operation) []plan.Operation {
	for _, same := range []func(a, b plan.Change) bool{
		func(a, b plan.Change) bool { return reflect.DeepEqual(a, b) },
		func(a, b plan.Change) bool { return slices.Equal(a.Path, b.Path) },
	} {
		repeats := func(a, b plan.Operation) bool {
			return slices.Equal(a.Rules, b.Rules) && titleOf(a) == titleOf(b) && slices.EqualFunc(a.Changes, b.Changes, same)
		}
		for n := 1; n <= longestPeriod && 2*n <= len(moves); n++ {
			last := moves[len(moves)-n:]
			if slices.EqualFunc(last, moves[len(moves)-2*n:len(moves)-n], repeats) {
				return last
			}
		}
	}
	return nil
}

// What stands for a uid or a resourceVersion that guards a write.
const (
	asRead = "(as read)"
	ifNone = "(if there is none)"
)

// written is a request in the form that is shown.
func (h *history) written(operation plan.Operation, request cluster.Request, result write.Result) Write {
	out := h.writeOf(operation, result.Class)
	out.Type, out.Body = typeOf(request), bodyOf(request)
	out.Manager, out.Force = request.Query.Get("fieldManager"), request.Query.Get("force") == "true"
	switch {
	case request.Refusal != "":
		out.Answer, out.Failed = string(result.Class)+": "+request.Refusal, true
	case result.Class == write.Unchanged && operation.Type != plan.Delete:
		out.Answer = "nothing changed"
	}
	return out
}

// unsent is an operation that was not sent.
func (h *history) unsent(operation plan.Operation) Write {
	out := h.writeOf(operation, write.Audited)
	request, err := write.NewRequest(operation)
	if err != nil {
		out.Answer = err.Error()
		return out
	}
	out.Manager, out.Force, out.Body = request.Manager, request.Force, unguarded(Plain(request.Body))
	return out
}

func (h *history) writeOf(operation plan.Operation, class write.Class) Write {
	return Write{
		Object: operation.Target.String(), Rules: namesOf(operation.Rules), Type: operation.Type, Subresource: operation.Subresource,
		Operation: operation, Class: class, Evaluation: h.evaluations,
	}
}

// decoded is the body of a request, nil where it is no JSON.
func decoded(data []byte) any {
	var body any
	if err := utiljson.Unmarshal(data, &body); err != nil {
		return nil
	}
	return body
}

// typeOf is what a request does, which may be part of an operation of another type.
func typeOf(request cluster.Request) plan.Type {
	switch {
	case request.Method == http.MethodPost:
		return plan.Create
	case request.Method == http.MethodDelete:
		return plan.Delete
	case strings.HasPrefix(request.Type, "application/json-patch"):
		return plan.JSON
	case strings.HasPrefix(request.Type, "application/apply-patch"):
		return plan.Apply
	default:
		return plan.Merge
	}
}

// bodyOf is the body of a request, with words for its guards.
func bodyOf(request cluster.Request) any {
	body := decoded(request.Body)
	options, _ := body.(map[string]any)
	if request.Method == http.MethodDelete {
		for _, key := range []string{"apiVersion", "kind", "preconditions"} {
			delete(options, key)
		}
		if len(options) == 0 {
			return nil
		}
	}
	return unguarded(body)
}

// unguarded has words for what guards a request.
func unguarded(body any) any {
	if steps, ok := body.([]any); ok {
		for _, step := range steps {
			fields, _ := step.(map[string]any)
			at, _ := fields["path"].(string)
			if dir, key := path.Split(at); dir == "/metadata/" && isGuard(key) && fields["value"] != nil {
				fields["value"] = asRead
			}
		}
		return steps
	}
	fields, _ := body.(map[string]any)
	metadata, _ := fields["metadata"].(map[string]any)
	for key, value := range metadata {
		switch {
		case key == "resourceVersion" && value == createOnly:
			metadata[key] = ifNone
		case isGuard(key):
			metadata[key] = asRead
		}
	}
	return body
}

// createOnly is a version that no object has: an apply with it can only make one.
const createOnly = "1"

func isGuard(key string) bool { return key == "uid" || key == "resourceVersion" }

// Plain is a value as it would come back from the wire, so that it may be changed.
func Plain(body any) any {
	data, err := json.Marshal(body)
	if err != nil {
		return nil // Nothing that JSON does not have leads here.
	}
	return decoded(data)
}
