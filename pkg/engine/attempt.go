package engine

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// attempt is one look at an object: its rules are evaluated, and what they want is sent.
type attempt struct {
	guard.Attempt
	engine *Engine
	now    *active
	checks guard.Checks

	record *record
	// asked is what the plan was decided by.
	asked *source
	// tried is what was known to have no effect before.
	tried plan.Marks
	// undone is what was not carried out, and doubtful what was sent, and may have been carried out or not.
	undone, doubtful []plan.Operation
	// pending is what was admitted, and has no answer yet.
	pending []sending
	// stopped says that the snapshot is no longer true.
	stopped bool
	// latest has the objects written as they came back, by what the snapshot said of them, and surprising those that are
	// not as predicted.
	latest     map[plan.Object]plan.Object
	surprising map[plan.Object]bool
	// made are the objects that it has written itself, which contradict nothing.
	made map[types.UID]bool
	// verified is when what the plan was decided by was known to be so still: the watched object, by "", and the questions,
	// by their keys; guarded by verifying.
	verified  map[string]time.Time
	version   string // of the watched object, as the plan has left it
	verifying sync.Mutex
	// batch is how many objects of a rule may be created at the same time.
	batch map[plan.Rule]int

	outcome  guard.Outcome
	finished bool
}

// carryOut sends the operations of a plan in order. A failed operation stops the later ones of its rules; other rules go
// on.
func (a *attempt) carryOut(ctx context.Context, decided plan.Plan) guard.Outcome {
	e, asked, record := a.engine, a.asked, a.record
	a.Plan, a.UID, a.Watched, a.Due = decided, record.uid, asked.watched, record.due
	a.Read, a.Concluded, a.Warn, a.Mask = sync.OnceValue(asked.inputs), a.concluded, a.warn, asked.hidden.error
	a.Wrote, a.Unfinished, a.Left = map[plan.Rule]bool{}, map[plan.Rule]bool{}, map[types.UID]string{}
	a.latest, a.surprising, a.made = map[plan.Object]plan.Object{}, map[plan.Object]bool{}, map[types.UID]bool{}
	a.verified, a.version, a.batch = map[string]time.Time{}, versionOf(asked.watched), map[plan.Rule]int{}
	a.outcome = guard.Outcome{
		Looked: true, Waits: slices.ContainsFunc(decided.Decisions, waits), Failures: troubled(decided.Decisions), LookAgainAt: decided.LookAgainAt,
	}
	defer func() {
		if cause := recover(); cause != nil {
			a.abandon()
			panic(asked.hidden.panicked(cause))
		}
	}()
	a.tried, record.ineffective = record.ineffective, decided.Suppressed
	for rest := decided.Operations; len(rest) > 0; {
		n := a.together(rest)
		a.send(asked.hidden.context(ctx), rest[:n])
		rest = rest[n:]
	}
	if len(decided.Operations) == 0 {
		record.separate = false
	}
	if a.outcome.Wrote {
		e.open.round(a.Key)
	}
	if unseen := e.awaiting(ctx, e.active.Load(), a.Key, record); !unseen && a.outcome.State == guard.Waiting {
		a.outcome.State = guard.Again // No cache has to show it, or it was quicker.
	}
	e.audit(a.Key, record, decided.Audited, asked.hidden)
	a.CarriedOut = true
	a.finish()
	a.notify(ctx, decided)
	return a.outcome
}

func waits(decision plan.Decision) bool { return decision.Outcome == plan.Waiting }

// finish tells the guards, once, that nothing is sent any more.
func (a *attempt) finish() {
	if !a.finished {
		a.finished = true
		a.checks.Finish(&a.outcome)
	}
}

// largestBatch bounds how many objects are created at the same time.
const largestBatch = 16

// together is how many of the operations are sent at the same time: the creations of one rule, 1, then 2, 4 and so on, so
// that what is refused is refused a few times only.
func (a *attempt) together(operations []plan.Operation) int {
	first := operations[0]
	if first.Type != plan.Create {
		return 1
	}
	rule := first.Rules[0]
	size := max(1, a.batch[rule])
	a.batch[rule] = min(2*size, largestBatch)
	n := 1
	for n < min(size, len(operations)) && operations[n].Type == plan.Create && operations[n].Rules[0] == rule {
		n++
	}
	return n
}

// send sends operations at the same time, as far as the guards admit them, and handles the answers in order.
func (a *attempt) send(ctx context.Context, operations []plan.Operation) {
	for _, operation := range operations {
		if a.blocked(operation) {
			a.leave(operation)
			if a.outcome.Hopeless {
				a.split(operation)
			}
			continue
		}
		if delay := a.checks.Admit(ctx, operation); delay != nil {
			told := *delay
			told.Err = a.asked.hidden.error(delay.Err)
			a.outcome.Delay(operation.Rules, told) // Other rules go on, those of the same request too.
			a.leave(operation)
			a.split(operation)
			continue
		}
		a.pending = append(a.pending, sending{Operation: operation, admitted: operation})
		a.ready(&a.pending[len(a.pending)-1])
	}
	sent := a.pending
	results := a.writeAll(ctx, sent)
	for i, result := range results {
		a.handleResult(ctx, sent[i], result)
	}
}

