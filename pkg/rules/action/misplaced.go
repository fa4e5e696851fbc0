package action

import (
	"fmt"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// misplaced says where something belongs that is written beside the body of a patch.
func misplaced(n *document.Node, errs document.Errors) document.Errors {
	for _, entry := range n.Entries() {
		hint := bodyHint(entry.Key.Text(), entry.Value.Text())
		at := entry.Key.Position()
		for _, err := range errs {
			if hint != "" && err.Code == document.CodeUnknownField && err.Line == at.Line && err.Column == at.Column {
				err.Hint = hint
			}
		}
	}
	return errs
}

func bodyHint(key, value string) string {
	switch key {
	case "spec", "metadata", "status", "data":
		return fmt.Sprintf("put it into a body: merge: {%s: ...}", key)
	case "type":
		if value == "json" || value == "apply" {
			return fmt.Sprintf("the type is the name of the body: %s: ...", value)
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
	return "write /" + shortened(strings.ReplaceAll(path, ".", "/"))
}
