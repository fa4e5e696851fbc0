package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/client"
	"github.com/dyncontroller/dyncontroller/pkg/engine/events"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/live"
	"github.com/dyncontroller/dyncontroller/pkg/engine/naming"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/redact"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

const (
	// largestBatch bounds how many objects are created at the same time.
	largestBatch = 16
	// keptRecheck is how often it is looked whether an object that a rule keeps, and that no cache shows, is there still: no
	// event tells when it goes.
	keptRecheck = 5 * time.Minute
)

var (
	// errCome is why an object is not made under a name that was sent before.
	errCome = errors.New("what was to be made has turned up since, so it is decided anew")
	// errBeingDeleted is why an object is not made yet.
	errBeingDeleted = errors.New("is being deleted and not among what is selected; it is made anew when it is gone")
)

// attempt is one look at an object: its rules are evaluated, and what they want is sent.
type attempt struct {
	guard.Attempt
	*core
	now      *active
	checks   guard.Checks
	record   *record
	verifier *verifier
	// unsure says that a cache that may have the object is not complete, or is behind, and unselected that it was read live, as no
	// cache has it.
	unsure, unselected bool
	progress
	outcome guard.Outcome
}

// progress is how far a plan has been carried out.
type progress struct {
	// known is what was known to have no effect before.
	known plan.Marks
	// written are the objects that were written, by what the snapshot said of them.
	written map[plan.Object]target
	// named are the names that the plan gives to objects where the API server would choose one.
	named map[newName]bool
	// pending is what was admitted, and has no answer yet.
	pending []sending
}

// newName is that of an object which the plan makes.
type newName struct {
	origin naming.Origin
	name   string
}

// carryOut sends the operations of the plan in order. A failed operation stops the later actions of its rules; other rules go
// on.
func (a *attempt) carryOut(ctx context.Context) guard.Outcome {
	record := a.record
	a.Progress = guard.Progress{Left: map[types.UID]string{}, Wrote: map[plan.Rule]bool{}, Unfinished: map[plan.Rule]int{}, Untold: map[plan.Rule]int{}}
	a.Unheld = slices.DeleteFunc(slices.Clone(a.Plan.Unheld), func(rule plan.Rule) bool { return slices.Contains(record.simulated, rule) })
	a.progress = progress{known: record.ineffective, written: map[plan.Object]target{}, named: map[newName]bool{}}
	record.refusals.now, record.ineffective = nil, a.Plan.Suppressed
	// The creations of one rule are sent at the same time, 1, then 2, 4 and so on, so that what is refused is refused a few
	// times only.
	batch := map[plan.Rule]int{}
	for rest := record.inTurn(a.Plan.Operations); len(rest) > 0; {
		n, first := 1, rest[0]
		if rule := first.Rules[0]; first.Type == plan.Create {
			size := max(1, batch[rule])
			batch[rule] = min(2*size, largestBatch)
			for n < min(size, len(rest)) && rest[n].Type == plan.Create && rest[n].Rules[0] == rule {
				n++
			}
		}
		a.send(a.Mask.Context(ctx), rest[:n])
		rest = rest[n:]
	}
	if len(a.Plan.Operations) == 0 {
		record.separate, record.nameTaken, record.unknown = false, false, nil
	}
	if record.refusals.finish(&a.Attempt) {
		a.outcome.PlanAgain()
	}
	if a.outcome.Wrote {
		a.tracker.round(a.Key)
	}
	if unseen := a.awaiting(ctx, a.active.Load(), a.Key, record); !unseen && a.outcome.State == guard.Waiting {
		a.outcome.State = guard.Again // No cache has to show it, or it was quicker.
	}
	a.audit(ctx)
	a.CarriedOut = true
	return a.outcome
}

