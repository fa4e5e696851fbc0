package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
)

// findRule returns the one rule that the user means: a rule, with as much of where it is
// before it as tells it apart.
func findRule(set *rules.Set, written string) (*rules.Rule, error) {
	want := strings.Split(written, "/")
	var found []*rules.Rule
	var short, long []string
	for _, rule := range set.Rules() {
		full := fullName(rule.ID)
		short, long = append(short, rule.ID.Name), append(long, rule.ID.String())
		if len(want) <= len(full) && slices.Equal(full[len(full)-len(want):], want) {
			found = append(found, rule)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, failure{exitUsage, fmt.Errorf("there are several rules %s: write one of %s", written, strings.Join(apart(found), ", "))}
	case len(long) == 0:
		return nil, failure{exitUsage, fmt.Errorf("there is no rule %q, there are none at all", written)}
	}
	names := short
	if len(want) > 1 {
		names = long
	}
	if near := document.Suggest(written, names); near != "" {
		return nil, failure{exitUsage, fmt.Errorf("there is no rule %q; did you mean %s?", written, near)}
	}
	const most = 10
	more := ""
	if len(long) > most {
		long, more = long[:most], ", ..."
	}
	return nil, failure{exitUsage, fmt.Errorf("there is no rule %q; there are %s%s", written, strings.Join(long, ", "), more)}
}

// fullName is a rule with all that tells it apart from others.
func fullName(id plan.Rule) []string {
	if id.Namespace == "" {
		return []string{id.Kind, id.Set, id.Name}
	}
	return []string{id.Kind, id.Namespace, id.Set, id.Name}
}

// apart names rules by as little as tells them apart.
func apart(all []*rules.Rule) []string {
	out := make([]string, len(all))
	for i, rule := range all {
		out[i] = rule.ID.String()
	}
	for i, rule := range all {
		if name := rule.ID.String(); slices.ContainsFunc(all, func(other *rules.Rule) bool { return other != rule && other.ID.String() == name }) {
			out[i] = strings.Join(fullName(rule.ID), "/")
		}
	}
	return out
}

// parseObject takes RESOURCE/NAME apart.
func parseObject(written string) (resource, name string, err error) {
	resource, name, parted := strings.Cut(written, "/")
	if !parted || resource == "" || name == "" || strings.Contains(name, "/") {
		return "", "", fmt.Errorf("want RESOURCE/NAME, such as pods/web, have %q", written)
	}
	return strings.ToLower(resource), name, nil
}
