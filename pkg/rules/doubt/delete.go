package doubt

import (
	"slices"

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
		applied := step.Applies()
		if applied == nil || !applied.Prune {
			continue
		}
		for _, related := range r.asked(step, work) {
			if !related.Finds(applied.Manifest, applied.Of, applied.Owned) {
				continue
			}
			at := r.Source.Actions[i].Get("apply")
			if key := at.Get("prune"); key != nil {
				at = key
			}
			out = append(out, at.Errorf("let when leave out what the rule itself has made, as controllerOf tells it, or ask other objects, or leave prune out",
				"the rule prunes what its own when depends on: %q of with may find the very %s that this action makes",
				related.Name(), applied.Of.GVR.Resource).Coded(document.CodePruneLoop).Warn())
			break
		}
	}
	return out
}

// asked lists the relations of which a step is done or not done by whether they find
// something, as far as the work goes. Where a condition asks for more of what is found, such
// as its controller, it may well be that the objects of the step make no difference to it.
func (r *Rule) asked(step *action.Step, work *clause.Work) []*relation.Relation {
	more, seen := map[string]bool{}, map[string]bool{}
	var found []*relation.Relation
	var follow func(names []string)
	read := func(x *body.Expression) {
		if x == nil {
			return
		}
		for name, alone := range clause.Presence(x.Program()) {
			more[name] = more[name] || !alone
		}
		follow(x.Program().Names())
	}
	follow = func(names []string) {
		for _, name := range names {
			d := r.Names.Lookup(name)
			if d == nil || seen[name] || !work.Spend(1) {
				continue
			}
			seen[name] = true
			if d.Related == nil {
				read(d.Value)
				continue
			}
			found = append(found, d.Related)
			follow(d.Uses())
		}
	}
	read(r.When)
	read(step.When())
	return slices.DeleteFunc(found, func(related *relation.Relation) bool { return more[related.Name()] })
}
