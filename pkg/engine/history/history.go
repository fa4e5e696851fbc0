// Package history remembers of the last decisions about one object what `explain` cannot find out by evaluating the rules
// again: since when a rule decides so, when it wrote, and what failed.
package history

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
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// longest bounds each text, in bytes.
const longest = 512

// History is that of one object. Of a rule that does not match, and has not written since the start, nothing is kept. The
// zero value is empty. It is safe for concurrent use.
type History struct {
	mu       sync.Mutex
	at       uint32          // when the last decisions were made; guarded by mu
	waits    bool            // for its own writes to be seen; guarded by mu
	rules    []entry         // guarded by mu
	failures []guard.Failure // of the last attempt; guarded by mu
}

// entry is about one rule. There are many of them, so it is kept small: instants are in seconds since 1970, 0 for not known.
type entry struct {
	rule           unique.Handle[plan.Rule]
	since, written uint32
	outcome        uint8 // its place in [outcomes]
	audited        bool
}

// outcomes are those that an entry can have; the first stands for one that is not known.
var outcomes = []plan.Outcome{"", plan.Matched, plan.Waiting, plan.Refused, plan.Withheld, plan.Failed, plan.Unmatched, plan.Skipped}

// Decided notes decisions. Of a rule that is not among them nothing is kept, unless its cache is only late, which partly
// says.
func (h *History) Decided(at time.Time, decisions []plan.Decision, partly bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = seconds(at)
	var after []entry
	for _, decision := range decisions {
		known, others := take(h.rules, decision.Rule)
		h.rules = others
		idle := decision.Outcome == plan.Unmatched || decision.Outcome == plan.Skipped
		if idle && known.written == 0 {
			continue
		}
		outcome := uint8(max(0, slices.Index(outcomes, decision.Outcome))) //nolint:gosec // There are few.
		isNew := known.outcome == 0 && known.written == 0
		if isNew || known.outcome != 0 && (known.outcome != outcome || known.audited != decision.Audited) {
			known.since = h.at
		}
		known.outcome, known.audited = outcome, decision.Audited
		after = append(after, known)
	}
	if partly {
		after = append(after, h.rules...)
	}
	h.rules = slices.Clone(after) // Of just that size.
}

// take returns what is known of a rule, and of the others.
func take(rules []entry, rule plan.Rule) (of entry, others []entry) {
	of.rule = unique.Make(rule)
	i := slices.IndexFunc(rules, func(known entry) bool { return known.rule == of.rule })
	if i < 0 {
		return of, rules
	}
	of = rules[i]
	return of, slices.Delete(rules, i, i+1)
}

// Wrote notes that rules have changed something.
func (h *History) Wrote(at time.Time, rules []plan.Rule) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, rule := range rules {
		known, others := take(h.rules, rule) // Nothing is known of one that lets go of what it does not want any more.
		known.written = seconds(at)
		h.rules = append(others, known)
	}
}

// Finished notes what could not be done.
func (h *History) Finished(outcome guard.Outcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waits = outcome.State == guard.Waiting
	if outcome.Looked || len(outcome.Failures) > 0 {
		h.failures = outcome.Failures
	}
}

// trouble says what keeps a rule from carrying out what it decided. Where it is not known of which rules a failure is, it is that
// of all.
func (h *History) trouble(of plan.Rule) trace.Trouble {
	for _, failure := range slices.Backward(h.failures) {
		decided := failure.Cause == guard.Decided || failure.Cause == guard.Unevaluated
		if decided || len(failure.Rules) > 0 && !slices.Contains(failure.Rules, of) {
			continue
		}
		text := Brief(failure.Err.Error())
		switch limit.HoldOf(failure.Err) {
		case limit.HoldPause:
			return trace.Trouble{Paused: text}
		case limit.HoldWave:
			return trace.Trouble{Wave: text}
		case limit.HoldNone, limit.HoldPasses:
		}
		if _, is := errors.AsType[*conflict.Error](failure.Err); is {
			return trace.Trouble{Contest: text}
		}
		return trace.Trouble{Failure: text}
	}
	return trace.Trouble{}
}

// Troubled reports whether one of the rules fails, waits, or could not do what it decided, when the object was last looked at.
func (h *History) Troubled(of func(plan.Rule) bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	concerned := false
	for _, known := range h.rules {
		if !of(known.rule.Value()) {
			continue
		}
		concerned = true
		switch outcomes[known.outcome] {
		case plan.Waiting, plan.Refused, plan.Withheld, plan.Failed:
			return true
		default:
		}
	}
	return slices.ContainsFunc(h.failures, func(f guard.Failure) bool {
		return len(f.Rules) == 0 && concerned || slices.ContainsFunc(f.Rules, of)
	})
}

// Tell adds what is remembered to what the rules decide now, and since when the `when` of rules holds. Of rules that could
// not be asked now, which partly says, it tells what they decided before.
func (h *History) Tell(into *trace.Memory, decided plan.Plan, held map[plan.Rule]time.Time, partly bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waits {
		into.Waits = "what was written for it is to show in the caches"
	}
	unasked := slices.Clone(h.rules)
	add := func(rule plan.Rule, record trace.Record) {
		var known entry
		known, unasked = take(unasked, rule)
		record.Rule, record.WrittenAt = rule, instant(known.written)
		if outcomes[known.outcome] == record.Outcome && known.audited == record.Audited {
			record.Since = instant(known.since)
		}
		record.Trouble = h.trouble(rule)
		into.Records = append(into.Records, record)
	}
	for _, d := range decided.Decisions {
		add(d.Rule, trace.Record{
			Outcome: d.Outcome, Reason: Brief(d.Reason), Audited: d.Audited,
			At: instant(h.at), HeldSince: d.HeldSince.UTC(), LookAgainAt: decided.LookAgainAt.UTC(),
		})
	}
	for partly && len(unasked) > 0 {
		first := unasked[0]
		rule := first.rule.Value()
		add(rule, trace.Record{Outcome: outcomes[first.outcome], Audited: first.audited, HeldSince: held[rule].UTC()})
	}
}

func seconds(at time.Time) uint32 { return uint32(at.Unix()) } //nolint:gosec // For as long as until 2106.

func instant(seconds uint32) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0).UTC()
}

// Brief cuts a text that is too long, between two characters.
func Brief(text string) string {
	const cut = "..."
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest-len(cut)], "") + cut
}