// finish tells the guards that nothing is sent any more, and records Events. What needs no more looks is forgotten.
func (a *attempt) finish(ctx context.Context) {
	for _, sent := range a.pending { // The attempt has panicked, so nobody knows what became of them.
		a.answered(sent, plan.Operation{}, guard.Answer{Result: write.Result{Class: write.Ambiguous}, Effective: true})
	}
	a.checks.Finish(&a.outcome)
	if !a.CarriedOut {
		return
	}
	api := events.API{Recorder: a.options.Recorder, Live: a.live, Observer: a.options.Observer, Guard: a.guards.conflicts.Events(&a.Attempt)}
	a.record.events.Notify(ctx, &a.Attempt, api, &a.outcome)
	switch failed := len(a.outcome.Failures) > 0; {
	case a.outcome.State != guard.Settled:
	case a.Watched == nil:
		a.outcome.Looked, a.outcome.LookAgainAt = false, time.Time{} // There is no object to count or to look at.
		if !a.Unanswered {
			a.forget(a.Key, failed)
		}
	case !a.unselected:
	case plan.BeingDeleted(a.Watched): // Its children go when it is gone.
		a.outcome.LookAgain(a.options.Clock.Now().Add(strayLook))
	default:
		a.forget(a.Key, failed)
		a.outcome.LookAgainAt = time.Time{}
	}
}

// send sends operations at the same time, or in their order where somebody drives the engine, as far as the guards admit
// them. It handles the answers in order.
func (a *attempt) send(ctx context.Context, operations []plan.Operation) {
	for _, o := range operations {
		for _, undone := range a.UndoneOf(o.Target) {
			o = o.Without(undone)
		}
		if a.Stopped || a.written[o.Target].closed || a.Follows(o) || a.record.refusals.outdate(o, &a.Attempt) {
			a.Leave(o, true)
			a.separate(o, a.outcome.Hopeless)
		} else if holder, awaits := a.Awaits(o); awaits {
			// That the finalizer is not there may be told already.
			if told := func(f guard.Failure) bool { return slices.Contains(f.Rules, holder) }; !slices.Contains(o.Rules, holder) || !slices.ContainsFunc(a.outcome.Failures, told) {
				a.outcome.Delay(o.Rules, guard.Delay{Err: fmt.Errorf("it waits until the finalizer of rule %s is on %s", holder, a.Key.Object())})
			}
			a.Leave(o, true)
			a.separate(o, true)
		} else if delay := a.checks.Admit(ctx, o); delay != nil {
			told := *delay
			told.Err = a.Mask.Error(delay.Err)
			a.outcome.Delay(o.Rules, told) // Other rules go on, those of the same request too.
			a.Leave(o, true)
			a.separate(o, true)
		} else {
			a.pending = append(a.pending, sending{Operation: o, admitted: o})
			a.prepare(&a.pending[len(a.pending)-1])
		}
	}
	sent := a.pending
	results := make([]write.Result, len(sent))
	var writers sync.WaitGroup
	for i := range sent {
		if len(sent) == 1 || a.runs() == stepwise {
			results[i] = a.write(ctx, &sent[i])
		} else {
			writers.Go(func() { results[i] = a.write(ctx, &sent[i]) })
		}
	}
	writers.Wait()
	for i, result := range results {
		a.handleResult(ctx, sent[i], result)
	}
}

// answered tells the guards what became of the first operation that is pending.
func (a *attempt) answered(sent sending, told plan.Operation, answer guard.Answer) {
	a.pending = a.pending[1:]
	a.checks.Observe(guard.Operation{Operation: sent.Operation, Admitted: sent.admitted, Told: told}, answer)
}

// separate has each rule sent on its own from now on, and its finalizer too, if one of several may have been refused, or held back, for
// another.
func (a *attempt) separate(o plan.Operation, held bool) {
	part := o.Part(o.Rules[0])
	if several := len(o.Rules) > 1 || part.First == 0 && part.Last > 0; held && several && !a.record.separate {
		a.record.separate = true
		a.outcome.Split = true
		a.outcome.PlanAgain()
	}
}

