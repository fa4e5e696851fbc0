package engine

import (
	"context"
	"maps"

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
		outcome: outcome{failures: troubled(decided.Decisions)},
	}
	record.ineffective = decided.Suppressed
	for _, operation := range decided.Operations {
		if !a.blocked(operation) {
			a.send(ctx, operation)
		}
	}
	if len(decided.Operations) == 0 {
		record.separate = false
	}
	a.notify(ctx, decided)
	return a.outcome
}

// blocked passes over what cannot be sent any more.
func (a *attempt) blocked(operation plan.Operation) bool {
	blocked := a.stopped
	for _, rule := range operation.Rules {
		blocked = blocked || a.unfinished[rule]
	}
	if blocked {
		a.leave(operation)
	}
	return blocked
}

// leave marks the rules of an operation as unfinished. Where a rule may suffer
// for another, the next attempt sends each on its own.
func (a *attempt) leave(operation plan.Operation) {
	for _, rule := range operation.Rules {
		a.unfinished[rule] = true
	}
	if len(operation.Rules) > 1 && !a.stopped {
		a.record.separate = true
		a.outcome.hopeless = false
	}
}

// send writes one operation and judges the answer.
func (a *attempt) send(ctx context.Context, operation plan.Operation) {
	if a.version != "" {
		operation.Target.ResourceVersion = a.version
	}
	result := a.engine.options.Writer.Write(ctx, operation)
	a.engine.options.Observer.Wrote(operation, result.Class)
	a.engine.open.wrote(result.Class)
	a.log(operation, result)
	if result.Class.Failed() {
		// A stale or ambiguous answer says that the rest of the plan may have
		// been made from a snapshot that is no longer true.
		a.stopped = result.Class == write.Stale || result.Class == write.Ambiguous
		a.outcome = a.outcome.failed(result)
		a.leave(operation)
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
	a.record.written, a.version = result.ResourceVersion, result.ResourceVersion
	a.stopped = !operation.CameTrue(result.Object)
	if a.outcome.state == settled {
		a.outcome.state = waiting
	}
}

// remember keeps what had no effect from being repeated.
func (a *attempt) remember(operation plan.Operation, result write.Result) {
	marks, paths := operation.Ineffective(result.Object)
	if len(marks) == 0 {
		return
	}
	maps.Copy(a.record.ineffective, marks)
	a.engine.log(a.key).Warn("write had no effect and is not repeated",
		"rules", names(operation.Rules), "fields", names(paths))
}

// log names fields but not their values, which may be secret.
func (a *attempt) log(operation plan.Operation, result write.Result) {
	log := a.engine.log(a.key).With("rules", names(operation.Rules), "fields", names(operation.Paths()))
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
