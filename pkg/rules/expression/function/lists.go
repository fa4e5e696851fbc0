package function

import (
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// asList reads a parameter of kind list, where an absent list is an empty one.
func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

func first(_ *value.Budget, args []any) (any, error) {
	if list := asList(args[0]); len(list) > 0 {
		return list[0], nil
	}
	return nil, nil
}

func last(_ *value.Budget, args []any) (any, error) {
	if list := asList(args[0]); len(list) > 0 {
		return list[len(list)-1], nil
	}
	return nil, nil
}

func take(_ *value.Budget, args []any) (any, error) {
	list := asList(args[0])
	n := min(max(intArg(args, 1), 0), int64(len(list)))
	return value.Slice(list, 0, int(n)), nil
}

func concat(b *value.Budget, args []any) (any, error) {
	total := 0
	for _, arg := range args {
		total += len(asList(arg))
	}
	if err := b.List(total); err != nil {
		return nil, err
	}
	joined := make([]any, 0, total)
	for _, arg := range args {
		joined = append(joined, asList(arg)...)
	}
	return joined, nil
}

func flatten(b *value.Budget, args []any) (any, error) {
	return appendFlat([]any{}, asList(args[0]), b, 0)
}

func appendFlat(flat, list []any, b *value.Budget, depth int) ([]any, error) {
	if depth > value.Depth {
		return nil, value.Faultf("the list nests deeper than %d levels", value.Depth)
	}
	// Appending may allocate twice what it needs.
	if err := b.List(2 * len(list)); err != nil {
		return nil, err
	}
	for _, element := range list {
		inner, ok := element.([]any)
		switch {
		case element == nil:
			continue // An absent list is an empty one.
		case !ok:
			flat = append(flat, element)
			continue
		}
		var err error
		if flat, err = appendFlat(flat, inner, b, depth+1); err != nil {
			return nil, err
		}
	}
	return flat, nil
}

// uniq keeps the first of equal elements.
func uniq(b *value.Budget, args []any) (any, error) {
	list := asList(args[0])
	if err := b.List(6 * len(list)); err != nil {
		return nil, err
	}
	seen := make(map[any]struct{}, len(list))
	kept := []any{}
	for _, element := range list {
		key, err := identity(element, b)
		if err != nil {
			return nil, err
		}
		if _, found := seen[key]; !found {
			seen[key] = struct{}{}
			kept = append(kept, element)
		}
	}
	return kept, nil
}

// structure is the identity of a value, apart from a string with that text.
type structure string

// identity returns a map key that is the same for equal values.
func identity(v any, b *value.Budget) (any, error) {
	switch v := v.(type) {
	case float64:
		if i := int64(v); v < 1<<63 && v >= -1<<63 && float64(i) == v {
			return i, nil
		}
		return v, nil
	case string:
		return v, b.Steps(len(v) / 32)
	case []any, map[string]any, value.Amount, value.Version, time.Duration, time.Time:
		text, err := value.Identity(v, b)
		return structure(text), err
	case value.Stamp:
		return nil, value.ErrStamp
	case nil, bool, int64, value.Omitted:
		return v, nil
	default:
		return nil, value.Faultf("a value of type %T cannot be compared", v)
	}
}

func reverse(b *value.Budget, args []any) (any, error) {
	list := asList(args[0])
	if err := b.List(len(list)); err != nil {
		return nil, err
	}
	turned := append([]any{}, list...)
	slices.Reverse(turned)
	return turned, nil
}

func get(_ *value.Budget, args []any) (any, error) {
	switch container := args[0].(type) {
	case []any:
		if i, ok := args[1].(int64); ok {
			return value.Element(container, i), nil
		}
		return nil, value.Faultf("the index of a list is an integer, not %s", value.KindOf(args[1]))
	case map[string]any:
		if key, ok := args[1].(string); ok {
			return container[key], nil
		}
		return nil, value.Faultf("the key of a map is a string, not %s", value.KindOf(args[1]))
	default:
		return nil, nil
	}
}
