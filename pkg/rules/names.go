package rules

import (
	"maps"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// The names that every rule has, in the order of their slots.
const (
	slotObject = iota
	slotRule
	slotParams
	firstDefined
)

func baseScope() *expression.Scope { return expression.NewScope("object", "rule", "params") }

// graph is the names that a rule defines. They depend on each other in any order
// but a circle, and are evaluated when they are first used.
type graph struct {
	scope   *expression.Scope
	defined []*definition // by slot, counted from firstDefined
}

// definition is a name of let or of with.
type definition struct {
	name    string
	node    *document.Node
	value   *body.Expression   // of let
	related *relation.Relation // of with
}

// uses lists the names that must be known first.
func (d *definition) uses() []string {
	switch {
	case d.value != nil:
		return d.value.Program().Names()
	case d.related != nil:
		return d.related.Uses()
	default:
		return nil // It has an error.
	}
}

// setGraph is the names that all rules of a set share. They know nothing of a
// single rule.
func setGraph(set *spec.Set) (*graph, document.Errors) {
	hints := map[string]string{}
	for _, resource := range set.Resources {
		hints[resource.Name] = "object is the watched object; others get a name under with"
	}
	var params []string
	for _, param := range set.Params {
		params = append(params, param.Name)
		hints[param.Name] = "write params." + param.Name
	}
	known := map[string][]string{"params": params, "rule": {"name", "set"}}
	g := &graph{scope: baseScope().WithFields(known).WithHints(ofRules(set, hints))}
	kept, errs := g.declare(set.Let)
	errs = append(errs, g.compileLets(kept)...)
	g.scope = g.scope.WithHints(hints)
	return g, append(errs, g.circles(g.defined)...)
}

// ofRules adds hints for names that only a rule has.
func ofRules(set *spec.Set, hints map[string]string) map[string]string {
	out := maps.Clone(hints)
	for i := range set.Rules {
		for _, d := range slices.Concat(set.Rules[i].With, set.Rules[i].Let) {
			out[d.Name] = "a let of the set cannot see what a rule defines; move one of them"
		}
	}
	return out
}

// extended adds the names of a rule.
func (g *graph) extended(rule *spec.Rule, declared relation.Declarations) (*graph, document.Errors) {
	out := &graph{scope: g.scope, defined: slices.Clip(g.defined)}
	with, errs := out.declare(rule.With)
	lets, letErrs := out.declare(rule.Let)
	errs = append(errs, letErrs...)
	errs = append(errs, out.compileWith(with, declared)...)
	errs = append(errs, out.compileLets(lets)...)
	return out, append(errs, out.circles(out.defined[len(g.defined):])...)
}

// declare makes the names known before any of them is compiled, and returns those
// that can be names.
func (g *graph) declare(all []spec.Definition) ([]*definition, document.Errors) {
	var errs document.Errors
	var added []*definition
	var names []string
	for _, written := range all {
		wrong := body.CheckName(written.Key, g.scope)
		if wrong == nil {
			added = append(added, &definition{name: written.Name, node: written.Value})
		} else {
			errs = append(errs, wrong)
		}
		if _, taken := g.scope.Slot(written.Name); !taken {
			names = append(names, written.Name) // Whoever uses a wrong one is not to blame.
		}
	}
	g.scope = g.scope.Extend(names...)
	g.defined = append(g.defined, added...)
	return added, errs
}

func (g *graph) compileLets(lets []*definition) document.Errors {
	var errs document.Errors
	for _, d := range lets {
		value, letErrs := body.CompileExpression(d.node, g.scope)
		d.value = value
		if errs = append(errs, letErrs...); errs.Enough() {
			break
		}
	}
	return errs
}

func (g *graph) compileWith(with []*definition, declared relation.Declarations) document.Errors {
	var errs document.Errors
	for _, d := range with {
		related, withErrs := relation.Compile(d.name, d.node, g.scope, declared)
		errs = append(errs, withErrs...)
		d.related = related
	}
	return errs
}

// related returns the entries of with, by name.
func (g *graph) related() map[string]*relation.Relation {
	out := map[string]*relation.Relation{}
	for _, d := range g.defined {
		if d.related != nil {
			out[d.name] = d.related
		}
	}
	return out
}

// circles finds those of the names that are defined by themselves. What was
// defined before them uses none of them.
func (g *graph) circles(from []*definition) document.Errors {
	byName := make(map[string]*definition, len(from))
	for _, d := range from {
		byName[d.name] = d
	}
	c := &circles{byName: byName, open: map[*definition]int{}, done: map[*definition]bool{}}
	for _, d := range from {
		c.visit(d)
	}
	return c.errors
}

// circles looks for them, depth first.
type circles struct {
	byName map[string]*definition
	path   []string            // from the start to where the search is
	open   map[*definition]int // the places on the path
	done   map[*definition]bool
	errors document.Errors
}

func (c *circles) visit(d *definition) {
	if at, open := c.open[d]; open {
		c.report(d, append(slices.Clone(c.path[at:]), d.name))
		return
	}
	if c.done[d] || c.errors.Enough() {
		return
	}
	c.open[d] = len(c.path)
	c.path = append(c.path, d.name)
	for _, name := range d.uses() {
		if next := c.byName[name]; next != nil {
			c.visit(next)
		}
	}
	c.path = c.path[:len(c.path)-1]
	delete(c.open, d)
	c.done[d] = true
}

// report shows a long way only in part.
func (c *circles) report(d *definition, way []string) {
	const most = 10
	hint := "let one of them do without the next"
	if len(way) == 2 {
		hint = "a name cannot use itself"
	}
	if len(way) > most {
		way = slices.Concat(way[:most-2], []string{"..."}, way[len(way)-1:])
	}
	c.errors = append(c.errors, d.node.Errorf(hint, "%q is defined by itself: %s", d.name, strings.Join(way, " -> ")))
}

// names resolves the names of one evaluation, each at most once. It is not for
// concurrent use.
type names struct {
	rule        *Rule
	object      any
	memos       []memo  // by slot, counted from firstDefined
	spare       *[]memo // room for them, left by the rule before
	expressions *expression.Evaluation
	reader      *relation.Reader
}

type memo struct {
	done  bool
	value any
	err   error
}

// Value implements [expression.Names].
func (n *names) Value(slot int) (any, error) {
	switch slot {
	case slotObject:
		return n.object, nil
	case slotRule:
		return n.rule.about, nil
	case slotParams:
		return n.rule.params, nil
	}
	if n.memos == nil {
		n.memos = slices.Grow((*n.spare)[:0], len(n.rule.names.defined))[:len(n.rule.names.defined)]
		clear(n.memos)
		*n.spare = n.memos
	}
	at := &n.memos[slot-firstDefined]
	if !at.done {
		at.value, at.err = n.evaluate(n.rule.names.defined[slot-firstDefined])
		at.done = true
	}
	return at.value, at.err
}

func (n *names) evaluate(d *definition) (any, error) {
	if d.related != nil {
		return d.related.Evaluate(n.expressions, n.reader)
	}
	return d.value.Eval(n.expressions)
}
