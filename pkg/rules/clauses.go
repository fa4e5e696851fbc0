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
func (s *Set) Judge(snapshot Snapshot) (out []Judgement) {
	e := s.evaluation(&snapshot)
	e.asked = func(r *Rule, p *expression.Program, whole expression.Clause) {
		if r.when == nil || p != r.when.Program() {
			return
		}
		judgement := Judgement{Rule: r.ID, Holds: map[int]bool{}}
		for _, clause := range whole.Joined() {
			if clause.Verdict == trace.True || clause.Verdict == trace.False {
				judgement.Holds[clause.Offset] = clause.Holds()
			}
		}
		out = append(out, judgement)
	}
	e.evaluate()
	return out
}
