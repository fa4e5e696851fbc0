package rules

import (
	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// Clause is one of the conditions that && and || join in the `when` of a rule.
type Clause struct {
	// Text is how the clause is written, in one line.
	Text string
	// Offset tells the clauses of a rule apart. It is in bytes of the expression.
	Offset int
	// At is where the clause is written: a note without words.
	At *document.Error
}

// Judgement is what the clauses of a rule were for an object.
type Judgement struct {
	Rule plan.Rule
	// Holds has the clauses whose value was asked for, by their Offset.
	Holds map[int]bool
}

// Place is where the rule is written: a note without words.
func (r *Rule) Place() *document.Error {
	at := r.source.Node()
	if name := at.Get("name"); name != nil {
		at = name
	}
	return at.Errorf("", "").Note()
}

// Clauses lists the clauses of `when` in the order written, none where the rule has
// no `when`.
func (r *Rule) Clauses() []Clause {
	if r.when == nil {
		return nil
	}
	var out []Clause
	for _, c := range r.when.Program().Clauses() {
		out = append(out, Clause{
			Text: oneLine(c.Source), Offset: c.Offset,
			At: r.when.Node().ErrorAt(c.Offset, len(c.Source), "", "").Note(),
		})
	}
	return out
}

// Judge tells what the clauses of `when` are for the object, of each rule that
// [Set.Evaluate] asks for its `when` there. It is pure.
func (s *Set) Judge(snapshot Snapshot) []Judgement {
	e := &evaluation{set: s, snapshot: &snapshot, object: snapshot.Identity(), instant: expression.NewInstant(snapshot.Now)}
	e.budget = expression.NewLazyBudget(e.size)
	var out []Judgement
	for _, rule := range s.byGVR[snapshot.GVR] {
		if !rule.asked(&snapshot) {
			continue
		}
		e.budget.Reserve()
		e.turn = rule.begin(e)
		// An error is for the evaluation to report; what came before it is known.
		whole, _ := rule.when.Program().Explain(&e.turn.expressions)
		judgement := Judgement{Rule: rule.ID, Holds: map[int]bool{}}
		for _, clause := range whole.Joined() {
			if clause.Verdict == trace.True || clause.Verdict == trace.False {
				judgement.Holds[clause.Offset] = clause.Holds()
			}
		}
		out = append(out, judgement)
		e.others += e.turn.reader.Size()
	}
	return out
}

// asked reports whether the rule looks at its `when` for the object.
func (r *Rule) asked(s *Snapshot) bool {
	switch {
	case r.when == nil || s.Object == nil || r.Suspended() || !r.watches(s.SelectedBy):
		return false
	case plan.BeingDeleted(s.Object):
		return r.onDelete != nil && !r.onDelete.hold
	default:
		return true
	}
}
