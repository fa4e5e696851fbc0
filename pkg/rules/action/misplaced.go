package action

import (
	"fmt"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// bodyHint says where something belongs that is written beside the body of a patch.
func bodyHint(key, given string) string {
	switch key {
	case "spec", "metadata", "status", "data":
		return fmt.Sprintf("put it into a body: merge: {%s: ...}", key)
	case "type":
		if given == "json" || given == "apply" {
			return fmt.Sprintf("the type is the name of the body: %s: ...", given)
		}
		return "the type is the name of the body: merge: {spec: ...}"
	case "strategicMerge", "strategic", "patchStrategicMerge":
		return "write apply, which merges lists by their keys, or merge, which replaces them"
	case "patchesJson6902", "jsonPatch", "json6902":
		return "write json: [{op: replace, path: /spec/replicas, value: 3}]"
	default:
		return ""
	}
}

// pointerHint writes a path with dots as a JSON pointer; it is "" for other texts.
func pointerHint(path string) string {
	if path == "" || strings.ContainsAny(path, "/$[ ") {
		return ""
	}
	return "write /" + value.Excerpt(strings.ReplaceAll(path, ".", "/"))
}
