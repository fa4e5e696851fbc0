package relation

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

const emptyHint = "write all: true if every object is meant"

// askMatchLabels never asks for less than was written: a label without a value
// would widen the selection.
func askMatchLabels(q *plan.Read, v any) (bool, *mistake) {
	wanted, wrong := labelMap("matchLabels", v)
	switch {
	case wrong != nil:
		return false, wrong
	case len(wanted) == 0:
		return false, mistakef(emptyHint, "matchLabels is empty")
	}
	q.Labels = labels.SelectorFromValidatedSet(wanted).String()
	return true, nil
}

// labelMap takes a map of strings; an absent one is empty.
func labelMap(field string, v any) (map[string]string, *mistake) {
	if v == nil {
		return nil, nil
	}
	written, ok := v.(map[string]any)
	if !ok {
		return nil, mistakef("write {app: web}", "%s must be a map of labels, have %s", field, value.KindOf(v))
	}
	out := make(map[string]string, len(written))
	for _, key := range slices.Sorted(maps.Keys(written)) {
		if wrong := labelPart(key, written[key], true); wrong != nil {
			return nil, wrong
		}
		out[key], _ = written[key].(string)
	}
	return out, nil
}

func labelPart(key string, v any, known bool) *mistake {
	if reasons := validation.IsQualifiedName(key); len(reasons) > 0 {
		return mistakef("", "%q cannot be the key of a label: %s", value.Excerpt(key), brief(reasons[0])).inKey(key)
	}
	label, ok := v.(string)
	switch {
	case !known:
		return nil
	case v == nil:
		return mistakef("?? gives a default, and ?? omit() leaves the label out", "the label %s has no value", key).inValue(key)
	case !ok:
		return mistakef(textHint(v),
			"the value of the label %s must be a string, have %s", key, value.KindOf(v)).inValue(key)
	}
	if reasons := validation.IsValidLabelValue(label); len(reasons) > 0 {
		return mistakef("", "%q cannot be the value of a label: %s", value.Excerpt(label), brief(reasons[0])).inValue(key)
	}
	return nil
}

// askSelector takes a LabelSelector of Kubernetes. As there, nil selects nothing;
// an empty one, which there selects everything, is more likely a mistake.
func askSelector(q *plan.Read, v any) (bool, *mistake) {
	if v == nil {
		return false, nil
	}
	written, ok := v.(map[string]any)
	if !ok {
		return false, mistakef("write {matchLabels: {app: web}}", "selector must be a LabelSelector, have %s", value.KindOf(v))
	}
	parsed, wrong := labelSelector(written)
	if wrong != nil {
		return false, wrong
	}
	selector, err := metav1.LabelSelectorAsSelector(parsed)
	if err != nil {
		return false, mistakef("the operators are In and NotIn, with values, Exists and DoesNotExist", "not a LabelSelector: %v", err)
	}
	if selector.Empty() {
		return false, mistakef(emptyHint, "selector is empty")
	}
	q.Labels = selector.String()
	return true, nil
}

// selectorPart is strict, since what it passed over would widen the selection.
func selectorPart(key string, _ any, _ bool) *mistake {
	if key == "matchLabels" || key == "matchExpressions" {
		return nil
	}
	return mistakef("for a map of labels, such as the selector of a Service, write matchLabels in place of selector",
		"a LabelSelector has matchLabels and matchExpressions, have %q", value.Excerpt(key)).inKey(key)
}

func labelSelector(written map[string]any) (*metav1.LabelSelector, *mistake) {
	for _, key := range slices.Sorted(maps.Keys(written)) {
		if wrong := selectorPart(key, nil, false); wrong != nil {
			return nil, wrong
		}
	}
	matchLabels, wrong := labelMap("matchLabels", written["matchLabels"])
	if wrong != nil {
		return nil, wrong.inValue("matchLabels")
	}
	expressions, wrong := labelRequirements(written["matchExpressions"])
	if wrong != nil {
		return nil, wrong.inValue("matchExpressions")
	}
	return &metav1.LabelSelector{MatchLabels: matchLabels, MatchExpressions: expressions}, nil
}

func labelRequirements(v any) ([]metav1.LabelSelectorRequirement, *mistake) {
	if v == nil {
		return nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, mistakef("write [{key: app, operator: Exists}]", "matchExpressions must be a list, have %s", value.KindOf(v))
	}
	out := make([]metav1.LabelSelectorRequirement, len(list))
	for i, element := range list {
		written, ok := element.(map[string]any)
		if !ok {
			return nil, mistakef("write {key: app, operator: Exists}",
				"an element of matchExpressions must be a map, have %s", value.KindOf(element))
		}
		var wrong *mistake
		if out[i], wrong = labelRequirement(written); wrong != nil {
			return nil, wrong
		}
	}
	return out, nil
}

func labelRequirement(written map[string]any) (out metav1.LabelSelectorRequirement, wrong *mistake) {
	for _, key := range slices.Sorted(maps.Keys(written)) {
		switch v := written[key]; key {
		case "key":
			out.Key, wrong = requirementText("key", v)
		case "operator":
			var operator string
			operator, wrong = requirementText("operator", v)
			out.Operator = metav1.LabelSelectorOperator(operator)
		case "values":
			out.Values, wrong = requirementValues(v)
		default:
			wrong = mistakef("", "matchExpressions has key, operator and values, have %q", value.Excerpt(key))
		}
		if wrong != nil {
			return out, wrong
		}
	}
	if out.Key == "" || out.Operator == "" {
		return out, mistakef("write {key: app, operator: Exists}", "an element of matchExpressions needs key and operator")
	}
	return out, nil
}

func requirementText(what string, v any) (string, *mistake) {
	word, ok := v.(string)
	if !ok {
		return "", mistakef(textHint(v), "%s of matchExpressions must be a string, have %s", what, value.KindOf(v))
	}
	return word, nil
}

func requirementValues(v any) ([]string, *mistake) {
	list, ok := v.([]any)
	if !ok && v != nil {
		return nil, mistakef("write [a, b]", "values of matchExpressions must be a list, have %s", value.KindOf(v))
	}
	out := make([]string, len(list))
	for i, element := range list {
		var wrong *mistake
		if out[i], wrong = requirementText("a value", element); wrong != nil {
			return nil, wrong
		}
	}
	return out, nil
}
