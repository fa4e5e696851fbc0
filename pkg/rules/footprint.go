package rules

import (
	"maps"
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/lookup"
	"github.com/dyncontroller/dyncontroller/pkg/rules/names"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// Footprint returns all that the rules can read and write.
func (s *Set) Footprint() *footprint.Footprint {
	out := &footprint.Footprint{}
	for _, rule := range s.rules {
		out.Merge(rule.Footprint())
	}
	return out
}

// Footprint returns all that the rule can read and write, known from the rule
// alone. It is shared: read only.
func (r *Rule) Footprint() *footprint.Footprint { return r.effects().footprint }

// effects is what a rule can do to a cluster.
type effects struct {
	footprint *footprint.Footprint
	onDelete  *footprint.Footprint  // of what it does where its finalizer is; nil where it has none
	steps     []action.Effects      // of [Rule.allSteps]
	reacts    map[*action.Step]bool // those that read failure
	// derived are the expressions in actions that may make something of values of Secrets, and derivedFields what each step writes by them.
	derived       map[*expression.Program]bool
	derivedFields map[*action.Step]plan.Derived
}

func (r *Rule) draw() *effects {
	f := r.footing()
	out := &effects{footprint: f.out, reacts: map[*action.Step]bool{}}
	for _, gvr := range r.watched {
		access := f.out.Of(gvr, gvr.Resource)
		for _, verb := range []string{"get", "list", "watch"} {
			access.Allow(verb, "")
		}
		if r.holds() {
			access.Allow("patch", "")
			access.Writes.Add(footprint.Fields("metadata", "finalizers"), footprint.Value)
		}
	}
	for _, selection := range r.selections {
		lookup.ReadSelectors(f.out.Of(selection.GVR, selection.GVR.Resource), selection)
	}
	conditions := []*template.Expression{r.when}
	if r.hold != nil {
		conditions = append(conditions, r.hold.computed)
	}
	if r.rollout != nil {
		conditions = append(conditions, r.rollout.healthy, r.rollout.by)
	}
	if r.onDelete != nil {
		conditions = append(conditions, r.onDelete.done)
	}
	for _, condition := range conditions {
		if condition != nil {
			condition.Program().Shape(f).Read(footprint.Value)
		}
	}
	for _, step := range r.allSteps() {
		f.reacts = false
		out.steps = append(out.steps, step.Effects(f.traces()))
		if f.reacts {
			out.reacts[step] = true
		}
	}
	if r.holds() {
		g := r.footing()
		for _, step := range r.onDelete.steps {
			step.Effects(g.traces())
		}
		if r.onDelete.done != nil {
			r.onDelete.done.Program().Shape(g).Read(footprint.Value)
		}
		out.onDelete = g.out
	}
	if secrets := f.out.Lookup(apischema.GroupVersionResource{Version: "v1", Resource: "secrets"}); secrets != nil {
		secrets.Writes.Alias("stringData", "data") // The API server makes data of it.
	}
	if f.readsSecrets() {
		r.derive(out)
	}
	return out
}

// CleansUp reports whether the rule holds objects, and deals with objects of the resource in its onDelete: they are not to be made
// before its finalizer is there.
func (r *Rule) CleansUp(resource apischema.GroupResource) bool {
	of := r.effects().onDelete
	return of != nil && slices.ContainsFunc(of.All(), func(a *footprint.Access) bool { return a.Resource.GroupResource() == resource })
}

// mostKinds is of how many kinds a rule may watch for it to be followed which fields of
// each it reads. Of those of a rule that watches more, all of them count as read.
const mostKinds = 50

// footing is the footprint of a rule while it is drawn. It follows a name when it
// is first used, as an evaluation does.
type footing struct {
	rule   *Rule
	out    *footprint.Footprint
	shapes []*footprint.Shape // by slot
	reacts bool               // something read failure
}

func (r *Rule) footing() *footing {
	return &footing{rule: r, out: &footprint.Footprint{}, shapes: make([]*footprint.Shape, r.names.Slots())}
}

// traces is where actions add to the footprint.
func (f *footing) traces() action.Traces {
	return action.Traces{Footprint: f.out, Shapes: f, Watched: f.rule.watched, Schemas: f.rule.schemas}
}

// Shape implements [expression.Shapes].
func (f *footing) Shape(slot int) footprint.Shape {
	switch slot {
	case names.Rule, names.Params:
		return footprint.Other()
	case f.rule.names.Failure():
		f.reacts = true
		return footprint.Other()
	}
	if f.shapes[slot] == nil {
		var of footprint.Shape
		switch d := f.rule.names.At(slot); {
		case slot == names.Object:
			of = f.object()
		case d.Related != nil:
			of = d.Related.Footprint(f.out, f)
		default:
			of = d.Value.Program().Shape(f)
		}
		f.shapes[slot] = &of
	}
	return *f.shapes[slot]
}

// object is an object of any of the kinds that the rule watches.
func (f *footing) object() footprint.Shape {
	all := f.rule.watched
	reads := make([]*footprint.Tree, len(all))
	for i, gvr := range all {
		reads[i] = &f.out.Of(gvr, gvr.Resource).Reads
		if len(all) > mostKinds {
			reads[i].Add(nil, footprint.Value)
		}
	}
	return footprint.Object(reads...)
}

// Related lists what the rules read besides the objects they watch, each once: by
// with, by apply and by prune. The slice is shared: read only.
func (s *Set) Related() []plan.Selection { return s.related }

// Kinds says what is known of the resources that the sets declare, which is
// nothing without schemas. The map is shared: read only.
func (s *Set) Kinds() map[apischema.GroupVersionResource]plan.Kind { return s.kinds }

// Holds reports whether a rule puts a finalizer on objects of the resource, or changes them for a while.
func (s *Set) Holds(gvr apischema.GroupVersionResource) bool {
	return slices.ContainsFunc(s.byGVR[gvr], (*Rule).letsGo)
}

// Prunes reports whether a rule deletes what it has applied for an object of the
// resource once that is gone.
func (s *Set) Prunes(gvr apischema.GroupVersionResource) bool {
	return slices.ContainsFunc(s.byGVR[gvr], func(r *Rule) bool { return len(r.prunes) > 0 })
}

// Families lists the rules that prune what they applied for objects that are gone, in their order.
func (s *Set) Families() []*Rule {
	return s.which(func(r *Rule) bool { return r.prunes != nil && !r.Suspended() && !r.Audited() })
}

// Holding lists the rules that put finalizers on what they select, or change it for a while, in their order.
func (s *Set) Holding() []*Rule {
	return s.which((*Rule).letsGo)
}

// letsGo reports whether the rule has something to take back of an object that it does not select any more, other than children.
func (r *Rule) letsGo() bool { return r.holds() || r.restores() }

func (s *Set) which(is func(*Rule) bool) []*Rule {
	return slices.DeleteFunc(s.Rules(), func(r *Rule) bool { return !is(r) })
}

// Children is where the objects are that the rule prunes.
func (r *Rule) Children() (out []plan.Selection) {
	for _, children := range r.prunes {
		out = append(out, children.From...)
	}
	return out
}

// Everything is what the rule would select without selectors, each resource once: where objects may be that it
// selected before.
func (r *Rule) Everything() (out []plan.Selection) {
	for _, gvr := range r.watched {
		out = append(out, plan.Selection{GVR: gvr, Namespace: r.ID.Namespace})
	}
	return out
}

// Related lists the selections of all that a rule reads besides what it watches; one may come twice.
func (r *Rule) Related() []plan.Selection {
	var out []plan.Selection
	related := r.names.Related()
	for _, name := range slices.Sorted(maps.Keys(related)) {
		out = append(out, related[name].Declaration().Selections...)
	}
	for _, step := range r.allSteps() {
		if applied := step.Applies(); applied != nil {
			out = append(out, applied.Of.Selections...)
		}
	}
	return out
}

// Leftovers lists what the rules may leave on objects, known from the rules
// alone, sorted and each once. Rules that are suspended or audited are among them:
// they leave nothing new, and what they left before stays theirs.
func (s *Set) Leftovers() []plan.Leftover {
	var out []plan.Leftover
	for _, rule := range s.rules {
		out = append(out, rule.leftovers()...)
	}
	slices.SortFunc(out, plan.Leftover.Compare)
	return out
}

func (r *Rule) leftovers() []plan.Leftover {
	var all []plan.Leftover
	if r.holds() {
		for _, gvr := range r.watched {
			all = append(all, plan.Leftover{GVR: gvr, Kind: plan.LeftFinalizer})
		}
	}
	for _, step := range r.effects().steps {
		all = append(all, step.Leaves...)
	}
	found := map[plan.Leftover]plan.Leftover{}
	for _, leftover := range all {
		leftover.Rule, leftover.Account = r.ID, r.Identity()
		for _, leftover.Namespace = range r.namespaces(leftover.GVR) {
			if before, twice := found[leftover.Thing()]; twice {
				leftover = both(before, leftover)
			}
			found[leftover.Thing()] = leftover
		}
	}
	return slices.Collect(maps.Values(found))
}

// both is the one leftover that two parts of a rule leave. Where one of them orphans
// its fields none may be removed: who applied which cannot be told. The actions of a
// rule prune the children of a resource together, and the older of two versions is
// the first to go.
func both(a, b plan.Leftover) plan.Leftover {
	if version.CompareKubeAwareVersionStrings(b.GVR.Version, a.GVR.Version) > 0 {
		a.GVR = b.GVR
	}
	if b.Release == plan.OrphanFields {
		a.Release = b.Release
	}
	a.Prune, a.Owned = a.Prune || b.Prune, a.Owned && b.Owned
	return a
}

// namespaces are those in which the set of the rule may write to a resource: ""
// alone for everywhere.
func (r *Rule) namespaces(of apischema.GroupVersionResource) (out []string) {
	for _, declared := range r.set.Resources {
		if declared.GVR.GroupResource() == of.GroupResource() {
			for _, selection := range selections(r.set, declared) {
				out = append(out, selection.Namespace)
			}
		}
	}
	if slices.Contains(out, "") {
		return []string{""}
	}
	return distinct(out)
}
