// Package clause takes conditions apart, to tell whether two of them can hold for the
// same object.
//
//	Program -> Of -> Condition -> Exclusive
//
// It is careful in one direction: two conditions that it calls exclusive surely are,
// but of two that it does not call so nothing is known.
package clause

import (
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
)

// Names says what the names of a condition stand for.
type Names interface {
	// Definition returns the expression of a let, nil for other names.
	Definition(name string) *expression.Program
	// Root returns how a name that is no let is called in all conditions that are to be
	// compared: in two rules the same name may mean different things.
	Root(name string) string
	// Constant returns the value of a name if it is known.
	Constant(name string) (v any, known bool)
}

// Condition is a condition taken apart. It is immutable. The zero value always holds.
type Condition struct {
	// ways are the ways in which it can hold, nil for any. In each, all literals hold.
	ways [][]literal
}

// literal says which values a term can have.
type literal struct {
	term    string
	allowed values
}

// mostWays is how many ways a condition keeps apart. One that has more is taken to
// hold always, which is careful.
const mostWays = 16

// Of takes a condition apart.
func Of(p *expression.Program, names Names) Condition {
	r := &reader{names: names}
	return Condition{ways: r.ways(p.Tree().Node, true)}
}

// And returns the condition that both hold.
func And(a, b Condition) Condition { return Condition{ways: both(a.ways, b.ways)} }

// Exclusive reports whether it is certain that two conditions never hold at once.
func Exclusive(a, b Condition) bool {
	ways := both(a.ways, b.ways)
	return ways != nil && !slices.ContainsFunc(ways, possible)
}

// possible reports whether no term would have to have two values at once.
func possible(way []literal) bool {
	terms := map[string]values{}
	for _, l := range way {
		before, found := terms[l.term]
		if !found {
			before = anything()
		}
		now := before.and(l.allowed)
		if now.empty() {
			return false
		}
		terms[l.term] = now
	}
	return true
}

// both joins each way of the one with each of the other.
func both(a, b [][]literal) [][]literal {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	var out [][]literal
	for _, one := range a {
		for _, other := range b {
			out = append(out, slices.Concat(one, other))
		}
	}
	if len(out) > mostWays*mostWays {
		return nil
	}
	return out
}

func either(a, b [][]literal) [][]literal {
	if a == nil || b == nil || len(a)+len(b) > mostWays {
		return nil
	}
	return slices.Concat(a, b)
}

// reader takes trees apart.
type reader struct {
	names Names
	// depth is how deep it is in nodes and in definitions; with work it bounds what is
	// done. strange counts the terms that are like no other.
	depth, work, strange int
}

const (
	mostDepth = 100
	mostWork  = 5_000
)

// ways returns how a node can be true, or can be false.
func (r *reader) ways(node ast.Node, truth bool) [][]literal {
	if r.work++; r.work > mostWork || r.depth > mostDepth {
		return nil
	}
	r.depth++
	defer func() { r.depth-- }()
	switch n := node.(type) {
	case *ast.UnaryNode:
		if n.Operator == "!" || n.Operator == "not" {
			return r.ways(n.Node, !truth)
		}
	case *ast.BinaryNode:
		return r.binary(n, truth)
	case *ast.IdentifierNode:
		if p := r.names.Definition(n.Value); p != nil {
			return r.ways(p.Tree().Node, truth)
		}
	}
	return r.plain(node, truth)
}

func (r *reader) binary(n *ast.BinaryNode, truth bool) [][]literal {
	switch n.Operator {
	case "&&", "and":
		if truth {
			return both(r.ways(n.Left, truth), r.ways(n.Right, truth))
		}
		return either(r.ways(n.Left, truth), r.ways(n.Right, truth))
	case "||", "or":
		if truth {
			return either(r.ways(n.Left, truth), r.ways(n.Right, truth))
		}
		return both(r.ways(n.Left, truth), r.ways(n.Right, truth))
	case "in":
		return r.membership(n, truth)
	}
	if ways := r.comparison(n, truth); ways != nil {
		return ways
	}
	return r.plain(n, truth)
}

// plain takes a condition as a whole, whose value is true or false. Where a default
// stands in for nil, nil has its value.
func (r *reader) plain(node ast.Node, truth bool) [][]literal {
	allowed := values{only: []any{truth}}
	if coalesce, ok := r.resolve(node).(*ast.BinaryNode); ok && coalesce.Operator == "??" {
		if otherwise, known := r.constant(coalesce.Right); known {
			node, allowed.nothing = coalesce.Left, otherwise == truth
		}
	}
	return [][]literal{{{r.term(node), allowed}}}
}

// resolve follows the names of lets.
func (r *reader) resolve(node ast.Node) ast.Node {
	for range mostDepth {
		name, ok := node.(*ast.IdentifierNode)
		if !ok {
			break
		}
		p := r.names.Definition(name.Value)
		if p == nil {
			break
		}
		node = p.Tree().Node
	}
	return node
}

// comparison understands those with a constant.
func (r *reader) comparison(n *ast.BinaryNode, truth bool) [][]literal {
	operator, subject := n.Operator, n.Left
	against, known := r.constant(n.Right)
	if !known {
		if against, known = r.constant(n.Left); !known {
			return nil
		}
		operator, subject = mirrored(operator), n.Right
	}
	if !truth {
		operator = negated(operator)
	}
	var otherwise any
	if coalesce, ok := r.resolve(subject).(*ast.BinaryNode); ok && coalesce.Operator == "??" {
		fallback, known := r.constant(coalesce.Right)
		if !known {
			return nil
		}
		subject, otherwise = coalesce.Left, fallback
	}
	allowed, ok := compared(operator, against)
	if !ok {
		return nil
	}
	if otherwise != nil {
		allowed.nothing = allowed.has(otherwise)
	}
	return [][]literal{{{r.term(subject), allowed}}}
}

// membership understands a constant list, and a constant key of a map.
func (r *reader) membership(n *ast.BinaryNode, truth bool) [][]literal {
	if list, known := r.constant(n.Right); known {
		all, isList := list.([]any)
		if !isList {
			return r.plain(n, truth)
		}
		allowed := values{only: slices.Clip(all)}
		if !truth {
			allowed = values{not: slices.Clip(all), nothing: true}
		}
		return [][]literal{{{r.term(n.Left), allowed}}}
	}
	if key, ok := n.Left.(*ast.StringNode); ok {
		present := values{}
		if !truth {
			present = values{only: []any{}, nothing: true}
		}
		return [][]literal{{{r.term(n.Right) + field(key.Value), present}}}
	}
	return r.plain(n, truth)
}
