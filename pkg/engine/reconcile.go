package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// process looks at one object and decides when to look again.
func (e *Engine) process(ctx context.Context, key Key) {
	count := e.open.count(key)
	result := e.contained(ctx, key)
	switch result.state {
	case settled:
		e.queue.Forget(key)
		e.open.done(key, count, result)
		e.lookAgain(key, result.lookAgainAt)
	case waiting:
		// The event that the caches wait for queues the key. Who settles does
		// not wait for ever.
		e.queue.Forget(key)
		if e.open.keeping() {
			e.queue.AddAfter(key, echoTimeout)
		}
	case retry:
		e.retry(key, result, count)
	}
}

// echoTimeout is how long a settling engine waits for the caches to see a
// write.
const echoTimeout = time.Minute

// retry waits longer with each failure, and at least as long as the API server
// asked, but not past the moment at which other rules have something to do.
func (e *Engine) retry(key Key, result outcome, count int) {
	if e.open.givesUp(result, e.limiter.NumRequeues(key)) {
		e.queue.Forget(key)
		e.open.done(key, count, result)
		return
	}
	delay := max(result.after, e.limiter.When(key))
	if result.split {
		delay = result.after
	}
	if !result.lookAgainAt.IsZero() {
		delay = min(delay, e.until(result.lookAgainAt))
	}
	e.queue.AddAfter(key, delay)
}

// contained turns a panic into a failure of this object alone.
func (e *Engine) contained(ctx context.Context, key Key) (result outcome) {
	defer func() {
		if cause := recover(); cause != nil {
			err := fmt.Errorf("panic: %v", cause)
			e.log(key).Error("reconciling panicked", "err", err, "stack", string(debug.Stack()))
			result = outcome{state: retry, troubles: []trouble{{err: err}}}
		}
	}()
	return e.reconcile(ctx, key)
}

// reconcile is one turn of the loop: snapshot, plan, write. One set of rules
// is used throughout.
func (e *Engine) reconcile(ctx context.Context, key Key) outcome {
	set := e.rules.Load()
	snapshot, found, unsure := e.snapshot(set, key)
	switch found {
	case gone:
		e.memory.forget(key)
		return outcome{state: settled}
	case unknown:
		if record := e.memory.known(key); record != nil {
			record.held = record.held.after(set, nil, unsure)
		}
		return outcome{state: settled}
	case present:
	}
	object := snapshot.Identity()
	record := e.memory.of(key, object.UID)
	if older(object.ResourceVersion, record.written) {
		return e.await(record)
	}
	snapshot.State = rules.State{
		HeldSince: record.held.under(set), Separate: record.separate, Ineffective: record.ineffective,
	}
	decided := set.Evaluate(snapshot)
	record.held = record.held.after(set, decided.Decisions, unsure)
	e.report(key, record, decided.Decisions)
	if len(decided.Operations) > 0 && e.open.unsettled(key) {
		restless := fmt.Errorf("it does not settle: after %d writes its rules still want something else", maxWrites)
		return outcome{looked: true}.failed(trouble{decided.Operations[0].Rules, restless}, true, 0)
	}
	return e.carryOut(ctx, key, record, decided)
}

// await leaves an object alone until the caches have seen what was written to
// it.
func (e *Engine) await(record *record) outcome {
	if e.open.keeping() && e.options.Clock.Since(record.writtenAt) >= echoTimeout {
		silent := fmt.Errorf("the watch has not shown the last write for %s", echoTimeout)
		return outcome{}.failed(trouble{err: silent}, true, 0)
	}
	return outcome{state: waiting}
}

// report tells the observer every decision, and the log what is new about a
// rule that could not act.
func (e *Engine) report(key Key, record *record, decisions []plan.Decision) {
	for _, decision := range decisions {
		e.options.Observer.Evaluated(decision)
		if !decision.Outcome.Troubled() {
			delete(record.reported, decision.Rule)
			continue
		}
		if record.reported[decision.Rule] == decision.Reason {
			continue
		}
		record.reported[decision.Rule] = decision.Reason
		e.log(key).Warn("rule did not act",
			"rule", decision.Rule.String(), "outcome", string(decision.Outcome), "reason", decision.Reason)
	}
}

// troubled are the rules that could not act.
func troubled(decisions []plan.Decision) []trouble {
	var out []trouble
	for _, decision := range decisions {
		if decision.Outcome.Troubled() {
			err := cmp.Or(decision.Err, errors.New(decision.Reason))
			out = append(out, trouble{[]plan.Rule{decision.Rule}, err})
		}
	}
	return out
}

// log has the fixed keys of an object.
func (e *Engine) log(key Key) *slog.Logger {
	return e.options.Log.With("gvr", plan.ResourceName(key.GVR), "namespace", key.Namespace, "name", key.Name)
}
