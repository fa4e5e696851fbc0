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

func sortList(b *value.Budget, args []any) (any, error) {
	list := asList(args[0])
	if err := chargeSort(b, len(list), 1); err != nil {
		return nil, err
	}
	descending, err := isDescending(args[1:])
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(list))
	for i, element := range list {
		rows[i] = row{element: element, keys: list[i : i+1]}
	}
	return arrange(b, "sort", rows, []bool{descending})
}

func sortBy(it *Iteration) (any, error) {
	if err := chargeSort(it.Budget, len(it.List), len(it.Descending)); err != nil {
		return nil, err
	}
	reverse, err := isDescending(it.Rest)
	if err != nil {
		return nil, err
	}
	descending := slices.Clone(it.Descending)
	for k := range descending {
		descending[k] = descending[k] != reverse
	}
	rows := make([]row, len(it.List))
	for i, element := range it.List {
		result, err := it.Predicate(i, element, nil)
		if err != nil {
			return nil, err
		}
		keys, ok := result.([]any)
		if !it.SeveralKeys || !ok {
			keys = []any{result}
		}
		rows[i] = row{element: element, keys: keys}
	}
	return arrange(it.Budget, "sortBy", rows, descending)
}

// row is an element with the keys that place it.
type row struct {
	element any
	keys    []any
}

func chargeSort(b *value.Budget, n, keys int) error {
	// A row takes five words; the result takes another list.
	if err := b.List(n * (4 + keys)); err != nil {
		return err
	}
	return b.Sort(n * keys)
}

// isDescending reads expr's optional last argument of sort and sortBy.
func isDescending(args []any) (bool, error) {
	if len(args) == 0 || args[0] == "asc" {
		return false, nil
	}
	if args[0] == "desc" {
		return true, nil
	}
	return false, value.Faultf("the order must be %q or %q, not %q", "asc", "desc", args[0])
}

// arrange orders rows by their keys, keeping the order of equal ones.
func arrange(b *value.Budget, name string, rows []row, descending []bool) (any, error) {
	for k := range descending {
		first, err := checkKeys(name, rows, k)
		if err != nil {
			return nil, err
		}
		if value.KindOf(first) == value.Semver { // They take longest to compare.
			if err := b.Sort(stepsOfVersions * len(rows)); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		for k, reverse := range descending {
			order, _ := value.CompareKeys(a.keys[k], b.keys[k])
			if reverse {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		return 0
	})
	list := make([]any, len(rows))
	for i := range rows {
		list[i] = rows[i].element
	}
	return list, nil
}

// stepsOfVersions is how many steps comparing two of them takes.
const stepsOfVersions = 10

// checkKeys makes sure that key k of all rows has an order, and returns the first
// that is not nil.
func checkKeys(name string, rows []row, k int) (first any, err error) {
	for _, r := range rows {
		key := r.keys[k]
		if key == nil {
			continue
		}
		kind := value.KindOf(key)
		if kind&(value.Bool|value.Number|value.String|value.Computed) == 0 {
			return nil, value.Faultf("%s orders numbers, strings, times or booleans, have %s", name, kind).
				WithHint("sort by a field, as in sortBy(list, .name), or by several: sortBy(list, [.kind, .name])")
		}
		if first == nil {
			first = key
		}
		if _, ok := value.CompareKeys(first, key); !ok {
			return nil, value.Faultf("%s cannot order %s beside %s", name, kind, value.KindOf(first)).
				WithHint("make them all strings with string(...)")
		}
	}
	return first, nil
}
