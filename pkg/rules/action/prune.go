package action

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Prune adds the deletion of what the rule applied for the object before, of one
// resource, and no longer wants. What was adopted is
// released instead. It is for once all actions of the rule have been evaluated,
// or wanted nothing: an action that failed would leave its children unwanted.
func Prune(e *Evaluation, from []plan.Selection) error {
	found, err := e.read(nil, plan.Read{From: from, By: plan.ByLabels, Labels: childrenOf(e)})
	if err != nil {
		return err
	}
	for _, current := range found {
		object, _, _ := e.Related.Origin(current)
		if e.wants(object) || plan.BeingDeleted(current) || !appliedBy(e.Rule.FieldManager(), current) {
			continue
		}
		wish := plan.Wish{Rule: e.Rule, Target: object, Current: current}
		if plan.Annotation(current, plan.AdoptedAnnotation) == "" {
			wish.Type, wish.Body = plan.Delete, plan.Deletion{PropagationPolicy: string(background)}
		} else {
			wish.Type, wish.Body = plan.JSON, plan.Release(e.Rule, e.Object.UID, current)
			wish.Confirm = e.Related.Missed() // Unlike other patches it cannot be taken back.
		}
		e.Wishes = append(e.Wishes, wish)
	}
	return nil
}

func childrenOf(e *Evaluation) string {
	return labels.Set{
		plan.LabelSet:      e.Rule.SetID(),
		plan.LabelRule:     e.Rule.Name,
		plan.LabelOwnerUID: string(e.Object.UID),
	}.String()
}

func (e *Evaluation) wants(object plan.Object) bool {
	return slices.ContainsFunc(e.Children, func(child plan.Object) bool { return called(child, object) })
}

// appliedBy tells what a rule applied from what it created, which has the same
// labels and is never pruned.
func appliedBy(manager string, object map[string]any) bool {
	metadata, _ := object["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	return slices.ContainsFunc(entries, func(element any) bool {
		entry, _ := element.(map[string]any)
		return entry["manager"] == manager && entry["operation"] == "Apply"
	})
}
