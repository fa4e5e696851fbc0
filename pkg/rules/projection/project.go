package projection

import (
	"encoding/json"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// Project returns the object with nothing but the fields, as [Fields.Decode] makes it of the object in JSON. A list of which single
// elements or their fields are kept has its length, and nil in the place of the other elements.
//
// Of metadata.managedFields the entries are kept whole that our Apply requests have made: without them the engine could not see
// after a restart that an apply changes nothing. Where rules read none of managedFields, the fieldsV1 of these entries is kept as a
// string of JSON, because it is seldom looked at. [plan.FieldSet] parses it. The entries of others are empty but for what rules read of
// them. They keep their places, because fields are given up by index. Where no entry is ours, and rules read none, there are no
// managedFields.
//
// An object of which rules have changed fields for a while is kept whole: the annotation says which fields are to be restored.
//
// The object is not changed, and the result shares nothing with it. Nil fields give the object itself. Projecting it again gives the same.
func (f *Fields) Project(object map[string]any) map[string]any {
	if f == nil {
		return object
	}
	data, _ := json.Marshal(object) // It came from JSON.
	projected, _ := decode(f.root, data).(map[string]any)
	return projected
}

// ours is the node of an entry of managedFields that is ours.
func (n *node) ours() *node {
	if n.read {
		return whole
	}
	return ownEntry
}

// isOurs reports whether an entry of managedFields is of a rule that has made it by an apply.
func isOurs(operation, manager any) bool {
	name, _ := manager.(string)
	return operation == "Apply" && strings.HasPrefix(name, plan.FieldManager+"/")
}

// hasOurs reports whether some of managedFields are ours.
func hasOurs(managedFields any) bool {
	entries, _ := managedFields.([]any)
	for _, element := range entries {
		if entry, _ := element.(map[string]any); isOurs(entry["operation"], entry["manager"]) {
			return true
		}
	}
	return false
}
