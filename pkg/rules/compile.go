package rules

import (
	"slices"
	"sync"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/doubt"
	"github.com/dyncontroller/dyncontroller/pkg/rules/names"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Compile checks the rules of all sets and joins them into one, with some of
// their constants replaced. It finds all mistakes; the set is nil where there is
// one, and the warnings are among them then. Of sets that are faulty it finds what it
// can, and returns none.
func Compile(sets []*spec.Set, options Options) (*Set, document.Errors) {
	var all []*Rule
	errs := unknownParams(sets, options.Params)
	checked := true
	for _, set := range sets {
		compiled, setErrs, whole := compileSet(set, options)
		errs = append(errs, setErrs...)
		errs = append(errs, checkResources(set, options.Schemas)...)
		all = append(all, compiled...)
		if !whole && options.Schemas != nil {
			errs = append(errs, unchecked(set))
		}
		checked = checked && whole
	}
	if !checked {
		return nil, errs.Sorted()
	}
	if len(errs.Of(document.Mistake)) > few {
		return nil, errs.Sorted() // Nobody reads on to the doubts, which take work.
	}
	errs = append(errs, elsewhere(doubt.Of(doubted(all, options.Schemas)), errs)...)
	if len(errs.Of(document.Mistake)) > 0 {
		return nil, errs.Sorted()
	}
	out := newSet(all)
	out.warnings = append(errs, sensitiveNotes(all, options)...).Sorted()
	out.kinds = kindsOf(sets, options.Schemas)
	out.first = options.Schemas
	out.catalogs = make(map[apischema.GroupVersionResource]*schema.Catalog, len(out.kinds))
	for gvr := range out.kinds {
		out.catalogs[gvr] = options.Schemas
	}
	return out, nil
}

// few is how many mistakes there may be beside which doubts are told.
const few = 20

// unchecked is the note that mistakes of a set kept it from being looked at to the end.
func unchecked(set *spec.Set) *document.Error {
	at := set.Node().Get("spec").Key("rules")
	if at == nil {
		at = set.Node()
	}
	return at.Errorf("", "more is checked once the mistakes are corrected").Coded(document.CodeUnchecked).Note()
}

// compileSet compiles the rules of a set; checked is false where mistakes kept some of
// them from being checked by types.
func compileSet(set *spec.Set, options Options) (all []*Rule, errs document.Errors, checked bool) {
	constants, errs := params(set, options.Params)
	shared, graphErrs := names.OfSet(set)
	errs = append(errs, graphErrs...)
	sound := len(errs) == 0 && !set.Faulty()
	checked = sound
	declared := declarations(set)
	for i := range set.Rules {
		if errs.Enough() {
			return all, errs, false
		}
		rule := &Rule{
			ID:     plan.Rule{Kind: set.Kind, Namespace: set.Namespace, Set: set.Name, Name: set.Rules[i].Name},
			set:    set,
			source: &set.Rules[i],
			about:  map[string]any{"name": set.Rules[i].Name, "set": set.Name},
			params: constants,
		}
		rule.effects = sync.OnceValue(rule.draw)
		ruleErrs := rule.compile(shared, declared)
		if len(ruleErrs) > 0 {
			checked = false
		} else if sound {
			ruleErrs = rule.check(options.Schemas, declared) // Of what compiles, to the end.
			ruleErrs = append(ruleErrs, rule.refuseSensitive(options)...)
		}
		errs = append(errs, ruleErrs...).Bounded()
		all = append(all, rule)
	}
	return all, errs, checked
}

func (r *Rule) compile(shared *names.Graph, declared relation.Declarations) document.Errors {
	errs := r.compileWatch(declared)
	var more document.Errors
	r.names, more = shared.Extended(r.source, declared)
	errs = append(errs, more...)
	if r.source.When != nil {
		r.when, more = body.CompileCondition(r.source.When, r.names.Scope())
		errs = append(errs, more...)
	}
	if r.source.For != nil {
		r.hold, more = compileHold(r.source.For, r.names.Scope())
		errs = append(errs, more...)
	}
	env := action.Env{Scope: r.names.Scope(), Declared: declared, Related: r.names.Related(), Watched: r.selections}
	r.steps, more = compileSteps(r.source.Actions, env)
	errs = append(errs, more...)
	if r.source.OnDelete != nil {
		r.onDelete, more = compileOnDelete(r.source.OnDelete, env)
		errs = append(errs, more...)
	}
	r.prunes, more = prunes(r.steps, r.source.Actions)
	return append(errs, more...)
}

func compileSteps(nodes []*document.Node, env action.Env) ([]*action.Step, document.Errors) {
	var steps []*action.Step
	var errs document.Errors
	for _, n := range nodes {
		step, stepErrs := action.Compile(n, env)
		steps = append(steps, step)
		if errs = append(errs, stepErrs...); errs.Enough() {
			break
		}
	}
	return steps, errs
}

// prunes lists the resources of which a rule deletes what it no longer wants. The
// children of a rule are not told apart by action, so all of a resource are
// pruned or none.
func prunes(steps []*action.Step, nodes []*document.Node) ([]*relation.Declaration, document.Errors) {
	agreed := map[apischema.GroupVersionResource]bool{}
	var out []*relation.Declaration
	var errs document.Errors
	for i, step := range steps {
		applied := step.Applies()
		if applied == nil {
			continue
		}
		declared, prune := applied.Of, applied.Prune
		before, seen := agreed[declared.GVR]
		switch {
		case seen && before != prune:
			errs = append(errs, pruneOf(nodes[i]).Errorf("give both the same prune, or make them two rules",
				"another action of the rule applies %s with prune: %t", declared.Name, before))
		case prune:
			out = joined(out, declared)
		}
		agreed[declared.GVR] = prune
	}
	return out, errs
}

// joined adds what a declaration selects. Declarations of one resource are one
// question, or an object that two of them select would be given up twice.
func joined(all []*relation.Declaration, more *relation.Declaration) []*relation.Declaration {
	at := slices.IndexFunc(all, func(d *relation.Declaration) bool { return d.GVR == more.GVR })
	if at < 0 {
		return append(all, more)
	}
	one := all[at]
	both := &relation.Declaration{Name: one.Name, GVR: one.GVR, Selections: slices.Clone(one.Selections), Namespace: one.Namespace}
	for _, selection := range more.Selections {
		if !slices.Contains(both.Selections, selection) {
			both.Selections = append(both.Selections, selection)
		}
	}
	all[at] = both
	return all
}

// pruneOf returns where an action says whether to prune, or the action that does
// not say so.
func pruneOf(n *document.Node) *document.Node {
	if prune := n.Get("apply").Get("prune"); prune != nil {
		return prune
	}
	return n.Get("apply")
}
