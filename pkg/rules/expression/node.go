package expression

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/function"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// Node is a part of an expression: one of the types below, each of which evaluates itself. What checks an expression, or
// follows what it reads, walks over the same nodes. Nodes are immutable.
type Node interface {
	// Written says where the node is and what messages call it.
	Written() *Operand
	// eval ends with an [*Error] by [value.Must].
	eval(e *Evaluation) any
}

// Literal is nil, a boolean, a text or a number, with its sign.
type Literal struct {
	Operand
	Value any
}

// List is a list of values.
type List struct {
	Operand
	Items []Node
	folded
}

// Map is a map of entries.
type Map struct {
	Operand
	Entries []Entry
	folded
}

// Entry is a key of a map, and its value.
type Entry struct{ Key, Value Node }

// folded is the value of a list or a map of constants, which is built once. To share it is safe, since values are never
// changed.
type folded struct {
	value    any
	constant bool
}

// Name is a name of the scope.
type Name struct {
	Operand
	Name string
	Slot int
	// begins says that a path begins with it, which is what an explanation shows instead.
	begins bool
}

// Let defines a variable for its body.
type Let struct {
	Operand
	Name        string
	Value, Body Node
	slot        int
}

// Variable is what a Let defines.
type Variable struct {
	Operand
	Let    *Let
	begins bool
}

// Element is #, and with a name #index or #acc: what a predicate is evaluated for.
type Element struct {
	Operand
	Name string
	slot int
}

// Path is a chain of accesses such as object.spec?.containers[0].image.
type Path struct {
	Operand
	Root  Node
	Steps []Step
}

// Step is one access of a path.
type Step struct {
	Kind StepKind
	// Optional ends the whole path with nil where there is nothing to read from: behind ?., and on the left of ??.
	Optional bool
	asked    bool // by ?.
	// Owner is how many steps back the map is that, where it is a Kubernetes object, reads as if it had an empty map at the key:
	// 1 for spec and status, 2 for labels and annotations below metadata, 0 for any other key.
	Owner int
	// Key is that of ByKey, and for messages the index of ByValue in its brackets.
	Key string
	// Index is the element or key of ByValue, and Bounds are the two of BySlice, nil where they are left out.
	Index  Node
	Bounds []Node
	// At is the key or the bracket.
	At syntax.Span
}

// Text is how messages write the access, with its dot or brackets.
func (s *Step) Text() string {
	var text string
	switch s.Kind {
	case ByKey:
		text = syntax.KeyText(s.Key)
	case ByValue:
		text = s.Key
	case BySlice:
		text = "[...]"
	}
	if s.asked {
		return syntax.Optional(text)
	}
	return text
}

// StepKind is the kind of an access.
type StepKind uint8

// The kinds of accesses: .key, [index] and [from:to].
const (
	ByKey StepKind = iota
	ByValue
	BySlice
)

// Unary is an operator before its operand: ! or not, - and +.
type Unary struct {
	Operand
	Operator string
	X        Node
	// Compared says that == or != follows, which binds less.
	Compared bool
}

// Binary is an operator between two operands.
type Binary struct {
	Operand
	Operator    string
	Left, Right Node
	// Chained says that it is the && that a < b < c stands for.
	Chained bool
	row     *operator
	pattern *regexp.Regexp // that of matches
	cost    int            // of matching a byte
}

// Call is the call of a function.
type Call struct {
	Operand
	Function *function.Function
	// Args are the arguments. The second one of a function that iterates is a Predicate.
	Args []Node
	// parsed are the arguments that are constants, in the form that the function wants, by their position.
	parsed map[int]any
	first  int    // the slot of the first argument
	counts string // of a call that reads no more than a length or a kind: its text
}

// Predicate is the expression that a function evaluates for each element of a list.
type Predicate struct {
	Operand
	// Body is a list where there are several keys of sortBy. Descending says which of the keys desc() is around.
	Body       Node
	Several    bool
	Descending []bool
	function   *function.Function
	// element is the slot of #, before those of #index and #acc.
	element    int
	readsIndex bool
	// cost is the steps that evaluating it once takes.
	cost int
}

// Conditional is c ? a : b, or if c {a} else {b}.
type Conditional struct {
	Operand
	Condition, Yes, No Node
}

// Constant returns the value of a node that has the same in every evaluation because only literals are written there.
func Constant(n Node) (v any, is bool) {
	switch n := n.(type) {
	case *Literal:
		return n.Value, true
	case *List:
		return n.value, n.constant
	case *Map:
		return n.value, n.constant
	default:
		return nil, false
	}
}

// LiteralOf returns the value of a node that is a [Literal].
func LiteralOf(n Node) (v any, is bool) {
	if l, is := n.(*Literal); is {
		return l.Value, true
	}
	return nil, false
}

// IsNil reports whether a node is the literal nil.
func IsNil(n Node) bool {
	v, is := LiteralOf(n)
	return is && v == nil
}

// TextOf returns the text of a node that is a literal text.
func TextOf(n Node) (text string, is bool) {
	v, _ := LiteralOf(n)
	text, is = v.(string)
	return text, is
}

// Calls returns the name of the function that a node calls, or "", and the arguments.
func Calls(n Node) (name string, args []Node) {
	if c, is := n.(*Call); is {
		return c.Function.Name, c.Args
	}
	return "", nil
}

// Step returns the key or index of an access as a step into a value: a string, or an int64, if that is written there.
func (s *Step) Step() (key any, constant bool) {
	switch s.Kind {
	case ByKey:
		return s.Key, true
	case ByValue:
		v, _ := LiteralOf(s.Index)
		n, is := v.(int64)
		return n, is
	default:
		return nil, false
	}
}

// Before returns the path with its first n steps as messages call it.
func (p *Path) Before(n int) string {
	var text strings.Builder
	text.WriteString(cmp.Or(p.Root.Written().Text, "(...)"))
	for i := range p.Steps[:n] {
		text.WriteString(p.Steps[i].Text())
	}
	return text.String()
}

// Visit calls f for a node and everything below it.
func Visit(n Node, f func(Node)) { visit(f, n) }

func visit(f func(Node), nodes ...Node) {
	for _, n := range nodes {
		if n != nil {
			f(n)
		}
		switch n := n.(type) {
		case *List:
			visit(f, n.Items...)
		case *Map:
			for _, entry := range n.Entries {
				visit(f, entry.Key, entry.Value)
			}
		case *Let:
			visit(f, n.Value, n.Body)
		case *Path:
			visit(f, n.Root)
			for _, step := range n.Steps {
				visit(f, step.Bounds...)
				visit(f, step.Index)
			}
		case *Unary:
			visit(f, n.X)
		case *Binary:
			visit(f, n.Left, n.Right)
		case *Call:
			visit(f, n.Args...)
		case *Predicate:
			visit(f, n.Body)
		case *Conditional:
			visit(f, n.Condition, n.Yes, n.No)
		}
	}
}

// wants is the error that user, an operator or a parameter, takes no value such as the one that a node gave.
func wants(n Node, user string, kinds value.Kind, got any) *Error {
	return n.Written().Wants(user, kinds, value.KindOf(got))
}