// prepare binds an operation to the object as the last write of the plan left it, and gives a new object a name where the API
// server would choose one.
func (a *attempt) prepare(out *sending) {
	o := &out.Operation
	if latest, written := a.written[o.Target]; written {
		o.Target.UID, o.Target.ResourceVersion = latest.UID, latest.ResourceVersion
	}
	out.answered = func() {}
	if out.origin = naming.OriginOf(a.UID, *o); out.origin.Prefix == "" {
		return
	}
	names := a.options.Shared.names
	var name string
	var there map[string]any
	for _, sent := range names.Names(out.origin) {
		if a.named[newName{out.origin, sent}] {
			continue
		}
		there = a.cached(a.now, naming.With(*o, sent).Target)
		if there == nil || !a.verifier.asked.showed(uidOf(there)) { // What the plan was decided by has been counted.
			name = sent
			break
		}
	}
	if out.resent = name != "" && there == nil; name == "" {
		name, there = a.options.Name(a.Key, out.origin.Prefix), nil
	}
	a.named[newName{out.origin, name}] = true
	*o = naming.With(*o, name)
	if there != nil {
		// All caches have to show it first: it is not known whether the rules ask for it, and nothing keeps them from making
		// another one after that.
		out.answer = stale(o.Target, there, errCome)
		names.Drop(out.origin, name)
		return
	}
	out.answered = names.Sending(out.origin, name)
}

// write sends one operation, unless a cache or a live read contradicts what it was decided by. A panic is one more way not
// to know what became of it; what is sent beside it counts.
func (a *attempt) write(ctx context.Context, sent *sending) (result write.Result) {
	defer func() {
		if cause := recover(); cause != nil {
			err := a.Mask.Error(fmt.Errorf("panic: %v", cause))
			a.log(a.Key).Error("writing panicked", "err", err, "stack", string(debug.Stack()))
			result = write.Result{Class: write.Ambiguous, Err: err}
		}
	}()
	if sent.answer != nil {
		return *sent.answer
	}
	turn, err := a.options.Limiter.Turn(ctx) // Before anything is read, which would be out of date after the wait.
	if err != nil {
		return *unconfirmed(fmt.Errorf("waiting to write: %w", err))
	}
	ctx = client.Ahead(ctx)
	verifyAndSend := func() write.Result {
		until, contradicted := a.verifier.verify(ctx, sent.Operation) // The last, as it holds for a moment.
		if contradicted != nil {
			return *contradicted
		}
		ctx := redact.Hiding(live.Keeping(turn, a.now.compared(sent.Target.GVR)), a.Mask.Known)
		sent.at, sent.before = a.options.Clock.Now(), asCached(a.core, a.now, sent.Target)
		answered := a.guards.conflicts.Sending(&a.Attempt, sent.Operation)
		changed := a.caches.Writing(sent.Target.GVR)
		result := a.options.Writer.Write(write.While(ctx, func() bool { return a.age(until) < 0 }), sent.Operation)
		answered(result.Class)
		if result.Class == write.Written && result.Echo != nil && !result.Echo.Gone { // That of a failure was read.
			changed(result.Echo.Object.ResourceVersion)
		}
		return result
	}
	sent.Operation = a.verifier.predict(ctx, a.now, sent.Operation)
	answer := a.verifier.confirm(ctx, sent.Operation)
	lookFirst := a.record.nameTaken || sent.Unseen != nil && sent.Unseen.Event == nil || a.Settling // Tests show each request.
	if answer == nil && lookFirst {
		answer = a.checkExisting(ctx, sent)
	}
	if answer != nil {
		return *answer
	}
	result = verifyAndSend()
	if sent.Unseen != nil && result.Class == write.Ambiguous {
		a.record.nameTaken = true // It may be.
	}
	if lookFirst || !sent.mayBeTaken(result) {
		return result
	}
	if answer = a.checkExisting(ctx, sent); answer != nil {
		return *answer
	}
	if sent.Target.UID != "" { // It was turned to what is there.
		return verifyAndSend()
	}
	return result
}

