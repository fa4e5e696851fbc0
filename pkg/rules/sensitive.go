package rules

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
)

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
		for _, gvr := range r.watchedResources() {
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
