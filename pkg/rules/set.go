package rules

import (
	"cmp"
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/names"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

// Set is all rules of a process, compiled. It is immutable and safe for
// concurrent use. The zero value has no rules.
type Set struct {
	rules      []*Rule
	byID       map[plan.Rule]*Rule
	byGVR      map[apischema.GroupVersionResource][]*Rule
	selections []plan.Selection
	related    []plan.Selection
	kinds      map[apischema.GroupVersionResource]plan.Kind
	warnings   document.Errors
	catalogs   map[apischema.GroupVersionResource]*schema.Catalog // of the resources that are declared and known
	first      *schema.Catalog                                    // of the first rules, for all others; nil for none
}

// Rule is one compiled rule.
type Rule struct {
	ID plan.Rule

	set        *spec.Set
	source     *spec.Rule
	selections []plan.Selection
	watched    []apischema.GroupVersionResource // each once, in the order of `watch`
	about      map[string]any                   // the value of the name rule
	params     map[string]any
	names      *names.Graph
	when       *body.Expression
	hold       *hold
	steps      []*action.Step
	prunes     []*relation.Declaration
	onDelete   *onDelete
	effects    func() *effects // drawn once it is asked for; of a rule without mistakes
}

// newSet puts the rules in their order of precedence.
func newSet(all []*Rule) *Set {
	out := &Set{rules: all, byID: make(map[plan.Rule]*Rule, len(all)), byGVR: map[apischema.GroupVersionResource][]*Rule{}}
	slices.SortStableFunc(out.rules, func(a, b *Rule) int {
		return cmp.Or(
			cmp.Compare(a.ID.Set, b.ID.Set),
			cmp.Compare(a.ID.Kind, b.ID.Kind),
			cmp.Compare(a.ID.Namespace, b.ID.Namespace),
		)
	})
	seen, read := map[plan.Selection]bool{}, map[plan.Selection]bool{}
	for _, rule := range out.rules {
		out.byID[rule.ID] = rule
		for _, selection := range rule.reads() {
			if !read[selection] {
				read[selection] = true
				out.related = append(out.related, selection)
			}
		}
		for _, selection := range rule.selections {
			if !seen[selection] {
				seen[selection] = true
				out.selections = append(out.selections, selection)
			}
			if of := out.byGVR[selection.GVR]; len(of) == 0 || of[len(of)-1] != rule {
				out.byGVR[selection.GVR] = append(of, rule)
			}
		}
	}
	return out
}

// Rules lists the rules in their order of precedence: by set name, kind and
// namespace, and within a set as written.
func (s *Set) Rules() []*Rule { return slices.Clone(s.rules) }

// IDs names the rules in the same order. A nil set has none.
func (s *Set) IDs() []plan.Rule {
	if s == nil {
		return nil
	}
	out := make([]plan.Rule, len(s.rules))
	for i, rule := range s.rules {
		out[i] = rule.ID
	}
	return out
}

// Selections lists what the rules watch, each once. The slice is shared: read
// only.
func (s *Set) Selections() []plan.Selection { return s.selections }

// Warnings lists the warnings and notes about the rules, sorted.
func (s *Set) Warnings() document.Errors { return s.warnings }

// Description is what the author says of the rule.
func (r *Rule) Description() string { return r.source.Description }

// Identity is the ServiceAccount that reads and writes for the rule, empty for
// the process's own.
func (r *Rule) Identity() types.NamespacedName { return r.set.Identity }

// Limits are the blast radius of the rule, nil for none.
func (r *Rule) Limits() *spec.Limits { return r.source.Limits }

func (r *Rule) suspended() bool { return r.source.Suspend }

// audited reports whether the rule decides and reports, but writes nothing.
func (r *Rule) audited() bool { return cmp.Or(r.source.Mode, r.set.Mode) == spec.Audit }

// idle says why a rule writes nothing whatever it finds.
func (r *Rule) idle() string {
	if r.suspended() {
		return "the rule is suspended"
	}
	return "the rule is in mode Audit"
}

func (r *Rule) watches(selectedBy []plan.Selection) bool {
	return slices.ContainsFunc(r.selections, func(selection plan.Selection) bool { return slices.Contains(selectedBy, selection) })
}
