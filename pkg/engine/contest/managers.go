package contest

import (
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// managerOf names who owns a field of an object, as its managedFields say: where there are
// several, the one that has written last. Of the object as a whole it is who was there
// first, and has made it.
func managerOf(object map[string]any, path plan.Path) Rival {
	metadata, _ := object["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	var name string
	var at time.Time
	for _, item := range entries {
		entry, _ := item.(map[string]any)
		fields, _ := entry["fieldsV1"].(map[string]any)
		if !owns(fields, path) {
			continue
		}
		written := timeOf(entry)
		better := written.After(at)
		if len(path) == 0 {
			better = written.Before(at)
		}
		if name == "" || better {
			name, at = plan.Text(entry, "manager"), written
		}
	}
	switch {
	case name == "":
		return Rival{Kind: Unknown}
	case name == plan.FieldManager || strings.HasPrefix(name, plan.FieldManager+"/"):
		// Rules of one identity are known by what they write; others have the same name.
		return Rival{Kind: OtherIdentity}
	default:
		return Rival{Kind: Manager, Manager: name}
	}
}

// timeOf is zero where an entry has none.
func timeOf(entry map[string]any) time.Time {
	at, err := time.Parse(time.RFC3339, plan.Text(entry, "time"))
	if err != nil {
		return time.Time{}
	}
	return at
}

// owns reports whether a tree of fieldsV1 has a field. One without children is owned with
// all that is in it, and an ancestor of what is asked for is not.
func owns(fields map[string]any, path plan.Path) bool {
	if fields == nil {
		return false
	}
	for i, step := range path {
		below, isMap := fields["f:"+step].(map[string]any)
		if !isMap {
			return i > 0 && len(fields) == 0
		}
		fields = below
	}
	return true
}
