package engine

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/informer"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// process looks at one object and decides when to look again.
func (e *Engine) process(ctx context.Context, key Key) {
	if isBarrier(key) {
		e.barrier.pass(key)
		return
	}
	now := e.active.Load()
	a := &attempt{engine: e, now: now, Attempt: guard.Attempt{Key: key, Rules: now.rules, Settling: e.open.keeping()}}
	checks, rests := e.guards.all.Begin(&a.Attempt)
	if !rests.IsZero() {
		e.lookAgainIn(key, rests)
		e.conclude(now, key, guard.Outcome{State: guard.Retry})
		return
	}
	a.checks = checks
	count, change := e.open.count(key), e.news.take(key)
	a.contain(func() { a.outcome = e.reconcile(ctx, a) })
	a.contain(a.finish)
	result := a.outcome
	e.conclude(now, key, result)
	e.tellSettled(key, result, change)
	if e.options.Concluded != nil && (result.Looked || result.Failures != nil) {
		e.options.Concluded(key, failures(key, result))
	}
	switch result.State {
	case guard.Settled:
		e.limiter.Forget(key)
		e.open.done(key, count, result)
		e.timers.set(key, result.LookAgainAt)
		e.lookAgainIn(key, result.PutOffUntil)
	case guard.Waiting:
		// The event that is waited for queues the key.
		if result.Looked { // Else it may be a failure that is to be tried again.
			e.limiter.Forget(key)
		}
		e.queue.AddAfter(key, recheck)
	case guard.Again:
		e.limiter.Forget(key)
		e.hurry(key)
		e.queue.Add(key)
	case guard.Retry:
		e.retry(key, result, count)
	}
}

// conclude notes whether the rules have done with an object, for who waits for that.
// Once they have, they have taken over what others left on it.
func (e *Engine) conclude(now *active, key Key, result guard.Outcome) {
	record := e.memory.known(key)
	var waiting []plan.Rule
	if record != nil {
		waiting = record.waiting
		record.recorded.conclude(result, record.reported)
	}
	rules, owe := result.Owed(waiting)
	freed := false
	switch {
	case !owe:
		if record != nil {
			record.looked = now.generation
		}
		freed = e.barrier.looked(key)
	case record == nil || !e.lookedAt(now, key, record):
		freed = e.barrier.passOver(key, rules)
	}
	if freed && e.house != nil {
		e.house.wake()
	}
}

// lookedAt reports whether the rules in effect have done with an object before: those that are about it have not changed
// since.
func (e *Engine) lookedAt(now *active, key Key, record *record) bool {
	if record.looked == 0 {
		return false
	}
	return !slices.ContainsFunc(now.of[key.GVR], func(cache informer.Key) bool {
		if now.changedAt[cache] <= record.looked || cache.Namespace != "" && cache.Namespace != key.Namespace {
			return false
		}
		view := e.caches.View(cache, key.Namespace, key.Name)
		return !view.Synced || view.Object != nil
	})
}

// retry waits longer with each failure, and at least as long as the API server
// asked, but not past the moment at which other rules have something to do.
func (e *Engine) retry(key Key, result guard.Outcome, count int) {
	if e.open.givesUp(result, e.limiter.NumRequeues(key)) {
		e.limiter.Forget(key)
		e.open.done(key, count, result)
		if e.driven() {
			e.postpone(key, result)
		}
		return
	}
	delay := max(result.After, e.limiter.When(key))
	if result.Split {
		delay = result.After
	}
	if !result.LookAgainAt.IsZero() && !e.open.keeping() {
		delay = min(delay, result.LookAgainAt.Sub(e.options.Clock.Now()))
	}
	e.queue.AddAfter(key, delay)
	e.lookAgainIn(key, result.PutOffUntil)
}

// contain turns a panic into a failure of this object alone.
func (a *attempt) contain(do func()) {
	defer func() {
		if cause := recover(); cause != nil {
			err := fmt.Errorf("panic: %v", cause)
			a.engine.log(a.Key).Error("reconciling panicked", "err", err, "stack", string(debug.Stack()))
			a.outcome, a.CarriedOut, a.finished = failed(nil, err, false), false, false
		}
	}()
	do()
}

// reconcile is one turn of the loop: snapshot, plan, write. One set of rules
// is used throughout.
func (e *Engine) reconcile(ctx context.Context, a *attempt) guard.Outcome {
	now, key := a.now, a.Key
	if key.UID != "" {
		return e.reconcileGone(ctx, a)
	}
	record := e.memory.known(key)
	if record != nil && e.awaiting(ctx, now, key, record) {
		return e.await(record)
	}
	seen, err := e.seeLive(ctx, now, key, record)
	switch {
	case err != nil:
		return unread(nil, err)
	case seen.found == gone:
		return e.lost(now, key, record)
	case seen.found == unknown:
		if record != nil {
			record.held = record.held.after(now, nil, seen.unsure)
		}
		return guard.Outcome{}
	}
	object := seen.Identity()
	if record == nil || record.uid != object.UID {
		e.succeed(now, key, record)
		record = e.memory.of(key, object.UID)
	}
	a.record = record
	result := e.evaluate(ctx, a, seen)
	if seen.stray() && result.State == guard.Settled {
		return e.leaveStray(key, seen, result)
	}
	return result
}

