package engine

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unique"

	"github.com/dyncontroller/dyncontroller/pkg/engine/conflict"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// longestRecorded bounds each text that is recorded, in bytes.
const longestRecorded = 512

// Recorded returns what the rules decide about an object now, in their order, and what is remembered of that. The values
// of Secrets are masked. It is for whoever asks why something was done or not, and has no Records where no rule has looked
// at the object since the start. Where it cannot be looked at, it says why.
func (e *Engine) Recorded(key Key) trace.Memory {
	out := trace.Memory{Object: trace.ObjectOf(plan.Object{GVR: key.GVR, Namespace: key.Namespace, Name: key.Name})}
	if record := e.memory.known(key); record != nil {
		decided, partly := e.decidesNow(key, record.recorded.holds())
		record.recorded.tell(&out, decided, partly)
		for i := range out.Records {
			e.describe(key, &out.Records[i])
		}
	}
	out.Trouble = e.unseen(key)
	return out
}

// decidesNow evaluates the rules for somebody who asks. Nothing is remembered of that, and nobody else is told. Where a
// cache is not complete, it is not known what its rules decide.
func (e *Engine) decidesNow(key Key, held held) (decided plan.Plan, partly bool) {
	now := e.active.Load()
	seen := e.see(now, key)
	if seen.found != present {
		return plan.Plan{}, seen.found == unknown
	}
	defer func() {
		if recover() != nil { // The log says so whenever the object is looked at.
			decided, partly = plan.Plan{}, true
		}
	}()
	seen.State = rules.State{HeldSince: held.under(now)}
	aside := &source{engine: e, asker: key, watched: seen.Object, aside: true}
	return e.ask(now, &seen, aside), len(seen.unsure) > 0
}

// unseen says why an object cannot be looked at at all, which may be one that is gone.
func (e *Engine) unseen(key Key) trace.Trouble {
	found, fails := e.guards.breaker.Of(key, plan.Rule{})
	for _, c := range e.Quarantined() {
		if c.Key.UID = ""; !fails && c.Key == key && c.Rule == (plan.Rule{}) {
			found, fails = c, true
		}
	}
	if !fails {
		return trace.Trouble{}
	}
	return trace.Trouble{Failure: brief(found.Err.Error()), Attempts: found.Attempts, Next: found.Next, Quarantined: found.Open}
}

// describe says how often what a rule was tried for has failed, and when the next attempt
// comes. The zero rule stands for all of them.
func (e *Engine) describe(key Key, record *trace.Record) {
	for _, rule := range []plan.Rule{record.Rule.ID(), {}} {
		if c, fails := e.guards.breaker.Of(key, rule); fails {
			trouble := &record.Trouble
			trouble.Attempts, trouble.Next, trouble.Quarantined = c.Attempts, c.Next, c.Open
			if text := brief(c.Err.Error()); text != record.Reason {
				trouble.Failure = text
			}
			return
		}
	}
}

// recorded is what is remembered of the last decisions about one object that cannot be found out by evaluating the rules
// again. Of a rule that does not match, and has not written since the start, that is nothing. The zero value has none.
// Unlike the rest of a record, it is safe for concurrent use.
type recorded struct {
	mu       sync.Mutex
	at       uint32                      // when they were made; guarded by mu
	waits    bool                        // for its own writes to be seen; guarded by mu
	rules    []memo                      // in their order; guarded by mu
	troubles map[plan.Rule]trace.Trouble // that of all rules is of the zero rule; guarded by mu
	held     held                        // guarded by mu
}

// memo is about one rule. There are many of them, so it is kept small: instants are in seconds since 1970, and 0 for not
// known.
type memo struct {
	rule           unique.Handle[plan.Rule]
	since, written uint32
	outcome        uint8 // its place in [outcomes]
	audited        bool
}

// outcomes are those that a memo can have; the first stands for one that is not known.
var outcomes = []plan.Outcome{"", plan.Matched, plan.Waiting, plan.Refused, plan.Withheld, plan.Failed, plan.Unmatched, plan.Skipped}

