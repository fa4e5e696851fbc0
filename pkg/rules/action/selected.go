package action

import (
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// checkLabels refuses an object whose labels, as they are written, let none of the
// selectors of its resource select it: no rule would ever see it.
func (c *child) checkLabels(m manifest) *document.Error {
	if _, written := draft(m.node).(map[string]any); !written {
		return nil
	}
	missing := ""
	for _, selection := range c.declaration.Selections {
		want := m.unmatched(selection)
		if want == "" {
			return nil
		}
		missing = want
	}
	if missing == "" {
		return nil
	}
	return m.at("metadata", "labels").Errorf("give it the labels that the selector wants, or widen that",
		"the object would not be among what resources.%s selects: labelSelector wants %s", c.declaration.Name, value.Excerpt(missing))
}

// unmatched is the first requirement of a selector that the labels surely do not meet,
// or "".
func (m manifest) unmatched(selection plan.Selection) string {
	selector, err := labels.Parse(selection.LabelSelector)
	if err != nil {
		return ""
	}
	requirements, _ := selector.Requirements()
	for _, want := range requirements {
		value, there := m.lookup("metadata", "labels", want.Key())
		text, isText := value.(string)
		have := labels.Set{}
		switch {
		case isText:
			have[want.Key()] = text
		case there, value != nil, isMark(want.Key()):
			continue
		}
		if !want.Matches(have) {
			return want.String()
		}
	}
	return ""
}

// isMark reports whether the engine itself writes a label.
func isMark(label string) bool {
	prefix, _, _ := strings.Cut(plan.LabelSet, "/")
	return strings.HasPrefix(label, prefix+"/")
}
