package plan

import (
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Manager is a field manager as an entry of managedFields names it (KEP-555).
type Manager struct {
	Name        string
	Operation   string // Update or Apply
	Subresource string // empty for none
	Time        string // RFC 3339, of its last write; may be empty
}

// FieldSet returns what an entry of managedFields owns, as a tree of FieldsV1 (KEP-555), nil for none. A cache may keep it as a string
// of JSON. The tree may be shared: read only.
func FieldSet(entry map[string]any) map[string]any {
	text, isText := entry["fieldsV1"].(string)
	if !isText {
		tree, _ := entry["fieldsV1"].(map[string]any)
		return tree
	}
	var tree map[string]any
	if err := utiljson.Unmarshal([]byte(text), &tree); err != nil {
		return nil // The API server sends none that is not JSON.
	}
	return tree
}

// Managers lists the field managers that own what is at a path of the object, or something
// below it, as its managedFields say. Of an empty path these are all.
//
// Who has made a map owns the map alone once others have set what was in it. The entry looks
// like that of somebody who owns the map with all that is in it, so it counts only where
// nobody owns more of the path.
func Managers(object map[string]any, path Path) []Manager {
	var out []Manager
	most := 0
	for _, entry := range elements(object, "metadata", "managedFields") {
		fields := FieldSet(entry)
		if len(fields) == 0 {
			continue
		}
		steps, owns := owned(fields, object, path)
		if !owns || steps < most {
			continue
		}
		if steps > most {
			out, most = nil, steps
		}
		out = append(out, Manager{
			Name: Text(entry, "manager"), Operation: Text(entry, "operation"),
			Subresource: Text(entry, "subresource"), Time: Text(entry, "time"),
		})
	}
	return out
}

// owned follows a path through a tree of FieldsV1, beside the value that it is about, and
// reports how many steps lead to what is owned. What has nothing below it in the tree may be
// owned as a whole.
func owned(fields map[string]any, value any, path Path) (steps int, owns bool) {
	if len(path) == 0 || len(fields) == 0 {
		return 0, true
	}
	at, _ := Lookup(value, path[:1])
	for name, below := range fields {
		tree, isTree := below.(map[string]any)
		if step, known := stepOf(value, name, false); !isTree || !known || step != path[0] {
			continue
		}
		if further, is := owned(tree, at, path[1:]); is {
			steps, owns = max(steps, further+1), true
		}
	}
	return steps, owns
}

func isScalar(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return false
	default:
		return true
	}
}
