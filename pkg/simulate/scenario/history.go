package scenario

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/cluster"
)

// history is what an engine did since it was told last. It stands between the engine
// and the cluster.
type history struct {
	engine.NopObserver
	cluster *cluster.Cluster
	secrets *mask
	// said is the last decision on each rule and object.
	said map[said]Decision
	// moves are the writes of the phase, for the path of a cycle.
	moves []move
	phase Phase
	// events are all that there were.
	events map[string]bool
	// explained are the errors that a decision, an answer or an Event tells of.
	explained map[string]bool
	// evaluations is how many there were. What is told until the next one follows the last.
	evaluations int
	looked      func(rules.Snapshot, []plan.Decision) // told of each evaluation, nil for nobody
}

// said is of what a decision is.
type said struct {
	key  engine.Key
	rule plan.Rule
}

func newHistory(c *cluster.Cluster, secrets *mask, looked func(rules.Snapshot, []plan.Decision)) *history {
	h := &history{cluster: c, secrets: secrets, looked: looked, said: map[said]Decision{}, events: map[string]bool{}, explained: map[string]bool{}}
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
			h.secrets.learn(o.Object)
		}
		h.secrets.values.Except(plan.GivenNames(o.Object)...)
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
	if !known || before.Outcome != decision.Outcome || before.Reason != decision.Reason || before.Mode != decision.Mode {
		h.phase.Decisions = append(h.phase.Decisions, decision)
	}
}

// Write implements [engine.Writer].
func (h *history) Write(ctx context.Context, operation plan.Operation) write.Result {
	h.cluster.Requests() // Those of the cluster itself.
	result := h.cluster.Write(ctx, operation)
	h.moves = append(h.moves, moveOf(operation))
	if result.Err != nil {
		h.explained[result.Err.Error()] = true
	}
	for _, request := range h.cluster.Requests() {
		if operation.Target.IsSecret() {
			h.secrets.learn(decoded(request.Body))
		}
		sent := writeOf(operation, request, result)
		sent.Evaluation = h.evaluations
		h.phase.Writes = append(h.phase.Writes, sent)
	}
	return result
}

// Wrote implements [engine.Observer]: what is audited is not sent.
func (h *history) Wrote(operation plan.Operation, class write.Class) {
	if class == write.Audited {
		if operation.Target.IsSecret() {
			h.secrets.learn(plain(operation.Body))
		}
		audited := unsent(operation)
		audited.Evaluation = h.evaluations
		h.phase.Audited = append(h.phase.Audited, audited)
	}
}

// Record implements [engine.Recorder]. What the engine takes for the end of an episode
// may never have been told: the requests say whether there was one before.
func (h *history) Record(ctx context.Context, e plan.Event, again bool) error {
	h.cluster.Requests() // Those of the cluster itself.
	event := Event{Object: e.Regarding.String(), Rule: e.Rule.String(), Type: e.Type, Reason: e.Reason, Action: e.Action, Message: e.Message, Evaluation: h.evaluations}
	h.explained[e.Message] = true
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

// repeats reports whether it is the same event of another evaluation.
func (e Event) repeats(other Event) bool {
	other.Evaluation = e.Evaluation
	return e == other
}

// failed notes what the engine could not do, unless something else tells of it.
func (h *history) failed(f engine.Failure) {
	if h.explained[f.Err.Error()] {
		return
	}
	out := Failure{Object: nameOf(f.Key), Error: f.Err.Error()}
	for _, rule := range f.Rules {
		out.Rules = append(out.Rules, rule.String())
	}
	for _, known := range h.phase.Failures {
		if known.Object == out.Object && known.Error == out.Error {
			return
		}
	}
	h.phase.Failures = append(h.phase.Failures, out)
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

func nameOf(key engine.Key) string {
	return plan.Object{GVR: key.GVR, Namespace: key.Namespace, Name: key.Name}.String()
}
