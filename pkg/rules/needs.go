package rules

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
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
	found map[plan.Permission]bool
}

func (r *Rule) needs(kinds map[schema.GroupVersionResource]plan.Kind) map[plan.Permission]bool {
	n := &needs{rule: r, kinds: kinds, found: map[plan.Permission]bool{}}
	reads := slices.Concat(r.selections, r.Related())
	n.add(reads, "list", "watch")
	n.add(r.selections, "get") // To be certain that an object is gone, for whichever rule.
	writes := r.holds()
	if r.letsGo() { // To put finalizers on, to find objects that left the selection with one, and to take them off, or to restore them.
		n.add(r.selections, "patch")
		n.add(r.Everything(), "list")
	}
	if !r.Suspended() && !r.Audited() {
		for _, step := range r.effects().steps {
			for _, request := range step.Requests {
				writes = writes || request.Resource == request.About && request.Writes()
				n.send(request, reads)
			}
		}
		if len(r.prunes) > 0 { // To be certain that a parent is gone.
			n.add(r.Everything(), "list")
		}
		for _, left := range r.leftovers() { // To find what the rule has left once it is gone.
			if left.Kind != plan.LeftCreated { // Which stays.
				n.add([]plan.Selection{{GVR: left.GVR, Namespace: left.Namespace}}, "get", "list")
			}
		}
	}
	for _, related := range r.names.Related() {
		if writes && related.ByName() { // It is read once more before what cannot be undone, and by a new leader before any write.
			n.add(related.Declaration().Selections, "get")
		}
	}
	return n.found
}

// send adds what a request takes.
func (n *needs) send(request action.Request, reads []plan.Selection) {
	from := request.From
	switch {
	case request.Watched:
		from = n.rule.selections
	case from == nil:
		from = reads
	}
	for _, on := range from {
		if on.GVR != request.About {
			continue
		}
		permission := n.permission(on)
		permission.Verb, permission.Subresource = request.Name, request.Subresource
		switch {
		case request.Resource != request.About:
			permission.Name = "" // It is the name of another object.
			permission.Resource = request.Resource.GroupResource()
			if n.isOfCluster(on.GVR) {
				permission.Namespace = "default" // Where Events about them are.
			}
		case request.Writes():
			n.add([]plan.Selection{on}, "get") // Where the answer was lost, it is looked for.
		}
		if request.Nameless {
			permission.Name = ""
		}
		n.found[permission] = true
	}
}

func (n *needs) add(on []plan.Selection, verbs ...string) {
	for _, selection := range on {
		permission := n.permission(selection)
		for _, permission.Verb = range verbs {
			n.found[permission] = true
		}
	}
}

// permission is for what a selection has. A list of the one name that a field selector asks for, and nothing else, is
// authorized as that of the object.
func (n *needs) permission(on plan.Selection) plan.Permission {
	out := plan.Permission{Resource: on.GVR.GroupResource(), Namespace: on.Namespace}
	if n.isOfCluster(on.GVR) {
		out.Namespace = ""
	}
	if parsed, err := fields.ParseSelector(on.FieldSelector); err == nil && len(parsed.Requirements()) == 1 {
		out.Name, _ = parsed.RequiresExactMatch("metadata.name")
	}
	return out
}

func (n *needs) isOfCluster(gvr schema.GroupVersionResource) bool {
	kind, known := n.kinds[gvr]
	return known && !kind.Namespaced
}

// allSteps are those of a living object, then those of one that is being deleted.
func (r *Rule) allSteps() []*action.Step {
	if r.onDelete == nil {
		return r.steps
	}
	return slices.Concat(r.steps, r.onDelete.steps)
}

// sensitive is a kind of objects that rules write only where an administrator has
// allowed it: whoever can write them can gain rights, or bring a cluster down.
type sensitive struct {
	name     string
	group    string
	resource string // empty for all of the group
}

// sensitiveKinds is what may not be written unasked, in whatever version.
var sensitiveKinds = []sensitive{
	{name: "apiservices", group: "apiregistration.k8s.io"},
	{name: "certificates", group: "certificates.k8s.io"},
	{name: "crds", group: "apiextensions.k8s.io"},
	{name: "leases", group: "coordination.k8s.io"},
	{name: "rbac", group: "rbac.authorization.k8s.io"},
	{name: "rules", group: "dyncontroller.dev"},
	{name: "secrets", resource: "secrets"},
	{name: "webhooks", group: "admissionregistration.k8s.io"},
}

// SensitiveKinds lists the names of what rules may write only where it is allowed, in
// order.
func SensitiveKinds() []string {
	out := make([]string, len(sensitiveKinds))
	for i, kind := range sensitiveKinds {
		out[i] = kind.name
	}
	return out
}

// SensitiveKind names the kind of [SensitiveKinds] that the objects of a resource are of,
// in whatever version, "" for none.
func SensitiveKind(of schema.GroupResource) string {
	at := slices.IndexFunc(sensitiveKinds, func(kind sensitive) bool {
		return kind.group == of.Group && (kind.resource == "" || kind.resource == of.Resource)
	})
	if at < 0 {
		return ""
	}
	return sensitiveKinds[at].name
}

// sensitiveFindings are mistakes where the rule writes what whoever runs it does not allow. Where that is not decided yet, they are
// notes, one for each kind.
func (r *Rule) sensitiveFindings(allowed func(kind string) bool) (out document.Errors) {
	told := map[string]bool{}
	found := func(kind string, at *document.Node, what string) {
		if allowed != nil && allowed(kind) || allowed == nil && told[kind] {
			return
		}
		told[kind] = true
		finding := at.Errorf("run with --allow-sensitive="+kind, "%s, which must be allowed where the rules run", what).Coded(document.CodeSensitive)
		if allowed == nil {
			finding = finding.Note()
		}
		out = append(out, finding)
	}
	for _, gvr := range r.watched {
		if kind := SensitiveKind(gvr.GroupResource()); kind != "" && r.holds() {
			found(kind, r.source.Node().Key("onDelete"), "a finalizer is put on "+plan.ResourceName(gvr))
		}
	}
	steps := r.allSteps()
	for i, step := range r.effects().steps {
		ofStep := map[string]bool{}
		for _, request := range step.Requests {
			kind := SensitiveKind(request.Resource.GroupResource())
			if kind != "" && !ofStep[kind] && request.Writes() {
				ofStep[kind] = true
				what := strings.TrimSuffix(plan.ResourceName(request.Resource)+"/"+request.Subresource, "/") + " are written"
				found(kind, steps[i].Node().Key(steps[i].Kind()), what)
			}
		}
	}
	return out.Bounded()
}
