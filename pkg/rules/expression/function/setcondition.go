package function

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

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
