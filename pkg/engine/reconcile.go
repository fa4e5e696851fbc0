package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/dyncontroller/dyncontroller/pkg/engine/breaker"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

const (
	// The delays between attempts on one object: doubled with each failure, capped, without end.
	firstRetry = 50 * time.Millisecond
	lastRetry  = breaker.LastRetry
	// strayLook is how often an object that is being deleted is looked at where no cache tells when it is gone.
	strayLook = 30 * time.Second
)

var errUnsettled = fmt.Errorf("%w: after %d rounds of writes its rules still want something else", guard.ErrRestless, maxRounds)

// loop looks at one object after the other.
type loop struct {
	*core
	// failures slow down the retries of an object, and delays those that wait for what is not its own: neither adds to the other.
	failures, delays workqueue.TypedRateLimiter[Key]
	unanswered       unanswered
}

// turn takes the next object, and reports whether there is one.
func (e *loop) turn(ctx context.Context) bool {
	key, shutdown := e.Get()
	if shutdown {
		return false
	}
	if ctx.Err() == nil {
		e.process(ctx, key)
	}
	e.Done(key)
	return true
}

// process looks at one object and decides when to look again.
func (e *loop) process(ctx context.Context, key Key) {
	now := e.unfinished.begin(key, &e.active)
	defer func() {
		if e.unfinished.end(key) {
			e.tidying.wake()
		}
		e.tracker.check()
	}()
	a := &attempt{core: e.core, now: now, Attempt: guard.Attempt{
		Key: key, Rules: now.Rules, Generation: now.generation, Since: now.since, Settling: e.runs() != forever, Log: e.options.Log,
	}}
	var rests time.Time
	if a.checks, rests = e.guards.all.Begin(&a.Attempt); !rests.IsZero() {
		e.lookAgainIn(key, rests)
		e.noteOwed(a, guard.Outcome{State: guard.Retry})
		return
	}
	e.unfinished.change(key, time.Time{})
	a.contain(func() { a.outcome = a.reconcile(ctx) })
	a.contain(func() { a.finish(ctx) })
	e.conclude(a)
}

// conclude tells what became of an object, and decides when to look again.
func (e *loop) conclude(a *attempt) {
	key, outcome := a.Key, a.outcome
	e.noteOwed(a, outcome)
	if outcome.State == guard.Settled && len(outcome.Failures) == 0 {
		if since := e.unfinished.settled(key); outcome.Looked && !since.IsZero() {
			e.options.Observer.Settled(key, e.options.Clock.Since(since))
		}
	}
	if outcome.Looked || outcome.Failures != nil {
		e.options.Observer.Concluded(key, outcome.Failures)
	}
	e.setRecheck(key, outcome.State == guard.Waiting)
	retries := outcome.State == guard.Retry
	if retries && e.tracker.givesUp(outcome, e.limiterOf(outcome).NumRequeues(key)) {
		retries = false
		if e.runs() == stepwise { // An engine that runs for ever would try it again by then.
			outcome.LookAgain(e.options.Clock.Now().Add(lastRetry))
		}
	}
	if outcome.Looked || outcome.State == guard.Settled || !outcome.LookAgainAt.IsZero() { // Else the moment known before stands.
		e.setTimer(key, outcome.LookAgainAt)
	}
	e.lookAgainIn(key, outcome.PutOffUntil)
	if !noAnswer(outcome) {
		e.enqueueEach(e.unanswered.answered(key))
	}
	if retries {
		e.tracker.later(key, outcome)
		e.AddAfter(key, e.retryAfter(key, outcome))
		return
	}
	if outcome.State != guard.Waiting || outcome.Looked { // Else it may be a failure that is to be tried again.
		e.failures.Forget(key)
		e.delays.Forget(key)
	}
	switch outcome.State {
	case guard.Waiting: // The event that is waited for queues the key.
		e.tracker.later(key, outcome)
	case guard.Again:
		e.hurry(key)
		e.enqueue(key)
	case guard.Retry, guard.Settled:
		e.tracker.done(key, outcome)
	}
}

// limiterOf is what slows down the retries of an object.
func (e *loop) limiterOf(outcome guard.Outcome) workqueue.TypedRateLimiter[Key] {
	if passes(outcome) {
		return e.delays
	}
	return e.failures
}

