package doubt

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/action"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/clause"
)

// overwritten warns of a field that every element of forEach sets on one object. Where
// when asks for the element, it may be meant for one of them.
func (r *Rule) overwritten() (out document.Errors) {
	for i, step := range r.Steps {
		loop := step.Loop()
		if loop == nil || r.chosen(loop) || step.When() != nil && slices.ContainsFunc(step.When().Program().Names(), loop.InLoop) {
			continue
		}
		for _, write := range r.Effects[i].Writes {
			if !loop.InLoop(write.Target) && slices.ContainsFunc(write.Names, loop.InLoop) && !write.Merges {
				out = append(out, overwrites(write))
				break
			}
		}
	}
	return out
}

// chosen reports whether the list of a loop is what filter or take leaves of another: that
// may be one element, as with a condition.
func (r *Rule) chosen(loop *action.Loop) bool {
	list, err := expression.CompileTemplate(loop.List.Text(), r.Names.Scope())
	if err != nil {
		return false
	}
	parts, alone := list.Parts()
	return alone && clause.Calls(parts[0].Program, terms{rule: r}, "filter", "take")
}

func overwrites(write action.Write) *document.Error {
	return write.Node.Errorf("build the value from the whole list, as in ${join(map(...), \",\")}, or make the element the target",
		"each element of forEach sets %s of the same object, and only the last stays", write.Path).Coded(document.CodeConflict).Warn()
}
