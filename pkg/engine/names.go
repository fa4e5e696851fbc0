package engine

import (
	"maps"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// randomLength is how many characters the API server adds to a generateName.
const randomLength = 5

// RandomName makes a name as the API server does of a generateName. The engine
// chooses it, so that a request whose answer was lost can be sent again without
// making a second object.
func RandomName(prefix string) string {
	return prefix[:min(len(prefix), validation.DNS1123LabelMaxLength-randomLength)] + rand.String(randomLength)
}

// generateName is the beginning of the name that a new object asks for, empty where
// it has one.
func generateName(operation plan.Operation) string {
	if operation.Type != plan.Create {
		return ""
	}
	fields, _ := operation.Body.(map[string]any)
	if textOf(fields, "name") != "" {
		return ""
	}
	return textOf(fields, "generateName")
}

// called returns the operation under a name.
func called(operation plan.Operation, name string) plan.Operation {
	fields, _ := operation.Body.(map[string]any)
	metadata, _ := fields["metadata"].(map[string]any)
	metadata, fields = maps.Clone(metadata), maps.Clone(fields)
	metadata["name"] = name
	fields["metadata"] = metadata
	operation.Body, operation.Target.Name = fields, name
	return operation
}

// purpose is what a generated name is for. It is comparable.
type purpose struct {
	rule              plan.Rule
	gvr               schema.GroupVersionResource
	namespace, prefix string
}

func purposeOf(operation plan.Operation, prefix string) purpose {
	return purpose{operation.Rules[0], operation.Target.GVR, operation.Target.Namespace, prefix}
}

// unresolved are generated names whose objects may have been made, by what they are for.
type unresolved map[purpose][]string

// take returns such a name once, empty where there is none.
func (n *unresolved) take(prefix string, operation plan.Operation) string {
	of := purposeOf(operation, prefix)
	known := (*n)[of]
	switch len(known) {
	case 0:
		return ""
	case 1:
		delete(*n, of)
	default:
		(*n)[of] = known[1:]
	}
	return known[0]
}

// keep notes the name of an operation.
func (n *unresolved) keep(sent sending) {
	if *n == nil {
		*n = unresolved{}
	}
	purpose := purposeOf(sent.Operation, sent.prefix)
	(*n)[purpose] = append((*n)[purpose], sent.Target.Name)
}

// isOurs reports whether an object is one that the rule made for the watched one.
func (a *attempt) isOurs(operation plan.Operation, object map[string]any) bool {
	rule := operation.Rules[0]
	return labelOf(object, plan.LabelSet) == rule.SetID() && labelOf(object, plan.LabelRule) == rule.Name &&
		labelOf(object, plan.LabelOwnerUID) == string(a.record.uid)
}
