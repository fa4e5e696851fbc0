package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// attempt is the carrying out of one plan.
type attempt struct {
	engine *Engine
	key    Key
	record *record
	// wrote are the rules of which something was written.
	wrote map[plan.Rule]bool
	// unfinished are the rules of which something was not: their Events wait.
	unfinished map[plan.Rule]bool
	// stopped says that the snapshot is no longer true.
	stopped bool
	// version is the resourceVersion after the last write, empty before.
	version string
	outcome outcome
}

// carryOut sends the operations in order. A failed operation stops the later
// ones of its rules; other rules go on.
func (e *Engine) carryOut(ctx context.Context, key Key, record *record, decided plan.Plan) outcome {
	a := &attempt{
		engine: e, key: key, record: record,
		wrote: map[plan.Rule]bool{}, unfinished: map[plan.Rule]bool{},
		outcome: outcome{
			looked: true, waits: slices.ContainsFunc(decided.Decisions, waits), troubles: troubled(decided.Decisions),
		},
	}
	if !e.open.keeping() { // Who settles waits for no timer.
		a.outcome.lookAgainAt = decided.LookAgainAt
	}
	record.ineffective = decided.Suppressed
	for _, operation := range decided.Operations {
		if a.blocked(operation) {
			a.leave(operation)
			if a.outcome.hopeless {
				a.split(operation)
			}
			continue
		}
		a.send(ctx, operation)
	}
	if len(decided.Operations) == 0 {
		record.separate = false
	}
	e.audit(key, record, decided.Audited)
	a.notify(ctx, decided)
	return a.outcome
}

func waits(decision plan.Decision) bool { return decision.Outcome == plan.Waiting }

// blocked reports whether an operation cannot be sent any more.
func (a *attempt) blocked(operation plan.Operation) bool {
	return a.stopped || slices.ContainsFunc(operation.Rules, func(rule plan.Rule) bool { return a.unfinished[rule] })
}

// leave marks the rules of an operation that is not carried out.
func (a *attempt) leave(operation plan.Operation) {
	for _, rule := range operation.Rules {
		a.unfinished[rule] = true
	}
}

// split has each rule sent on its own from now on, where one of several may
// have been refused, or held back, for another.
func (a *attempt) split(operation plan.Operation) {
	if len(operation.Rules) > 1 && !a.record.separate {
		a.record.separate = true
		a.outcome.split, a.outcome.hopeless = true, false
	}
}

// refused judges a write that failed.
func (a *attempt) refused(operation plan.Operation, result write.Result) {
	hopeless := result.Class == write.Terminal || result.Class == write.OwnedByAnother
	a.outcome = a.outcome.failed(trouble{operation.Rules, result.Err}, hopeless, result.RetryAfter)
	a.leave(operation)
	switch result.Class {
	case write.Stale:
		// The rest of the plan was made from the same snapshot. The caches are
		// waited for, so that the same patch is not sent again.
		a.stopped = true
		a.record.wait(result.ResourceVersion, a.engine.options.Clock.Now())
	case write.Ambiguous:
		a.stopped = true
	case write.Terminal, write.OwnedByAnother:
		a.split(operation)
	default:
	}
}

// send writes one operation and judges the answer.
func (a *attempt) send(ctx context.Context, operation plan.Operation) {
	if a.version != "" {
		operation.Target.ResourceVersion = a.version
	}
	result := a.engine.options.Writer.Write(ctx, operation)
	a.engine.options.Observer.Wrote(operation, result.Class)
	a.engine.open.wrote(a.key, result.Class)
	a.log(operation, result)
	if result.Class.Failed() {
		a.refused(operation, result)
		return
	}
	for _, rule := range operation.Rules {
		a.wrote[rule] = true
	}
	if result.Class == write.Simulated {
		maps.Copy(a.record.ineffective, operation.All())
		return
	}
	a.remember(operation, result)
	if result.Class == write.Unchanged {
		return
	}
	a.version = result.ResourceVersion
	a.record.wait(result.ResourceVersion, a.engine.options.Clock.Now())
	a.outcome.wrote = true
	a.stopped = !operation.CameTrue(result.Object)
	if a.outcome.state == settled {
		a.outcome.state = waiting
	}
}

// remember keeps what had no effect from being repeated.
func (a *attempt) remember(operation plan.Operation, result write.Result) {
	marks, unchanged := operation.Ineffective(result.Object)
	if len(marks) == 0 {
		return
	}
	maps.Copy(a.record.ineffective, marks)
	a.engine.log(a.key).Warn("write had no effect and is not repeated",
		"rules", names(operation.Rules), "changes", names(unchanged))
}

// log names rules and fields but not their values, which may be secret.
func (a *attempt) log(operation plan.Operation, result write.Result) {
	log := a.engine.log(a.key).With("rules", names(operation.Rules), "changes", names(operation.Changes))
	switch {
	case result.Class == write.Stale:
		log.Debug("write was out of date", "err", result.Err)
	case result.Class.Failed():
		log.Warn("write failed", "class", string(result.Class), "err", result.Err)
	case result.Class == write.Simulated:
		log.Info("would write", "type", string(operation.Type), "subresource", operation.Subresource)
	case result.Class == write.Written:
		log.Info("wrote", "type", string(operation.Type), "subresource", operation.Subresource)
	}
}

func names[T interface{ String() string }](list []T) []string {
	out := make([]string, len(list))
	for i, element := range list {
		out[i] = element.String()
	}
	return out
}
