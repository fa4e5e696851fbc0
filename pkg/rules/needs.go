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
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
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
	if !r.Suspended() && !r.Audited() {
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

// sensitive is a kind of objects that rules write only where an administrator has
// allowed it: whoever can write them can gain rights, or bring a cluster down.
type sensitive struct {
	name        string
	group       string
	resource    string // empty for all of the group
	subresource string // empty for the resource and all of its subresources
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
	{name: "tokens", resource: "serviceaccounts", subresource: "token"},
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
func SensitiveKind(of schema.GroupResource) string { return sensitiveKind(of, "") }

// sensitiveKind names the kind that a subresource of a resource is of, "" for none.
func sensitiveKind(of schema.GroupResource, subresource string) string {
	at := slices.IndexFunc(sensitiveKinds, func(kind sensitive) bool {
		return kind.group == of.Group && (kind.resource == "" || kind.resource == of.Resource) &&
			(kind.subresource == "" || kind.subresource == subresource)
	})
	if at < 0 {
		return ""
	}
	return sensitiveKinds[at].name
}

// refuseSensitive returns what the rule writes that whoever runs it does not allow.
func (r *Rule) refuseSensitive(options Options) (errs document.Errors) {
	if options.Sensitive == nil {
		return nil
	}
	for _, w := range r.sensitiveWrites() {
		if !options.Sensitive(w.kind) {
			errs = append(errs, w.found())
		}
	}
	return errs.Bounded()
}

// sensitiveNotes say, once for each rule, what whoever runs it has to allow. Where that
// is decided already there are none.
func sensitiveNotes(all []*Rule, options Options) (notes document.Errors) {
	if options.Sensitive != nil {
		return nil
	}
	for _, rule := range all {
		told := map[string]bool{}
		for _, w := range rule.sensitiveWrites() {
			if !told[w.kind] {
				told[w.kind] = true
				notes = append(notes, w.found().Note())
			}
		}
		notes = notes.Bounded()
	}
	return notes
}

// sensitiveWrite is where a rule writes objects of a sensitive kind.
type sensitiveWrite struct {
	kind string
	at   *document.Node
	what string // is written, and how where at does not say it
}

func (w sensitiveWrite) found() *document.Error {
	return w.at.Errorf("run with --allow-sensitive="+w.kind, "%s, which must be allowed where the rules run", w.what).
		Coded(document.CodeSensitive)
}

// sensitiveWrites lists what the rule can write of sensitive kinds: each kind once for
// each action, and the finalizer of onDelete.
func (r *Rule) sensitiveWrites() (out []sensitiveWrite) {
	if r.holds() {
		for _, gvr := range r.watched {
			if kind := sensitiveKind(gvr.GroupResource(), ""); kind != "" {
				what := "a finalizer is put on " + plan.ResourceName(gvr)
				out = append(out, sensitiveWrite{kind, r.source.Node().Key("onDelete"), what})
			}
		}
	}
	if !r.declaresSensitive() {
		return nil // What is written is declared.
	}
	nodes, steps := r.actions(), r.allSteps()
	for i, step := range r.effects().steps {
		told := map[string]bool{}
		for _, request := range step.Requests {
			kind := sensitiveKind(request.Resource.GroupResource(), request.Subresource)
			if kind == "" || told[kind] || !request.Writes() {
				continue
			}
			told[kind] = true
			what := strings.TrimSuffix(plan.ResourceName(request.Resource)+"/"+request.Subresource, "/") + " are written"
			out = append(out, sensitiveWrite{kind, nodes[i].Key(steps[i].Kind()), what})
		}
	}
	return out
}

// declaresSensitive reports whether the set of the rule declares a resource that is
// sensitive, or has a subresource that is.
func (r *Rule) declaresSensitive() bool {
	return slices.ContainsFunc(r.set.Resources, func(declared spec.Resource) bool {
		return slices.ContainsFunc(sensitiveKinds, func(kind sensitive) bool {
			return sensitiveKind(declared.GVR.GroupResource(), kind.subresource) != ""
		})
	})
}

// actions are where the steps of [Rule.allSteps] are written.
func (r *Rule) actions() []*document.Node {
	if r.source.OnDelete == nil {
		return r.source.Actions
	}
	return slices.Concat(r.source.Actions, r.source.OnDelete.Actions)
}
