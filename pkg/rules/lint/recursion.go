package lint

import (
	"slices"

	kubernetes "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// recursion warns of a rule that makes another object for each one that it watches, also for what it has made. That is certain only
// where it does so without any condition, under a name that is always a new one, and sees all that it makes.
func (t *terms) recursion(r *Rule) (out document.Errors) {
	const hint = "give the resource that it watches a labelSelector, or the rule a when, that leaves out what the rule makes"
	if r.audited() {
		return nil
	}
	for _, step := range r.Steps {
		if step.Loop() != nil || !r.always(step) {
			continue
		}
		applied := step.Applies()
		switch {
		case applied != nil && applied.Name != nil && r.seesAll(applied) && (scope{t, r, nil}).isNew(applied.Name):
			out = append(out, applied.Name.Node().Errorf(hint, "the rule makes another of %s for each that it watches, also for those that it has made, and never stops",
				applied.Of.GVR.Resource).Coded(document.CodeRecursion).Warn())
		case step.Kind() == "event" && r.seesEvents(step):
			out = append(out, step.Node().Key("event").Errorf(hint, "the rule records an Event about each Event, also about those that it has recorded, and never stops").
				Coded(document.CodeRecursion).Warn())
		}
	}
	return out
}

// seesAll reports whether a rule watches whatever it applies.
func (r *Rule) seesAll(applied *action.Application) bool {
	namespace := applied.Manifest.Get("metadata").Get("namespace")
	here := namespace == nil || namespace.Text() == "${object.metadata.namespace}"
	return r.watchesAll(applied.Of.GVR.GroupResource(), func(s plan.Selection) bool { return here || s.Namespace == "" })
}

// seesEvents reports whether a rule watches whatever Event a step records. Two about one other object may be the same.
func (r *Rule) seesEvents(step *action.Step) bool {
	target := step.Node().Get("event").Get("target").Text()
	return (target == "" || target == "object") && slices.ContainsFunc([]string{"", "events.k8s.io"}, func(group string) bool {
		return r.watchesAll(kubernetes.GroupResource{Group: group, Resource: "events"}, func(plan.Selection) bool { return true })
	})
}

// watchesAll reports whether a rule watches a resource, and no selector leaves objects out.
func (r *Rule) watchesAll(of kubernetes.GroupResource, wide func(plan.Selection) bool) (watches bool) {
	for _, s := range r.Selections {
		if s.GVR.GroupResource() != of {
			continue
		}
		if s.LabelSelector != "" || s.FieldSelector != "" || !wide(s) {
			return false
		}
		watches = true
	}
	return watches
}

// isNew reports whether a name is certainly another one for each object, and for those that have got it: it is longer, or a hash.
func (s scope) isNew(name *template.Body) bool {
	all := name.Programs()
	if len(all) != 1 {
		return false
	}
	node, of := all[0].Root(), s.object([]string{"metadata", "name"})
	if s.hashes(node, of) || s.reads(node, s.object([]string{"metadata", "uid"})) {
		return true
	}
	if name.Alone() == nil {
		return s.reads(node, of) // There is more text around it.
	}
	return s.differs(node, of)
}

// hashes reports whether a value is a hash of a term, or a part of that.
func (s scope) hashes(node expression.Node, of int) bool {
	node = s.resolve(node)
	if n, is := node.(*expression.Path); is && len(n.Steps) == 1 && n.Steps[0].Kind == expression.BySlice {
		return s.hashes(n.Root, of)
	}
	argument := argumentOf(node, "sha256")
	return argument != nil && (s.reads(argument, of) || s.differs(argument, of))
}
