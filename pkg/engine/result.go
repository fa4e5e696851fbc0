package engine

import (
	"context"
	"log/slog"
	"maps"

	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// handleResult draws the conclusions from an answer.
func (a *attempt) handleResult(ctx context.Context, sent sending, result write.Result) {
	if sent.kept {
		maps.Copy(a.record.ineffective, sent.known)
		a.observe(sent, plan.Operation{}, guard.Answer{})
		a.keep()
		return
	}
	result, effective := a.resolve(ctx, sent, result)
	result.Err = a.asked.hidden.error(result.Err)
	told := a.asked.hidden.operation(sent.Operation)
	a.observe(sent, told, guard.Answer{Result: result, Effective: effective})
	foreseen := a.foreseen(result.Err)
	if result.Class != write.Repeated {
		a.engine.options.Observer.Wrote(told, result.Class)
		a.record.recorded.wrote(a.engine.options.Clock.Now(), sent.Rules, result.Class)
		a.engine.open.wrote(result.Class)
		if !foreseen {
			a.log(ctx, told, result)
		}
	}
	if result.Echo != nil {
		a.expect(result)
	}
	if result.Class.Failed() {
		a.refused(sent.Operation, result, foreseen)
		return
	}
	for _, rule := range sent.Rules {
		a.Wrote[rule] = true
		delete(a.record.refused, rule)
	}
	if result.Class == write.Simulated || result.Class == write.Repeated {
		maps.Copy(a.record.ineffective, sent.planned.All()) // Without a name of our own.
		return
	}
	a.remember(sent, result)
	if result.Class == write.Unchanged {
		return
	}
	a.outcome.Wrote = true
	a.chain(sent, result)
	switch {
	case result.Echo == nil:
		// Nothing tells when the caches have seen it, and until then it might be
		// written again and again.
		a.outcome.State, a.outcome.Hopeless = guard.Retry, false
	case a.outcome.State == guard.Settled:
		a.outcome.State = guard.Waiting
	}
}

// expect has the caches show what was written, or missed.
func (a *attempt) expect(result write.Result) {
	a.engine.expect(a.now, a.Key, a.record, await{Echo: *result.Echo, hidden: a.asked.hidden}, result.Object)
	if !result.Class.Failed() {
		a.made[result.Echo.Object.UID] = true
	}
}

// chain lets later operations on the same object go on from what came back, as long
// as that is as predicted. The watched object is what most of the plan was decided by.
// What is created is nobody's target yet.
func (a *attempt) chain(sent sending, result write.Result) {
	if sent.Type == plan.Create {
		return
	}
	target := sent.planned.Target
	a.surprising[target] = result.Echo == nil || result.Echo.Gone // Nothing more can be written to it.
	if result.Echo != nil {
		a.latest[target] = result.Echo.Object
		a.Left[result.Echo.Object.UID] = result.Echo.Object.ResourceVersion
		if guard.KeyOf(target) == a.Key { // It was as it was evaluated.
			a.verified[""], a.version = sent.at, result.Echo.Object.ResourceVersion
		}
	}
	if !sent.CameTrue(result.Object) {
		a.surprising[target] = true
		a.stopped = a.stopped || guard.KeyOf(target) == a.Key
	}
}

// resolve finds out by reading what became of a write of which that is not known: it
// may have happened. The caches have to show what is there now. It reports whether the
// write has changed something, as far as can be found out.
func (a *attempt) resolve(ctx context.Context, sent sending, result write.Result) (resolved write.Result, effective bool) {
	switch {
	case result.Class == write.Ambiguous:
		return a.find(ctx, sent, result)
	case result.Class == write.Taken && sent.reused && a.isOurs(sent.Operation, result.Object):
		result.Class, result.Err = write.Written, nil
	}
	strangers := result.Class == write.Taken && result.Object != nil
	switch {
	case sent.reused && result.Class.Failed() && !strangers:
		// What was sent first may have made it, or may do so yet: this answer tells
		// nothing of that.
		a.record.names.keep(sent)
	case sent.prefix != "" && result.Class == write.Written && result.Echo == nil:
		a.record.names.keep(sent) // Nothing keeps the rules from wanting it again.
	}
	return result, result.Class == write.Written
}

func (a *attempt) find(ctx context.Context, sent sending, result write.Result) (found write.Result, effective bool) {
	target := sent.Target
	live, err := a.engine.options.Live.Get(ctx, target.GVR, target.Namespace, target.Name)
	effective = err != nil || uidOf(live) != target.UID || versionOf(live) != target.ResourceVersion
	switch {
	case err != nil:
		a.doubtful = append(a.doubtful, sent.Operation)
	case sent.Landed(live):
		result.Class, result.Err = write.Written, nil
	}
	switch {
	case err == nil && target.UID != "" && uidOf(live) != target.UID: // Whatever has its name now.
		target.ResourceVersion = ""
		result.Echo = &write.Echo{Object: target, Gone: true}
	case err == nil && live != nil:
		target.UID, target.ResourceVersion = uidOf(live), versionOf(live)
		result.Echo, result.Object = &write.Echo{Object: target}, live
	case sent.prefix != "":
		a.record.names.keep(sent) // It may still be made, so no other name is tried.
	}
	return result, effective
}

// refused judges a write that failed.
func (a *attempt) refused(operation plan.Operation, result write.Result, foreseen bool) {
	a.outcome.Fail(guard.Failure{
		Rules: operation.Rules, Err: result.Err, After: result.RetryAfter, Told: foreseen,
		Hopeless: result.Class == write.Terminal || result.Class == write.OwnedByAnother,
		Passes:   result.Class == write.Stale || passes(result.Class, result.Err),
	})
	a.leave(operation)
	switch result.Class {
	case write.Stale, write.Ambiguous:
		// The rest of the plan was made from the same snapshot. The caches are waited
		// for, so that the same write is not sent again.
		a.stopped = true
	case write.Terminal, write.OwnedByAnother:
		a.split(operation)
	default:
	}
}

// remember keeps what had no effect from being repeated.
func (a *attempt) remember(sent sending, result write.Result) {
	marks, unchanged := sent.hides(result.Object)
	if len(marks) == 0 {
		marks, unchanged = sent.Ineffective(result.Object)
	}
	if len(marks) == 0 || a.undoneAtOnce(sent, result, unchanged) {
		return
	}
	maps.Copy(a.record.ineffective, marks)
	a.engine.log(a.Key).Warn("write had no effect and is not repeated",
		"rules", names(sent.Rules), "changes", changed(sent.Rules, a.asked.hidden.changes(unchanged)))
}

// undoneAtOnce reports whether all that was asked for came back as it was, in an object that is
// another one for the write all the same: somebody has a hand in each request, and may stop
// to. It is repeated, and slowed down if that goes on. While the engine settles, once is
// enough.
func (a *attempt) undoneAtOnce(sent sending, result write.Result, unchanged []plan.Change) bool {
	return result.Class == write.Written && sent.Target.UID != "" && len(unchanged) == len(sent.Changes) &&
		versionOf(result.Object) != sent.Target.ResourceVersion && !a.Settling
}

// log names rules and fields but not their values, which may be secret.
func (a *attempt) log(ctx context.Context, operation plan.Operation, result write.Result) {
	log := a.engine.log(a.Key).With(asked(operation)...)
	switch {
	case result.Class == write.Stale:
		log.Debug("write was out of date", "err", result.Err)
	case result.Class.Failed():
		log.Log(ctx, a.record.loudness(operation.Rules, result.Err), "write failed", "class", string(result.Class), "err", result.Err)
	case result.Class == write.Simulated:
		log.Info("would write", "type", string(operation.Type), "target", operation.Target.String(), "subresource", operation.Subresource)
	case result.Class == write.Written:
		log.Info("wrote", "type", string(operation.Type), "target", operation.Target.String(), "subresource", operation.Subresource)
	}
}

// loudness is how a refusal is logged: loud once, until it is another one or a write of the
// rule succeeds. What is tried again and again need not say so each time.
func (r *record) loudness(rules []plan.Rule, err error) slog.Level {
	level, text := slog.LevelDebug, brief(err.Error())
	for _, rule := range rules {
		if r.refused[rule] != text {
			level = slog.LevelWarn
		}
		if r.refused == nil {
			r.refused = map[plan.Rule]string{}
		}
		r.refused[rule] = text
	}
	return level
}

// asked says for the log whose an operation is, and of what. A deletion has no changes.
func asked(operation plan.Operation) []any {
	out := []any{"rules", names(operation.Rules)}
	if len(operation.Changes) > 0 {
		out = append(out, "changes", changed(operation.Rules, operation.Changes))
	}
	return out
}

// changed names the fields of an operation, each with its rule where there are several.
func changed(rules []plan.Rule, changes []plan.Change) []string {
	if len(rules) > 1 {
		return names(changes)
	}
	out := make([]string, len(changes))
	for i, change := range changes {
		out[i] = change.Path.String()
	}
	return out
}

func names[T interface{ String() string }](list []T) []string {
	out := make([]string, len(list))
	for i, element := range list {
		out[i] = element.String()
	}
	return out
}

// audit tells what audited rules would write, each change once for as long as
// they want it.
func (e *Engine) audit(key Key, record *record, operations []plan.Operation, hidden *masker) {
	told := record.audited
	record.audited = nil
	for _, operation := range operations {
		news := false
		for mark := range operation.All() {
			news = news || !told[mark]
			if record.audited == nil {
				record.audited = plan.Marks{}
			}
			record.audited[mark] = true
		}
		if !news {
			continue
		}
		shown := hidden.operation(operation)
		e.options.Observer.Wrote(shown, write.Audited)
		e.open.wrote(write.Audited)
		e.log(key).With(asked(shown)...).Info("would write",
			"type", string(operation.Type), "subresource", operation.Subresource, "mode", string(spec.Audit))
	}
}
