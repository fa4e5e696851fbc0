package function

import "github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"

// Iteration is a call with a predicate: f(list, predicate, rest...).
type Iteration struct {
	// Function is the name, for messages.
	Function string
	Budget   *value.Budget
	List     []any
	// Predicate evaluates the predicate for an element to a value of the kinds that
	// the parameter takes; it is nil where it was left out. Only reduce gives an
	// accumulator.
	Predicate func(i int, element, accumulator any) (any, error)
	// Descending says for each key of sortBy whether desc() was around it.
	Descending []bool
	// SeveralKeys says that the predicate of sortBy gives a list with a key for
	// each entry of Descending, rather than the only key.
	SeveralKeys bool
	// Rest is the arguments after the predicate.
	Rest []any
}

// result is what the predicate gives for element i.
func (it *Iteration) result(i int, accumulator any) any {
	return value.Got(it.Predicate(i, it.List[i], accumulator))
}

// search returns the index of the first element, of those that one comes across in
// steps from an index on, for which the condition is what is wanted, or -1.
func (it *Iteration) search(from, step int, wanted bool) int {
	for i := from; i >= 0 && i < len(it.List); i += step {
		if it.result(i, nil) == wanted {
			return i
		}
	}
	return -1
}

func (it *Iteration) first() int { return it.search(0, 1, true) }
func (it *Iteration) last() int  { return it.search(len(it.List)-1, -1, true) }

func all(it *Iteration) any   { return it.search(0, 1, false) < 0 }
func anyOf(it *Iteration) any { return it.first() >= 0 }
func none(it *Iteration) any  { return it.first() < 0 }

func one(it *Iteration) any {
	i := it.first()
	return i >= 0 && it.search(i+1, 1, true) < 0
}

// found gives the element that a search found, or nil.
func found(search func(it *Iteration) int) func(it *Iteration) any {
	return func(it *Iteration) any {
		if i := search(it); i >= 0 {
			return it.List[i]
		}
		return nil
	}
}

// foundAt gives its index, or nil.
func foundAt(search func(it *Iteration) int) func(it *Iteration) any {
	return func(it *Iteration) any {
		if i := search(it); i >= 0 {
			return int64(i)
		}
		return nil
	}
}

func filter(it *Iteration) any {
	value.Must(it.Budget.List(2 * len(it.List)))
	kept := []any{}
	for i, element := range it.List {
		if as[bool](it.result(i, nil)) {
			kept = append(kept, element)
		}
	}
	return kept
}

func mapEach(it *Iteration) any {
	// The results may be boxed anew.
	value.Must(it.Budget.List(2 * len(it.List)))
	results := make([]any, 0, len(it.List))
	for i := range it.List {
		results = value.Append(results, it.result(i, nil))
	}
	return results
}

func count(it *Iteration) any {
	passed := int64(0)
	it.each(value.Bool, func(result any) {
		if as[bool](result) {
			passed++
		}
	})
	return passed
}

func sum(it *Iteration) any {
	total := any(int64(0))
	it.each(aSummand, func(result any) {
		if value.KindOf(result)&value.Computed != 0 {
			value.Must(it.Budget.Conversion())
		}
		total = value.Got(value.Add(total, result))
	})
	return total
}

// each visits the results of a predicate or, where it was left out, the
// elements themselves, which must be of those kinds.
func (it *Iteration) each(kinds value.Kind, visit func(result any)) {
	value.Must(it.Budget.Steps(2 * len(it.List)))
	for i, result := range it.List {
		if it.Predicate != nil {
			result = it.result(i, nil)
		} else if kind := value.KindOf(result); kind&kinds == 0 {
			fail("%s wants %s, and element %d is %s", it.Function, kinds, i, kind)
		}
		visit(result)
	}
}

func reduce(it *Iteration) any {
	offset := 0
	var accumulator any
	switch {
	case len(it.Rest) > 0:
		accumulator = it.Rest[0]
	case len(it.List) > 0:
		accumulator, offset = it.List[0], 1
	default:
		value.Must(value.Faultf("reduce has nothing to start from in an empty list").
			WithHint("give an initial value: reduce(list, #acc + #, 0)"))
	}
	for i := offset; i < len(it.List); i++ {
		accumulator = it.result(i, accumulator)
	}
	return accumulator
}

func groupBy(it *Iteration) any {
	// With each element its group grows, and is boxed anew.
	value.Must(it.Budget.List(5 * len(it.List)))
	groups := map[string]any{}
	for i, element := range it.List {
		key := as[string](it.result(i, nil))
		if groups[key] == nil {
			value.Must(it.Budget.Map(0))
		}
		groups[key] = append(as[[]any](groups[key]), element)
	}
	return groups
}

func groups(it *Iteration) any {
	value.Must(it.Budget.List(8 * len(it.List)))
	places := map[any]int{}
	var keys []any
	var items [][]any
	for i, element := range it.List {
		key := it.result(i, nil)
		id := identity(key, it.Budget)
		place, known := places[id]
		if !known {
			value.Must(it.Budget.Map(2))
			place = len(keys)
			places[id] = place
			keys, items = append(keys, key), append(items, nil)
		}
		items[place] = append(items[place], element)
	}
	list := make([]any, len(keys))
	for i := range keys {
		list[i] = map[string]any{"key": keys[i], "items": items[i]}
	}
	return list
}
