package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/engine/contest"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// reasonContested is of the Event that tells of a contest.
const reasonContested = "Contested"

// Contests lists what rules write and others undo again and again, or they themselves, by
// the objects that are written to.
func (e *Engine) Contests() []contest.Contest { return e.contests.Contests() }

// contestant is an object as contests know it.
func contestant(key Key) contest.Object {
	return contest.Object{Resource: key.GVR.GroupResource(), Namespace: key.Namespace, Name: key.Name}
}

// decidedBy is what an evaluation read, for who compares it with the next one.
func (a *attempt) decidedBy(until time.Time) contest.Basis {
	var read []contest.Input
	add := func(key Key, object map[string]any) {
		read = append(read, contest.Input{Object: contestant(key), UID: uidOf(object), Version: versionOf(object)})
	}
	if a.asked.watched != nil {
		add(a.key, a.asked.watched)
	}
	for _, q := range a.asked.asked {
		for _, object := range a.asked.answers[q.Key()].objects {
			add(keyOf(objectOf(q, object)), object)
		}
	}
	return a.engine.contests.Basis(read, a.record.due, until)
}

// slowedDown keeps rules from writing more than once in a while to an object in which they
// are undone. Nothing is slowed down while the engine settles: it gives up after so many
// rounds.
func (a *attempt) slowedDown(operation plan.Operation) *obstacle {
	if a.engine.open.keeping() {
		return nil
	}
	var out *obstacle
	for _, rule := range operation.Rules {
		c, held := a.engine.contests.Held(rule, contestant(keyOf(operation.Target)))
		if held && (out == nil || c.Next.After(out.until)) {
			out = &obstacle{err: &contest.Error{Contest: c}, until: c.Next}
		}
	}
	return out
}

// compete notes that an operation is about to be sent. What is made under a name that nobody
// has asked for is another object each time. Where the target may be contested, it is read
// live: until it is written to, its managedFields say who has changed it. That there is no
// answer is no reason not to write.
func (a *attempt) compete(ctx context.Context, sent *sending) {
	if sent.prefix != "" {
		return
	}
	target := contestant(keyOf(sent.Target))
	suspects := func(rule plan.Rule) bool { return a.engine.contests.Suspects(rule, target) }
	if sent.Target.UID != "" && slices.ContainsFunc(sent.Rules, suspects) {
		live, err := a.engine.options.Live.Get(ctx, sent.Target.GVR, sent.Target.Namespace, sent.Target.Name)
		if err == nil {
			sent.live = live
		}
	}
	a.engine.contests.Begin(target)
	sent.competes = true
}

// competitors notes of which writes contests are to hear what became of them.
func (a *attempt) competitors(sent []sending) {
	for _, one := range sent {
		if !one.competes {
			continue
		}
		if a.competing == nil {
			a.competing = map[contest.Object]int{}
		}
		a.competing[contestant(keyOf(one.Target))]++
	}
}

// endContests is for writes of which nobody knows what became of them, as after a panic: a
// contest would wait for them for ever.
func (a *attempt) endContests() {
	for target, n := range a.competing {
		for range n {
			a.others(a.engine.contests.End(target))
		}
	}
}

// contend notes what became of it.
func (a *attempt) contend(sent sending, told plan.Operation, result write.Result) {
	if !sent.competes {
		return
	}
	target := contestant(keyOf(sent.Target))
	a.competing[target]--
	if result.Class != write.Written || result.Echo == nil { // Or nobody knows what it left.
		a.others(a.engine.contests.End(target))
		return
	}
	w := contest.Write{
		Watched: contestant(a.key), WatchedUID: a.record.uid, Target: target, UID: sent.Target.UID,
		Found: sent.Target.ResourceVersion, Fields: contestedFields(sent, told, result), Basis: a.basis, Live: sent.live,
	}
	if !result.Echo.Gone {
		w.UID, w.Left = result.Echo.Object.UID, result.Echo.Object.ResourceVersion
	}
	a.others(a.engine.contests.Record(w))
}

