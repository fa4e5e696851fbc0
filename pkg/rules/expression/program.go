package expression

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Error says what is wrong with an expression or its evaluation, and where.
type Error = syntax.Error

// Names resolves the names of a [Scope]. Value is called each time an evaluation
// comes across the name, so what is expensive should be kept. Its values are
// never changed. An error ends the evaluation and is found again by errors.As.
type Names interface {
	Value(slot int) (any, error)
}

// leastSize is what an object counts as at least, in bytes: a cache keeps less of it than there is, and a rule has as much time
// as for the whole of it. Few objects are larger.
const leastSize = 4 << 10

// ObjectSize is [value.Size] for an object of which there may be more than is given.
func ObjectSize(object map[string]any) int { return max(leastSize, value.Size(object)) }

// Evaluation is what the programs of one evaluation of a rule share. It is not
// safe for concurrent use, but [Names] may evaluate other programs with it while
// one is running.
type Evaluation struct {
	// Names resolves the names of the scope that the programs were compiled with. It
	// may be nil where they use none.
	Names Names
	// Budget is spent by all programs together. Without one, they have what a
	// small input allows.
	Budget *value.Budget
	// Instant is the moment that functions of time answer for. Without one, they
	// fail.
	Instant *value.Instant
	// Explained is given how the value of each condition came about, nil for nobody.
	Explained func(*Program, Clause)

	// stack holds the variables of the running programs; those of the innermost
	// start at base and end before top.
	stack     []any
	base, top int
	recorder  *recorder // nil unless it is explained
}

// Program is a compiled expression. It is immutable and safe for concurrent use.
type Program struct {
	scope *Scope
	names []string
	text  string
	root  Node
	// variables is how many slots of the stack it needs.
	variables int
	nodes     int
}

// Compile returns the program for an expression that may use the names of scope,
// or an [*Error].
func Compile(text string, scope *Scope) (*Program, error) {
	tree, err := syntax.Scan(text, false)
	if err != nil {
		return nil, err
	}
	return compile(tree, scope)
}

func compile(tree *syntax.Tree, scope *Scope) (p *Program, err error) {
	if err := tree.Parse(); err != nil {
		return nil, err
	}
	defer value.Catch(&err)
	c := &compiler{tree: tree, scope: scope}
	root := c.lower(tree.Node, false)
	return &Program{scope: scope, names: c.used, text: tree.Text, root: root, variables: c.most, nodes: c.nodes}, nil
}

// Source returns the expression as it was written.
func (p *Program) Source() string { return p.text }

// Root returns the node that stands for all of the expression.
func (p *Program) Root() Node { return p.root }

// Whole is the span of all of the text.
func (p *Program) Whole() syntax.Span { return syntax.Span{Length: len(p.text)} }

// Names returns the names of the scope that the expression mentions, in order of
// first mention.
func (p *Program) Names() []string { return slices.Clone(p.names) }

// Eval returns the value of the expression, or an [*Error]. The value may share
// parts with the input and must not be changed.
func (p *Program) Eval(e *Evaluation) (any, error) { return p.eval(e, nil) }

func (p *Program) eval(e *Evaluation, r *recorder) (v any, err error) {
	if e.Budget == nil {
		e.Budget = value.NewBudget(0)
	}
	if err := e.Budget.Steps(p.nodes); err != nil {
		return nil, p.Whole().Locate(err)
	}
	base, recorder := e.enter(p.variables), e.recorder
	e.recorder = r
	defer func() {
		e.recorder = recorder
		e.leave(base)
	}()
	defer value.Catch(&err)
	return e.eval(p.root), nil
}

// EvalBool is Eval for a condition; any value but a boolean is an error.
func (p *Program) EvalBool(e *Evaluation) (bool, error) {
	if e.Explained == nil {
		return p.holds(e, nil)
	}
	whole, err := p.Explain(e)
	e.Explained(p, whole)
	return whole.Holds(), err
}

func (p *Program) holds(e *Evaluation, r *recorder) (bool, error) {
	v, err := p.eval(e, r)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, wants(p.root, "a condition", value.Bool, v)
	}
	return b, nil
}

// Constant returns the value of a program that is a literal.
func (p *Program) Constant() (v any, ok bool) { return Constant(p.root) }

// enter makes room for the variables of a program, above those of the one that
// is running.
func (e *Evaluation) enter(variables int) (outer int) {
	outer = e.base
	e.base = e.top
	e.top += variables
	if missing := e.top - len(e.stack); missing > 0 {
		e.stack = append(e.stack, make([]any, missing)...)
	}
	return outer
}

// leave forgets the variables, so that they do not keep objects alive.
func (e *Evaluation) leave(outer int) {
	clear(e.stack[e.base:e.top])
	e.top = e.base
	e.base = outer
}
