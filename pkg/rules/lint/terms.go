package lint

import (
	"encoding/json"
	"fmt"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/names"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// terms number what expressions compute: the same computation has the same number in all rules, whatever names it goes by.
type terms struct {
	numbers map[part]int
	parts   []part // by number
	names   map[mention]int
	work    *work
}

// part is a term that begins with a text, or a constant, or another term.
type part struct {
	text        string
	constant    any
	begin, next int
}

// mention is a name in a rule, and the list of the forEach that gives it, if one does.
type mention struct {
	rule *Rule
	list *template.Body
	name string
}

// watched is the number of the watched object.
const watched = 0

// number is that of a computation, whose operands have numbers.
func (t *terms) number(text string, operands ...int) int {
	n := t.add(part{text: text})
	for _, operand := range operands {
		n = t.add(part{begin: n, next: operand})
	}
	return n
}

func (t *terms) add(p part) int {
	n, known := t.numbers[p]
	if !known {
		n = len(t.numbers) + 1
		t.numbers[p], t.parts = n, append(t.parts, p)
	}
	return n
}

// uses reports whether a term is made of another one.
func (t *terms) uses(n, other int) bool {
	if n == other || n == watched || !t.work.spend(1) {
		return n == other
	}
	p := t.parts[n-1]
	return t.uses(p.begin, other) || t.uses(p.next, other)
}

// scope is where an expression is: in a rule, and within a forEach if there is one.
type scope struct {
	*terms
	rule *Rule
	loop *action.Loop
}

// name is the number of what a name stands for.
func (s scope) name(name string) int {
	at := mention{rule: s.rule, name: name}
	if s.loop.InLoop(name) {
		at.list = s.loop.List
	}
	n, known := s.names[at]
	if !known {
		n = s.define(name)
		s.names[at] = n
	}
	return n
}

func (s scope) define(name string) int {
	d := s.rule.Names.Lookup(name)
	switch {
	case name == "object":
		return watched
	case s.loop.InLoop(name):
		return s.number(fmt.Sprintf("each %t %s", name == s.loop.Name, jsonOf(s.loop.List.Node().Any())), scope{s.terms, s.rule, nil}.all(s.loop.List.Names())...)
	case name == "params":
		return s.number("params " + jsonOf(s.rule.Constants[name]))
	case d == nil:
		return s.number(fmt.Sprintf("name %s %s", s.rule.ID, name))
	case d.Related != nil:
		return s.number(fmt.Sprintf("with %v %s %s", d.Related.Declaration().GVR, s.rule.Set.Namespace, jsonOf(d.Node.Any())), s.all(d.Uses())...)
	default:
		return s.term(d.Value.Program().Root())
	}
}

func (s scope) all(names []string) []int {
	out := make([]int, len(names))
	for i, name := range names {
		out[i] = s.name(name)
	}
	return out
}

func jsonOf(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v) // What is not a number, which JSON does not have.
	}
	return string(data)
}

// value is the number of what is written. It is the same where the same names mean the same.
func (s scope) value(w action.Write) int {
	return s.number("value "+jsonOf(w.Value), s.all(w.Names())...)
}

// term is the number of what a node computes. Whether a path may end early does not matter.
func (s scope) term(node expression.Node) int {
	if !s.work.spend(1) {
		return s.unlike()
	}
	if v, known := s.constant(node); known && scalar(v) {
		return s.literal(v)
	}
	switch n := node.(type) {
	case *expression.Name:
		return s.name(n.Name)
	case *expression.Element:
		return s.number(n.Text)
	case *expression.Predicate:
		return s.number(fmt.Sprint(n.Descending), s.term(n.Body))
	case *expression.Path:
		return s.path(n)
	case *expression.Unary:
		return s.compound(n.Operator, n.X)
	case *expression.Binary:
		return s.compound(n.Operator, n.Left, n.Right)
	case *expression.Conditional:
		return s.compound("if", n.Condition, n.Yes, n.No)
	case *expression.Call:
		return s.compound(n.Function.Name, n.Args...)
	case *expression.List:
		return s.compound("[]", n.Items...)
	default:
		return s.unlike()
	}
}

func (s scope) path(n *expression.Path) int {
	at := s.term(n.Root)
	for i := range n.Steps {
		switch step := &n.Steps[i]; step.Kind {
		case expression.ByKey:
			at = s.field(at, step.Key)
		case expression.ByValue:
			at = s.number(".", at, s.term(step.Index))
		default:
			return s.unlike()
		}
	}
	return at
}

func (s scope) compound(text string, operands ...expression.Node) int {
	out := make([]int, len(operands))
	for i, node := range operands {
		out[i] = s.term(node)
	}
	return s.number(text, out...)
}

