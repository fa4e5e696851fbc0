package function

import (
	"slices"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/footprint/shape"
)

func all(it *Iteration) (any, error) {
	for i := range it.List {
		if ok, err := it.test(i); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

func anyOf(it *Iteration) (any, error) {
	for i := range it.List {
		if ok, err := it.test(i); err != nil || ok {
			return ok, err
		}
	}
	return false, nil
}

func none(it *Iteration) (any, error) {
	for i := range it.List {
		if ok, err := it.test(i); err != nil || ok {
			return false, err
		}
	}
	return true, nil
}

func one(it *Iteration) (any, error) {
	found := false
	for i := range it.List {
		ok, err := it.test(i)
		if err != nil || ok && found {
			return false, err
		}
		found = found || ok
	}
	return found, nil
}

func filter(it *Iteration) (any, error) {
	if err := it.Budget.List(2 * len(it.List)); err != nil {
		return nil, err
	}
	kept := []any{}
	for i, element := range it.List {
		ok, err := it.test(i)
		if err != nil {
			return nil, err
		}
		if ok {
			kept = append(kept, element)
		}
	}
	return kept, nil
}

func mapEach(it *Iteration) (any, error) {
	// The results may be boxed anew.
	if err := it.Budget.List(2 * len(it.List)); err != nil {
		return nil, err
	}
	results := make([]any, len(it.List))
	for i, element := range it.List {
		result, err := it.Predicate(i, element, nil)
		if err != nil {
			return nil, err
		}
		results[i] = result
	}
	return results, nil
}

func find(it *Iteration) (any, error) {
	i, err := it.first()
	if err != nil || i < 0 {
		return nil, err
	}
	return it.List[i], nil
}

func findIndex(it *Iteration) (any, error) {
	i, err := it.first()
	if err != nil || i < 0 {
		return nil, err
	}
	return int64(i), nil
}

func findLast(it *Iteration) (any, error) {
	i, err := it.last()
	if err != nil || i < 0 {
		return nil, err
	}
	return it.List[i], nil
}

func findLastIndex(it *Iteration) (any, error) {
	i, err := it.last()
	if err != nil || i < 0 {
		return nil, err
	}
	return int64(i), nil
}

// first returns the index of the first element that passes, or -1.
func (it *Iteration) first() (int, error) {
	for i := range it.List {
		if ok, err := it.test(i); err != nil || ok {
			return i, err
		}
	}
	return -1, nil
}

// last returns the index of the last element that passes, or -1.
func (it *Iteration) last() (int, error) {
	for i := range slices.Backward(it.List) {
		if ok, err := it.test(i); err != nil || ok {
			return i, err
		}
	}
	return -1, nil
}

func count(it *Iteration) (any, error) {
	passed := int64(0)
	err := it.results(value.Bool, func(result any) error {
		if ok, _ := result.(bool); ok {
			passed++
		}
		return nil
	})
	return passed, err
}

func sum(it *Iteration) (any, error) {
	total := any(int64(0))
	err := it.results(aSummand, func(result any) error {
		if value.KindOf(result)&value.Computed != 0 {
			if err := it.Budget.Conversion(); err != nil {
				return err
			}
		}
		var err error
		total, err = value.Add(total, result)
		return err
	})
	return total, err
}

// results visits the results of a predicate or, where it was left out, the
// elements themselves, which must be of those kinds.
func (it *Iteration) results(kinds value.Kind, visit func(result any) error) error {
	if err := it.Budget.Steps(2 * len(it.List)); err != nil {
		return err
	}
	for i, result := range it.List {
		if it.Predicate != nil {
			var err error
			if result, err = it.Predicate(i, result, nil); err != nil {
				return err
			}
		} else if kind := value.KindOf(result); kind&kinds == 0 {
			return value.Faultf("%s wants %s, and element %d is %s", it.Function, kinds, i, kind)
		}
		if err := visit(result); err != nil {
			return err
		}
	}
	return nil
}

func reduce(it *Iteration) (any, error) {
	list, offset := it.List, 0
	var accumulator any
	switch {
	case len(it.Rest) > 0:
		accumulator = it.Rest[0]
	case len(list) > 0:
		accumulator, offset = list[0], 1
	default:
		return nil, value.Faultf("reduce has nothing to start from in an empty list").
			WithHint("give an initial value: reduce(list, #acc + #, 0)")
	}
	for i := offset; i < len(list); i++ {
		var err error
		if accumulator, err = it.Predicate(i, list[i], accumulator); err != nil {
			return nil, err
		}
	}
	return accumulator, nil
}

func groupBy(it *Iteration) (any, error) {
	// With each element its group grows, and is boxed anew.
	if err := it.Budget.List(5 * len(it.List)); err != nil {
		return nil, err
	}
	groups := map[string]any{}
	for i, element := range it.List {
		result, err := it.Predicate(i, element, nil)
		if err != nil {
			return nil, err
		}
		key, _ := result.(string)
		group, found := groups[key].([]any)
		if !found {
			if err := it.Budget.Map(0); err != nil {
				return nil, err
			}
		}
		groups[key] = append(group, element)
	}
	return groups, nil
}

// group is the elements with one key.
type group struct {
	key   any
	items []any
}

func groups(it *Iteration) (any, error) {
	if err := it.Budget.List(8 * len(it.List)); err != nil {
		return nil, err
	}
	places := map[any]int{}
	var found []group
	for i, element := range it.List {
		key, err := it.Predicate(i, element, nil)
		if err != nil {
			return nil, err
		}
		id, err := identity(key, it.Budget)
		if err != nil {
			return nil, err
		}
		place, known := places[id]
		if !known {
			if err := it.Budget.Map(2); err != nil {
				return nil, err
			}
			place = len(found)
			places[id] = place
			found = append(found, group{key: key})
		}
		found[place].items = append(found[place].items, element)
	}
	list := make([]any, len(found))
	for i, g := range found {
		list[i] = map[string]any{"key": g.key, "items": g.items}
	}
	return list, nil
}

// flowByKey follows the elements into the items of their group.
func flowByKey(c *Flow) shape.Shape {
	return shape.List(shape.Map(map[string]shape.Shape{"key": c.each(), "items": shape.List(c.elements())}))
}
