//go:build !operator

package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// pick returns the one rule or set that the user means, with as much of where it is before its name as tells it apart. A set is
// a rule without a name of its own.
func pick(what, written string, all []plan.Rule) (plan.Rule, error) {
	var found []plan.Rule
	var short, long []string
	for _, id := range all {
		name := id.Name
		if name == "" {
			name = id.Set
		}
		short, long = append(short, name), append(long, setOrRule(id))
		if strings.HasSuffix("/"+fullName(id), "/"+written) {
			found = append(found, id)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var apart []string // by as little as tells them apart
		for _, id := range found {
			name := setOrRule(id)
			if slices.ContainsFunc(all, func(other plan.Rule) bool { return other != id && strings.HasSuffix("/"+fullName(other), "/"+name) }) {
				name = fullName(id)
			}
			apart = append(apart, name)
		}
		return plan.Rule{}, failure{exitUsage, fmt.Errorf("there are several %ss %s: write one of %s", strings.ReplaceAll(what, " or ", "s or "), written, strings.Join(apart, ", "))}
	case len(long) == 0:
		return plan.Rule{}, failure{exitUsage, fmt.Errorf("there is no %s %q, there are none at all", what, written)}
	}
	slices.Sort(long)
	long = slices.Compact(long) // Sets may have the same names.
	names := short
	if strings.Contains(written, "/") {
		names = long
	}
	if near := document.Suggest(written, names); near != "" {
		return plan.Rule{}, failure{exitUsage, fmt.Errorf("there is no %s %q; did you mean %s?", what, written, near)}
	}
	return plan.Rule{}, failure{exitUsage, fmt.Errorf("there is no %s %q; there are %d, such as %s", what, written, len(long), strings.Join(long[:min(len(long), 10)], ", "))}
}

// setOrRule is SET, or SET/RULE.
func setOrRule(id plan.Rule) string {
	if id.Name == "" {
		return id.Set
	}
	return id.String()
}

// fullName is a rule or a set with all that tells it apart from others.
func fullName(id plan.Rule) string {
	if id.Namespace == "" {
		return id.Kind + "/" + setOrRule(id)
	}
	return id.Kind + "/" + id.Namespace + "/" + setOrRule(id)
}
