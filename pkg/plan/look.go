package plan

import (
	"strconv"

	"k8s.io/apimachinery/pkg/types"
)

// Lookup follows a path through maps and lists.
func Lookup(value any, path Path) (found any, ok bool) {
	for _, step := range path {
		switch at := value.(type) {
		case map[string]any:
			if value, ok = at[step]; !ok {
				return nil, false
			}
		case []any:
			index, err := strconv.Atoi(step)
			if err != nil || index < 0 || index >= len(at) {
				return nil, false
			}
			value = at[index]
		default:
			return nil, false
		}
	}
	return value, true
}

// LookupPointer returns the value that a JSON pointer leads to, nil where there
// is none.
func LookupPointer(value any, pointer string) any {
	path, ok := parsePointer(pointer)
	if !ok {
		return nil
	}
	found, _ := Lookup(value, path)
	return found
}

// Text is the string at a path, empty where there is none.
func Text(object map[string]any, path ...string) string {
	value, _ := Lookup(object, path)
	found, _ := value.(string)
	return found
}

// Label is the text of an object's label, empty where there is none.
func Label(object map[string]any, key string) string {
	return Text(object, "metadata", "labels", key)
}

// GivenNames are the namespace and the name of an object. There are none where rules made it:
// they may have them from a Secret.
func GivenNames(object map[string]any) []string {
	if Label(object, LabelSet) != "" {
		return nil
	}
	return []string{Text(object, "metadata", "namespace"), Text(object, "metadata", "name")}
}

// Annotation is the same for an annotation.
func Annotation(object map[string]any, key string) string {
	return Text(object, "metadata", "annotations", key)
}

// elements are the maps of a list at a path; what is no map is nil, so that the
// indexes are those of the list.
func elements(object map[string]any, path ...string) []map[string]any {
	value, _ := Lookup(object, path)
	list, _ := value.([]any)
	out := make([]map[string]any, len(list))
	for i, element := range list {
		out[i], _ = element.(map[string]any)
	}
	return out
}

// ControllerUID is the uid of the object's controller, empty where it has none.
func ControllerUID(object map[string]any) types.UID {
	value, _ := Lookup(object, Path{"metadata", "ownerReferences"})
	references, _ := value.([]any)
	for _, element := range references {
		if reference, _ := element.(map[string]any); isController(reference) {
			return types.UID(Text(reference, "uid"))
		}
	}
	return ""
}

func isController(reference map[string]any) bool {
	controls, _ := reference["controller"].(bool)
	return controls
}
