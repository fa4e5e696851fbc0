package lint

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// condition is what has to be so, all at once. Without facts it always holds.
type condition struct {
	facts []fact
	cut   bool // some are not known
}

// fact compares a term with constants. Any other part of a condition is a term that is true or false.
type fact struct {
	number    int // of all of it
	term      int
	operator  string // in, not in, <, <=, > or >=
	constants []any
	otherwise any // stands in for nil
	// stored says that the term is what the cluster stores, so that it has any value whatever else is so.
	stored bool
}

const (
	mostFacts     = 64 // of a condition
	mostConstants = 64 // of a fact
)

// condition takes conditions apart that must all hold.
func (s scope) condition(all ...*template.Expression) (out condition) {
	for _, one := range all {
		if one != nil {
			s.takeApart(&out, one.Program().Root(), true)
		}
	}
	return out
}

func (s scope) takeApart(into *condition, node expression.Node, truth bool) {
	into.cut = into.cut || len(into.facts) == mostFacts || !s.work.spend(1)
	if into.cut {
		return
	}
	node = s.resolve(node)
	if n, is := node.(*expression.Unary); is && n.Negates() {
		s.takeApart(into, n.X, !truth)
		return
	}
	if n, is := node.(*expression.Binary); is && slices.Contains(joining[truth], n.Operator) {
		s.takeApart(into, n.Left, truth)
		s.takeApart(into, n.Right, truth)
		return
	}
	f := s.fact(node, truth)
	operands := []int{f.term, s.literal(f.otherwise)}
	for _, v := range f.constants {
		operands = append(operands, s.literal(v))
	}
	f.number = s.number(f.operator, operands...)
	into.facts = append(into.facts, f)
}

var (
	// joining has the operators of which both sides are true, or both are false.
	in       = map[bool]string{true: "in", false: "not in"}
	joining  = map[bool][]string{true: {"&&", "and"}, false: {"||", "or"}}
	negated  = map[string]string{"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">", "in": "not in", "not in": "in"}
	orders   = map[string][]int{"<": {-1}, "<=": {-1, 0}, ">": {1}, ">=": {1, 0}}
	mirrored = map[string]string{"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
)

// fact understands comparisons of what is stored with constants. Of others it knows at least that == and !=, or < and >=, are one
// the other negated.
func (s scope) fact(node expression.Node, truth bool) fact {
	n, is := node.(*expression.Binary)
	if !is || negated[n.Operator] == "" { // It is taken as a whole.
		subject, otherwise := s.defaulted(node)
		return fact{term: s.term(subject), operator: "in", constants: []any{truth}, otherwise: otherwise, stored: s.stored(subject)}
	}
	operator, left, right := n.Operator, n.Left, n.Right
	against, known := s.constant(right)
	if !known && mirrored[operator] != "" {
		if against, known = s.constant(left); known {
			operator, left, right = mirrored[operator], right, left
		}
	}
	list, isList := against.([]any)
	if key, isText := expression.TextOf(left); isText && operator == "in" && !isList { // Whether a map has it.
		return fact{term: s.field(s.term(right), key), operator: in[!truth], constants: []any{nil}, stored: s.stored(right)}
	}
	if !truth {
		operator = negated[operator]
	}
	of := fact{operator: operator, constants: []any{against}, stored: true}
	switch operator {
	case "==", "!=":
		of.operator = in[operator == "=="]
	case "in", "not in":
		of.constants, known = list, known && isList && len(list) <= mostConstants
	default:
		known = known && value.KindOf(against)&value.Number != 0
	}
	subject, otherwise := s.defaulted(left)
	if known && s.stored(subject) && !slices.ContainsFunc(of.constants, func(v any) bool { return !scalar(v) }) {
		of.term, of.otherwise = s.term(subject), otherwise
		return of
	}
	truth = slices.Contains([]string{"==", "<", ">", "in"}, operator)
	if !truth {
		operator = negated[operator]
	}
	return fact{term: s.compound(operator, left, right), operator: "in", constants: []any{truth}}
}

// defaulted is what a node gives, and the constant that stands in where that is nil.
func (s scope) defaulted(node expression.Node) (subject expression.Node, otherwise any) {
	node = s.resolve(node)
	if n, is := node.(*expression.Binary); is && n.Operator == "??" {
		if v, known := s.constant(n.Right); known && scalar(v) {
			return n.Left, v
		}
	}
	return node, nil
}

// overlap reports whether it is certain that two conditions hold at once for some object, where each holds for some object: no fact of
// the one excludes one of the other, and both are about nothing but what is stored, or the one says all that the other does.
func (a condition) overlap(b condition, t *terms) bool {
	if a.cut || b.cut || !a.possible(b, t.work) {
		return false
	}
	return a.says(b) || b.says(a) || independent(slices.Concat(a.facts, b.facts), t)
}

// independent reports whether the term of each fact has any value whatever the others say: it is stored, and where another term is
// made of it, the fact holds for nearly all values.
func independent(all []fact, t *terms) bool {
	return !slices.ContainsFunc(all, func(f fact) bool {
		return !f.stored || !f.holds(struct{}{}) && slices.ContainsFunc(all, func(g fact) bool { return g.term != f.term && t.uses(g.term, f.term) })
	})
}

// says reports whether all that another condition says is in this one.
func (a condition) says(b condition) bool {
	return !slices.ContainsFunc(b.facts, func(f fact) bool {
		return !slices.ContainsFunc(a.facts, func(g fact) bool { return f.number == g.number })
	})
}

// possible reports whether each term can have a value that is as both conditions say.
func (a condition) possible(b condition, w *work) bool {
	all := slices.Concat(a.facts, b.facts)
	for _, one := range all {
		about := slices.DeleteFunc(slices.Clone(all), func(f fact) bool { return f.term != one.term })
		values := []any{nil, struct{}{}} // Absent, and what nobody names.
		for _, f := range about {
			for _, v := range f.constants {
				values = append(values, v)
				switch v := v.(type) { // Beside a bound.
				case int64:
					values = append(values, v-1, v+1)
				case float64:
					values = append(values, v-1, v+1)
				}
			}
		}
		if !w.spend(len(about) * len(values)) {
			return false
		}
		if !slices.ContainsFunc(values, func(v any) bool { return !slices.ContainsFunc(about, func(f fact) bool { return !f.holds(v) }) }) {
			return false
		}
	}
	return true
}

// holds reports whether the fact is so where its term has a value.
func (f fact) holds(v any) bool {
	if v == nil {
		v = f.otherwise
	}
	switch f.operator {
	case "in", "not in":
		among := slices.ContainsFunc(f.constants, func(one any) bool {
			order, ordered := value.Compare(one, v)
			return one == v || ordered && order == 0
		})
		return among == (f.operator == "in")
	}
	order, ordered := value.Compare(v, f.constants[0])
	return ordered && slices.Contains(orders[f.operator], order)
}
