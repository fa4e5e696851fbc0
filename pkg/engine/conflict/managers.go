package conflict

import (
	"strings"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// managerOf names who owns a field of an object, as its managedFields say: where there are
// several, the one that has written last. Of the object as a whole it is who was there
// first, and has made it.
func managerOf(object map[string]any, path plan.Path) Rival {
	var name string
	var at time.Time
	for _, manager := range plan.Managers(object, path) {
		written := timeOf(manager)
		better := written.After(at)
		if len(path) == 0 {
			better = written.Before(at)
		}
		if name == "" || better {
			name, at = manager.Name, written
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
func timeOf(manager plan.Manager) time.Time {
	at, err := time.Parse(time.RFC3339, manager.Time)
	if err != nil {
		return time.Time{}
	}
	return at
}
