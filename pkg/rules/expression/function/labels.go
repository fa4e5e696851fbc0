package function

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint/shape"
)

// labelsMatch checks all of a selector before it answers, so that a mistake shows
// whatever the labels are.
func labelsMatch(b *value.Budget, args []any) (any, error) {
	selector, ok := args[1].(map[string]any)
	if !ok {
		return false, nil
	}
	exact, requirements, err := readSelector(selector)
	if err != nil {
		return nil, err
	}
	labels := asMap(asMap(asMap(args[0])["metadata"])["labels"])
	matched, err := matchLabels(b, labels, exact)
	if err != nil {
		return nil, err
	}
	for _, element := range requirements {
		met, err := matchRequirement(b, labels, asMap(element))
		if err != nil {
			return nil, err
		}
		matched = matched && met
	}
	return matched && args[0] != nil, nil
}

// readSelector refuses an empty one, for a selection never widens by accident.
func readSelector(selector map[string]any) (exact map[string]any, requirements []any, err error) {
	unknown := func(key string, _ any) bool { return key != "matchLabels" && key != "matchExpressions" }
	if key, found := firstKey(selector, unknown); found {
		return nil, nil, value.Faultf("a label selector has no field %q", value.Excerpt(key)).
			WithHint("write {matchLabels: ...} around plain labels")
	}
	wrong := func(key string, field any) bool {
		kind := value.KindOf(field)
		return key == "matchLabels" && kind&aMap == 0 || key == "matchExpressions" && kind&aList == 0
	}
	if key, found := firstKey(selector, wrong); found {
		return nil, nil, value.Faultf("%s of a label selector cannot be %s", key, value.KindOf(selector[key]))
	}
	exact, requirements = asMap(selector["matchLabels"]), asList(selector["matchExpressions"])
	if len(exact)+len(requirements) == 0 {
		return nil, nil, value.Faultf("the label selector is empty and would match everything").
			WithHint("test it first, as in default(selector, nil)")
	}
	return exact, requirements, nil
}

func matchLabels(b *value.Budget, labels, exact map[string]any) (bool, error) {
	if err := b.Steps(3 * len(exact)); err != nil {
		return false, err
	}
	if key, found := firstKey(exact, func(_ string, v any) bool { return value.KindOf(v) != value.String }); found {
		return false, value.Faultf("matchLabels: a label must be a string, not %s", value.KindOf(exact[key]))
	}
	for key, wanted := range exact {
		if labels[key] != wanted {
			return false, nil
		}
	}
	return true, nil
}

// firstKey returns the first key in order of the entries that fit, so that it is
// always the same one that a message names.
func firstKey(m map[string]any, fits func(key string, v any) bool) (first string, found bool) {
	for key, v := range m {
		if fits(key, v) && (!found || key < first) {
			first, found = key, true
		}
	}
	return first, found
}

// matchRequirement knows the operators of matchExpressions. A label that is absent
// is in no list and thus satisfies NotIn.
func matchRequirement(b *value.Budget, labels, requirement map[string]any) (bool, error) {
	key, _ := requirement["key"].(string)
	values, isList := requirement["values"].([]any)
	if key == "" || !isList && requirement["values"] != nil {
		return false, value.Faultf("matchExpressions: want {key, operator, values}")
	}
	if err := b.Steps(4 + len(values)); err != nil {
		return false, err
	}
	noText := func(v any) bool { return value.KindOf(v) != value.String }
	if i := slices.IndexFunc(values, noText); i >= 0 {
		return false, value.Faultf("matchExpressions: a value must be a string, not %s", value.KindOf(values[i]))
	}
	label, found := labels[key]
	operator := requirement["operator"]
	switch operator {
	case "In", "NotIn":
		if len(values) == 0 {
			return false, value.Faultf("matchExpressions: %s wants values", operator)
		}
		isIn := found && slices.Contains(values, label)
		return isIn == (operator == "In"), nil
	case "Exists", "DoesNotExist":
		if len(values) > 0 {
			return false, value.Faultf("matchExpressions: %s takes no values", operator)
		}
		return found == (operator == "Exists"), nil
	default:
		return false, value.Faultf("matchExpressions: the operator must be In, NotIn, Exists or DoesNotExist")
	}
}

func flowLabelsMatch(c *Flow) shape.Shape {
	c.Arguments[0].Key("metadata").Key("labels").Read(footprint.Value)
	c.Arguments[1].Read(footprint.Value)
	return shape.Other()
}
