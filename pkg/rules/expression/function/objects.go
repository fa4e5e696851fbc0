package function

import (
	"errors"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// eachKey lists what element makes of the entries of a map, in the order of their keys.
func eachKey(element func(key string, v any) any) func(c Call) any {
	return func(c Call) any {
		m := arg[map[string]any](c, 0)
		sorted := value.Got(value.SortedKeys(m, c.Budget))
		value.Must(c.Budget.List(6 * len(sorted))) // The elements may be pairs.
		list := make([]any, len(sorted))
		for i, key := range sorted {
			list[i] = element(key, m[key])
		}
		return list
	}
}

func fromPairs(c Call) any {
	list := c.list()
	value.Must(c.Budget.Map(len(list)))
	m := make(map[string]any, len(list))
	for i, element := range list {
		pair := as[[]any](element)
		if len(pair) != 1 && len(pair) != 2 {
			fail("element %d is not a pair [key, value]", i)
		}
		key, ok := pair[0].(string)
		if !ok {
			value.Must(value.Faultf("the key of pair %d must be a string, not %s", i, value.KindOf(pair[0])).
				WithHint("write string(...) around it"))
		}
		if len(pair) == 2 { // Else the value was omitted.
			m[key] = pair[1]
		}
	}
	return m
}

func merge(c Call) any {
	merged := map[string]any{}
	for _, m := range c.Args {
		merged = mergeInto(merged, as[map[string]any](m), c.Budget, 0)
	}
	return merged
}

func pick(c Call) any {
	m, picked := as[map[string]any](c.Args[0]), map[string]any{}
	value.Must(c.Budget.Map(len(c.Args)))
	for _, key := range c.Args[1:] {
		if v, has := m[as[string](key)]; has {
			picked[as[string](key)] = v
		}
	}
	return picked
}

// mergeInto returns a new map, since either side may hold parts of an argument.
func mergeInto(base, over map[string]any, b *value.Budget, depth int) map[string]any {
	if depth > value.Depth {
		fail("the maps nest deeper than %d levels", value.Depth)
	}
	value.Must(b.Map(len(base) + len(over)))
	merged := make(map[string]any, len(base)+len(over))
	maps.Copy(merged, base)
	for key, v := range over {
		below, isMap := v.(map[string]any)
		old, wasMap := merged[key].(map[string]any)
		if isMap && wasMap {
			v = mergeInto(old, below, b, depth+1)
		}
		merged[key] = v
	}
	return merged
}

// entry returns the first map with that value under a key in the list at a path of the first argument, or nil.
func (c Call) entry(key string, wanted any, path ...string) any {
	at := c.Args[0]
	for _, step := range path {
		at = as[map[string]any](at)[step]
	}
	list := as[[]any](at)
	value.Must(c.Budget.Steps(len(list)))
	for _, element := range list {
		if m, ok := element.(map[string]any); ok && m[key] == wanted {
			return m
		}
	}
	return nil
}

func condition(c Call) any { return c.entry("type", c.Args[1], "status", "conditions") }

func controllerOf(c Call) any { return c.entry("controller", true, "metadata", "ownerReferences") }

func controllerRef(c Call) any {
	object := arg[map[string]any](c, 0)
	metadata := as[map[string]any](object["metadata"])
	value.Must(c.Budget.Map(6))
	reference := map[string]any{
		"apiVersion": object["apiVersion"], "kind": object["kind"], "name": metadata["name"], "uid": metadata["uid"],
	}
	for _, field := range []string{"apiVersion", "kind", "name", "uid"} {
		if as[string](reference[field]) == "" {
			fail("controllerRef wants a whole object, and its %s is missing", field)
		}
	}
	reference["controller"], reference["blockOwnerDeletion"] = true, true
	return reference
}

func labelsMatch(c Call) any {
	object := arg[map[string]any](c, 0)
	found := as[map[string]any](as[map[string]any](object["metadata"])["labels"])
	value.Must(c.Budget.Map(len(found)))
	set := make(labels.Set, len(found))
	for key, v := range found {
		set[key] = as[string](v)
	}
	return object != nil && arg[labels.Selector](c, 1).Matches(set)
}

// parseSelector reads a label selector as Kubernetes does. It refuses an empty one, for a selection never widens by accident,
// and selects nothing where there is none.
func parseSelector(v any) (labels.Selector, error) {
	written, is := v.(map[string]any)
	if !is {
		return labels.Nothing(), nil
	}
	// Which of several mistakes is found first is left to chance, so that the message names none.
	wrong := value.Faultf("the label selector is not valid").WithHint(`write {matchLabels: {app: "x"}}, or ` +
		`{matchExpressions: [{key: "app", operator: "In", values: ["x"]}]}, also with NotIn, Exists and DoesNotExist, which has no values`)
	texts := slices.Collect(maps.Values(as[map[string]any](written["matchLabels"])))
	for _, requirement := range as[[]any](written["matchExpressions"]) {
		texts = append(texts, as[[]any](as[map[string]any](requirement)["values"])...)
	}
	if slices.Contains(texts, nil) { // The converter takes it for an empty text.
		return nil, wrong
	}
	var read metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(written, &read, true) != nil {
		return nil, wrong
	}
	if len(read.MatchLabels)+len(read.MatchExpressions) == 0 {
		return nil, value.Faultf("the label selector is empty and would match everything").
			WithHint("test it first, as in default(selector, nil)")
	}
	selector, err := metav1.LabelSelectorAsSelector(&read)
	if err != nil {
		return nil, wrong
	}
	return selector, nil
}

// lastTransition is when the status of a condition last became another.
const lastTransition = "lastTransitionTime"

// setCondition returns the same list where nothing changes, so that nothing is
// written.
func setCondition(c Call) any {
	out := c.Args[0]
	for i, condition := range c.Args[1:] {
		if condition == nil {
			continue
		}
		list, _ := out.([]any)
		if list = c.withCondition(list, arg[map[string]any](c, 1+i)); list != nil {
			out = list
		}
	}
	return out
}

// withCondition is nil where nothing changes.
func (c Call) withCondition(list []any, wanted map[string]any) []any {
	checkCondition(wanted)
	value.Must(c.Budget.Steps(1 + len(list)))
	place, old := len(list), map[string]any(nil)
	for i, element := range list {
		m, ok := element.(map[string]any)
		if !ok {
			fail("element %d of the list must be a condition, and is %s", i, value.KindOf(element))
		}
		if m["type"] == wanted["type"] {
			place, old = i, m
			break
		}
	}
	value.Must(c.Budget.Map(len(wanted) + len(old) + 1))
	set := newCondition(c.instant().Now(), withoutNulls(wanted), old)
	// A stamp in it is resolved by whoever writes the list.
	same, err := value.Equal(set, withoutNulls(old), c.Budget)
	if err != nil && !errors.Is(err, value.ErrStamp) {
		value.Must(err)
	}
	if same {
		return nil
	}
	value.Must(c.Budget.List(len(list) + 1))
	if old == nil {
		return append(slices.Clip(list), set)
	}
	list = slices.Clone(list)
	list[place] = set
	return list
}

// checkCondition refuses what an API server would, or would take for something
// else.
func checkCondition(c map[string]any) {
	if as[string](c["type"]) == "" {
		value.Must(value.Faultf("a condition needs a type").WithHint(`write {type: "Ready", status: "True", reason: "AllUp"}`))
	}
	switch c["status"] {
	case "True", "False", "Unknown":
		return
	}
	fault := value.Faultf(`the status of a condition must be "True", "False" or "Unknown"`).WithHint("quote it and begin with a capital letter")
	if _, ok := c["status"].(bool); ok {
		fault = fault.WithHint(`write status: ready ? "True" : "False"`)
	}
	value.Must(fault)
}

// withoutNulls returns a copy of a condition as it was written: Kubernetes stores a time
// that nobody gave, such as lastProbeTime of a Pod, as null.
func withoutNulls(condition map[string]any) map[string]any {
	condition = maps.Clone(condition)
	maps.DeleteFunc(condition, func(_ string, v any) bool { return v == nil })
	return condition
}

// newCondition gives a condition the time of the old one while the status is the same.
func newCondition(now time.Time, set, old map[string]any) map[string]any {
	since, found := old[lastTransition]
	switch _, given := set[lastTransition]; {
	case old != nil && old["status"] == set["status"] && found && since != nil:
		set[lastTransition] = since
	case old != nil && old["status"] == set["status"]:
		delete(set, lastTransition)
	case !given:
		set[lastTransition] = written(now.UTC())
	}
	return set
}
