package rules

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
)

// restore tells the patches for a while of all the others, and restores what the rule has changed of the object before and does not ask for any
// more. It is unknown what the rule asks for after an action that is refused.
func (t *ruleEvaluation) restore(unknown bool) {
	var asked []plan.Wish
	for _, wish := range t.action.Wishes {
		if wish.Restoring != nil {
			wish.Restoring = nil
			asked = append(asked, wish)
		}
	}
	through := 0
	for i := range t.action.Wishes {
		if wish := &t.action.Wishes[i]; wish.Restoring != nil {
			through++
			*wish.Restoring = plan.Restoring{Asked: asked, Through: through, Unknown: unknown} // An explanation has the same.
		}
	}
	if len(asked) == 0 && !unknown && !t.rule.Audited() {
		t.restoreAll()
	}
}

// restoreAll restores what the rule has changed of the object for a while.
func (t *ruleEvaluation) restoreAll() {
	if t.rule.ID.Restores(t.action.Current) {
		t.freed = append(t.freed, plan.Restore(t.rule.ID, t.action.Object, t.action.Current))
	}
}

// restores reports whether the rule changes objects for a while.
func (r *Rule) restores() bool {
	return slices.ContainsFunc(r.effects().steps, func(e action.Effects) bool { return e.Restores != nil })
}
