// Package names makes one graph of the names that a rule defines: those that its set
// shares, and its own.
//
//	spec.Set -> OfSet -> Graph -> Extended(spec.Rule) -> Graph
//
// Names depend on each other in any order but a circle. Each has a slot, by which whoever
// walks over expressions finds what it stands for: a value, a type, what it reads.
package names

import (
	"maps"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// The slots of the names that every rule has. Those that it defines follow.
const (
	Object = iota
	Rule
	Params
	firstDefined
)

// Graph is the names that a rule defines. They are evaluated when they are first used.
// It is immutable.
type Graph struct {
	scope   *expression.Scope
	actions *expression.Scope // of a rule
	defined []*Definition     // by slot, counted from firstDefined
}

// Definition is a name of let or of with.
type Definition struct {
	Name    string
	Node    *document.Node
	Value   *template.Expression // of let
	Related *lookup.Lookup       // of with
}

// Uses lists the names that must be known first.
func (d *Definition) Uses() []string {
	switch {
	case d.Value != nil:
		return d.Value.Program().Names()
	case d.Related != nil:
		return d.Related.Uses()
	default:
		return nil // It has an error.
	}
}

// Scope is all names, for compiling what uses them.
func (g *Graph) Scope() *expression.Scope { return g.scope }

// Actions is all names of a rule with failure, which is known in its actions alone.
func (g *Graph) Actions() *expression.Scope { return g.actions }

// Failure is the slot of failure.
func (g *Graph) Failure() int { return g.Slots() }

// Slots is how many slots there are, those that every rule has included.
func (g *Graph) Slots() int { return firstDefined + len(g.defined) }

// At returns the definition of a slot, nil for the names that every rule has, and for
// failure and those of forEach, whose slots follow.
func (g *Graph) At(slot int) *Definition {
	if slot < firstDefined || slot >= g.Slots() {
		return nil
	}
	return g.defined[slot-firstDefined]
}

// Lookup is [Graph.At] by name.
func (g *Graph) Lookup(name string) *Definition {
	slot, known := g.scope.Slot(name)
	if !known {
		return nil
	}
	return g.At(slot)
}

// OfSet returns the names that all rules of a set share. They know nothing of a single
// rule.
func OfSet(set *spec.Set) (*Graph, document.Errors) {
	hints := map[string]string{}
	for _, resource := range set.Resources {
		hints[resource.Name] = "object is the watched object; others get a name under with"
	}
	var params []string
	for _, param := range set.Params {
		params = append(params, param.Name)
		hints[param.Name] = "write params." + param.Name
	}
	hints["failure"] = "failure is known in actions alone: the first attempt of a rule has none"
	known := map[string][]string{"params": params, "rule": {"name", "set"}, "failure": {"reason", "message"}}
	g := &Graph{scope: expression.NewScope("object", "rule", "params").WithFields(known).WithHints(ofRules(set, hints))}
	kept, errs := g.declare(set.Let)
	errs = append(errs, g.compileLets(kept)...)
	g.scope = g.scope.WithHints(hints)
	return g, append(errs, circles(g.defined)...)
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

// Extended returns the names of a rule beside those of its set.
func (g *Graph) Extended(rule *spec.Rule, declared lookup.Declarations) (*Graph, document.Errors) {
	out := &Graph{scope: g.scope, defined: slices.Clip(g.defined)}
	with, errs := out.declare(rule.With)
	lets, letErrs := out.declare(rule.Let)
	errs = append(errs, letErrs...)
	errs = append(errs, out.compileWith(with, declared)...)
	errs = append(errs, out.compileLets(lets)...)
	astray := template.FreeNames(rule.Node().Get("forEach"), out.scope) // Whoever uses it is not to blame that it belongs to an action.
	out.actions = out.scope.Extend("failure").Extend(astray...)
	return out, append(errs, circles(out.defined[len(g.defined):])...)
}

// declare makes the names known before any of them is compiled, and returns those
// that can be names.
func (g *Graph) declare(all []spec.Definition) ([]*Definition, document.Errors) {
	var errs document.Errors
	var added []*Definition
	var names []string
	for _, written := range all {
		wrong := template.CheckName(written.Key, g.scope)
		if wrong == nil {
			added = append(added, &Definition{Name: written.Name, Node: written.Value})
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

func (g *Graph) compileLets(lets []*Definition) document.Errors {
	var errs document.Errors
	for _, d := range lets {
		value, letErrs := template.CompileExpression(d.Node, g.scope)
		d.Value = value
		if errs = append(errs, letErrs...); errs.Enough() {
			break
		}
	}
	return errs
}

func (g *Graph) compileWith(with []*Definition, declared lookup.Declarations) document.Errors {
	var errs document.Errors
	for _, d := range with {
		related, withErrs := lookup.Compile(d.Name, d.Node, g.scope, declared)
		errs = append(errs, withErrs...)
		d.Related = related
	}
	return errs
}

// Related returns the entries of with, by name.
func (g *Graph) Related() map[string]*lookup.Lookup {
	out := map[string]*lookup.Lookup{}
	for _, d := range g.defined {
		if d.Related != nil {
			out[d.Name] = d.Related
		}
	}
	return out
}

// circles finds those of the names that are defined by themselves. What was defined before them uses none of them.
func circles(from []*Definition) (errs document.Errors) {
	const done = -1
	byName := make(map[string]*Definition, len(from))
	for _, d := range from {
		byName[d.Name] = d
	}
	state := make(map[string]int, len(from)) // The place on the path, counted from 1; it is 0 before the visit.
	var path []string
	var visit func(d *Definition)
	visit = func(d *Definition) {
		switch at := state[d.Name]; {
		case at > 0:
			errs = append(errs, d.circle(append(slices.Clone(path[at-1:]), d.Name)))
			return
		case at == done || errs.Enough():
			return
		}
		path = append(path, d.Name)
		state[d.Name] = len(path)
		for _, name := range d.Uses() {
			if next := byName[name]; next != nil {
				visit(next)
			}
		}
		path, state[d.Name] = path[:len(path)-1], done
	}
	for _, d := range from {
		visit(d)
	}
	return errs
}

// circle refuses a definition by itself; of a long way only a part is shown.
func (d *Definition) circle(way []string) *document.Error {
	const most = 10
	hint := "let one of them do without the next"
	if len(way) == 2 {
		hint = "a name cannot use itself"
	}
	if len(way) > most {
		way = slices.Concat(way[:most-2], []string{"..."}, way[len(way)-1:])
	}
	return d.Node.Errorf(hint, "%q is defined by itself: %s", d.Name, strings.Join(way, " -> "))
}
