package function

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint/shape"
)

// asMap reads a parameter of kind map, where an absent map is an empty one.
func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func keys(b *value.Budget, args []any) (any, error) {
	return eachKey(b, asMap(args[0]), func(key string, _ any) any { return key })
}

func values(b *value.Budget, args []any) (any, error) {
	return eachKey(b, asMap(args[0]), func(_ string, v any) any { return v })
}

func toPairs(b *value.Budget, args []any) (any, error) {
	m := asMap(args[0])
	if err := b.List(4 * len(m)); err != nil {
		return nil, err
	}
	return eachKey(b, m, func(key string, v any) any { return []any{key, v} })
}

// eachKey lists what element makes of the entries of m, in the order of their keys.
func eachKey(b *value.Budget, m map[string]any, element func(key string, v any) any) (any, error) {
	sorted, err := value.SortedKeys(m, b)
	if err != nil {
		return nil, err
	}
	if err := b.List(2 * len(sorted)); err != nil {
		return nil, err
	}
	list := make([]any, len(sorted))
	for i, key := range sorted {
		list[i] = element(key, m[key])
	}
	return list, nil
}

func fromPairs(b *value.Budget, args []any) (any, error) {
	list := asList(args[0])
	if err := b.Map(len(list)); err != nil {
		return nil, err
	}
	m := make(map[string]any, len(list))
	for i, element := range list {
		pair := asList(element)
		if len(pair) != 2 {
			return nil, value.Faultf("element %d is not a pair [key, value]", i)
		}
		key, ok := pair[0].(string)
		if !ok {
			return nil, value.Faultf("the key of pair %d must be a string, not %s", i, value.KindOf(pair[0])).
				WithHint("write string(...) around it")
		}
		m[key] = pair[1]
	}
	return m, nil
}

func merge(b *value.Budget, args []any) (any, error) {
	merged := map[string]any{}
	for _, arg := range args {
		var err error
		if merged, err = mergeInto(merged, asMap(arg), b, 0); err != nil {
			return nil, err
		}
	}
	return merged, nil
}

// mergeInto returns a new map, since either side may hold parts of an argument.
func mergeInto(base, over map[string]any, b *value.Budget, depth int) (map[string]any, error) {
	if depth > value.Depth {
		return nil, value.Faultf("the maps nest deeper than %d levels", value.Depth)
	}
	if err := b.Map(len(base) + len(over)); err != nil {
		return nil, err
	}
	merged := make(map[string]any, len(base)+len(over))
	maps.Copy(merged, base)
	for key, v := range over {
		below, isMap := v.(map[string]any)
		old, wasMap := merged[key].(map[string]any)
		if isMap && wasMap {
			both, err := mergeInto(old, below, b, depth+1)
			if err != nil {
				return nil, err
			}
			v = both
		}
		merged[key] = v
	}
	return merged, nil
}

func condition(b *value.Budget, args []any) (any, error) {
	conditions := asList(asMap(asMap(args[0])["status"])["conditions"])
	if err := b.Steps(len(conditions)); err != nil {
		return nil, err
	}
	for _, element := range conditions {
		if c, ok := element.(map[string]any); ok && c["type"] == args[1] {
			return c, nil
		}
	}
	return nil, nil
}

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

func controllerOf(b *value.Budget, args []any) (any, error) {
	owners := asList(asMap(asMap(args[0])["metadata"])["ownerReferences"])
	if err := b.Steps(len(owners)); err != nil {
		return nil, err
	}
	for _, element := range owners {
		owner := asMap(element)
		if isController, _ := owner["controller"].(bool); isController {
			return owner, nil
		}
	}
	return nil, nil
}

func controllerRef(b *value.Budget, args []any) (any, error) {
	object := asMap(args[0])
	metadata := asMap(object["metadata"])
	if err := b.Map(6); err != nil {
		return nil, err
	}
	reference := map[string]any{
		"apiVersion": object["apiVersion"], "kind": object["kind"], "name": metadata["name"], "uid": metadata["uid"],
	}
	for _, field := range []string{"apiVersion", "kind", "name", "uid"} {
		if text, ok := reference[field].(string); !ok || text == "" {
			return nil, value.Faultf("controllerRef wants a whole object, and its %s is missing", field)
		}
	}
	reference["controller"], reference["blockOwnerDeletion"] = true, true
	return reference, nil
}

