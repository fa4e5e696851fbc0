package engine

import (
	"errors"
	"strings"
	"sync"
	"time"
	"unique"

	"github.com/dyncontroller/dyncontroller/pkg/engine/conflict"
	"github.com/dyncontroller/dyncontroller/pkg/engine/guard"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/engine/write"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// longestRecorded bounds each text that is recorded, in bytes.
const longestRecorded = 512

// Recorded returns what is remembered of an object, by rule in their order. The values of
// Secrets are masked. It is for whoever asks why something was done or not, and has no
// Records where no rule has looked at the object since the start. Where it cannot be looked
// at, it says why.
func (e *Engine) Recorded(key Key) trace.Memory {
	out := trace.Memory{Object: trace.ObjectOf(plan.Object{GVR: key.GVR, Namespace: key.Namespace, Name: key.Name})}
	if record := e.memory.known(key); record != nil {
		record.recorded.read(&out)
		for i := range out.Records {
			e.describe(key, &out.Records[i])
		}
	}
	out.Trouble = e.unseen(key)
	return out
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

// recorded is what was decided about one object last, by rule: an entry for each that
// looks at it, of bounded size. The zero value has none. Unlike the rest of a record, it
// is safe for concurrent use.
type recorded struct {
	mu      sync.Mutex
	entries []entry // in the order of the rules; guarded by mu
	look    int64   // when time alone changes what they want; guarded by mu
	waits   bool    // for its own writes to be seen; guarded by mu
}

// entry is about one rule. There are many of them, so it is kept small: instants are in
// nanoseconds since 1970, and 0 for never.
type entry struct {
	rule    unique.Handle[plan.Rule]
	outcome plan.Outcome
	reason  string
	audited bool
	trouble *trace.Trouble // nil for none

	at, since, held, written int64
}

// decide notes decisions. Of a rule that is not among them nothing is kept, unless its cache
// is only late, which partly says.
func (r *recorded) decide(now time.Time, decided plan.Plan, partly bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.entries
	r.entries = make([]entry, 0, len(decided.Decisions))
	for _, decision := range decided.Decisions {
		e := entry{rule: unique.Make(decision.Rule), since: now.UnixNano()}
		if known := find(before, e.rule); known != nil {
			since := e.since
			e = *known
			if known.outcome != decision.Outcome || known.audited != decision.Audited {
				e.since = since
			}
			known.rule = unique.Handle[plan.Rule]{} // It is taken over.
		}
		e.outcome, e.reason, e.audited = decision.Outcome, brief(decision.Reason), decision.Audited
		e.at, e.held = now.UnixNano(), nanoseconds(decision.HeldSince)
		r.entries = append(r.entries, e)
	}
	for _, e := range before {
		if partly && e.rule != (unique.Handle[plan.Rule]{}) {
			r.entries = append(r.entries, e)
		}
	}
	r.look = nanoseconds(decided.LookAgainAt)
}

// wrote notes that rules have changed something.
func (r *recorded) wrote(now time.Time, rules []plan.Rule, class write.Class) {
	if class != write.Written {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rule := range rules {
		if e := find(r.entries, unique.Make(rule)); e != nil {
			e.written = now.UnixNano()
		}
	}
}

// conclude notes what could not be done, but for what the decision says already. Where it
// is not known of which rules, it is that of all.
func (r *recorded) conclude(result guard.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waits = result.State == guard.Waiting
	failed := map[unique.Handle[plan.Rule]]error{}
	for _, t := range result.Failures {
		rules := t.Rules
		if len(rules) == 0 {
			for _, e := range r.entries {
				rules = append(rules, e.rule.Value())
			}
		}
		for _, rule := range rules {
			failed[unique.Make(rule)] = t.Err
		}
	}
	for i := range r.entries {
		e := &r.entries[i]
		switch err := failed[e.rule]; {
		case err != nil && (!e.outcome.Troubled() || brief(err.Error()) != e.reason):
			e.trouble = kept(err)
		case result.Looked:
			e.trouble = nil
		}
	}
}

// kept says what keeps a rule from carrying out what it decided.
func kept(err error) *trace.Trouble {
	text := brief(err.Error())
	if _, is := errors.AsType[*limit.PausedError](err); is {
		return &trace.Trouble{Paused: text}
	}
	if _, is := errors.AsType[*conflict.Error](err); is {
		return &trace.Trouble{Contest: text}
	}
	return &trace.Trouble{Failure: text}
}

func (r *recorded) read(into *trace.Memory) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waits {
		into.Waits = "what was written for it is to show in the caches"
	}
	for _, e := range r.entries {
		record := trace.Record{
			Rule: trace.RuleOf(e.rule.Value()), Outcome: e.outcome, Reason: e.reason, Audited: e.audited,
			At: instant(e.at), Since: instant(e.since), HeldSince: instant(e.held), WrittenAt: instant(e.written),
			LookAgainAt: instant(r.look),
		}
		if e.trouble != nil {
			record.Trouble = *e.trouble
		}
		into.Records = append(into.Records, record)
	}
}

// find returns the entry of a rule, nil where there is none.
func find(entries []entry, rule unique.Handle[plan.Rule]) *entry {
	for i := range entries {
		if entries[i].rule == rule {
			return &entries[i]
		}
	}
	return nil
}

func nanoseconds(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixNano()
}

func instant(nanoseconds int64) time.Time {
	if nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds).UTC()
}

// brief cuts a text that is too long, between two characters.
func brief(text string) string {
	const cut = "..."
	if len(text) <= longestRecorded {
		return text
	}
	return strings.ToValidUTF8(text[:longestRecorded-len(cut)], "") + cut
}