// checkExisting looks at what has the name of an object that is to be made, where the rules may not see it. It returns the
// answer to the operation, or nil. An answer without a class means that the object is left alone. What is ours and has lost what makes
// it seen is given that back, so the operation is turned to it.
//
// The request can only make the object. So it is enough to look after a refusal, except where something was there last time, or where
// the rule keeps what exists.
func (a *attempt) checkExisting(ctx context.Context, sent *sending) *write.Result {
	unseen, object := sent.Unseen, sent.Target
	if unseen == nil || object.UID != "" {
		return nil
	}
	there, err := a.live.Get(ctx, object.GVR, object.Namespace, object.Name)
	a.record.nameTaken = a.record.nameTaken || there != nil // One apply at a time asks.
	switch {
	case err != nil:
		return unconfirmed(fmt.Errorf("looking for %s among what is not selected: %w", object, err))
	case there == nil:
		return nil
	case a.now.sees(unseen, there):
		return stale(object, there, errContradicted)
	case plan.BeingDeleted(there):
		sent.existing = true
		return &write.Result{Class: write.Taken, Err: fmt.Errorf("%s %w", object, errBeingDeleted)}
	case unseen.Event == nil:
		return &write.Result{}
	}
	over := a.now.Over(sent.Operation, there)
	if !isOurs(over, a.UID, there) || !a.now.sees(unseen, over.Predicted) {
		sent.existing, sent.existingEvent = true, unseen.Event
		return &write.Result{Class: write.Terminal, Err: errors.New(unseen.Event.Message)}
	}
	if marks := over.All(); a.known.Has(marks) {
		sent.known = marks
		return &write.Result{}
	}
	sent.Operation = over
	return nil
}

// handleResult draws the conclusions from an answer.
func (a *attempt) handleResult(ctx context.Context, sent sending, result write.Result) {
	if result.Class == "" { // What a rule keeps is left as it is, which is no write and no failure.
		maps.Copy(a.record.ineffective, sent.known)
		a.answered(sent, plan.Operation{}, guard.Answer{})
		if !a.Settling { // Who settles waits for no timer.
			a.outcome.LookAgain(a.options.Clock.Now().Add(keptRecheck))
		}
		return
	}
	if write.NamespaceGoing(result.Err) && a.Watched != nil && plan.BeingDeleted(a.Watched) {
		// What onDelete would make would be deleted with its namespace, so it counts as done: the object may be what the namespace waits for.
		a.log(a.Key).Info("not made, as its namespace is being deleted", append(attrsOf(plan.Operation{Rules: sent.Rules}), "target", a.Mask.Object(sent.Target).String())...)
		a.answered(sent, plan.Operation{}, guard.Answer{})
		sent.answered()
		return
	}
	result, effective := a.readBack(ctx, sent, result)
	result.Err = a.Mask.Error(result.Err)
	told := a.Mask.Operation(sent.Operation)
	a.answered(sent, told, guard.Answer{Result: result, Effective: effective})
	a.tell(ctx, sent, told, result)
	if result.Echo != nil {
		a.expect(a.now, a.record, expectation{Echo: *result.Echo, mask: a.Mask, before: sent.before}, result.Object)
		if !result.Class.Failed() {
			a.verifier.own[result.Echo.Object.UID] = true
		}
	}
	if result.Class == write.Simulated || result.Class == write.Repeated {
		a.record.simulated = append(a.record.simulated, a.Hold(sent.Operation, nil)...) // The object has no finalizer of it.
	} else if !result.Class.Failed() {
		a.Hold(sent.Operation, result.Object)
	}
	switch class := result.Class; {
	case class.Failed():
		a.fail(sent, result, effective)
		return
	case class == write.Simulated, class == write.Repeated:
		maps.Copy(a.record.ineffective, sent.admitted.All()) // Without a name of our own.
	default:
		a.remember(sent, result)
	}
	if len(a.record.unknown) > 0 {
		for mark := range sent.admitted.All() {
			delete(a.record.unknown, mark)
		}
	}
	for _, rule := range sent.Rules {
		a.Wrote[rule] = true
		delete(a.record.logged, trouble{rule, true, guard.KeyOf(sent.admitted.Target).Object()})
	}
	if result.Class != write.Written {
		return
	}
	a.record.history.Wrote(a.options.Clock.Now(), sent.Rules)
	a.outcome.Wrote = true
	a.chain(sent, result)
	if result.Echo == nil {
		// Nothing tells when the caches have seen it, and until then it might be written again and again.
		a.outcome.State, a.outcome.Hopeless = guard.Retry, false
	} else if a.outcome.State == guard.Settled {
		a.outcome.State = guard.Waiting
	}
}

