package function

import (
	"maps"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
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
