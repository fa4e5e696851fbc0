package rules

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
)

// Need is a right that rules need.
type Need struct {
	plan.Permission
	// Rules are those that need it, in their order.
	Rules []plan.Rule
}

// Needs lists the rights without which the rules cannot do all that they may come to
// do, and clean up after themselves, sorted and each once. Rules that are suspended or
// audited write nothing, so they need to read, and to take off finalizers that they may
// have put on.
func (s *Set) Needs() []Need {
	found := map[plan.Permission]*Need{}
	for _, rule := range s.rules {
		for permission := range rule.needs(s.kinds) {
			need := found[permission]
			if need == nil {
				need = &Need{Permission: permission}
				found[permission] = need
			}
			need.Rules = append(need.Rules, rule.ID)
		}
	}
	out := make([]Need, 0, len(found))
	for _, permission := range slices.SortedFunc(maps.Keys(found), plan.Permission.Compare) {
		out = append(out, *found[permission])
	}
	return out
}

// needs collects the rights of one rule.
type needs struct {
	rule  *Rule
	kinds map[schema.GroupVersionResource]plan.Kind
	reads []plan.Selection // all that the rule watches or reads
	found map[plan.Permission]bool
}

func (r *Rule) needs(kinds map[schema.GroupVersionResource]plan.Kind) map[plan.Permission]bool {
	n := &needs{rule: r, kinds: kinds, reads: r.Reads(), found: map[plan.Permission]bool{}}
	for _, selection := range n.reads {
		n.add(selection, "list", "watch")
	}
	for _, selection := range r.selections {
		n.add(selection, "get") // To be certain that an object is gone, for whichever rule.
	}
	n.holding()
	if !r.suspended() && !r.audited() {
		n.sending()
		n.leaving()
	}
	return n.found
}

// sending adds what the actions send, and what it takes to confirm what they were
// decided by.
func (n *needs) sending() {
	final := false
	for _, step := range n.rule.effects().steps {
		for _, request := range step.Requests {
			final = final || request.Resource == request.About && (request.Name == "create" || request.Name == "delete")
			for _, selection := range n.about(request) {
				n.send(request, selection)
			}
		}
	}
	if final {
		n.confirming()
	}
}

// confirming adds what it takes to read once more what the rule looks up by name, as is
// done before something is made or deleted, or a finalizer is taken off.
func (n *needs) confirming() {
	for _, related := range n.rule.names.Related() {
		if !related.ByName() {
			continue
		}
		for _, selection := range related.Declaration().Selections {
			n.add(selection, "get")
		}
	}
}

// about are the selections that have the objects of a request.
func (n *needs) about(request action.Request) []plan.Selection {
	from := request.From
	switch {
	case request.Watched:
		from = n.rule.selections
	case from == nil:
		from = n.reads
	}
	return slices.DeleteFunc(slices.Clone(from), func(s plan.Selection) bool { return s.GVR != request.About })
}

func (n *needs) send(request action.Request, on plan.Selection) {
	permission := n.permission(on)
	permission.Verb, permission.Subresource = request.Name, request.Subresource
	if request.Nameless {
		permission.Name = ""
	}
	if request.Resource == request.About && request.Writes() {
		n.add(on, "get") // Where the answer was lost, it is looked for.
	}
	if request.Resource != request.About {
		permission.Name = "" // It is the name of another object.
		permission.Resource = request.Resource.GroupResource()
		if n.isOfCluster(on.GVR) {
			permission.Namespace = "default" // Where Events about them are.
		}
	}
	n.found[permission] = true
}

// holding adds what it takes to put finalizers on, to find objects that left the
// selection with one, and to take them off.
func (n *needs) holding() {
	if !n.rule.holds() {
		return
	}
	for _, selection := range n.rule.selections {
		n.add(selection, "patch")
	}
	for _, all := range (Holder{n.rule.ID, n.rule.selections}).Everything() {
		n.add(all, "list")
	}
	n.confirming()
}

// leaving adds what it takes to be certain that a parent is gone, and to find what
// the rule has left once the rule is gone.
func (n *needs) leaving() {
	if len(n.rule.prunes) > 0 {
		for _, all := range unfiltered(n.rule.ID, n.rule.selections) {
			n.add(all, "list")
		}
	}
	for _, left := range n.rule.leftovers() {
		if left.Kind != plan.LeftCreated { // Which stays.
			n.add(plan.Selection{GVR: left.GVR, Namespace: left.Namespace}, "get", "list")
		}
	}
}

func (n *needs) add(on plan.Selection, verbs ...string) {
	permission := n.permission(on)
	for _, permission.Verb = range verbs {
		n.found[permission] = true
	}
}

// permission is for what a selection has. A list of one name is authorized as that of
// the object.
func (n *needs) permission(on plan.Selection) plan.Permission {
	out := plan.Permission{Resource: on.GVR.GroupResource(), Namespace: on.Namespace, Name: nameOf(on)}
	if n.isOfCluster(on.GVR) {
		out.Namespace = ""
	}
	return out
}

func (n *needs) isOfCluster(gvr schema.GroupVersionResource) bool {
	kind, known := n.kinds[gvr]
	return known && !kind.Namespaced
}

// nameOf is the name that a field selector asks for and nothing else, or "".
func nameOf(s plan.Selection) string {
	parsed, err := fields.ParseSelector(s.FieldSelector)
	if err != nil {
		return ""
	}
	name, exact := parsed.RequiresExactMatch("metadata.name")
	if !exact || len(parsed.Requirements()) != 1 {
		return ""
	}
	return name
}

// allSteps are those of a living object, then those of one that is being deleted.
func (r *Rule) allSteps() []*action.Step {
	if r.onDelete == nil {
		return r.steps
	}
	return slices.Concat(r.steps, r.onDelete.steps)
}