// tell logs and counts an answer.
func (a *attempt) tell(ctx context.Context, sent sending, told plan.Operation, result write.Result) {
	if sent.existingEvent != nil { // It is told of once an episode, rather than each time that it is tried.
		if event := a.Mask.Event(*sent.existingEvent); a.record.events.Begin(&a.Attempt, event) {
			a.log(a.Key).Warn("rule did not act", "rule", event.Rule.String(), "outcome", string(plan.Refused), "reason", event.Message)
		}
	}
	if result.Class == write.Repeated {
		return
	}
	a.options.Observer.Wrote(a.Key, told, result.Class)
	a.tracker.wrote(result.Class)
	if !sent.existing {
		sent.log(ctx, a.log(a.Key), &a.record.logged, told, result)
	}
}

// fail draws the conclusions from an answer that says that an operation has failed.
func (a *attempt) fail(sent sending, result write.Result, effective bool) {
	class := result.Class
	cause := causeOf(class, result.Err)
	overtaken := sent.overtaken(result) && a.outcome.State != guard.Retry && !a.Settling
	a.outcome.Fail(guard.Failure{
		Rules: sent.Rules, Err: result.Err, Cause: cause, Told: sent.existing, After: result.RetryAfter, Reacts: sent.Part(sent.Rules[0]).Reacts,
	})
	if cause == guard.Retryable {
		if a.record.unknown == nil {
			a.record.unknown = plan.Marks{}
		}
		maps.Copy(a.record.unknown, sent.admitted.All())
	}
	a.Stopped = a.Stopped || outdates(class, effective)
	a.Leave(sent.Operation, goesOn(a.outcome.Failures, sent.Rules[0], class))
	a.separate(sent.Operation, cause == guard.Hopeless)
	a.record.refusals.note(sent.Operation, cause, failureOf(sent.Operation, sent.origin.Prefix, sent.existingEvent, result.Err, a.Mask))
	if overtaken { // Nothing else is waited for, so a back-off would be too late or too early.
		a.outcome.State = guard.Waiting
	}
}

// outdates reports whether an answer says that the snapshot is out of date, or may be. The rest of the plan was made from it, so the
// caches are waited for, and the same write is not sent again. Where a live read shows that nothing has happened, other rules go on.
func outdates(class write.Class, effective bool) bool {
	return class == write.Stale || class == write.Ambiguous && effective
}

// readBack finds out by reading what became of a write of which that is not known: it may have happened. The caches have to
// show what is there now. It reports whether the write has changed something, as far as can be found out.
//
// The name of a new object is sent again as long as a request for it may still arrive, also after another one has made the object: the API
// server would make a second one as soon as that is deleted.
func (a *attempt) readBack(ctx context.Context, sent sending, result write.Result) (found write.Result, effective bool) {
	object := sent.Target
	if result.Class != write.Ambiguous {
		switch {
		case result.Class != write.Taken || result.Object == nil:
		case !isOurs(sent.Operation, a.UID, result.Object):
			a.options.Shared.names.Drop(sent.origin, object.Name)
		case sent.resent && sent.Landed(result.Object):
			result.Class, result.Err = write.Written, nil
		case sent.resent:
			result.Class, result.Err = write.Stale, errCome // It may be another one that the rule has made.
		}
		if result.Class != write.Written || result.Echo != nil { // Otherwise nothing keeps the rules from wanting it again.
			sent.answered()
		}
		return result, result.Class == write.Written
	}
	live, err := a.live.Get(ctx, object.GVR, object.Namespace, object.Name)
	effective = err != nil || uidOf(live) != object.UID || versionOf(live) != object.ResourceVersion
	if err != nil {
		a.Doubtful = append(a.Doubtful, sent.Operation)
	} else if sent.Landed(live) {
		result.Class, result.Err = write.Written, nil
	}
	if err == nil && (object.UID != "" || live != nil) {
		show(&result, object, live)
	}
	return result, effective
}

