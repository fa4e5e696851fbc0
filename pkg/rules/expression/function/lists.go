package function

import (
	"slices"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

func take(c Call) any {
	list := c.list()
	return value.Slice(list, 0, int(min(max(arg[int64](c, 1), 0), int64(len(list)))))
}

func concat(c Call) any {
	total := 0
	for _, list := range c.Args {
		total += len(as[[]any](list))
	}
	value.Must(c.Budget.List(total))
	joined := make([]any, 0, total)
	for _, list := range c.Args {
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
func uniq(c Call) any {
	list := c.list()
	value.Must(c.Budget.List(6 * len(list)))
	seen := make(map[any]struct{}, len(list))
	kept := []any{}
	for _, element := range list {
		key := identity(element, c.Budget)
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

func reverse(c Call) any {
	list := c.list()
	value.Must(c.Budget.List(len(list)))
	turned := append([]any{}, list...)
	slices.Reverse(turned)
	return turned
}

func get(c Call) any {
	switch container := c.Args[0].(type) {
	case []any:
		if i, ok := c.Args[1].(int64); ok {
			return value.Element(container, i)
		}
		fail("the index of a list is an integer, not %s", value.KindOf(c.Args[1]))
	case map[string]any:
		if key, ok := c.Args[1].(string); ok {
			return container[key]
		}
		fail("the key of a map is a string, not %s", value.KindOf(c.Args[1]))
	}
	return nil
}

// row is an element with the keys that place it.
type row struct {
	element any
	keys    []any
}

// stepsOfVersions is how many steps comparing two of them takes.
const stepsOfVersions = 10

// sortBy orders elements by what the predicate gives, or by themselves where there is none, keeping the order of equal ones.
func sortBy(c Call) any {
	list, last, descending := c.list(), 2, c.Descending
	if c.Predicate == nil {
		last, descending = 1, []bool{false}
	}
	order := arg[string](c, last)
	if last < len(c.Args) && order != "asc" && order != "desc" {
		fail("the order must be %q or %q, not %q", "asc", "desc", order)
	}
	// A row takes five words; the result takes another list.
	value.Must(c.Budget.List(len(list) * (4 + len(descending))))
	value.Must(c.Budget.Sort(len(list) * len(descending)))
	rows := make([]row, len(list))
	for i, element := range list {
		keys := list[i : i+1]
		if c.Predicate != nil {
			result := c.result(i, nil)
			if keys = []any{result}; c.SeveralKeys {
				keys = as[[]any](result)
			}
		}
		if len(keys) != len(descending) {
			fail("a key of sortBy cannot be omit()")
		}
		rows[i] = row{element, keys}
	}
	for k := range descending {
		if value.KindOf(c.checkKeys(rows, k)) == value.Semver { // They take longest to compare.
			value.Must(c.Budget.Sort(stepsOfVersions * len(rows)))
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		for k, reverse := range descending {
			switch by, _ := value.CompareKeys(a.keys[k], b.keys[k]); {
			case by != 0 && reverse == (order == "desc"):
				return by
			case by != 0:
				return -by
			}
		}
		return 0
	})
	sorted := make([]any, len(rows))
	for i := range rows {
		sorted[i] = rows[i].element
	}
	return sorted
}

// checkKeys makes sure that key k of all rows has an order, and returns the first
// that is not nil.
func (c Call) checkKeys(rows []row, k int) (first any) {
	for _, r := range rows {
		key := r.keys[k]
		if key == nil {
			continue
		}
		kind := value.KindOf(key)
		if kind&ordinal == 0 {
			value.Must(value.Faultf("%s orders numbers, strings, times or booleans, have %s", c.name, kind).
				WithHint("sort by a field, as in sortBy(list, .name), or by several: sortBy(list, [.kind, .name])"))
		}
		if first == nil {
			first = key
		}
		if _, ok := value.CompareKeys(first, key); !ok {
			value.Must(value.Faultf("%s cannot order %s beside %s", c.name, kind, value.KindOf(first)).
				WithHint("make them all strings with string(...)"))
		}
	}
	return first
}
