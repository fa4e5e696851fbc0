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

func sortList(c Call) any {
	list := c.list()
	chargeSort(c.Budget, len(list), 1)
	rows := make([]row, len(list))
	for i, element := range list {
		rows[i] = row{element: element, keys: list[i : i+1]}
	}
	return c.arrange(rows, []bool{c.isDescending(1)})
}

func sortBy(c Call) any {
	chargeSort(c.Budget, len(c.list()), len(c.Descending))
	reverse := c.isDescending(2)
	descending := slices.Clone(c.Descending)
	for k := range descending {
		descending[k] = descending[k] != reverse
	}
	rows := make([]row, len(c.list()))
	for i, element := range c.list() {
		result := c.result(i, nil)
		keys := []any{result}
		if c.SeveralKeys {
			keys = as[[]any](result)
		}
		if len(keys) != len(descending) {
			fail("a key of sortBy cannot be omit()")
		}
		rows[i] = row{element: element, keys: keys}
	}
	return c.arrange(rows, descending)
}

// row is an element with the keys that place c.
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
func (c Call) isDescending(i int) bool {
	order := arg[string](c, i)
	if i < len(c.Args) && order != "asc" && order != "desc" {
		fail("the order must be %q or %q, not %q", "asc", "desc", order)
	}
	return order == "desc"
}

// arrange orders rows by their keys, keeping the order of equal ones.
func (c Call) arrange(rows []row, descending []bool) any {
	for k := range descending {
		if value.KindOf(c.checkKeys(rows, k)) == value.Semver { // They take longest to compare.
			value.Must(c.Budget.Sort(stepsOfVersions * len(rows)))
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