// evaluate asks the rules, and carries out what they want.
func (e *Engine) evaluate(ctx context.Context, a *attempt, seen sight) guard.Outcome {
	var decided plan.Plan
	decided, a.asked = e.decide(a.now, a.Key, a.record, seen)
	if e.awaiting(ctx, a.now, a.Key, a.record) { // A cache has become complete in the meantime.
		return e.await(a.record)
	}
	if len(decided.Operations) > 0 && e.open.unsettled(a.Key) {
		a.Plan, a.Mask = decided, a.asked.hidden.error
		out := failed(decided.Operations[0].Rules, errUnsettled, true)
		out.Looked = true
		return out
	}
	return a.carryOut(ctx, decided)
}

var errUnsettled = fmt.Errorf("%w: after %d rounds of writes its rules still want something else", ErrRestless, maxRounds)

// decide asks the rules, and returns what they want and what they asked.
func (e *Engine) decide(now *active, key Key, record *record, seen sight) (plan.Plan, *source) {
	asked := &source{engine: e, asker: key, watched: seen.Object}
	defer func() {
		if cause := recover(); cause != nil {
			panic(asked.masker(seen, plan.Plan{}).panicked(cause))
		}
	}()
	if len(seen.unsure) > 0 {
		asked.unasked = now.set.Watching(seen.unsure)
	}
	seen.State = rules.State{HeldSince: record.held.under(now), Separate: record.separate, Ineffective: record.ineffective}
	decided := e.ask(now, &seen, asked)
	asked.done()
	record.due = !record.rest.IsZero() && !seen.Now.Before(record.rest)
	record.rest = time.Time{}
	if len(decided.Operations) == 0 {
		record.rest = decided.LookAgainAt
	}
	if n := len(decided.Suppressed); n > 0 {
		e.options.Observer.Spared(key, n)
	}
	if e.options.Looked != nil {
		e.options.Looked(seen.Snapshot, decided.Decisions)
	}
	record.waiting = nil
	for _, decision := range decided.Decisions {
		if waits(decision) || decision.Outcome == plan.Skipped && !asked.whole() {
			record.waiting = append(record.waiting, decision.Rule)
		}
	}
	record.held = record.held.after(now, decided.Decisions, seen.unsure)
	record.recorded.decide(seen.Now, decided.Decisions, record.held, len(seen.unsure) > 0)
	e.report(key, record, decided.Decisions)
	return decided, asked
}

// ask evaluates the rules. What they decide tells no values of Secrets.
func (e *Engine) ask(now *active, seen *sight, asked *source) plan.Plan {
	seen.Related, seen.Explain = asked, e.options.Explain
	decided := now.set.Evaluate(seen.Snapshot)
	asked.hidden = asked.masker(*seen, decided)
	asked.hidden.plan(&decided)
	return decided
}

// forget drops all that is remembered of an object. What has failed is tried again, so the guards remember that.
func (e *Engine) forget(key Key, failed bool) {
	if !failed {
		e.guards.all.Forget(key)
	}
	record := e.memory.known(key)
	if record == nil {
		return
	}
	for at := range record.awaits {
		e.waiters.remove(at, key)
	}
	e.related.Forget(key)
	e.timers.set(key, time.Time{})
	e.memory.forget(key)
	if e.options.Forgot != nil {
		e.options.Forgot(key)
	}
}

// report tells the observer every decision, and the log what is new about a
// rule that could not act.
func (e *Engine) report(key Key, record *record, decisions []plan.Decision) {
	for _, decision := range decisions {
		e.options.Observer.Evaluated(key, decision)
		if !decision.Outcome.Troubled() {
			delete(record.reported, decision.Rule)
			continue
		}
		if record.reported[decision.Rule] == decision.Reason {
			continue
		}
		if record.reported == nil {
			record.reported = map[plan.Rule]string{}
		}
		record.reported[decision.Rule] = decision.Reason
		e.log(key).Warn("rule did not act",
			"rule", decision.Rule.String(), "outcome", string(decision.Outcome), "reason", decision.Reason)
	}
}

// log has the fixed keys of an object.
func (e *Engine) log(key Key) *slog.Logger {
	return key.Log(e.options.Log)
}
