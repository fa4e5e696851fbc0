package compare

import (
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// The fields by which it is known whose child an object is.
var (
	ownerReferences = plan.Path{"metadata", "ownerReferences"}.String()
	ownerUID        = labelPath(plan.LabelOwnerUID)
	ownerLabels     = []string{ownerUID, labelPath(plan.LabelRule), labelPath(plan.LabelSet)}
)

func labelPath(label string) string { return plan.Path{"metadata", "labels", label}.String() }

// Ownership says in words what makes an object the child of a rule, among the fields that a rule adds: by their paths, with their values
// as [Show] writes them. They
// stand for the fields that it returns, in place of the first one. There are none for an object that is made no child.
//
// An owner reference counts if it is to the object that the rule watched, or if both are masked.
func Ownership(added map[string]string) (words string, fields []string) {
	for _, label := range ownerLabels {
		if _, there := added[label]; there {
			words, fields = "ownership (labels)", append(fields, label)
		}
	}
	references, owner := added[ownerReferences], added[ownerUID]
	one := strings.Count(references, `"uid":`) == 1 && strings.Contains(references, `"uid":`+owner)
	if owner != "" && (one || references == owner) {
		words, fields = "ownership (labels and ownerReferences)", append(fields, ownerReferences)
	}
	return words, fields
}

// WithOwnership has a [Remark] in place of what makes an object the child of a rule.
func WithOwnership(before, after map[string]any) map[string]any {
	added := map[string]string{}
	paths := []plan.Path{{"metadata", "ownerReferences"}}
	for label := range plan.LabelsOf(after) {
		paths = append(paths, plan.Path{"metadata", "labels", label})
	}
	for _, path := range paths {
		value, there := plan.Lookup(after, path)
		if _, was := plan.Lookup(before, path); there && !was {
			added[path.String()] = Show(value)
		}
	}
	words, fields := Ownership(added)
	if words == "" {
		return after
	}
	for _, path := range paths {
		if slices.Contains(fields, path.String()) {
			after = plan.WithField(after, path, nil)
		}
	}
	if len(plan.LabelsOf(after)) == 0 && plan.LabelsOf(before) == nil {
		after = plan.WithField(after, plan.Path{"metadata", "labels"}, nil)
	}
	metadata, _ := after["metadata"].(map[string]any)
	return plan.WithField(after, plan.Path{"metadata"}, Remarked(metadata, Remark(words)))
}
