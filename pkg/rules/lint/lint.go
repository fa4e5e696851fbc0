// Package lint warns of what is suspicious of rules that are right one by one: rules
// that are in each other's way, or never come to rest.
//
//	[]*Rule -> Of -> document.Errors, all of them warnings and notes
//
// It says nothing of what may well be meant, nor of what is not certain, and gives up, and says so, where
// looking closer would take too long.
package lint

import (
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/names"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// Rule is a compiled rule, as far as it matters here.
type Rule struct {
	ID     plan.Rule
	Set    *spec.Set
	Source *spec.Rule
	Names  *names.Graph
	When   *template.Expression // nil for always
	Steps  []*action.Step       // those of the actions, in their order
	// Selections are what it watches.
	Selections []plan.Selection
	// Constants are the values of the names that do not hang on the object.
	Constants map[string]any
	// Schemas say which lists have keys; nil where nothing is known.
	Schemas *schema.Catalog
	// Watched, Footprint and Effects are what it watches, what it reads and writes, and what each of the steps does.
	Watched   []apischema.GroupVersionResource
	Footprint *footprint.Footprint
	Effects   []action.Effects
}

// audited reports whether the rule writes nothing.
func (r *Rule) audited() bool {
	return r.Source.Mode == spec.Audit || r.Source.Mode == "" && r.Set.Mode == spec.Audit
}

// What looking at all rules may take, in steps of some 100 ns. Thousands of rules that
// have little in common take less.
const (
	leastCompared  = 600_000
	comparedOfEach = 200 // rule
	leastFed       = 200_000
	fedOfEach      = 1_600
)

// work bounds what looking at many rules may take, all in all.
type work struct{ left int }

// spend takes steps off, and reports whether there were as many.
func (w *work) spend(steps int) bool {
	w.left -= min(steps, w.left+1) // Not far below nothing, however much is asked for.
	return w.left >= 0
}

// spent reports whether more was asked for than there was.
func (w *work) spent() bool { return w.left < 0 }

// Of returns what is suspicious of rules, which come in their order of precedence.
func Of(all []*Rule) (out document.Errors) {
	var active []*Rule
	t := &terms{numbers: map[part]int{}, names: map[mention]int{}, work: &work{leastCompared + comparedOfEach*len(all)}}
	for _, rule := range all {
		if rule.Source.Suspend {
			continue
		}
		active = append(active, rule)
		out = append(out, rule.unlimited()...)
		out = append(out, t.pruneLoops(rule)...)
		out = append(out, t.recursion(rule)...)
		out = append(out, rule.slips()...)
		out = append(out, t.silent(rule)...)
		out = append(out, t.undone(rule)...)
		out = append(out, t.overwritten(rule)...).Bounded()
	}
	out = append(out, t.conflicts(active)...)
	out = append(out, t.restless(active)...)
	return append(out, cycles(active)...)
}

// gaveUp is the note that from a rule on something was not looked for any more.
func gaveUp(at *Rule, what string) *document.Error {
	return at.Source.Node().Get("name").Errorf("the less the rules before it have in common, the further is looked",
		"from this rule on, %s are not looked for: there is too much to compare", what).Coded(document.CodeUnchecked).Note()
}