// abandon is for operations of which nobody knows what became of them, as after a panic.
func (a *attempt) abandon() {
	for _, sent := range a.pending {
		a.observe(sent, plan.Operation{}, guard.Answer{Result: write.Result{Class: write.Ambiguous}, Effective: true})
	}
}

// observe tells the guards what became of the first operation that is pending.
func (a *attempt) observe(sent sending, told plan.Operation, answer guard.Answer) {
	a.pending = a.pending[1:]
	a.checks.Observe(guard.Operation{Operation: sent.Operation, Admitted: sent.admitted, Told: told}, answer)
}

// blocked reports whether an operation cannot be sent any more.
func (a *attempt) blocked(operation plan.Operation) bool {
	return a.stopped || a.surprising[operation.Target] ||
		slices.ContainsFunc(operation.Rules, func(rule plan.Rule) bool { return a.Unfinished[rule] })
}

// leave marks the rules of an operation that is not carried out.
func (a *attempt) leave(operation plan.Operation) {
	a.undone = append(a.undone, operation)
	for _, rule := range operation.Rules {
		a.Unfinished[rule] = true
	}
}

// split has each rule sent on its own from now on, where one of several may have been refused, or held back, for another.
func (a *attempt) split(operation plan.Operation) {
	if len(operation.Rules) < 2 || a.record.separate {
		return
	}
	a.record.separate = true
	a.outcome.Split, a.outcome.Hopeless = true, false
	if a.outcome.State == guard.Settled {
		a.outcome.State = guard.Again
	}
}

// sending is an operation as it is sent, and as it was planned and admitted.
type sending struct {
	plan.Operation
	planned, admitted plan.Operation
	// prefix is that of a name which we chose, empty otherwise.
	prefix string
	// reused says that the name was sent before, and that it is not known what became of that.
	reused bool
	// answer is there where it is not sent at all.
	answer *write.Result
	// kept says that it was not sent, because what is there is to be left alone, or is known to stay as it is, by these
	// marks.
	kept  bool
	known plan.Marks
	at    time.Time // when it was sent
}

// ready binds an operation to the object as the last write of the plan left it, and gives a new object a name where the API
// server would choose one.
func (a *attempt) ready(out *sending) {
	for _, undone := range a.undone {
		if guard.KeyOf(undone.Target) == guard.KeyOf(out.Target) {
			out.Operation = out.Without(undone)
		}
	}
	out.planned = out.Operation
	if latest, written := a.latest[out.Target]; written {
		out.Target.UID, out.Target.ResourceVersion = latest.UID, latest.ResourceVersion
	}
	if out.prefix = generateName(out.planned); out.prefix == "" {
		return
	}
	name, there := a.unresolved(*out)
	out.reused = name != "" && there == nil
	if name == "" {
		name = a.engine.options.Name(a.Key, out.prefix)
	}
	out.Operation = called(out.Operation, name)
	if there != nil {
		out.answer = come(out.Target, there)
	}
}

// writeAll sends operations at the same time, or in their order where somebody drives the engine.
func (a *attempt) writeAll(ctx context.Context, sent []sending) []write.Result {
	results := make([]write.Result, len(sent))
	if a.engine.driven() || len(sent) == 1 {
		for i := range sent {
			results[i] = a.write(ctx, &sent[i])
		}
		return results
	}
	var writers sync.WaitGroup
	for i := range sent {
		writers.Go(func() { results[i] = a.write(ctx, &sent[i]) })
	}
	writers.Wait()
	return results
}

// write sends one operation, unless a cache or a live read contradicts what it was decided by. A panic is one more way not
// to know what became of it; what is sent beside it counts.
func (a *attempt) write(ctx context.Context, sent *sending) (result write.Result) {
	defer func() {
		if cause := recover(); cause != nil {
			err := a.asked.hidden.error(fmt.Errorf("panic: %v", cause))
			a.engine.log(a.Key).Error("writing panicked", "err", err, "stack", string(debug.Stack()))
			result = write.Result{Class: write.Ambiguous, Err: err}
		}
	}()
	if sent.answer != nil {
		return *sent.answer
	}
	if contradicted := a.confirm(ctx, sent.Operation); contradicted != nil {
		return *contradicted
	}
	if met := a.meet(ctx, sent); met != nil {
		return *met
	}
	a.checks.Prepare(ctx, guard.Operation{Operation: sent.Operation, Admitted: sent.admitted})
	until, contradicted := a.verify(ctx, sent.Operation) // The last, as it holds for a moment.
	if contradicted != nil {
		return *contradicted
	}
	still := func() bool { return a.engine.age(until) < 0 }
	sent.at = a.engine.options.Clock.Now()
	return a.engine.options.Writer.Write(write.While(ctx, still), sent.Operation)
}
