package clause

import (
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/syntax"
)

// Presence returns the names in an expression. The value says that the expression only asks
// whether there is something, or how much: x == nil, len(x) < 3.
func Presence(p *expression.Program) map[string]bool {
	c := counting{mentioned: map[string]int{}, alone: map[string]int{}}
	root := p.Tree().Node
	ast.Walk(&root, c)
	out := make(map[string]bool, len(c.mentioned))
	for name, times := range c.mentioned {
		out[name] = times == c.alone[name]
	}
	return out
}

// Calls reports whether the value of an expression is that of one of some functions.
func Calls(p *expression.Program, names Names, functions ...string) bool {
	name, _ := called((&reader{names: names}).resolve(p.Tree().Node))
	return slices.Contains(functions, name)
}

// Ages reports whether an expression, or a let that it uses, asks how old the time at a path
// of the watched object is.
func Ages(p *expression.Program, path []string, names Names) bool {
	r, at := following(path, names)
	return r.somewhere(p, func(node ast.Node) bool {
		name, arguments := called(node)
		return (name == "olderThan" || name == "after") && len(arguments) > 0 && r.reads(arguments[0], at)
	})
}

// Mentions reports whether an expression, or a let that it uses, goes through a field of that
// name of what is no parameter.
func Mentions(p *expression.Program, field string, names Names) bool {
	r, _ := following(nil, names)
	return r.somewhere(p, func(node ast.Node) bool {
		name, keys := called(node)
		if n, is := node.(*ast.MemberNode); is {
			_, root := syntax.Spine(n)
			of, _ := root.(*ast.IdentifierNode)
			if of != nil && of.Value == "params" {
				return false
			}
			keys = []ast.Node{n.Property}
		} else if name != "get" {
			return false
		}
		return slices.ContainsFunc(keys, func(key ast.Node) bool {
			text, is := key.(*ast.StringNode)
			return is && text.Value == field
		})
	})
}

// somewhere reports whether something is so of a node of an expression, or of a let that it uses.
func (r *reader) somewhere(p *expression.Program, is func(ast.Node) bool) bool {
	s := searching{reader: r, is: is, seen: map[string]bool{}, found: new(bool)}
	root := p.Tree().Node
	ast.Walk(&root, s)
	return *s.found
}

type searching struct {
	*reader
	is    func(ast.Node) bool
	seen  map[string]bool // names of lets
	found *bool
}

// Visit implements [ast.Visitor].
func (s searching) Visit(node *ast.Node) {
	if *s.found = *s.found || s.is(*node); *s.found {
		return
	}
	if name, is := (*node).(*ast.IdentifierNode); is && !s.seen[name.Value] {
		s.seen[name.Value] = true
		if p := s.names.Definition(name.Value); p != nil {
			root := p.Tree().Node
			ast.Walk(&root, s)
		}
	}
}

// counting counts how often names are mentioned, and how often to ask for no more than their
// presence.
type counting struct{ mentioned, alone map[string]int }

// Visit implements [ast.Visitor].
func (c counting) Visit(node *ast.Node) {
	count := func(of map[string]int, n ast.Node) {
		if name, is := n.(*ast.IdentifierNode); is {
			of[name.Value]++
		}
	}
	count(c.mentioned, *node)
	if n, is := (*node).(*ast.BinaryNode); is {
		if _, is := n.Right.(*ast.NilNode); is {
			count(c.alone, n.Left)
		}
		if _, is := n.Left.(*ast.NilNode); is {
			count(c.alone, n.Right)
		}
	}
	if list := argumentOf(*node, "len"); list != nil {
		count(c.alone, list)
	}
}
