package rules

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
)

// Evaluate asks every rule that watches the object what it wants, and joins
// the wishes into one plan. It is pure: the same snapshot gives the same plan.
func (s *Set) Evaluate(snapshot Snapshot) plan.Plan {
	e := s.evaluation(&snapshot)
	e.decisions = make([]plan.Decision, 0, len(s.byGVR[snapshot.GVR]))
	for _, rule := range s.byGVR[snapshot.GVR] {
		if rule.concerns(&snapshot) {
			e.add(rule)
		}
	}
	return e.plan()
}

func (s *Set) evaluation(snapshot *Snapshot) *evaluation {
	e := &evaluation{set: s, snapshot: snapshot, object: snapshot.Identity(), instant: expression.NewInstant(snapshot.Now)}
	e.budget = expression.NewLazyBudget(e.size)
	return e
}

// evaluation is all rules looking at one object.
type evaluation struct {
	set      *Set
	snapshot *Snapshot
	object   plan.Object
	instant  *expression.Instant
	// budget is shared by all rules, or a thousand of them would take a thousand
	// times as much as one may.
	budget *expression.Budget
	turn   *turn // of the rule whose turn it is
	spare  *turn // one that is over, of which nobody keeps anything
	read   int   // bytes of the object, once they are counted
	others int   // bytes of what the rules before have read beside it
	memos  []memo

	wishes, audited []plan.Wish
	events          []plan.Event
	decisions       []plan.Decision
	reads           []plan.Read
	secret          map[plan.Rule]bool

	told *explanation // nil for nobody
}

// concerns reports whether the rule has a say about the object: it selects it, or
// may have left something of it behind.
func (r *Rule) concerns(s *Snapshot) bool {
	switch {
	case s.Object == nil:
		return len(r.prunes) > 0
	case r.watches(s.SelectedBy):
		return true
	case !r.Lingers():
		return false
	default:
		return !slices.ContainsFunc(r.selections, func(selection plan.Selection) bool {
			return selection.GVR == s.GVR && !slices.Contains(s.LeftBy, selection)
		})
	}
}

// size is how much the rules have read so far.
func (e *evaluation) size() int {
	if e.read == 0 {
		e.read = expression.ObjectSize(e.snapshot.Object)
	}
	return e.read + e.others + e.turn.reader.Size()
}

func (e *evaluation) add(rule *Rule) {
	e.budget.Reserve()
	t := rule.begin(e)
	e.turn = t
	e.decisions = append(e.decisions, t.run())
	if rule.audited() {
		e.audited = append(e.audited, t.action.Wishes...)
	} else {
		if e.wishes == nil && len(t.action.Wishes) > 0 { // Where one rule wants something, others do.
			e.wishes = make([]plan.Wish, 0, max(len(t.action.Wishes), min(cap(e.decisions), 16)))
		}
		e.wishes = append(e.wishes, t.action.Wishes...)
		e.events = append(e.events, t.action.Events...)
	}
	e.wishes = append(e.wishes, t.freed...)
	e.reads = append(e.reads, t.reader.Reads()...)
	if t.secret() {
		if e.secret == nil {
			e.secret = map[plan.Rule]bool{}
		}
		e.secret[rule.ID] = true
	}
	e.others += t.reader.Size()
	if e.told != nil {
		e.told.keep(t)
	} else {
		e.spare = t
	}
}

func (e *evaluation) plan() plan.Plan {
	state := e.snapshot.State
	options := e.set.planOptions()
	options.Separate, options.Ineffective = state.Separate, state.Ineffective
	out := plan.Build(e.wishes, options)
	refused := out.Decisions
	out.Events, out.Decisions = e.events, e.decisions
	if len(e.audited) > 0 {
		wouldBe := plan.Build(e.audited, options)
		out.Audited = wouldBe.Operations
		refused = append(refused, wouldBe.Decisions...)
	}
	refuse(&out, refused)
	hideValues(out.Decisions, e.secret)
	out.Reads = distinct(e.reads)
	out.LookAgainAt = e.instant.Next()
	return out
}

// refuse replaces the decisions of the rules that were left out of the plan,
// and drops their Events.
func refuse(out *plan.Plan, refused []plan.Decision) {
	for _, decision := range refused {
		for i := range out.Decisions {
			if was := out.Decisions[i]; was.Rule == decision.Rule {
				decision.Audited, decision.HeldSince = was.Audited, was.HeldSince
				out.Decisions[i] = decision
			}
		}
		out.Events = slices.DeleteFunc(out.Events, func(event plan.Event) bool { return event.Rule == decision.Rule })
	}
}

// distinct keeps each question once.
func distinct(reads []plan.Read) []plan.Read {
	if len(reads) < 2 {
		return reads
	}
	seen := make(map[string]bool, len(reads))
	var out []plan.Read
	for _, read := range reads {
		if key := read.Key(); !seen[key] {
			seen[key] = true
			out = append(out, read)
		}
	}
	return out
}