// others has objects looked at of which there is news, as it was known only now in which
// order they were written for.
func (a *attempt) others(news []contest.Object) {
	for gvr := range a.now.of {
		for _, object := range news {
			key := Key{GVR: gvr, Namespace: object.Namespace, Name: object.Name}
			if contestant(key) == object && key != a.key {
				a.engine.enqueue(key)
			}
		}
	}
}

// contestedFields are what was written, with the paths as they may be told.
func contestedFields(sent sending, told plan.Operation, result write.Result) []contest.Field {
	whole := contest.Owning
	switch {
	case sent.Type == plan.Delete:
		whole = contest.Deleting
	case sent.Type == plan.Create, sent.Target.UID == "":
		whole = contest.Making
	}
	var out []contest.Field
	if len(sent.Changes) == 0 || sent.Target.UID == "" {
		for _, rule := range sent.Rules {
			out = append(out, whole(rule))
		}
		return out
	}
	// Some subresources answer with an object of another kind.
	readable := result.Object != nil && (sent.Subresource == "" || result.Object["kind"] == sent.Predicted["kind"])
	for i, change := range sent.Changes {
		field := contest.Field{
			Rule: change.Rule, Path: change.Path, Shown: told.Changes[i].Path,
			Before: change.Before, After: change.After, Answered: change.After,
		}
		if readable {
			field.Answered, _ = plan.Lookup(result.Object, change.Path)
		}
		out = append(out, field)
	}
	return out
}

// tellContests has people know of each contest, once. Where the engine does not come to rest
// that settles, the error says so.
func (a *attempt) tellContests() {
	for _, c := range a.engine.contests.News(contestant(a.key)) {
		if a.engine.open.keeping() {
			continue
		}
		err := a.asked.hidden.error(&contest.Error{Contest: c})
		a.engine.log(a.key).Warn("what a rule writes is undone again and again", "rule", c.Rule.String(), "err", err)
		a.warn(c.Rule, reasonContested, err.Error())
	}
}

// undoneAtOnce reports whether all that was asked for came back as it was, in an object that is
// another one for the write all the same: somebody has a hand in each request, and may stop
// to. It is repeated, and slowed down if that goes on. While the engine settles, once is
// enough.
func (a *attempt) undoneAtOnce(sent sending, result write.Result, unchanged []plan.Change) bool {
	return result.Class == write.Written && sent.Target.UID != "" && len(unchanged) == len(sent.Changes) &&
		versionOf(result.Object) != sent.Target.ResourceVersion && !a.engine.open.keeping()
}

// restless is why an engine that settles gives up on an object, with who undoes whom.
func (e *Engine) restless(wanted []plan.Operation) error {
	err := fmt.Errorf("%w: after %d rounds of writes its rules still want something else", ErrRestless, maxRounds)
	var contests []string
	for _, operation := range wanted {
		for _, rule := range operation.Rules {
			if c, known := e.contests.Of(rule, contestant(keyOf(operation.Target))); known {
				contests = append(contests, c.String())
			}
		}
	}
	if len(contests) == 0 {
		return err
	}
	return fmt.Errorf("%w: %s", err, strings.Join(contests, "; "))
}

// relent forgets contests of rules that are gone, or have changed.
func (e *Engine) relent(before, now *rules.Set) {
	was, is := digests(before), digests(now)
	e.contests.Forget(func(rule plan.Rule) bool {
		digest, there := is(rule)
		earlier, known := was(rule)
		return !there || !known || digest != earlier
	})
}

// digests tells rules from what they were before; those that nobody asks about cost
// nothing.
func digests(set *rules.Set) func(plan.Rule) (digest string, there bool) {
	all, known := map[plan.Rule]*rules.Rule{}, map[plan.Rule]string{}
	for _, rule := range set.Rules() {
		all[rule.ID] = rule
	}
	return func(id plan.Rule) (string, bool) {
		rule := all[id]
		if rule == nil {
			return "", false
		}
		if known[id] == "" {
			known[id] = rule.Digest()
		}
		return known[id], true
	}
}
