package rules

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/names"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
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
	catalogs   map[apischema.GroupVersionResource]*schema.Catalog // that of kinds
	options    plan.Options                                       // what the catalogs know of writes
	unserved   func() []Unserved                                  // nil for none
}

// Rule is one compiled rule.
type Rule struct {
	ID plan.Rule

	set        *spec.Set
	source     *spec.Rule
	schemas    *schema.Catalog // nil for none
	selections []plan.Selection
	watched    []apischema.GroupVersionResource // each once, in the order of `watch`
	about      map[string]any                   // the value of the name rule
	params     map[string]any
	names      *names.Graph
	when       *template.Expression
	hold       *hold
	rollout    *rollout
	steps      []*action.Step
	prunes     []action.Pruned // by resource
	onDelete   *onDelete
	effects    func() *effects // drawn once it is asked for; of a rule without mistakes
}

// newSet puts the rules in their order of precedence. What the sets of several know of a resource is taken from the first.
func newSet(all []*Rule, warnings document.Errors) *Set {
	out := &Set{
		rules: all, byID: make(map[plan.Rule]*Rule, len(all)), byGVR: map[apischema.GroupVersionResource][]*Rule{}, warnings: warnings.Sorted(),
		kinds: map[apischema.GroupVersionResource]plan.Kind{}, catalogs: map[apischema.GroupVersionResource]*schema.Catalog{},
	}
	var set *spec.Set
	var unserved []apischema.GroupVersionResource
	lacking := map[apischema.GroupVersionResource]*schema.Catalog{}
	for _, rule := range all {
		if rule.set == set {
			continue
		}
		set = rule.set
		for _, declared := range set.Resources {
			switch found := rule.schemas.Resource(declared.GVR); {
			case found != nil && out.catalogs[declared.GVR] == nil:
				out.kinds[declared.GVR] = plan.Kind{Name: found.Kind, Namespaced: found.Namespaced}
				out.catalogs[declared.GVR] = rule.schemas
			case found == nil && lacking[declared.GVR] == nil && rule.schemas.Unserved(declared.GVR):
				unserved, lacking[declared.GVR] = append(unserved, declared.GVR), rule.schemas
			}
		}
	}
	out.findUnserved(unserved, lacking)
	if len(out.catalogs) > 0 {
		out.options.Canonical = func(gvr apischema.GroupVersionResource, object map[string]any) map[string]any {
			return out.catalogs[gvr].Canonical(gvr, object)
		}
	}
	out.options.Applied = func(gvr apischema.GroupVersionResource, subresource, manager string, object, body map[string]any) map[string]any {
		return out.catalogs[gvr].Applied(gvr, subresource, manager, object, body)
	}
	out.options.AppliedWhole = func(gvr apischema.GroupVersionResource, subresource, manager string, object, body map[string]any) map[string]any {
		return out.catalogs[gvr].AppliedWhole(gvr, subresource, manager, object, body)
	}
	out.options.Grain = func(gvr apischema.GroupVersionResource, subresource string) plan.Grain {
		return out.catalogs[gvr].Grain(gvr, subresource)
	}
	slices.SortStableFunc(out.rules, func(a, b *Rule) int {
		return cmp.Or(
			cmp.Compare(a.ID.Set, b.ID.Set),
			cmp.Compare(a.ID.Kind, b.ID.Kind),
			cmp.Compare(a.ID.Namespace, b.ID.Namespace),
		)
	})
	for _, rule := range out.rules {
		out.byID[rule.ID] = rule
		out.related = append(out.related, rule.Related()...)
		out.selections = append(out.selections, rule.selections...)
		for _, gvr := range rule.watched {
			out.byGVR[gvr] = append(out.byGVR[gvr], rule)
		}
	}
	out.related, out.selections = distinct(out.related), distinct(out.selections)
	return out
}