// decide notes decisions. Of a rule that is not among them nothing is kept, unless its cache is only late, which partly
// says.
func (r *recorded) decide(at time.Time, decisions []plan.Decision, held held, partly bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at, r.held = seconds(at), held
	before := make(map[plan.Rule]memo, len(r.rules))
	for _, m := range r.rules {
		before[m.rule.Value()] = m
	}
	var after []memo
	for _, decision := range decisions {
		m, known := before[decision.Rule]
		delete(before, decision.Rule)
		idle := decision.Outcome == plan.Unmatched || decision.Outcome == plan.Skipped
		if idle && m.written == 0 {
			continue
		}
		outcome := uint8(max(0, slices.Index(outcomes, decision.Outcome))) //nolint:gosec // There are few.
		switch {
		case !known:
			m.rule, m.since = unique.Make(decision.Rule), seconds(at)
		case m.outcome != 0 && (m.outcome != outcome || m.audited != decision.Audited):
			m.since = seconds(at)
		}
		m.outcome, m.audited = outcome, decision.Audited
		after = append(after, m)
	}
	for _, m := range r.rules {
		if _, left := before[m.rule.Value()]; left && partly {
			after = append(after, m)
		}
	}
	r.rules = slices.Clone(after) // Of just that size.
}

// wrote notes that rules have changed something.
func (r *recorded) wrote(at time.Time, rules []plan.Rule, class write.Class) {
	if class != write.Written {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rule := range rules {
		i := slices.IndexFunc(r.rules, func(m memo) bool { return m.rule.Value() == rule })
		if i < 0 { // As when it lets go of what it does not want any more.
			i = len(r.rules)
			r.rules = append(r.rules, memo{rule: unique.Make(rule)})
		}
		r.rules[i].written = seconds(at)
	}
}

// conclude notes what could not be done, but for what rules could not decide, with the reasons. Where it is not known of
// which rules, it is that of all.
func (r *recorded) conclude(result guard.Outcome, undecided map[plan.Rule]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waits = result.State == guard.Waiting
	if result.Looked {
		r.troubles = nil
	}
	for _, t := range result.Failures {
		concerned := t.Rules
		if len(concerned) == 0 {
			concerned, r.troubles = []plan.Rule{{}}, nil
		}
		for _, rule := range concerned {
			if reason, is := undecided[rule]; is && reason == t.Err.Error() {
				continue
			}
			if r.troubles == nil {
				r.troubles = map[plan.Rule]trace.Trouble{}
			}
			r.troubles[rule] = kept(t.Err)
		}
	}
}

// holds is since when rules with `for` hold.
func (r *recorded) holds() held {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held
}

// kept says what keeps a rule from carrying out what it decided.
func kept(err error) trace.Trouble {
	text := brief(err.Error())
	if _, is := errors.AsType[*limit.PausedError](err); is {
		return trace.Trouble{Paused: text}
	}
	if _, is := errors.AsType[*conflict.Error](err); is {
		return trace.Trouble{Contest: text}
	}
	return trace.Trouble{Failure: text}
}

// tell adds what is remembered to what the rules decide. Of those that could not be asked now it tells what they decided
// before.
func (r *recorded) tell(into *trace.Memory, decided plan.Plan, partly bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waits {
		into.Waits = "what was written for it is to show in the caches"
	}
	left := map[plan.Rule]memo{}
	for _, m := range r.rules {
		left[m.rule.Value()] = m
	}
	add := func(rule plan.Rule, record trace.Record) {
		m := left[rule]
		delete(left, rule)
		record.Rule, record.WrittenAt = trace.RuleOf(rule), instant(m.written)
		if outcomes[m.outcome] == record.Outcome && m.audited == record.Audited {
			record.Since = instant(m.since)
		}
		trouble, own := r.troubles[rule]
		if !own {
			trouble = r.troubles[plan.Rule{}]
		}
		record.Trouble = trouble
		into.Records = append(into.Records, record)
	}
	for _, d := range decided.Decisions {
		add(d.Rule, trace.Record{
			Outcome: d.Outcome, Reason: brief(d.Reason), Audited: d.Audited,
			At: instant(r.at), HeldSince: d.HeldSince.UTC(), LookAgainAt: decided.LookAgainAt.UTC(),
		})
	}
	for _, m := range r.rules {
		if _, unasked := left[m.rule.Value()]; unasked && partly {
			rule := m.rule.Value()
			add(rule, trace.Record{Outcome: outcomes[m.outcome], Audited: m.audited, HeldSince: r.held.since[rule].UTC()})
		}
	}
}

func seconds(at time.Time) uint32 { return uint32(at.Unix()) } //nolint:gosec // For as long as until 2106.

func instant(seconds uint32) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0).UTC()
}

// brief cuts a text that is too long, between two characters.
func brief(text string) string {
	const cut = "..."
	if len(text) <= longestRecorded {
		return text
	}
	return strings.ToValidUTF8(text[:longestRecorded-len(cut)], "") + cut
}
