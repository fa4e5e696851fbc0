package rules

import (
	"strconv"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// owners lists the field managers that own what is at a path of the object, or something
// below it, as its managedFields say.
func owners(object map[string]any, path plan.Path) []trace.Owner {
	found, _ := plan.Lookup(object, plan.Path{"metadata", "managedFields"})
	entries, _ := found.([]any)
	var out []trace.Owner
	for _, element := range entries {
		entry, _ := element.(map[string]any)
		fields, _ := entry["fieldsV1"].(map[string]any)
		if len(fields) > 0 && owns(fields, object, path) {
			out = append(out, trace.Owner{
				Manager: plan.Text(entry, "manager"), Operation: plan.Text(entry, "operation"),
				Subresource: plan.Text(entry, "subresource"), Time: plan.Text(entry, "time"),
			})
		}
	}
	return out
}

// owns follows a path through a tree of FieldsV1, beside the value that it is about. What
// has nothing below it in the tree is owned as a whole.
func owns(fields map[string]any, value any, path plan.Path) bool {
	if len(path) == 0 || len(fields) == 0 {
		return true
	}
	at, _ := plan.Lookup(value, path[:1])
	for name, below := range fields {
		tree, _ := below.(map[string]any)
		if leads(name, path[0], value, at) && owns(tree, at, path[1:]) {
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
		_, isMap := within.(map[string]any)
		return key == step && isMap
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
