package function

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

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