// retryAfter is how long an object waits that failed: with each failure longer, and at least as long as the API server asked.
func (e *loop) retryAfter(key Key, outcome guard.Outcome) time.Duration {
	limiter := e.limiterOf(outcome)
	if limiter == e.failures {
		e.delays.Forget(key) // It does not wait any more.
	}
	delay := limiter.When(key)
	if noAnswer(outcome) {
		delay = e.unanswered.wait(key, delay)
	}
	if outcome.Replan {
		return outcome.After
	}
	return max(delay, outcome.After)
}

// noteOwed notes whether the rules have done with an object. Once they have, they have taken over what others left on it.
func (e *loop) noteOwed(a *attempt, outcome guard.Outcome) {
	record := e.memory.known(a.Key)
	var waiting []plan.Rule
	if record != nil {
		waiting = record.waiting
		record.history.Finished(outcome)
		record.waits.Store(outcome.State != guard.Settled || len(outcome.Failures) > 0 || outcome.Waits || a.unsure || len(record.awaits) > 0)
	}
	switch owed := outcome.Owed(waiting, a.Undone); {
	case owed == nil:
		if record != nil && !a.unsure {
			record.looked = a.now.generation
		}
		e.unfinished.done(a.Key)
	case !e.lookedAt(a.now, a.Key, record):
		e.unfinished.owe(a.Key, owed)
	}
}

// lookedAt reports whether the rules in effect have done with an object before: those that are about it have not changed
// since.
func (e *loop) lookedAt(now *active, key Key, record *record) bool {
	if record == nil || record.looked == 0 {
		return false
	}
	return !slices.ContainsFunc(now.of[key.GVR], func(cache plan.Selection) bool {
		if now.changedAt[cache] <= record.looked || cache.Namespace != "" && cache.Namespace != key.Namespace {
			return false
		}
		view := e.caches.View(cache, key.Namespace, key.Name)
		return !view.Synced || view.Object != nil
	})
}

// contain turns a panic into a failure of this object alone.
func (a *attempt) contain(do func()) {
	defer func() {
		if cause := recover(); cause != nil {
			err := fmt.Errorf("panic: %v", cause)
			if a.verifier != nil { // A rule may say what it has read.
				err = a.verifier.asked.masker(a.Plan).Error(err)
			}
			a.log(a.Key).Error("reconciling panicked", "err", err, "stack", string(debug.Stack()))
			a.outcome, a.CarriedOut = failed(guard.Retryable, nil, err), false
		}
	}()
	do()
}

// reconcile is one turn of the loop: snapshot, plan, write. One set of rules is used throughout.
func (a *attempt) reconcile(ctx context.Context) guard.Outcome {
	now, key := a.now, a.Key
	record := a.memory.known(key)
	if record != nil {
		record.waits.Store(true) // Before the caches are looked at: what they tell meanwhile may have been waited for.
	}
	if record != nil && a.awaiting(ctx, now, key, record) {
		return a.await(record)
	}
	if key.UID != "" {
		return a.reconcileGone(ctx)
	}
	seen, err := a.observeLive(ctx, record)
	switch {
	case err != nil:
		return unread(nil, err)
	case seen.found == unknown:
		if record != nil {
			a.unsure = true
			record.held.Store(record.held.Load().after(now, nil, seen.unsure))
		}
		return guard.Outcome{}
	}
	object := seen.Identity()
	if record == nil || record.uid != object.UID {
		if record != nil && now.Prunes(key.GVR) { // The children of what is gone are looked at under its uid.
			a.enqueue(Key{GVR: key.GVR, Namespace: key.Namespace, Name: key.Name, UID: record.uid})
		}
		a.forget(key, false) // What was written for it has been seen.
	}
	if seen.found == gone { // Or it has nothing of ours.
		return guard.Outcome{}
	}
	record = a.memory.of(key, object.UID)
	a.record = record
	a.decide(seen)
	if a.awaiting(ctx, now, key, record) { // A cache has become complete in the meantime.
		return a.await(record)
	}
	if len(a.Plan.Operations) > 0 && a.tracker.unsettled(key) {
		out := failed(guard.Hopeless, a.Plan.Operations[0].Rules, errUnsettled)
		out.Looked = true
		return out
	}
	return a.carryOut(ctx)
}