// chain lets later operations on the same object go on from what came back, as long as that is as predicted. The watched
// object is what most of the plan was decided by.
func (a *attempt) chain(sent sending, result write.Result) {
	if sent.Type == plan.Create {
		return // It is nobody's target yet.
	}
	left, itself := target{closed: result.Echo == nil || result.Echo.Gone}, guard.KeyOf(sent.Target) == a.Key
	if result.Echo != nil {
		left.Object = result.Echo.Object
		a.Left[left.UID] = left.ResourceVersion
		if itself { // It was as it was evaluated.
			a.verifier.version, a.verifier.verified[""] = left.ResourceVersion, sent.at
		}
	}
	if !itself && len(a.Plan.Operations) == 1 {
		return // No later operation needs what was written.
	}
	keeps := a.now.keeps[sent.Target.GVR] // What the prediction was made of is what a cache keeps.
	stored := result.Object
	if sent.Target.UID != "" { // Of a new object no defaults are predicted.
		stored = a.now.Stored(sent.Target, stored)
	}
	if sent.Predicted = keeps.Project(sent.Predicted); !sent.CameTrue(keeps.Project(stored)) {
		left.closed = true
		a.Stopped = a.Stopped || itself
	}
	a.written[sent.admitted.Target] = left
}

// remember keeps what had no effect from being repeated.
func (a *attempt) remember(sent sending, result write.Result) {
	var marks plan.Marks
	var unchanged []plan.Change
	if sent.Unseen != nil && result.Object != nil && !a.now.sees(sent.Unseen, result.Object) {
		// It has come back without what makes it seen, as where admission has taken that off. The same would be sent again.
		if over := a.now.Over(sent.admitted, result.Object); a.now.sees(sent.Unseen, over.Predicted) {
			marks, unchanged = over.All(), over.Changes
		}
	}
	if len(marks) == 0 {
		as := sent.Operation
		if sent.admitted.Target.UID != "" { // It is known by what the cache shows, as it will be planned again.
			as.Changes = sent.admitted.Changes
		}
		marks, unchanged = as.Ineffective(result.Object)
	}
	// All that was asked for came back as it was, in an object that is another one for the write all the same: somebody has a
	// hand in each request, and may stop to. It is repeated, and slowed down if that goes on. While the engine settles, once is
	// enough.
	undone := result.Class == write.Written && sent.Target.UID != "" && len(unchanged) == len(sent.Changes) &&
		versionOf(result.Object) != sent.Target.ResourceVersion && !a.Settling
	if len(marks) == 0 || undone {
		return
	}
	maps.Copy(a.record.ineffective, marks)
	// An empty list that is stored as none may have made the map that it is in.
	unchanged = slices.DeleteFunc(slices.Clone(unchanged), func(c plan.Change) bool { return c.Before == nil && plan.IsEmpty(c.After) })
	if len(unchanged) == 0 {
		return
	}
	told := a.Mask.Operation(plan.Operation{Rules: sent.Rules, Changes: unchanged, Derived: sent.Derived})
	a.log(a.Key).Warn("write had no effect and is not repeated", attrsOf(told)...)
}

// audit tells what audited rules would write, each change once for as long as they want it.
func (a *attempt) audit(ctx context.Context) {
	for _, event := range a.Plan.AuditedEvents {
		a.options.Observer.Audited(a.Key, event)
	}
	told := a.record.audited
	a.record.audited = nil
	for _, o := range a.Plan.Audited {
		marks := o.All()
		if a.record.audited == nil {
			a.record.audited = plan.Marks{}
		}
		maps.Copy(a.record.audited, marks)
		if told.Has(marks) {
			continue
		}
		shown := a.Mask.Operation(a.verifier.predict(ctx, a.now, o))
		a.options.Observer.Wrote(a.Key, shown, write.Audited)
		a.tracker.wrote(write.Audited)
		logWould(a.log(a.Key), o, slices.Concat(attrsOf(shown), targetOf(shown), []any{"mode", string(spec.Audit)}))
	}
}