// literal is the number of a constant. Functions tell integers from floats.
func (s scope) literal(v any) int { return s.add(part{text: "constant", constant: v}) }

// unlike is a number that no other term has.
func (s scope) unlike() int { return s.number(fmt.Sprintf("? %d", len(s.numbers))) }

// object is the term of a field of the watched object.
func (s scope) object(path []string) int {
	at := watched
	for _, key := range path {
		at = s.field(at, key)
	}
	return at
}

func (s scope) field(of int, key string) int { return s.number(".", of, s.literal(key)) }

// definition is the expression of a let, nil for other names.
func (s scope) definition(name string) *expression.Program {
	d := s.rule.Names.Lookup(name)
	if d == nil || d.Value == nil || s.loop.InLoop(name) {
		return nil
	}
	return d.Value.Program()
}

// resolve follows the names of lets.
func (s scope) resolve(node expression.Node) expression.Node {
	for {
		name, is := node.(*expression.Name)
		if !is {
			return node
		}
		p := s.definition(name.Name)
		if p == nil {
			return node
		}
		node = p.Root()
	}
}

// constant is the value of a literal, of a list of them, or of what is in params.
func (s scope) constant(node expression.Node) (v any, known bool) {
	switch n := node.(type) {
	case *expression.Name:
		v, known = s.rule.Constants[n.Name]
		return v, known
	case *expression.Path:
		v, known = s.constant(n.Root)
		for i := range n.Steps {
			fields, isMap := v.(map[string]any)
			if known = known && isMap && n.Steps[i].Kind == expression.ByKey; !known {
				return nil, false
			}
			v = fields[n.Steps[i].Key]
		}
		return v, known
	case *expression.List:
		all := make([]any, len(n.Items))
		for i, item := range n.Items {
			if all[i], known = s.constant(item); !known || !s.work.spend(1) {
				return nil, false
			}
		}
		return all, true
	default:
		return expression.LiteralOf(node)
	}
}

// scalar reports whether two values of this kind are compared in one step.
func scalar(v any) bool {
	switch v.(type) {
	case nil, bool, string, int64, float64:
		return true
	default:
		return false
	}
}

// stored reports whether the value of a node is as the cluster stores it, or of a kind that is stored: no quantity, no version,
// no duration and no moment, of which two texts may be the same one.
func (s scope) stored(node expression.Node) bool {
	switch n := s.resolve(node).(type) {
	case *expression.Name:
		d := s.rule.Names.Lookup(n.Name)
		return n.Name == "object" || d != nil && d.Related != nil
	case *expression.Path:
		return n.Steps[len(n.Steps)-1].Kind != expression.BySlice && s.stored(n.Root)
	case *expression.Call:
		switch n.Function.Name {
		case "condition", "first", "last", "find", "get": // A part of what they are given.
			return s.stored(n.Args[0])
		case "len", "count", "int", "float", "string", "lower", "upper", "trim":
			return true // A number or a text, whatever they are given.
		}
	}
	return false
}

// subject is what a target stands for. filtered says that it is only some of what with found, which depends on each of them.
type subject struct {
	number   int
	filtered bool
	// selections have all that it can be, nil where it is filtered.
	selections []plan.Selection
}

// subject follows lets as long as each is no more than another name. Each of a list is the list.
func (s scope) subject(target string) subject {
	in := s
	var node expression.Node = &expression.Name{Name: target}
	if s.loop.InLoop(target) {
		if list := s.loop.List.Alone(); list != nil {
			node, in = list.Root(), scope{s.terms, s.rule, nil}
		}
	}
	var d *names.Definition
	name, is := in.resolve(node).(*expression.Name)
	if is {
		d = s.rule.Names.Lookup(name.Name)
	}
	switch {
	case target == "", is && name.Name == "object":
		return subject{number: watched, selections: s.rule.Selections}
	case d != nil && d.Related != nil:
		return subject{number: in.name(name.Name), selections: d.Related.Selections()}
	default:
		return subject{number: in.term(node), filtered: true}
	}
}

// somewhere reports whether something is so of a node of an expression, or of a let that it uses.
func (s scope) somewhere(p *expression.Program, is func(expression.Node) bool) (found bool) {
	seen := map[string]bool{}
	var look func(expression.Node)
	look = func(node expression.Node) {
		found = found || is(node)
		if name, isName := node.(*expression.Name); isName && !found && !seen[name.Name] {
			seen[name.Name] = true
			if let := s.definition(name.Name); let != nil {
				expression.Visit(let.Root(), look)
			}
		}
	}
	expression.Visit(p.Root(), look)
	return found
}
