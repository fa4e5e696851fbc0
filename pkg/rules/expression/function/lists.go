package function

import (
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

func take(c call) any {
	list := arg[[]any](c, 0)
	return value.Slice(list, 0, int(min(max(arg[int64](c, 1), 0), int64(len(list)))))
}

func concat(c call) any {
	total := 0
	for _, list := range c.args {
		total += len(as[[]any](list))
	}
	value.Must(c.b.List(total))
	joined := make([]any, 0, total)
	for _, list := range c.args {
		joined = append(joined, as[[]any](list)...)
	}
	return joined
}

func appendFlat(flat, list []any, b *value.Budget, depth int) []any {
	if depth > value.Depth {
		fail("the list nests deeper than %d levels", value.Depth)
	}
	// Appending may allocate twice what it needs.
	value.Must(b.List(2 * len(list)))
	for _, element := range list {
		switch inner := element.(type) {
		case nil: // An absent list is an empty one.
		case []any:
			flat = appendFlat(flat, inner, b, depth+1)
		default:
			flat = append(flat, element)
		}
	}
	return flat
}

// uniq keeps the first of equal elements.
func uniq(c call) any {
	list := arg[[]any](c, 0)
	value.Must(c.b.List(6 * len(list)))
	seen := make(map[any]struct{}, len(list))
	kept := []any{}
	for _, element := range list {
		key := identity(element, c.b)
		if _, found := seen[key]; !found {
			seen[key] = struct{}{}
			kept = append(kept, element)
		}
	}
	return kept
}

// structure is the identity of a value, apart from a string with that text.
type structure string

// identity returns a map key that is the same for equal values.
func identity(v any, b *value.Budget) any {
	switch v := v.(type) {
	case float64:
		if i := int64(v); v < 1<<63 && v >= -1<<63 && float64(i) == v {
			return i
		}
	case string:
		value.Must(b.Steps(len(v) / 32))
	case []any, map[string]any, value.Amount, value.Version, time.Duration, time.Time, value.Stamp:
		return structure(value.Got(value.Identity(v, b)))
	}
	return v
}

func reverse(c call) any {
	list := arg[[]any](c, 0)
	value.Must(c.b.List(len(list)))
	turned := append([]any{}, list...)
	slices.Reverse(turned)
	return turned
}

func get(c call) any {
	switch container := c.args[0].(type) {
	case []any:
		if i, ok := c.args[1].(int64); ok {
			return value.Element(container, i)
		}
		fail("the index of a list is an integer, not %s", value.KindOf(c.args[1]))
	case map[string]any:
		if key, ok := c.args[1].(string); ok {
			return container[key]
		}
		fail("the key of a map is a string, not %s", value.KindOf(c.args[1]))
	}
	return nil
}

func sortList(c call) any {
	list := arg[[]any](c, 0)
	chargeSort(c.b, len(list), 1)
	rows := make([]row, len(list))
	for i, element := range list {
		rows[i] = row{element: element, keys: list[i : i+1]}
	}
	return arrange(c.b, "sort", rows, []bool{isDescending(c.args[1:])})
}

func sortBy(it *Iteration) any {
	chargeSort(it.Budget, len(it.List), len(it.Descending))
	reverse := isDescending(it.Rest)
	descending := slices.Clone(it.Descending)
	for k := range descending {
		descending[k] = descending[k] != reverse
	}
	rows := make([]row, len(it.List))
	for i, element := range it.List {
		result := it.result(i, nil)
		keys := []any{result}
		if it.SeveralKeys {
			keys = as[[]any](result)
		}
		if len(keys) != len(descending) {
			fail("a key of sortBy cannot be omit()")
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

func chargeSort(b *value.Budget, n, keys int) {
	// A row takes five words; the result takes another list.
	value.Must(b.List(n * (4 + keys)))
	value.Must(b.Sort(n * keys))
}

// isDescending reads expr's optional last argument of sort and sortBy.
func isDescending(args []any) bool {
	if len(args) > 0 && args[0] != "asc" && args[0] != "desc" {
		fail("the order must be %q or %q, not %q", "asc", "desc", args[0])
	}
	return len(args) > 0 && args[0] == "desc"
}

// arrange orders rows by their keys, keeping the order of equal ones.
func arrange(b *value.Budget, name string, rows []row, descending []bool) any {
	for k := range descending {
		if value.KindOf(checkKeys(name, rows, k)) == value.Semver { // They take longest to compare.
			value.Must(b.Sort(stepsOfVersions * len(rows)))
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
	return list
}

// stepsOfVersions is how many steps comparing two of them takes.
const stepsOfVersions = 10

// checkKeys makes sure that key k of all rows has an order, and returns the first
// that is not nil.
func checkKeys(name string, rows []row, k int) (first any) {
	for _, r := range rows {
		key := r.keys[k]
		if key == nil {
			continue
		}
		kind := value.KindOf(key)
		if kind&ordinal == 0 {
			value.Must(value.Faultf("%s orders numbers, strings, times or booleans, have %s", name, kind).
				WithHint("sort by a field, as in sortBy(list, .name), or by several: sortBy(list, [.kind, .name])"))
		}
		if first == nil {
			first = key
		}
		if _, ok := value.CompareKeys(first, key); !ok {
			value.Must(value.Faultf("%s cannot order %s beside %s", name, kind, value.KindOf(first)).
				WithHint("make them all strings with string(...)"))
		}
	}
	return first
}