// distinct keeps the first of equal elements.
func distinct[T comparable](all []T) []T {
	seen := make(map[T]bool, len(all))
	return slices.DeleteFunc(all, func(one T) bool {
		before := seen[one]
		seen[one] = true
		return before
	})
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

// Stored returns an object with what an API server fills in, as [plan.Options.Stored].
func (s *Set) Stored(of plan.Object, object map[string]any) map[string]any {
	return s.options.Stored(of, object)
}

// Predict returns an apply with what it makes of an object as it is live, as [plan.Options.Predict].
func (s *Set) Predict(o plan.Operation, live map[string]any) plan.Operation {
	return s.options.Predict(o, live)
}

// Over turns an apply to an object that has the name, as [plan.Options.Over].
func (s *Set) Over(o plan.Operation, current map[string]any) plan.Operation {
	return s.options.Over(o, current)
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

// Rollout is how the rule comes to all objects once it is new or has changed, nil where it does so at once.
func (r *Rule) Rollout() *spec.Rollout { return r.source.Rollout }

// Suspended reports whether the rule is kept and does nothing.
func (r *Rule) Suspended() bool { return r.source.Suspend }

// Audited reports whether the rule decides and reports what it would do, but writes nothing.
func (r *Rule) Audited() bool { return cmp.Or(r.source.Mode, r.set.Mode) == spec.Audit }

// idle says why a rule writes nothing whatever it finds.
func (r *Rule) idle() string {
	if r.Suspended() {
		return "the rule is suspended"
	}
	return "the rule is in mode Audit"
}

func (r *Rule) watches(selectedBy []plan.Selection) bool {
	return slices.ContainsFunc(r.selections, func(selection plan.Selection) bool { return slices.Contains(selectedBy, selection) })
}

// Join returns one set of all rules of the sets, in their order of precedence. Nil
// sets are passed over. No rule may be in two of them, which is for the caller to
// see to: it would be carried out twice. What two sets know of a resource is taken
// from the first.
func Join(sets ...*Set) *Set {
	var all []*Rule
	var warnings document.Errors
	for _, set := range sets {
		if set != nil {
			all = append(all, set.rules...)
			warnings = append(warnings, set.warnings...)
		}
	}
	return newSet(all, warnings)
}

// Of returns the set of the rules that act as one identity, with what is known of
// their resources and the warnings in their files. It may have no rules.
func (s *Set) Of(identity types.NamespacedName) *Set {
	return s.Only(func(rule *Rule) bool { return rule.Identity() == identity })
}

// ByIdentity returns the same for each identity that has rules.
func (s *Set) ByIdentity() map[types.NamespacedName]*Set {
	all := map[types.NamespacedName][]*Rule{}
	for _, rule := range s.rules {
		all[rule.Identity()] = append(all[rule.Identity()], rule)
	}
	out := make(map[types.NamespacedName]*Set, len(all))
	for identity, own := range all {
		out[identity] = s.of(own)
	}
	return out
}

// Only returns the set of the rules that are to be kept, with the same of them.
func (s *Set) Only(keep func(*Rule) bool) *Set {
	return s.of(slices.DeleteFunc(slices.Clone(s.rules), func(rule *Rule) bool { return !keep(rule) }))
}

// of is the set of some of the rules.
func (s *Set) of(own []*Rule) *Set {
	files := map[string]bool{}
	for _, rule := range own {
		files[rule.set.File] = true
	}
	return newSet(own, slices.DeleteFunc(slices.Clone(s.warnings), func(w *document.Error) bool { return !files[w.File] }))
}

// Identities lists the ServiceAccounts that the rules act as, sorted. The empty one
// is among them where rules act as the process itself.
func (s *Set) Identities() []types.NamespacedName {
	return slices.SortedFunc(maps.Keys(s.ByIdentity()), func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// SameCondition reports whether a rule is in both sets and matches the same
// objects in both: since when it holds is the same then, whatever it does.
func (s *Set) SameCondition(other *Set, id plan.Rule) bool {
	here, there := s.byID[id], other.byID[id]
	return here != nil && there != nil && reflect.DeepEqual(here.condition(), there.condition())
}

// Changes lists the rules of both sets that are not the same in both: those that are new, those that are gone, and
// both versions of those that want something else. Where the rules that stay have another order, these are all rules:
// the order decides conflicts.
func Changes(before, after *Set) []*Rule {
	differs := map[apischema.GroupVersionResource]bool{}
	for _, set := range []*Set{before, after} {
		for gvr := range set.catalogs {
			one, two := before.catalogs[gvr], after.catalogs[gvr]
			differs[gvr] = one != two && (one == nil || two == nil || !reflect.DeepEqual(one.Resource(gvr), two.Resource(gvr)))
		}
	}
	was := maps.Clone(before.byID)
	var out, stay []*Rule
	for _, rule := range after.rules {
		earlier := was[rule.ID]
		delete(was, rule.ID)
		switch sees := func(declared spec.Resource) bool { return differs[declared.GVR] }; {
		case earlier == nil:
			out = append(out, rule)
		case rule != earlier && !rule.Same(earlier) || slices.ContainsFunc(rule.set.Resources, sees):
			out = append(out, earlier, rule)
		default:
			stay = append(stay, earlier)
		}
	}
	for _, rule := range before.rules {
		switch {
		case was[rule.ID] != nil:
			out = append(out, rule)
		case len(stay) > 0 && stay[0] == rule:
			stay = stay[1:]
		}
	}
	if len(stay) > 0 {
		return slices.Concat(before.rules, after.rules)
	}
	return out
}

// Watches reports whether a rule watches one of the selections.
func (s *Set) Watches(id plan.Rule, selections []plan.Selection) bool {
	rule := s.byID[id]
	return rule != nil && rule.watches(selections)
}

// Watching lists the rules that watch one of the selections, which are of one resource.
func (s *Set) Watching(selections []plan.Selection) []plan.Rule {
	var out []plan.Rule
	for _, rule := range s.byGVR[selections[0].GVR] {
		if rule.watches(selections) {
			out = append(out, rule.ID)
		}
	}
	return out
}

// condition is what decides whether the rule matches, as it was written.
func (r *Rule) condition() []any {
	out := []any{r.set.Resources, r.params, r.set.Node().Get("spec").Get("let").Any()}
	for _, field := range []string{"watch", "with", "let", "when"} {
		out = append(out, r.source.Node().Get(field).Any())
	}
	return out
}

// Digest tells the rule from what it was before a change: of what is written there but
// for the description and whether it is suspended, of the mode, and of the params, names and
// resources of its set, whether it uses them or not. It is the same after a restart.
func (r *Rule) Digest() string {
	said, _ := r.source.Node().Any().(map[string]any)
	delete(said, "description")
	delete(said, "suspend")
	whole := r.set.Node().Get("spec")
	data, err := json.Marshal(map[string]any{
		"rule": said, "mode": cmp.Or(r.source.Mode, r.set.Mode, spec.Enforce), "params": r.params,
		"let": whole.Get("let").Any(), "resources": whole.Get("resources").Any(),
	})
	if err != nil { // Such as a number that JSON does not have.
		data = []byte(err.Error())
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// Same reports whether the rule does what another version of it did.
func (r *Rule) Same(as *Rule) bool {
	return r.Suspended() == as.Suspended() && r.Digest() == as.Digest()
}

// AsksToResume reports whether the document of the rule's set asks that it goes on after a
// pause.
func (r *Rule) AsksToResume() bool { return slices.Contains(r.set.Resume, r.ID.Name) }

// Watches lists what the rule watches, each once. The slice is shared: read only.
func (r *Rule) Watches() []plan.Selection { return r.selections }

// Lingers reports whether the rule has a say about objects that it does not select any more: it may have left
// something of it.
func (r *Rule) Lingers() bool { return r.onDelete != nil || r.prunes != nil || r.restores() }