func flowControllerOf(c *Flow) shape.Shape {
	owners := c.Arguments[0].Key("metadata").Key("ownerReferences")
	owners.Read(footprint.Length)
	owners.Items().Key("controller").Read(footprint.Value)
	return shape.Union(owners.Items(), shape.Other())
}

func flowControllerRef(c *Flow) shape.Shape {
	metadata := c.Arguments[0].Key("metadata")
	for _, field := range []shape.Shape{
		c.Arguments[0].Key("apiVersion"), c.Arguments[0].Key("kind"), metadata.Key("name"), metadata.Key("uid"),
	} {
		field.Read(footprint.Value)
	}
	return shape.Other()
}

// lastTransition is when the status of a condition last became another.
const lastTransition = "lastTransitionTime"

// setCondition returns the same list where nothing changes, so that nothing is
// written.
func setCondition(at *value.Instant, b *value.Budget, args []any) (any, error) {
	if args[1] == nil {
		return args[0], nil
	}
	list, wanted := asList(args[0]), asMap(args[1])
	if err := checkCondition(wanted); err != nil {
		return nil, err
	}
	i, old, err := findCondition(b, list, wanted["type"])
	if err != nil {
		return nil, err
	}
	if old, err = withoutNulls(b, old); err != nil {
		return nil, err
	}
	set, err := newCondition(at.Now(), b, wanted, old)
	if err != nil {
		return nil, err
	}
	// A stamp in it is resolved by whoever writes the list.
	same, err := value.Equal(set, old, b)
	if err != nil && !errors.Is(err, value.ErrStamp) {
		return nil, err
	}
	if same {
		return args[0], nil
	}
	if err := b.List(len(list) + 1); err != nil {
		return nil, err
	}
	if old == nil {
		return append(slices.Clip(list), set), nil
	}
	list = slices.Clone(list)
	list[i] = set
	return list, nil
}

// checkCondition refuses what an API server would, or would take for something
// else.
func checkCondition(c map[string]any) error {
	if name, ok := c["type"].(string); !ok || name == "" {
		return value.Faultf("a condition needs a type").WithHint(`write {type: "Ready", status: "True", reason: "AllUp"}`)
	}
	switch c["status"] {
	case "True", "False", "Unknown":
		return nil
	}
	fault := value.Faultf(`the status of a condition must be "True", "False" or "Unknown"`)
	if _, ok := c["status"].(bool); ok {
		return fault.WithHint(`write status: ready ? "True" : "False"`)
	}
	return fault.WithHint("quote it and begin with a capital letter")
}

// findCondition returns the first condition of a type, or nil.
func findCondition(b *value.Budget, list []any, name any) (i int, old map[string]any, err error) {
	if err := b.Steps(1 + len(list)); err != nil {
		return 0, nil, err
	}
	for i, element := range list {
		c, ok := element.(map[string]any)
		if !ok {
			return 0, nil, value.Faultf("element %d of the list must be a condition, and is %s", i, value.KindOf(element))
		}
		if c["type"] == name {
			return i, c, nil
		}
	}
	return 0, nil, nil
}

// withoutNulls returns a condition as it was written: Kubernetes stores a time that
// nobody gave, such as lastProbeTime of a Pod, as null.
func withoutNulls(b *value.Budget, c map[string]any) (map[string]any, error) {
	isNull := func(_ string, v any) bool { return v == nil }
	for _, v := range c {
		if v != nil {
			continue
		}
		if err := b.Map(len(c)); err != nil {
			return nil, err
		}
		c = maps.Clone(c)
		maps.DeleteFunc(c, isNull)
		break
	}
	return c, nil
}

// newCondition leaves out what has no value, as no condition holds a null.
func newCondition(now time.Time, b *value.Budget, wanted, old map[string]any) (map[string]any, error) {
	if err := b.Map(len(wanted) + 1); err != nil {
		return nil, err
	}
	set := make(map[string]any, len(wanted)+1)
	for key, v := range wanted {
		if value.KindOf(v)&(value.Nil|value.Omission) == 0 {
			set[key] = v
		}
	}
	if old != nil && old["status"] == set["status"] {
		delete(set, lastTransition)
		if since, found := old[lastTransition]; found {
			set[lastTransition] = since
		}
		return set, nil
	}
	if _, given := set[lastTransition]; !given {
		since, err := written(now.UTC())
		if err != nil {
			return nil, err
		}
		set[lastTransition] = since
	}
	return set, nil
}
