package engine

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/engine/contest"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// attempt is the carrying out of one plan.
type attempt struct {
	engine *Engine
	now    *active
	key    Key
	record *record
	// asked is what the plan was decided by.
	asked *source
	// tried is what was known to have no effect before.
	tried plan.Marks
	// wrote are the rules of which something was written.
	wrote map[plan.Rule]bool
	// unfinished are the rules of which something was not: their Events wait. undone is
	// what was not.
	unfinished map[plan.Rule]bool
	undone     []plan.Operation
	// doubtful is what was sent, and may have been carried out or not.
	doubtful []plan.Operation
	// stopped says that the snapshot is no longer true.
	stopped bool
	// latest has the objects written as they came back, by what the snapshot said of
	// them, and surprising those that are not as predicted.
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
	// claimed is how many writes under way count for the limits of a rule, and competing how
	// many contests know of to an object.
	claimed   map[plan.Rule]int
	competing map[contest.Object]int
	// basis is what the plan was decided by, where it writes something.
	basis   contest.Basis
	outcome outcome
}

// carryOut sends the operations in order. A failed operation stops the later
// ones of its rules; other rules go on.
func (e *Engine) carryOut(ctx context.Context, now *active, key Key, record *record, decided plan.Plan, asked *source) outcome {
	a := &attempt{
		engine: e, now: now, key: key, record: record, asked: asked, tried: record.ineffective, made: map[types.UID]bool{},
		wrote: map[plan.Rule]bool{}, unfinished: map[plan.Rule]bool{},
		latest: map[plan.Object]plan.Object{}, surprising: map[plan.Object]bool{}, batch: map[plan.Rule]int{},
		verified: map[string]time.Time{}, version: versionOf(asked.watched),
		outcome: outcome{
			looked: true, waits: slices.ContainsFunc(decided.Decisions, waits), troubles: troubled(decided.Decisions),
			lookAgainAt: decided.LookAgainAt,
		},
	}
	defer func() {
		if cause := recover(); cause != nil {
			panic(asked.hidden.panicked(cause))
		}
	}()
	record.ineffective = decided.Suppressed
	if len(decided.Operations) > 0 {
		a.basis = a.decidedBy(decided.LookAgainAt) // Before anything is written.
	}
	defer a.settleAccounts()
	defer a.endContests()
	for rest := decided.Operations; len(rest) > 0; {
		n := a.together(rest)
		a.sendAll(asked.hidden.context(ctx), rest[:n])
		rest = rest[n:]
	}
	if len(decided.Operations) == 0 {
		record.separate = false
	}
	if a.outcome.wrote {
		e.open.round(key)
	}
	if unseen := e.awaiting(ctx, e.active.Load(), key, record); !unseen && a.outcome.state == waiting {
		a.outcome.state = again // No cache has to show it, or it was quicker.
	}
	e.audit(key, record, decided.Audited, asked.hidden)
	a.isolate(decided)
	a.tellContests()
	a.notify(ctx, decided)
	return a.outcome
}

func waits(decision plan.Decision) bool { return decision.Outcome == plan.Waiting }

// largestBatch bounds how many objects are created at the same time.
const largestBatch = 16

// together is how many of the operations are sent at the same time: the creations
// of one rule, 1, then 2, 4 and so on, so that what is refused is refused a few times
// only.
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

// sendAll sends operations at the same time, and judges the answers in order.
func (a *attempt) sendAll(ctx context.Context, operations []plan.Operation) {
	var sent []sending
	for _, operation := range operations {
		if a.blocked(operation) {
			a.leave(operation)
			if a.outcome.hopeless {
				a.split(operation)
			}
			continue
		}
		if obstacle := a.obstacle(operation); obstacle != nil {
			a.putOff(operation, obstacle)
			continue
		}
		sent = append(sent, a.ready(operation))
	}
	results := a.writeAll(ctx, sent)
	a.competitors(sent)
	for i, result := range results {
		a.judge(ctx, sent[i], result)
	}
}

// blocked reports whether an operation cannot be sent any more.
func (a *attempt) blocked(operation plan.Operation) bool {
	return a.stopped || a.surprising[operation.Target] ||
		slices.ContainsFunc(operation.Rules, func(rule plan.Rule) bool { return a.unfinished[rule] })
}

// leave marks the rules of an operation that is not carried out.
func (a *attempt) leave(operation plan.Operation) {
	a.undone = append(a.undone, operation)
	for _, rule := range operation.Rules {
		a.unfinished[rule] = true
	}
}

// sending is an operation as it is sent, and as it was planned.
type sending struct {
	plan.Operation
	planned plan.Operation
	// prefix is that of a name which we chose, empty otherwise.
	prefix string
	// reused says that the name was sent before, and that it is not known what became
	// of that.
	reused bool
	// answer is there where it is not sent at all.
	answer *write.Result
	// kept says that it was not sent, because what is there is to be left alone, or is
	// known to stay as it is, by these marks.
	kept  bool
	known plan.Marks
	// competes says that contests know of it, and live is the target as it was just before,
	// where somebody may undo what is written.
	competes bool
	live     map[string]any
	at       time.Time // when it was sent
}

// ready binds an operation to the object as the last write of the plan left it, and
// gives a new object a name where the API server would choose one.
func (a *attempt) ready(operation plan.Operation) sending {
	for _, undone := range a.undone {
		if keyOf(undone.Target) == keyOf(operation.Target) {
			operation = operation.Without(undone)
		}
	}
	out := sending{Operation: operation, planned: operation}
	if latest, written := a.latest[operation.Target]; written {
		out.Target.UID, out.Target.ResourceVersion = latest.UID, latest.ResourceVersion
	}
	if out.prefix = generateName(operation); out.prefix != "" {
		name, there := a.unresolved(out)
		out.reused = name != "" && there == nil
		if name == "" {
			name = a.engine.options.Name(a.key, out.prefix)
		}
		out.Operation = called(out.Operation, name)
		if there != nil {
			out.answer = come(out.Target, there)
		}
	}
	return out
}

// writeAll sends operations at the same time, or in their order where somebody drives
// the engine.
func (a *attempt) writeAll(ctx context.Context, sent []sending) []write.Result {
	results := make([]write.Result, len(sent))
	if a.engine.driven() {
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

// write sends one operation, unless a cache or a live read contradicts what it was
// decided by. A panic is one more way not to know what became of it; what is sent
// beside it counts.
func (a *attempt) write(ctx context.Context, sent *sending) (result write.Result) {
	defer func() {
		if cause := recover(); cause != nil {
			err := a.asked.hidden.error(fmt.Errorf("panic: %v", cause))
			a.engine.log(a.key).Error("writing panicked", "err", err, "stack", string(debug.Stack()))
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
	a.compete(ctx, sent)
	until, contradicted := a.verify(ctx, sent.Operation) // The last, as it holds for a moment.
	if contradicted != nil {
		return *contradicted
	}
	still := func() bool { return a.engine.age(until) < 0 }
	sent.at = a.engine.options.Clock.Now()
	return a.engine.options.Writer.Write(write.While(ctx, still), sent.Operation)
}
