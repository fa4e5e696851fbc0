package rules

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
)

// warnings returns what is suspicious of rules that are right one by one.
func warnings(all []*Rule) document.Errors {
	active := slices.DeleteFunc(slices.Clone(all), func(r *Rule) bool { return r.suspended() })
	traced := make([]*trail, len(active))
	var out document.Errors
	for i, rule := range active {
		traced[i] = rule.trail()
		out = append(out, rule.unlimited()...)
		out = append(out, rule.pruneLoops()...)
		out = append(out, rule.slips()...)
		out = append(out, traced[i].overwritten()...)
	}
	out = append(out, conflicts(traced)...)
	return append(out, cycles(traced)...)
}

// trail is what a rule reads and writes.
type trail struct {
	rule     *Rule
	accesses []*footprint.Access
	traces   action.Traces
}

func (r *Rule) trail() *trail {
	f := r.footing()
	return &trail{rule: r, accesses: f.out.All(), traces: action.Traces{Footprint: f.out, Shapes: f, Watched: r.watchedResources()}}
}

// unlimited warns of deletions without a blast radius.
func (r *Rule) unlimited() (out document.Errors) {
	if r.source.Limits != nil || r.audited() {
		return nil
	}
	for _, n := range r.source.Actions {
		if key := n.Key("delete"); key != nil {
			out = append(out, key.Errorf(`add limits: {maxObjects: 10%} to the rule, or "100%" to consent to all`,
				"the rule %q deletes, and has no limits: a mistake in it may delete everything", r.ID.Name).Coded(document.CodeUnlimitedDelete).Warn())
		}
	}
	return out
}

// pruneLoops warns of a rule that prunes objects which its own condition looks at: once
// it has made them, the condition may turn false, and then they go again.
func (r *Rule) pruneLoops() (out document.Errors) {
	for i, step := range r.steps {
		declared, prune := step.Applies()
		if declared == nil || !prune {
			continue
		}
		for _, related := range r.asked(step) {
			manifest, owned := step.Manifest()
			if related.Declaration().GVR != declared.GVR || !related.Finds(manifest, owned) {
				continue
			}
			out = append(out, pruneOf(r.source.Actions[i]).Errorf("let when ask other objects, or leave prune out",
				"the rule prunes what its own when depends on: %q of with may find the very %s that this action makes",
				related.Name(), declared.GVR.Resource).Coded(document.CodePruneLoop).Warn())
			break
		}
	}
	return out
}

// asked lists the relations that decide whether a step is done.
func (r *Rule) asked(step *action.Step) []*relation.Relation {
	seen := map[string]bool{}
	var out []*relation.Relation
	var follow func(names []string)
	follow = func(names []string) {
		for _, name := range names {
			if seen[name] {
				continue
			}
			seen[name] = true
			d := r.definition(name)
			if d == nil {
				continue
			}
			if d.related != nil {
				out = append(out, d.related)
			}
			follow(d.uses())
		}
	}
	for _, condition := range []*body.Expression{r.when, step.When()} {
		if condition != nil {
			follow(condition.Program().Names())
		}
	}
	return out
}
