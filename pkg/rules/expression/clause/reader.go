package clause

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// reader takes trees apart.
type reader struct {
	names Names
	work  *Work
	// depth is how deep it is in nodes and in definitions. left is how many nodes it may
	// still look at, and text how many bytes of terms it may still write.
	depth, left, text int
	// strange counts the terms that are like no other.
	strange int
}

const (
	mostDepth = 100
	mostNodes = 5_000
	mostText  = 64 << 10
)

// enter reports whether one more node is to be looked at, which leave ends.
func (r *reader) enter() bool {
	r.left--
	if r.left < 0 || r.depth >= mostDepth || !r.work.Spend(1) {
		return false
	}
	r.depth++
	return true
}

func (r *reader) leave() { r.depth-- }

// ways returns how a node can be true, or can be false.
func (r *reader) ways(node ast.Node, truth bool) []way {
	if !r.enter() {
		return nil
	}
	defer r.leave()
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

func (r *reader) binary(n *ast.BinaryNode, truth bool) []way {
	switch n.Operator {
	case "&&", "and":
		if truth {
			return both(r.ways(n.Left, truth), r.ways(n.Right, truth), r.work)
		}
		return either(r.ways(n.Left, truth), r.ways(n.Right, truth))
	case "||", "or":
		if truth {
			return either(r.ways(n.Left, truth), r.ways(n.Right, truth))
		}
		return both(r.ways(n.Left, truth), r.ways(n.Right, truth), r.work)
	case "in":
		return r.membership(n, truth)
	case "==", "!=", "<", "<=", ">", ">=":
		return r.comparison(n, truth)
	default:
		return r.plain(n, truth)
	}
}

// alone is the one way in which a term has one of some values, or none.
func (r *reader) alone(term string, allowed values) []way {
	if allowed.empty(r.work) {
		return []way{}
	}
	return []way{{{term, allowed}}}
}

// plain takes a condition as a whole, whose value is true or false. Where a default
// stands in for nil, nil has its value.
func (r *reader) plain(node ast.Node, truth bool) []way {
	allowed := values{only: []any{truth}}
	if coalesce, ok := r.resolve(node).(*ast.BinaryNode); ok && coalesce.Operator == "??" {
		if otherwise, known := r.constant(coalesce.Right); known {
			node, allowed.nothing = coalesce.Left, otherwise == truth
		}
	}
	return r.alone(r.term(node), allowed)
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

// comparison understands those of a field with a constant. Of others it knows at least
// that == and !=, or < and >=, are one the other negated.
func (r *reader) comparison(n *ast.BinaryNode, truth bool) []way {
	operator, left, right := n.Operator, n.Left, n.Right
	against, known := r.constant(right)
	if !known {
		if against, known = r.constant(left); known {
			operator, left, right = mirrored(operator), right, left
		}
	}
	subject, otherwise, ok := r.subject(left)
	if known && ok {
		asked := operator
		if !truth {
			asked = negated(operator)
		}
		if allowed, understood := compared(asked, against); understood {
			return r.alone(subject, allowed.or(otherwise, r.work))
		}
	}
	if operator == "!=" || operator == "<=" || operator == ">=" {
		operator, truth = negated(operator), !truth
	}
	return r.alone(r.list(operator, left, right), values{only: []any{truth}})
}

// subject is the term that is compared, and what stands in for it where it is nil. ok is
// false where its value may be computed: two texts can be the same quantity, or the same
// moment, so that such a value can equal both.
func (r *reader) subject(node ast.Node) (term string, otherwise any, ok bool) {
	node = r.resolve(node)
	if coalesce, is := node.(*ast.BinaryNode); is && coalesce.Operator == "??" {
		fallback, known := r.constant(coalesce.Right)
		if !known || !scalar(fallback) {
			return "", nil, false
		}
		node, otherwise = coalesce.Left, fallback
	}
	if !r.stored(node) {
		return "", nil, false
	}
	return r.term(node), otherwise, true
}

// membership understands a constant list, and a constant key of a map.
func (r *reader) membership(n *ast.BinaryNode, truth bool) []way {
	if v, known := r.constant(n.Right); known {
		list, isList := v.([]any)
		subject, otherwise, ok := r.subject(n.Left)
		if !isList || !ok || len(list) > mostValues || slices.ContainsFunc(list, func(one any) bool { return !scalar(one) }) {
			return r.plain(n, truth)
		}
		return r.alone(subject, among(list, truth).or(otherwise, r.work))
	}
	if key, ok := n.Left.(*ast.StringNode); ok {
		present := values{}
		if !truth {
			present = values{only: []any{}, nothing: true}
		}
		return r.alone(r.term(n.Right)+field(key.Value), present)
	}
	return r.plain(n, truth)
}
