package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
)

// The names that every rule has.
const (
	nameObject = "object"
	nameRule   = "rule"
)

// let is a compiled named value.
type let struct {
	name    string
	node    *document.Node
	program *expression.Program
}

// compileLets makes the scope of a rule. The names form one graph: they are
// evaluated when they are first used, whatever order they are written in.
func (r *Rule) compileLets(lets []Let) document.Errors {
	names := []string{nameObject, nameRule}
	var errs document.Errors
	for _, l := range lets {
		if wrong := checkName(l.Key, names); wrong != nil {
			errs = append(errs, wrong)
			continue
		}
		names = append(names, l.Name)
		r.names = append(r.names, &let{name: l.Name, node: l.Value})
	}
	r.scope = expression.NewScope(names...)
	for _, l := range r.names {
		program, wrong := compileExpression(l.node, r.scope)
		if wrong != nil {
			errs = append(errs, wrong)
		}
		l.program = program
	}
	return append(errs, r.cycles()...)
}

// namePattern is what the parser of expressions takes as an identifier.
var namePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func checkName(key *document.Node, taken []string) *document.Error {
	name := key.Text()
	switch {
	case !namePattern.MatchString(name):
		return key.Errorf("use letters, digits and _, and no digit first", "%q cannot be a name", name)
	case expression.Reserved(name):
		return key.Errorf("choose another name", "%q is reserved", name)
	case slices.Contains(taken, name):
		return key.Errorf("choose another name", "%q is a name of the set already", name)
	default:
		return nil
	}
}

// cycles finds names that are defined by themselves.
func (r *Rule) cycles() document.Errors {
	byName := map[string]*let{}
	for _, l := range r.names {
		byName[l.name] = l
	}
	done := map[*let]bool{}
	var errs document.Errors
	var visit func(l *let, path []string)
	visit = func(l *let, path []string) {
		if at := slices.Index(path, l.name); at >= 0 {
			errs = append(errs, l.node.Errorf("", "%q is defined by itself: %s", l.name, strings.Join(append(path[at:], l.name), " -> ")))
			return
		}
		if done[l] || l.program == nil {
			return
		}
		for _, name := range l.program.Names() {
			if next := byName[name]; next != nil {
				visit(next, append(slices.Clone(path), l.name))
			}
		}
		done[l] = true
	}
	for _, l := range r.names {
		visit(l, nil)
	}
	return errs
}

// names resolves the names of one evaluation, each at most once. It is not for
// concurrent use.
type names struct {
	rule        *Rule
	object      any
	lets        []memo
	expressions *expression.Evaluation
}

type memo struct {
	done  bool
	value any
	err   error
}

// Value implements [expression.Names].
func (n *names) Value(slot int) (any, error) {
	switch slot {
	case 0:
		return n.object, nil
	case 1:
		return map[string]any{"name": n.rule.ID.Name, "set": n.rule.ID.Set}, nil
	}
	if n.lets == nil {
		n.lets = make([]memo, len(n.rule.names))
	}
	at := &n.lets[slot-2]
	if !at.done {
		l := n.rule.names[slot-2]
		at.value, at.err = l.program.Eval(n.expressions)
		if at.err != nil {
			at.err = body.Locate(l.node, at.err)
		}
		at.done = true
	}
	return at.value, at.err
}