// observeLive is observe, with a live read where no cache has the object and rules may have left something on it: one that was
// relabelled out of all selections lives on. It is gone where the object is, or has made room for another.
func (a *attempt) observeLive(ctx context.Context, record *record) (observation, error) {
	now, key := a.now, a.Key
	seen := a.observe(now, key)
	if seen.found != gone || !now.Holds(key.GVR) && !now.Prunes(key.GVR) {
		return seen, nil
	}
	live, err := a.live.Get(ctx, key.GVR, key.Namespace, key.Name)
	if err != nil {
		return seen, fmt.Errorf("reading what no cache has: %w", err)
	}
	if live == nil || record != nil && uidOf(live) != record.uid {
		return seen, nil
	}
	seen.found, seen.Object = present, live
	a.leave(now, &seen)
	return seen, nil
}

// forget drops all that is remembered of an object. What has failed is tried again, so the guards remember that.
func (c *core) forget(key Key, failed bool) {
	if !failed {
		c.guards.all.Forget(key)
	}
	if c.memory.forget(key) {
		c.related.Forget(key)
		c.setTimer(key, time.Time{})
		c.options.Observer.Forgot(key)
	}
}

// decide asks the rules what they want, and sets what carryOut needs: the plan, the verifier and the outcome so far. The observer
// is told every decision, and the log what is new about a rule that could not act.
func (a *attempt) decide(seen observation) {
	record, asked := a.record, &source{engine: a.core, asker: a.Key, watched: seen.Object}
	a.verifier = &verifier{
		cluster: &a.cluster, key: a.Key, informers: a.now.of[a.Key.GVR], keeps: a.now.compared(a.Key.GVR), asked: asked,
		read: &record.read, version: versionOf(seen.Object), own: map[types.UID]bool{}, turn: make(chan struct{}, 1), verified: map[string]time.Time{},
	}
	seen.State = rules.State{
		HeldSince: record.held.Load().under(a.now), Separate: record.separate, Ineffective: record.ineffective,
		Failures: record.refusals.known(),
	}
	decided, masker := asked.evaluate(a.now, &seen)
	a.related.Keep(a.Key, asked.asked) // What was asked in earlier evaluations only is forgotten.
	a.unsure, a.unselected = len(seen.unsure) > 0, seen.unselected()
	writing := rulesOf(decided.Operations)
	a.Evaluation = guard.Evaluation{
		UID: record.uid, Watched: seen.Object, Plan: decided, Due: record.due(writing, seen.Now),
		Read: sync.OnceValue(asked.inputs), Unanswered: asked.unanswered, Mask: masker,
	}
	if a.unsure {
		a.Unasked = a.now.Watching(seen.unsure)
	}
	record.moment, record.writing = decided.LookAgainAt, writing
	if n := len(decided.Suppressed); n > 0 {
		a.options.Observer.Spared(a.Key, n)
	}
	a.options.Observer.Looked(seen.Snapshot, decided.Decisions)
	a.outcome, record.waiting = guard.Outcome{Looked: true, LookAgainAt: decided.LookAgainAt}, nil
	for _, decision := range decided.Decisions {
		rule := decision.Rule
		a.options.Observer.Evaluated(a.Key, decision)
		if decision.Outcome == plan.Waiting || decision.Outcome == plan.Skipped && a.Unanswered {
			record.waiting = append(record.waiting, rule)
		}
		a.outcome.Waits = a.outcome.Waits || decision.Outcome == plan.Waiting
		if !decision.Outcome.Troubled() {
			delete(record.logged, trouble{rule: rule})
			continue
		}
		failure := guard.Failure{Rules: []plan.Rule{rule}, Err: cmp.Or(decision.Err, errors.New(decision.Reason)), Cause: guard.Decided}
		if decision.Outcome == plan.Failed {
			failure.Cause = guard.Unevaluated
		}
		a.outcome.Failures = append(a.outcome.Failures, failure)
		if record.logged.add(trouble{rule: rule}, decision.Reason) {
			a.log(a.Key).Warn("rule did not act", "rule", rule.String(), "outcome", string(decision.Outcome), "reason", decision.Reason)
		}
	}
	record.held.Store(record.held.Load().after(a.now, decided.Decisions, seen.unsure))
	record.history.Decided(seen.Now, decided.Decisions, a.unsure)
}
