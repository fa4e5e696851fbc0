package rules

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/spec"
	"github.com/dyncontroller/dyncontroller/pkg/rules/trace"
)

// unselected says why no selection of the rule has the object.
func (r *Rule) unselected(gvr schema.GroupVersionResource, object map[string]any) []trace.Obstacle {
	var out []trace.Obstacle
	var elsewhere []string
	namespace := plan.Text(object, "metadata", "namespace")
	for _, selection := range r.selections {
		switch {
		case selection.GVR != gvr:
		case selection.Namespace != "" && selection.Namespace != namespace:
			elsewhere = append(elsewhere, selection.Namespace)
		default:
			for _, text := range unmet(selection, object) {
				out = append(out, trace.Obstacle{Kind: trace.NotSelected, Text: text})
			}
		}
	}
	if len(out) > 0 || len(elsewhere) == 0 {
		return out
	}
	slices.Sort(elsewhere)
	where := "is in namespace " + namespace
	if namespace == "" {
		where = "has no namespace"
	}
	if r.set.Kind == spec.KindRuleSet {
		return []trace.Obstacle{{Kind: trace.OtherNamespace, Text: fmt.Sprintf(
			"%s acts in its own namespace, and the object %s: a ClusterRuleSet acts everywhere", r.ID.SetName(), where)}}
	}
	return []trace.Obstacle{{Kind: trace.NotSelected, Text: fmt.Sprintf(
		"resources select the namespaces %s, and the object %s", strings.Join(slices.Compact(elsewhere), ", "), where)}}
}

// unmet lists what a selection wants that the object is not.
func unmet(s plan.Selection, object map[string]any) []string {
	var out []string
	if parsed, err := labels.Parse(s.LabelSelector); err == nil {
		requirements, _ := parsed.Requirements()
		for _, wanted := range requirements {
			if !(plan.Selection{LabelSelector: wanted.String()}).Admits(object) {
				out = append(out, fmt.Sprintf("labelSelector wants %s, and %s", wanted.String(), given(object, "label", wanted.Key(), "metadata", "labels", wanted.Key())))
			}
		}
	}
	if parsed, err := fields.ParseSelector(s.FieldSelector); err == nil {
		for _, wanted := range parsed.Requirements() {
			one := fields.OneTermEqualSelector(wanted.Field, wanted.Value)
			if wanted.Operator == "!=" {
				one = fields.OneTermNotEqualSelector(wanted.Field, wanted.Value)
			}
			if !(plan.Selection{GVR: s.GVR, FieldSelector: one.String()}).Admits(object) {
				out = append(out, fmt.Sprintf("fieldSelector wants %s, and %s", one, given(object, "field", wanted.Field, strings.Split(wanted.Field, ".")...)))
			}
		}
	}
	if len(out) == 0 {
		return []string{"it is not among what the selectors of its resource select"}
	}
	return out
}

// given says what an object has where something else is wanted.
func given(object map[string]any, what, name string, path ...string) string {
	value, there := plan.Lookup(object, path)
	switch value.(type) {
	case map[string]any, []any:
		return fmt.Sprintf("the %s %s is no text or number", what, name)
	}
	if !there || value == nil {
		return fmt.Sprintf("the object has no %s %s", what, name)
	}
	return fmt.Sprintf("the %s %s is %q", what, name, fmt.Sprint(value))
}
