package expression

import (
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// Clause is a condition, and the conditions that it is made of.
type Clause struct {
	// Operator joins Clauses; it is empty where the condition is not taken apart.
	Operator trace.Operator
	// Source is the text of the clause, at Offset in that of the program.
	Source  string
	Offset  int
	Verdict trace.Verdict
	// Err is why it failed, nil where one of its clauses says so.
	Err error
	// Reads is the values it read, in order and each path once, of one that is not
	// taken apart.
	Reads []Read
	// ChangesAt is when time alone may change what it was, zero for never.
	ChangesAt time.Time
	Clauses   []Clause
}

// Read is a path as it was written, and its value.
type Read struct {
	Path  string
	Value any
}

// Holds reports whether the condition was asked for and true.
func (c Clause) Holds() bool { return c.Verdict == trace.True }

// Joined lists the clauses that && and || join at the top, in the order written; a clause
// without either is the only one.
func (c Clause) Joined() []Clause {
	if c.Operator != trace.And && c.Operator != trace.Or {
		return []Clause{c}
	}
	var out []Clause
	for _, part := range c.Clauses {
		out = append(out, part.Joined()...)
	}
	return out
}

// Deciding is the clause among those that && joins at the top by which the condition is
// not true, or itself.
func (c Clause) Deciding() Clause {
	if c.Operator != trace.And {
		return c
	}
	for _, part := range slices.Backward(c.Clauses) {
		if part.Verdict != trace.NotAsked {
			return part.Deciding()
		}
	}
	return c
}

// AllReads lists what all parts of the condition read, each path once.
func (c Clause) AllReads() []Read {
	out := slices.Clone(c.Reads)
	for _, part := range c.Clauses {
		for _, read := range part.AllReads() {
			out = withRead(out, read)
		}
	}
	return out
}

func withRead(all []Read, read Read) []Read {
	if slices.ContainsFunc(all, func(r Read) bool { return r.Path == read.Path }) {
		return all
	}
	return append(all, read)
}

// Clauses lists the conditions that && and || join at the top of an expression,
// inside parentheses too, in the order written. An expression without either is
// one clause. None was asked for.
func (p *Program) Clauses() []Clause { return (&recorder{}).clause(p, p.root, nil).Joined() }

// Explain evaluates a condition and tells how its value came about, with the error of
// [Program.EvalBool].
func (p *Program) Explain(e *Evaluation) (Clause, error) {
	r := &recorder{seen: map[Node]*Clause{}}
	_, err := p.holds(e, r)
	return r.clause(p, p.root, err), err
}

// recorder collects what an evaluation of a condition does.
type recorder struct {
	// seen are the clauses that were asked for, with what became of them.
	seen map[Node]*Clause
	// leaf is the clause that is being evaluated.
	leaf *Clause
	// pending is what a variable read before the clause that comes next.
	pending []Read
}

func (r *recorder) read(path string, v any) {
	into := &r.pending
	if r.leaf != nil {
		into = &r.leaf.Reads
	}
	*into = withRead(*into, Read{path, v})
}

// eval evaluates a clause and keeps its value. Of one that is not taken apart it keeps besides what that reads, and for how
// long it may stay as it is.
func (r *recorder) eval(e *Evaluation, n Node) any {
	_, isLet := n.(*Let)
	if r.leaf != nil || isLet { // The body of the let is the clause.
		return n.eval(e)
	}
	f := &Clause{Verdict: trace.Error}
	r.seen[n] = f
	if operator, _ := parts(n); operator == "" {
		r.leaf, f.Reads, r.pending = f, r.pending, nil
		defer func() { r.leaf = nil }()
		if outer := e.Instant; outer != nil {
			e.Instant = value.NewInstant(outer.Now())
			defer func() {
				f.ChangesAt = e.Instant.Next()
				outer.ChangesAt(f.ChangesAt)
				outer.AskedIn(e.Instant.TakeZone())
				e.Instant = outer
			}()
		}
	}
	v := n.eval(e)
	if holds, is := v.(bool); is {
		f.Verdict = trace.Of(holds)
	}
	return v
}

// before evaluates what a variable stands for. The clause that comes next has read it.
func (r *recorder) before(e *Evaluation, n Node) any {
	if r.leaf != nil {
		return n.eval(e)
	}
	r.leaf = &Clause{Reads: r.pending}
	defer func() { r.leaf, r.pending = nil, r.leaf.Reads }()
	return n.eval(e)
}

// clause puts what was seen into the form of the condition. failed is the error of the
// whole, which one of the clauses is to blame for.
func (r *recorder) clause(p *Program, n Node, failed error) Clause {
	if let, is := n.(*Let); is {
		return r.clause(p, let.Body, failed)
	}
	out := Clause{Verdict: trace.NotAsked}
	if f := r.seen[n]; f != nil {
		out = *f
	}
	whole := n.Written().Whole
	out.Source, out.Offset = p.text[whole.Offset:whole.End()], whole.Offset
	if out.Verdict == trace.Error {
		out.Err = failed
	}
	var all []Node
	out.Operator, all = parts(n)
	for _, part := range all {
		c := r.clause(p, part, failed)
		if c.Verdict == trace.Error {
			out.Err = nil
		}
		out.Clauses = append(out.Clauses, c)
	}
	return out
}

// parts takes a condition apart. Those of one operator stand side by side.
func parts(n Node) (operator trace.Operator, all []Node) {
	switch n := n.(type) {
	case *Binary:
		switch n.Operator {
		case "&&", "and":
			operator = trace.And
		case "||", "or":
			operator = trace.Or
		}
		if operator == "" || n.Chained {
			return "", nil
		}
		for _, side := range []Node{n.Left, n.Right} {
			if inner, below := parts(side); inner == operator {
				all = append(all, below...)
			} else {
				all = append(all, side)
			}
		}
		return operator, all
	case *Unary:
		if n.Negates() && n.At.Offset < n.X.Written().Whole.Offset {
			return trace.Not, []Node{n.X}
		}
	case *Conditional:
		return trace.Choice, []Node{n.Condition, n.Yes, n.No}
	}
	return "", nil
}
