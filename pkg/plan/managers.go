package plan

import (
	"strconv"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Manager is a field manager as an entry of managedFields names it (KEP-555).
type Manager struct {
	Name        string
	Operation   string // Update or Apply
	Subresource string // empty for none
	Time        string // RFC 3339, of its last write; may be empty
}

// Managers lists the field managers that own what is at a path of the object, or something
// below it, as its managedFields say. Of an empty path these are all.
func Managers(object map[string]any, path Path) []Manager {
	var out []Manager
	for _, entry := range elements(object, "metadata", "managedFields") {
		fields, _ := entry["fieldsV1"].(map[string]any)
		if len(fields) > 0 && owns(fields, object, path) {
			out = append(out, Manager{
				Name: Text(entry, "manager"), Operation: Text(entry, "operation"),
				Subresource: Text(entry, "subresource"), Time: Text(entry, "time"),
			})
		}
	}
	return out
}

// owns follows a path through a tree of FieldsV1, beside the value that it is about. What
// has nothing below it in the tree is owned as a whole.
func owns(fields map[string]any, value any, path Path) bool {
	if len(path) == 0 || len(fields) == 0 {
		return true
	}
	at, _ := Lookup(value, path[:1])
	for name, below := range fields {
		tree, isTree := below.(map[string]any)
		if isTree && leads(name, path[0], value, at) && owns(tree, at, path[1:]) {
			return true
		}
	}
	return false
}

// leads reports whether an entry of FieldsV1 is about a step of a path: "f:" with a key,
// "i:" with an index, "k:" and "v:" with what tells an element of a list.
func leads(name, step string, within, at any) bool {
	kind, key, _ := strings.Cut(name, ":")
	switch kind {
	case "f":
		_, isList := within.([]any)
		return key == step && !isList
	case "i":
		return key == step
	}
	if _, isList := within.([]any); !isList {
		return false
	}
	if _, err := strconv.Atoi(step); err != nil {
		return false
	}
	var wanted any
	if utiljson.Unmarshal([]byte(key), &wanted) != nil {
		return false
	}
	switch kind {
	case "v":
		return wanted == at && isScalar(at)
	case "k":
		return has(at, wanted)
	default:
		return false
	}
}

// has reports whether an element of a list has the key of an entry.
func has(element, key any) bool {
	object, isMap := element.(map[string]any)
	pairs, isKey := key.(map[string]any)
	for name, value := range pairs {
		if !isScalar(value) || !isScalar(object[name]) || object[name] != value {
			return false
		}
	}
	return isMap && isKey
}

func isScalar(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return false
	default:
		return true
	}
}
