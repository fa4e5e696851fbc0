package rules

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Compile checks the rules of all sets and joins them into one, with some of
// their constants replaced. It finds all mistakes; the set is nil where there is
// one, and the warnings are among them then. Of sets that are faulty it finds what it
// can, and returns none.
func Compile(sets []*spec.Set, options Options) (*Set, document.Errors) {
	var all []*Rule
	errs := unknownParams(sets, options.Params)
	for _, set := range sets {
		compiled, setErrs := compileSet(set, options)
		errs = append(errs, setErrs...)
		errs = append(errs, checkResources(set, options.Schemas)...)
		all = append(all, compiled...)
	}
	faulty := slices.ContainsFunc(sets, (*spec.Set).Faulty)
	if len(errs.Of(document.Mistake)) > 0 || faulty {
		return nil, errs.Sorted()
	}
	out := newSet(all)
	out.warnings = append(errs, warnings(all)...).Sorted()
	if options.Schemas != nil {
		out.canonical = options.Schemas.Canonical
	}
	return out, nil
}

func compileSet(set *spec.Set, options Options) ([]*Rule, document.Errors) {
	constants, errs := params(set, options.Params)
	shared, graphErrs := setGraph(set)
	errs = append(errs, graphErrs...)
	sound := len(errs) == 0 && !set.Faulty()
	declared := declarations(set)
	var all []*Rule
	for i := range set.Rules {
		if errs.Enough() {
			break
		}
		rule := &Rule{
			ID:     plan.Rule{Kind: set.Kind, Namespace: set.Namespace, Set: set.Name, Name: set.Rules[i].Name},
			set:    set,
			source: &set.Rules[i],
			about:  map[string]any{"name": set.Rules[i].Name, "set": set.Name},
			params: constants,
		}
		ruleErrs := rule.compile(shared, declared)
		if len(ruleErrs) == 0 && sound {
			ruleErrs = rule.check(options.Schemas, declared) // Of what compiles, to the end.
		}
		errs = append(errs, ruleErrs...)
		errs = append(errs, rule.notCarried(options)...)
		all = append(all, rule)
	}
	return all, errs
}

func (r *Rule) compile(shared *graph, declared relation.Declarations) document.Errors {
	errs := r.compileWatch(declared)
	var more document.Errors
	r.names, more = shared.extended(r.source, declared)
	errs = append(errs, more...)
	if r.source.When != nil {
		r.when, more = body.CompileCondition(r.source.When, r.names.scope)
		errs = append(errs, more...)
	}
	if r.source.For != nil {
		r.hold, more = compileHold(r.source.For, r.names.scope)
		errs = append(errs, more...)
	}
	env := action.Env{Scope: r.names.scope, Declared: declared, Related: r.names.related(), Watched: r.selections}
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
	agreed := map[schema.GroupVersionResource]bool{}
	var out []*relation.Declaration
	var errs document.Errors
	for i, step := range steps {
		declared, prune := step.Applies()
		if declared == nil {
			continue
		}
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
	both := *all[at]
	both.Selections = slices.Clone(both.Selections)
	for _, selection := range more.Selections {
		if !slices.Contains(both.Selections, selection) {
			both.Selections = append(both.Selections, selection)
		}
	}
	all[at] = &both
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

// compileWatch resolves `watch`: a key of `resources`, or several with commas.
func (r *Rule) compileWatch(declared relation.Declarations) document.Errors {
	n := r.source.Watch
	if n.Kind() == document.KindInvalid {
		return nil
	}
	if n.Kind() != document.KindString {
		return document.Errors{n.Errorf(watchHint(n), "watch must be a string, have %s", n.Kind())}
	}
	var errs document.Errors
	seen := map[*relation.Declaration]bool{}
	offset := 0
	for part := range strings.SplitSeq(n.Text(), ",") {
		if errs.Enough() {
			break
		}
		name := strings.TrimSpace(part)
		at := offset + strings.Index(part, name)
		offset += len(part) + 1
		if name == "" {
			errs = append(errs, n.ErrorAt(at, 0, "write the name of a resource declared under resources", "the name of a resource is missing here"))
			continue
		}
		watched, wrong := declared.LookupAt(n, at, name)
		switch {
		case wrong != nil:
			errs = append(errs, wrong)
		case watched != nil && !seen[watched]:
			seen[watched] = true
			r.selections = append(r.selections, watched.Selections...)
		}
	}
	return errs
}

// watchHint writes a list as watch takes it.
func watchHint(n *document.Node) string {
	var names []string
	for _, element := range n.Elements() {
		names = append(names, element.Text())
	}
	if names == nil {
		return "write the name of a resource declared under resources"
	}
	return "write watch: " + strings.Join(names, ", ")
}

func declarations(set *spec.Set) relation.Declarations {
	var out relation.Declarations
	for _, resource := range set.Resources {
		out = append(out, &relation.Declaration{
			Name: resource.Name, GVR: resource.GVR, Selections: selections(set, resource), Namespace: set.Namespace,
		})
	}
	return out
}

// selections spreads a declaration over its namespaces. Selectors are written
// in one way, so that equal ones share an informer.
func selections(set *spec.Set, r spec.Resource) []plan.Selection {
	selection := plan.Selection{GVR: r.GVR, Namespace: set.Namespace}
	if parsed, err := labels.Parse(r.LabelSelector); err == nil {
		selection.LabelSelector = parsed.String()
	}
	if parsed, err := fields.ParseSelector(r.FieldSelector); err == nil {
		selection.FieldSelector = parsed.String()
	}
	if len(r.Namespaces) == 0 || set.Kind == spec.KindRuleSet {
		return []plan.Selection{selection}
	}
	var out []plan.Selection
	for _, namespace := range slices.Compact(slices.Sorted(slices.Values(r.Namespaces))) {
		selection.Namespace = namespace
		out = append(out, selection)
	}
	return out
}
