package doubt

import (
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/body"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/clause"
	"github.com/dyncontroller/dyncontroller/pkg/rules/relation"
)

// unlimited warns of deletions without a blast radius.
func (r *Rule) unlimited() (out document.Errors) {
	if r.Source.Limits != nil || r.audited() {
		return nil
	}
	for _, n := range r.Source.Actions {
		if key := n.Key("delete"); key != nil {
			out = append(out, key.Errorf(`add limits: {maxObjects: 10%} to the rule, or "100%" to consent to all`,
				"the rule %q deletes, and has no limits: a mistake in it may delete everything", r.ID.Name).Coded(document.CodeUnlimitedDelete).Warn())
		}
	}
	return out
}

// pruneLoops warns of a rule that prunes objects which its own condition looks at: once
// it has made them, the condition may turn false, and then they go again.
func (r *Rule) pruneLoops(work *clause.Work) (out document.Errors) {
	for i, step := range r.Steps {
		declared, prune := step.Applies()
		if declared == nil || !prune {
			continue
		}
		for _, related := range r.asked(step, work) {
			manifest, owned := step.Manifest()
			if related.Declaration().GVR != declared.GVR || !related.Finds(manifest, owned) {
				continue
			}
			at := r.Source.Actions[i].Get("apply")
			if key := at.Get("prune"); key != nil {
				at = key
			}
			out = append(out, at.Errorf("let when ask other objects, or leave prune out",
				"the rule prunes what its own when depends on: %q of with may find the very %s that this action makes",
				related.Name(), declared.GVR.Resource).Coded(document.CodePruneLoop).Warn())
			break
		}
	}
	return out
}

// asked lists the relations that decide whether a step is done, as far as the work goes.
func (r *Rule) asked(step *action.Step, work *clause.Work) []*relation.Relation {
	seen := map[string]bool{}
	var out []*relation.Relation
	var follow func(names []string)
	follow = func(names []string) {
		for _, name := range names {
			if seen[name] || !work.Spend(1) {
				continue
			}
			seen[name] = true
			d := r.Names.Lookup(name)
			if d == nil {
				continue
			}
			if d.Related != nil {
				out = append(out, d.Related)
			}
			follow(d.Uses())
		}
	}
	for _, condition := range []*body.Expression{r.When, step.When()} {
		if condition != nil {
			follow(condition.Program().Names())
		}
	}
	return out
}
