package projection

import (
	"encoding/json"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
)

// Project returns the object with nothing but the fields. Scalars are kept as they are. A list of which single elements or
// their fields are kept has its length, and nil in the place of the other elements.
//
// Of metadata.managedFields the entries are kept whole that our Apply requests have made: without them the engine could not see
// after a restart that an apply changes nothing. Where rules read none of managedFields, the fieldsV1 of these entries is kept as a
// string of JSON, because it is seldom looked at. [plan.FieldSet] parses it. The entries of others are empty but for what rules read of
// them. They keep their places, because fields are given up by index. Where no entry is ours, and rules read none, there are no
// managedFields.
//
// The object is not changed. The result may share values with it and must not be changed either. Projecting it again gives the
// same.
func (f *Fields) Project(object map[string]any) map[string]any {
	if f == nil {
		return object
	}
	return f.root.projectMap(object)
}

func (n *node) project(v any) any {
	if n == nil {
		return nil
	}
	if fields, isMap := v.(map[string]any); isMap && n.text {
		text, _ := json.Marshal(fields) // It came from JSON.
		return string(text)
	}
	if n.strength == footprint.Value || n.text {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		return n.projectMap(v)
	case []any:
		return n.projectList(v)
	default:
		return v
	}
}

// ours is the node of an entry of managedFields that is ours.
func (n *node) ours() *node {
	if n.read {
		return whole
	}
	return ownEntry
}

func (n *node) projectMap(m map[string]any) map[string]any {
	projected := make(map[string]any, min(len(n.fields), len(m)))
	if n.strength == footprint.Length || n.values != nil {
		for key, v := range m {
			if below := n.field(key); below != nil || n.strength == footprint.Length {
				below.put(projected, key, v)
			}
		}
		return projected
	}
	for key, below := range n.fields {
		if v, found := m[key]; found {
			below.put(projected, key, v)
		}
	}
	return projected
}

// put adds a field to a projected map. The node is that of the field.
func (n *node) put(projected map[string]any, key string, v any) {
	v = n.project(v)
	if n != nil && n.managed && !n.read && !hasOurs(v) {
		return
	}
	projected[key] = v
}

func (n *node) projectList(list []any) []any {
	if !n.places && !n.managed {
		return []any{}
	}
	projected := make([]any, len(list))
	for i, v := range list {
		projected[i] = n.projectElement(i, v)
	}
	return projected
}

func (n *node) projectElement(i int, v any) any {
	below := n.element(i)
	entry, isMap := v.(map[string]any)
	_, isText := v.(string)
	switch {
	case n.managed && isOurs(entry["operation"], entry["manager"]):
		return n.ours().project(v)
	case n.managed && isMap && below == nil:
		return map[string]any{}
	case below != nil:
		return below.project(v)
	case isText && n.texts:
		return v
	default:
		return nil
	}
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
