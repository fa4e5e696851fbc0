package expression

import (
	"slices"
	"time"

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

// Explain evaluates a condition and tells how its value came about, with the error of
// [Program.EvalBool]. It compiles anew and is not for the hot path.
func (p *Program) Explain(e *Evaluation) (Clause, error) {
	c := &compiler{tree: p.tree, scope: p.scope, tracing: true}
	root, whole, err := c.condition(p.tree.Node, len(p.tree.Text))
	if err != nil {
		return Clause{}, err
	}
	traced := &Program{scope: p.scope, names: c.used, tree: p.tree, root: root, variables: c.most, nodes: c.nodes}
	outer := e.trace
	e.trace = &tracing{seen: make([]finding, c.clauses), at: -1}
	defer func() { e.trace = outer }()
	_, err = traced.EvalBool(e)
	return e.trace.tell(whole, err), err
}

// tracing collects what a program compiled for it does.
type tracing struct {
	seen []finding // by the number of the clause
	at   int       // the clause that is being evaluated, or -1
	// pending is what a variable read before the clause that comes next.
	pending []Read
}

// finding is what became of a clause that was asked for.
type finding struct {
	asked     bool
	verdict   trace.Verdict
	err       error
	reads     []Read
	changesAt time.Time
}

func (t *tracing) read(path string, v any) {
	if t.at < 0 {
		t.pending = withRead(t.pending, Read{path, v})
		return
	}
	at := &t.seen[t.at]
	at.reads = withRead(at.reads, Read{path, v})
}

// note keeps the value of a clause.
func (t *tracing) note(number int, v any, err error) {
	at := &t.seen[number]
	at.asked, at.err, at.verdict = true, err, trace.Error
	if holds, is := v.(bool); is && err == nil {
		at.verdict = trace.Of(holds)
	}
}

// tell puts what was seen into the form of the condition. failed is the error of the
// whole, which one of the clauses is to blame for.
func (t *tracing) tell(s form, failed error) Clause {
	at := t.seen[s.number]
	out := Clause{Operator: s.operator, Source: s.source, Offset: s.offset, Verdict: trace.NotAsked}
	if at.asked {
		out.Verdict, out.Reads, out.ChangesAt = at.verdict, at.reads, at.changesAt
	}
	if at.asked && failed != nil && at.verdict == trace.Error {
		out.Err = failed
	}
	for _, part := range s.parts {
		told := t.tell(part, failed)
		if told.Verdict == trace.Error {
			out.Err = nil
		}
		out.Clauses = append(out.Clauses, told)
	}
	return out
}

// clause has the evaluator of a condition note its value. A leaf notes what it reads
// besides, and for how long it may stay as it is.
func (c *compiler) clause(v code, number int, leaf bool) code {
	inner := v.eval
	v.eval = func(e *Evaluation) (any, error) {
		if !leaf {
			result, err := inner(e)
			e.trace.note(number, result, err)
			return result, err
		}
		t := e.trace
		t.at, t.seen[number].reads, t.pending = number, t.pending, nil
		instant := e.Instant
		if instant != nil {
			e.Instant = NewInstant(instant.Now())
		}
		result, err := inner(e)
		if instant != nil {
			t.seen[number].changesAt = e.Instant.Next()
			instant.ChangesAt(e.Instant.Next())
			e.Instant = instant
		}
		t.at = -1
		t.note(number, result, err)
		return result, err
	}
	return v
}

// traced makes a path or name report its value. Predicates do not: they read the
// same for every element.
func (c *compiler) traced(v code) code {
	if !c.tracing || len(c.predicates) > 0 {
		return v
	}
	eval := v.eval
	v.eval = func(e *Evaluation) (any, error) {
		result, err := eval(e)
		if err == nil {
			e.trace.read(v.text, result)
		}
		return result, err
	}
	return v
}

// Judge evaluates a condition and returns those of its [Program.Clauses] whose value
// was asked for, in order. The one that failed is left out, and comes with the error.
// Judge compiles anew and is not for the hot path.
func (p *Program) Judge(e *Evaluation) ([]Clause, error) {
	whole, err := p.Explain(e)
	if err != nil && whole.Source == "" {
		return nil, err
	}
	asked := slices.DeleteFunc(whole.Joined(), func(c Clause) bool {
		return c.Verdict == trace.NotAsked || c.Verdict == trace.Error
	})
	return asked, err
}
