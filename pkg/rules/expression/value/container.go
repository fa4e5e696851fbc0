package value

import (
	"maps"
	"slices"
)

// Element returns an element of list, counted from the end where i is negative,
// or nil where there is none.
func Element(list []any, i int64) any {
	if i < 0 {
		i += int64(len(list))
	}
	if i < 0 || i >= int64(len(list)) {
		return nil
	}
	return list[i]
}

// Slice returns list[from:to], which must lie within it. Nobody can append to the
// result into the original, and it is never nil.
func Slice(list []any, from, to int) []any {
	if from >= to {
		return []any{}
	}
	return list[from:to:to]
}

// SortedKeys returns the keys of m in order.
func SortedKeys(m map[string]any, budget *Budget) ([]string, error) {
	if err := budget.Sort(len(m)); err != nil {
		return nil, err
	}
	if err := budget.List(len(m)); err != nil {
		return nil, err
	}
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys, nil
}
