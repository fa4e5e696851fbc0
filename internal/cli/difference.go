package cli

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// difference is how two sets of rules differ, by the names of the rules.
type difference struct {
	added, removed []plan.Rule
	kept           int
}

// compare takes nil for no rules.
func compare(before, after *rules.Set) difference {
	old, now := before.IDs(), after.IDs()
	var out difference
	for _, rule := range now {
		if slices.Contains(old, rule) {
			out.kept++
			continue
		}
		out.added = append(out.added, rule)
	}
	for _, rule := range old {
		if !slices.Contains(now, rule) {
			out.removed = append(out.removed, rule)
		}
	}
	return out
}
